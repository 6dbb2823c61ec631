"""Writes measured rules as files that MPI libraries read, with what was measured in comments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.models.libraries import mpich, open_mpi
from switchpoint.models.libraries.library import Library
from switchpoint.models.recommend import LIBRARIES
from switchpoint.models.rules_folder import files_without_rules, write_rules
from switchpoint.tables.units import range_text, significant, significant_range
from switchpoint.tuning.facts import FILE, Group, Tuning, Winner, to_text


def write_tuning(
    tuning: Tuning,
    folder: str | os.PathLike[str],
    mpich_library: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
) -> list[Path]:
    """Write the rules, the settings that use them, a module file, and what was measured.

    Without a rule nothing is written, unless the folder has earlier rules: its files then set
    nothing.

    Parameters
    ----------
    tuning
        As from `tune`, perhaps checked.
    folder
        Created if it does not exist.
    mpich_library
        MPICH's library or JSON file with its own decisions, which its file keeps elsewhere.
    force
        Whether to replace also files that others wrote.

    Returns
    -------
    list of Path
        Settings files have lines NAME=VALUE of the environment.

    Raises
    ------
    InputError
        If a file cannot be written, or is there and was not written by this function, or
        `mpich_library` is needed.
    """
    folder = Path(folder)
    library = LIBRARIES[tuning.library]
    if tuning.rules():
        files = _library_files(tuning, library, folder, mpich_library)
    else:
        files = files_without_rules(folder, library)
    if not files:
        return []
    return write_rules(
        folder,
        {**files, FILE: to_text(tuning)},
        by="tune",
        comments=comments(tuning),
        force=force,
    )


def _library_files(
    tuning: Tuning, library: Library, folder: Path, mpich_library: str | os.PathLike[str] | None
) -> dict[str, str]:
    rules, where = tuning.rules(), str(folder.resolve())
    if library is not mpich.MPICH:
        return {} if library.files is None else library.files(rules, where)
    if mpich_library is None:
        raise InputError(
            "--mpich-library",
            "is needed: MPICH reads all its decisions from one file; give the library that programs"
            " use, such as /usr/lib/x86_64-linux-gnu/libmpich.so.12",
        )
    operations = {operation for operation, _ in rules}
    return mpich.files(rules, where, mpich.built_in_decisions(Path(mpich_library), operations))


def comments(tuning: Tuning) -> list[str]:
    """Say where the rules hold, what each gained there, and what was withdrawn."""
    days = sorted({tuning.first_utc[:10], tuning.last_utc[:10]})
    where = f"{tuning.mpi} on {', '.join(tuning.hosts)}"
    if tuning.placement is not None:
        where += f" ({tuning.placement})"
    lines = [f"{where}, measured {' to '.join(days)}. Rules hold for it there."]
    found = [line for group in tuning.groups for line in _of_group(group)]
    lines += found or ["No rule: the library's own choice stays everywhere."]
    if tuning.library == open_mpi.OPEN_MPI.name and any(
        open_mpi.needs_commuting(group.operation, one.algorithm)
        for group in tuning.groups
        for one in group.winners
        if not one.withdrawn
    ):
        lines.append(
            "CAUTION: with these rules, reductions whose operation does not commute are WRONG."
        )
    return lines


def _of_group(group: Group) -> Iterator[str]:
    """Write a line for each range of sizes with the same algorithm and state."""
    by_size = {one.size_bytes: one for one in group.winners}
    for key, same in groupby(group.sizes_bytes, key=lambda size: _key(by_size.get(size))):
        sizes = list(same)
        if key is not None:
            winners = [by_size[size] for size in sizes]
            where = f"{group.kernel} on {group.ranks} ranks, {range_text(sizes[0], sizes[-1])}"
            yield f"{where}: {_words(winners)}"


def _key(winner: Winner | None) -> tuple[str, object] | None:
    if winner is None:
        return None
    return winner.algorithm, None if winner.checked is None else winner.checked.wins


def _words(winners: list[Winner]) -> str:
    first = winners[0]
    measured = (
        f"{significant_range(one.gain for one in winners)} times as fast as the library's choice"
        f" [{significant(min(one.gain_low for one in winners))},"
        f" {significant(max(one.gain_high for one in winners))}] in {first.launches} launches"
    )
    checks = [one.checked for one in winners if one.checked is not None]
    if not checks:
        return f"{first.algorithm}, {measured}; not checked"
    again = (
        f"{significant_range(one.gain for one in checks)} in {checks[0].launches} fresh launches"
    )
    if first.withdrawn:
        return f"{first.algorithm} withdrawn: {again}; before {measured}"
    return f"{first.algorithm}, {measured}; confirmed: {again}"
