"""Finds runs that run another one again, and says in what the two differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from switchpoint.importing import lock as locks
from switchpoint.reproduction.differences import Difference
from switchpoint.reproduction.recipe import Recipe
from switchpoint.tables.columns import REPRODUCES, Run, records
from switchpoint.tables.measurements import Measurements

#: Facts that always differ.
_PASSING = ("run", "started")


@dataclass(frozen=True)
class Again:
    """A run and the one that runs it again.

    Attributes
    ----------
    first, second : str
        Their identities.
    started : tuple of str
        When each was measured.
    differences : list of Difference
        What else of the two is not the same.
    same : list of str
        Names of the facts that are.
    """

    first: str
    second: str
    started: tuple[str, str]
    differences: list[Difference]
    same: list[str]


def runs_again(measurements: Measurements) -> Iterator[Again]:
    """Each run that runs again another one of these."""
    runs = {str(run["run_id"]): run for run in records(measurements.runs, Run)}
    for identity, run in runs.items():
        first = str(json.loads(run["labels"] or "{}").get(REPRODUCES))
        if first in runs:
            yield _compared(first, identity, *(_facts(measurements, runs[one]) for one in
                                               (first, identity)))  # fmt: skip


def _compared(first: str, second: str, there: Mapping[str, str], here: Mapping[str, str]) -> Again:
    names = [name for name in dict.fromkeys([*there, *here]) if name not in _PASSING]
    pairs = {name: (there.get(name, "none"), here.get(name, "none")) for name in names}
    return Again(
        first,
        second,
        (there["started"], here["started"]),
        [Difference(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1]],
        [name for name, pair in pairs.items() if pair[0] == pair[1]],
    )


def _facts(measurements: Measurements, run: Run) -> dict[str, str]:
    """What a run was run with, and on which machines."""
    header = measurements.facts(run["run_id"])[0]
    lock = locks.unpack(run["lock"]) if run["lock"] else None
    facts = dict(Recipe(header, str(run["source"]), lock).facts())
    ranks = header["ranks"]
    machines = {
        "CPU model": {rank.get("cpu_model") for rank in ranks},
        "kernel release": {rank.get("kernel_release") for rank in ranks},
    }
    known = {term: sorted(filter(None, values)) for term, values in machines.items()}
    return facts | {term: ", ".join(values) for term, values in known.items() if values}
