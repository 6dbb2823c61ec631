"""Says in which facts the runs of several sides differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from switchpoint.comparison.sides import Side
from switchpoint.records.terms import differing, run_terms
from switchpoint.tables.columns import records
from switchpoint.tables.measurements import facts_of

#: Columns of runs that say with what other tools' results were measured.
_OF_RUNS = {"tool": "tool", "spack_spec": "Spack's spec", "lock_hash": "Spack's lock"}

#: Values that one side shows.
_VALUES = 3


def differing_facts(sides: Sequence[Side], run_ids: Sequence[set[str]]) -> pd.DataFrame:
    """Tabulate the facts in which the compared runs of the sides differ.

    Parameters
    ----------
    sides
        The sides.
    run_ids
        Of each side the runs that were compared.

    Returns
    -------
    DataFrame
        `fact`, and a column for each side with its values. A fact that varies within a side is
        listed if the sides have different values.
    """
    facts_of_sides = [_facts_of(side, ids) for side, ids in zip(sides, run_ids, strict=True)]
    rows = [
        {"fact": fact}
        | {side.letter: _listed(own) for side, own in zip(sides, values, strict=True)}
        for fact, values in differing(facts_of_sides)
    ]
    return pd.DataFrame(rows, columns=["fact", *(side.letter for side in sides)])


def _facts_of(side: Side, run_ids: set[str]) -> list[dict[str, str]]:
    """Return the facts of each run of a side."""
    runs = side.runs[side.runs["run_id"].isin(run_ids)]
    return [_of_run(run) for run in records(runs)]


def _of_run(run: dict[Any, Any]) -> dict[str, str]:
    of_columns = {term: str(run[name]) for name, term in _OF_RUNS.items() if run[name]}
    if run["mpi"]:
        of_columns["MPI"] = run["mpi"]
    return of_columns | run_terms(*facts_of(run))


def _listed(values: Iterable[str]) -> str:
    words = sorted(values)
    more = f" and {len(words) - _VALUES} more" if len(words) > _VALUES else ""
    return ", ".join(words[:_VALUES]) + more
