"""Drops old samples of a store."""

from __future__ import annotations

from datetime import date

from switchpoint.store.batches import path
from switchpoint.store.compaction import Upkeep
from switchpoint.store.store import Store


def prune(store: Store, before: date) -> Upkeep:
    """Remove the samples of batches all of whose runs are older than a day.

    Their curves, facts and parameters stay, and so do all findings.
    """
    files, done = store.files, Upkeep()
    store.files_of_runs()
    with files.alone():
        stored, done.left_out = store.stored()
        for batch, part in stored.by_batch():
            old = part["date"].notna().all() and part["date"].max() < before.isoformat()
            samples = path(files, "samples", batch)
            if old and files.exists(samples):
                files.remove([samples])
                done.files += 1
                done.batches += 1
                done.runs += len(part)
    return done
