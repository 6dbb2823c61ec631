"""Says in which facts the runs of several sides differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from switchpoint.comparison.sides import Side
from switchpoint.records.terms import differing, run_terms
from switchpoint.tables.columns import Run, records
from switchpoint.tables.measurements import facts_of

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
    return [_of_run(run) for run in records(runs, Run)]


def _of_run(run: Run) -> dict[str, str]:
    of_columns = {
        "tool": run["tool"],
        "Spack's spec": run["spack_spec"],
        "Spack's lock": run["lock_hash"],
        "MPI": run["mpi"],
    }
    known = {term: value for term, value in of_columns.items() if value}
    return known | run_terms(*facts_of(run))


def _listed(values: Iterable[str]) -> str:
    words = sorted(values)
    more = f" and {len(words) - _VALUES} more" if len(words) > _VALUES else ""
    return ", ".join(words[:_VALUES]) + more
