"""Batches without their `runs`: a writer was killed before it wrote them, or the file is lost."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import NamedTuple

import pyarrow as pa

from switchpoint.data_warnings import DataWarning
from switchpoint.store.batches import TABLES, batch_files, batch_of, path
from switchpoint.store.files import LEFT_AFTER, StoreFiles
from switchpoint.store.scan import FILE, scan

#: The tables that every run has rows in for ever; old samples are removed.
LASTING = {"curves", "facts"}

_RUN_ID = pa.schema([("run_id", pa.string())])


class WithoutRuns(NamedTuple):
    """Batches that have other files, but none of `runs`.

    Attributes
    ----------
    left : list of str
        Files that a writer or a command left which was killed: a part of a batch, or one whose
        runs are also in another batch.
    lost : set of str
        Batches that have all that lasts, and a run that no other has: their `runs` are lost.
    unfinished : dict
        Other files, and when they were written: a writer is storing their batch, or was killed.
    """

    left: list[str]
    lost: set[str]
    unfinished: dict[str, datetime]


def batches_without_runs(files: StoreFiles) -> WithoutRuns:
    """Return what belongs to batches that have no file of `runs`."""
    there = batch_files(files, "runs")
    complete = {batch_of(name) for name in there}
    others: dict[str, list[str]] = {}
    for table in TABLES:
        for name in batch_files(files, table):
            if batch_of(name) not in complete:
                others.setdefault(batch_of(name), []).append(name)
    # A command that joins files has written the runs meanwhile, or a file system lists them late.
    others = {
        batch: names
        for batch, names in others.items()
        if not files.exists(path(files, "runs", batch))
    }
    written = {
        batch: {name: time for name in names if (time := files.modified(name))}
        for batch, names in others.items()
    }
    now = datetime.now(timezone.utc)
    # Of a batch that is being written, `runs` come last.
    fresh = {
        batch
        for batch, times in written.items()
        if times and max(times.values()) + LEFT_AFTER >= now
    }
    lost = _with_runs_of_their_own(files, there, sorted({*others} - fresh))
    left = [name for batch in {*others} - fresh - lost for name in others[batch]]
    unfinished = {name: time for batch in fresh for name, time in written[batch].items()}
    return WithoutRuns(sorted(left), lost, unfinished)


def _with_runs_of_their_own(files: StoreFiles, runs: list[str], batches: list[str]) -> set[str]:
    """Return those batches that have all that lasts, and a run that is not in these `runs`."""
    whole = [
        batch
        for batch in batches
        if all(files.exists(path(files, table, batch)) for table in LASTING)
    ]
    if not whole:
        return set()
    stored, _ = scan(files, runs, _RUN_ID)
    facts, _ = scan(
        files, [path(files, "facts", batch) for batch in whole], _RUN_ID, with_file=True
    )
    rows = facts.to_pandas()
    elsewhere = rows["run_id"].isin(set(stored["run_id"].to_pylist()))
    all_elsewhere = elsewhere.groupby(rows[FILE].astype(str)).all()
    return {*whole} - {batch_of(name) for name in all_elsewhere.index[all_elsewhere]}


def lost_warnings(files: StoreFiles, lost: set[str]) -> list[DataWarning]:
    """Return a warning for each batch whose runs are lost."""
    return [
        DataWarning("missing_file", "is missing; import its runs again", path(files, "runs", batch))
        for batch in sorted(lost)
    ]


def unfinished_warnings(unfinished: dict[str, datetime]) -> list[DataWarning]:
    """Return a warning about files of batches that are being stored, if there are any."""
    if not unfinished:
        return []
    removable = max(unfinished.values()) + LEFT_AFTER
    files = "1 file belongs" if len(unfinished) == 1 else f"{len(unfinished)} files belong"
    what = (
        f"{files} to runs that are being stored, such as {min(unfinished)}; if the writer was"
        " killed, `switchpoint store compact` removes what it left from"
        f" {removable:%Y-%m-%d %H:%M} UTC on"
    )
    return [DataWarning("unfinished", what)]
