"""Drops old samples of a store, and rewrites its first layout."""

from __future__ import annotations

from datetime import date

from switchpoint.errors import InputError
from switchpoint.store.batches import Encoded, in_batches, path, write
from switchpoint.store.compaction import Upkeep
from switchpoint.store.first_layout import FirstLayout
from switchpoint.store.mark import set_mark
from switchpoint.store.store import Store
from switchpoint.store.tables import STORED_AS
from switchpoint.tables.columns import RUN_COLUMNS
from switchpoint.tables.measurements import Measurements

#: Runs of the first layout that are migrated at once.
_RUNS_AT_ONCE = 500


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


def migrate(store: Store) -> Upkeep:
    """Rewrite the runs of the first layout as batches, and remove their files."""
    files, done = store.files, Upkeep()
    older = in_batches(files.below("runs"))[1]
    if not older:
        return done
    set_mark(files)
    first = FirstLayout(files, older)
    with files.alone():
        stored, done.left_out = store.stored()
        runs = stored.runs[stored.runs["batch"].isna()]
        for start in range(0, len(runs), _RUNS_AT_ONCE):
            part = runs.iloc[start : start + _RUNS_AT_ONCE]
            samples, damaged = first.samples(part)
            done.left_out += damaged
            # They stay older than all batches, so that the gate does not judge them as the newest.
            write(files, Encoded.of(Measurements(samples, part[[*RUN_COLUMNS, STORED_AS]])))
            done.runs += len(part)
        if done.left_out:
            raise InputError(
                store.url,
                f"{done.runs} runs were migrated, but the old files stay, because of"
                f" {len(done.left_out)} damaged ones; the first: {done.left_out[0]}",
            )
        done.files = first.remove()
    return done
