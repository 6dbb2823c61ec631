"""Batches without their `runs`: a writer was killed before it wrote them, or the file is lost."""

from __future__ import annotations

import pyarrow as pa

from switchpoint.store.batches import TABLES, batch_of, in_batches, path
from switchpoint.store.files import StoreFiles
from switchpoint.store.scan import FILE, scan

#: The tables that every run has rows in for ever; old samples are removed.
LASTING = {"curves", "facts"}

_RUN_ID = pa.schema([("run_id", pa.string())])


def batches_without_runs(files: StoreFiles) -> tuple[set[str], set[str]]:
    """Return the batches that have other files, but none of `runs`: leftovers, and lost ones.

    A writer or a command that was killed leaves a part of a batch, or one whose runs are also in
    another batch. If a batch has all that lasts and a run that no other has, its `runs` are lost.
    """
    there = in_batches(files.below("runs"))[0]
    complete = {batch_of(name) for name in there}
    others = {
        batch_of(name) for table in TABLES for name in in_batches(files.below(table))[0]
    } - complete
    whole = sorted(
        batch for batch in others
        if all(files.exists(path(files, table, batch)) for table in LASTING)
    )  # fmt: skip
    if not whole:
        return others, set()
    runs, _ = scan(files, there, _RUN_ID)
    paths = [path(files, "facts", batch) for batch in whole]
    facts, _ = scan(files, paths, _RUN_ID, with_file=True)
    rows = facts.to_pandas()
    elsewhere = rows["run_id"].isin(set(runs["run_id"].to_pylist()))
    all_elsewhere = elsewhere.groupby(rows[FILE].astype(str)).all()
    stored_twice = {batch_of(name) for name in all_elsewhere.index[all_elsewhere]}
    lost = {*whole} - stored_twice
    # Of a batch that is being written, `runs` come last.
    old = {batch for batch in lost if files.is_old(path(files, "facts", batch))}
    return others - lost, old


def told(files: StoreFiles, lost: set[str]) -> list[str]:
    """Return one sentence for each batch whose runs are lost."""
    return [
        f"{path(files, 'runs', batch)}: is missing; import its runs again" for batch in sorted(lost)
    ]
