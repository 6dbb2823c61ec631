"""Withdraws rules that do not win in fresh launches with them and without."""

from __future__ import annotations

import os
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.models.checked import PLACE, checked_by, measured_sides
from switchpoint.models.repeats import LEAST_LAUNCHES
from switchpoint.models.rules_files import RULES_LABEL, WITH, WITHOUT, read_rules
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import counted
from switchpoint.tuning.facts import FILE, Group, Tuning, operation_of, read_tuning
from switchpoint.tuning.files import are_files_of


def check_tuning(
    folder: str | os.PathLike[str],
    measurements: Measurements,
    source: str | os.PathLike[str] = "measurements",
    *,
    mpi: str | None = None,
    mpich_library: str | os.PathLike[str] | None = None,
) -> Tuning:
    """Return the rules of a folder with what was measured with and without them.

    Parameters
    ----------
    folder
        As `write_tuning` wrote it.
    measurements
        Runs of the kernels in their mode `library`. The label `rules` is `recommended` or
        `default`; with rules the label `rules_digest` is that of the folder
        (`rules_files.read_rules`). Other runs are left out, and a note says so.
    source
        Where they come from, for messages.
    mpi
        That of the launches, if it is another version than that of the rules, as after an upgrade.
        Their environment may then have another name.
    mpich_library
        As it was for `write_tuning`; without it only the comments of MPICH's files are compared.

    Raises
    ------
    InputError
        If the folder has no rules, its files are not of the rules in `rules.json`, no launches used
        them, or none has a size of a rule.
    """
    tuning = read_tuning(folder)
    source = os.fspath(source)
    if not tuning.rules():
        raise InputError(folder, "has no rules to check; tune again")
    operations = {one.kernel: operation_of(one.kernel) for one in tuning.groups}
    place = {name: getattr(tuning, name) for name in PLACE}
    if mpi not in (None, tuning.mpi):
        place |= {"mpi": mpi, "environ": None}
    digest = read_rules(folder).digest
    if not are_files_of(tuning, Path(folder), digest, mpich_library):
        raise InputError(
            Path(folder) / FILE,
            "says other rules than the files beside it, which the launches used; write the rules"
            " again with `switchpoint tune`",
        )
    found, notes = measured_sides(measurements, source, operations, place, digest)
    groups, checked = [], 0
    for group in tuning.groups:
        winners = []
        for one in group.winners:
            key = group.operation, group.ranks, group.nodes, one.size_bytes
            again = None if one.withdrawn else checked_by(found.get(key, {}))
            checked += again is not None
            winners.append(one if again is None else one.model_copy(update={"checked": again}))
        groups.append(group.model_copy(update={"winners": winners}))
    if not checked:
        raise InputError(source, _why(tuning.groups, {key[1:3] for key in found}))
    kept = [note for note in tuning.notes if note not in notes]
    return tuning.model_copy(update={"groups": groups, "notes": [*kept, *notes]})


def _why(groups: list[Group], measured: set[tuple[int, int]]) -> str:
    """Say why no rule was checked, from the ranks and nodes of the launches."""
    places = {(one.ranks, one.nodes) for one in groups if one.winners}
    if not measured & places:
        ranks, of_rules = ({count for count, _ in of} for of in (measured, places))
        has, wanted = (
            (f"{_list(ranks)} ranks", _list(of_rules))
            if not ranks & of_rules
            else (_on_nodes(measured), _on_nodes(places))
        )
        return f"has launches of {has}, but the rules are for {wanted}; measure with as many"
    return (
        f"has no size with a rule in {LEAST_LAUNCHES} launches of each side; measure those with the"
        f" label {RULES_LABEL}={WITH} and {RULES_LABEL}={WITHOUT}"
    )


def _on_nodes(places: set[tuple[int, int]]) -> str:
    return " and ".join(
        f"{ranks} ranks on {counted(nodes, 'node')}" for ranks, nodes in sorted(places)
    )


def _list(numbers: set[int]) -> str:
    return " and ".join(map(str, sorted(numbers)))
