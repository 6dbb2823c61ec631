"""Chooses what of an import is to be written: what the store lacks.

A run that is written again counts instead of the one before, see `stored_runs`.
"""

from __future__ import annotations

from switchpoint.store.batches import TABLES, Encoded
from switchpoint.store.stored_runs import StoredRuns

#: The tables of a batch that a user may remove: damaged files, and old samples.
_PARTS = [table for table in TABLES if table != "runs"]


def needed(stored: StoredRuns, encoded: Encoded) -> list[str]:
    """Return the runs that are new, replace a truncated run, or restore what was removed.

    Parameters
    ----------
    stored
        Those runs of the import that the store has.
    encoded
        The import.
    """
    offered = encoded.runs().sort_values("complete", kind="stable")
    offered = offered.drop_duplicates("run_id", keep="last")
    known = dict(zip(stored.runs["run_id"], stored.runs["complete"].astype(bool), strict=True))
    lacking = _restorable(stored, encoded)
    return [
        run
        for run, complete in zip(offered["run_id"], offered["complete"], strict=True)
        if run not in known or complete > known[run] or (complete == known[run] and run in lacking)
    ]


def _restorable(stored: StoredRuns, encoded: Encoded) -> set[str]:
    """Return the runs of which the import has a part that is gone, and all that the store has."""
    gone = {table: stored.gone(table) for table in _PARTS}
    if not any(gone.values()):
        return set()
    offered = {table: encoded.run_ids(table) for table in _PARTS}
    runs = {run for table in _PARTS for run in gone[table] & offered[table]}
    for table in _PARTS:
        if poorer := runs - offered[table]:  # such as a bundle's, which has no samples
            runs -= stored.with_rows(table, poorer)
    return runs
