"""Writes measured rules as files that MPI libraries read, with what was measured in comments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.limits import RULES_BYTES
from switchpoint.models.libraries import mpich, open_mpi
from switchpoint.models.libraries.library import Library
from switchpoint.models.recommend import LIBRARIES
from switchpoint.models.rules_files import digest_of, settings_in
from switchpoint.models.rules_folder import (
    comment_line,
    files_without_rules,
    library_files,
    write_rules,
)
from switchpoint.regular_files import read_limited
from switchpoint.tuning.facts import FILE, Group, SizeRange, Tuning, to_text


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
        If a file cannot be written, or is there and was not written by this function, if the folder
        has rules for another library, or if `mpich_library` is needed.
    """
    folder = Path(folder)
    library = LIBRARIES[tuning.library]
    if not force:
        _refuse_another_library(folder, library)
    rules = tuning.rules()
    if rules and library is mpich.MPICH and mpich_library is None:
        raise InputError(
            "--mpich-library",
            "is needed: MPICH reads all its decisions from one file; give the library that programs"
            " use, such as /usr/lib/x86_64-linux-gnu/libmpich.so.12",
        )
    files = library_files(folder, library, rules, mpich_library)
    files = files or files_without_rules(folder, library)
    if not files:
        return []
    return write_rules(
        folder,
        {**files, FILE: to_text(tuning)},
        by="tune",
        comments=comments(tuning),
        force=force,
    )


def are_files_of(
    tuning: Tuning, folder: Path, digest: str, mpich_library: str | os.PathLike[str] | None
) -> bool:
    """Return whether the files of a folder have the rules, and say what was measured of them.

    Open MPI's files have no names of algorithms, and no file has a gain, except in comments.

    Parameters
    ----------
    tuning
        As `rules.json` of the folder has it.
    folder, mpich_library
        As of `write_tuning`.
    digest
        Of the folder's files, as `rules_files.read_rules` returns it.
    """
    library = LIBRARIES[tuning.library]
    said = "".join(
        read_limited(file, RULES_BYTES).decode() for file in sorted(folder.glob("*.env"))
    )
    if not {comment_line(line) for line in comments(tuning)} <= {*said.splitlines()}:
        return False
    if library is mpich.MPICH and mpich_library is None:
        return True
    files = library_files(folder, library, tuning.rules(), mpich_library)
    settings = [settings_in(text) for name, text in files.items() if name.endswith(".env")]
    return digest in [digest_of(own, files) for own in settings]


def _refuse_another_library(folder: Path, library: Library) -> None:
    """Raise InputError if a folder has rules for another library, which would stay in its files."""
    for other in LIBRARIES.values():
        if other is library or not (folder / FILE).exists():
            continue
        if files_without_rules(folder, other):
            raise InputError(
                folder,
                f"has rules for {other.name}; choose another folder, or replace what was measured"
                " of them with --force",
            )


def comments(tuning: Tuning) -> list[str]:
    """Say where the rules hold, what each gained there, and what was withdrawn."""
    where = f"{tuning.mpi} on {', '.join(tuning.hosts)}"
    if tuning.placement is not None:
        where += f" ({tuning.placement})"
    lines = [f"{where}, measured {tuning.days}. Rules hold for it there."]
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
    """Write a line for each range of sizes with a winner."""
    for part in group.ranges():
        if part.winners:
            yield f"{group.kernel} on {group.ranks} ranks, {part.sizes}: {_words(part)}"


def _words(part: SizeRange) -> str:
    first = part.winners[0]
    measured = f"{part.gains} times as fast as the library's choice in {first.launches} launches"
    if first.checked is None:
        return f"{first.algorithm}, {measured}; {first.verdict}"
    again = f"{first.verdict}: {part.gains_again} in {first.checked.launches} fresh launches"
    if first.withdrawn:
        return f"{first.algorithm} {again}; before {measured}"
    return f"{first.algorithm}, {measured}; {again}"
