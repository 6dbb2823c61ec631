"""Drops old samples of a store, rewrites its first layout, and checks every file."""

from __future__ import annotations

from collections.abc import Set
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq

from switchpoint.errors import InputError
from switchpoint.store.batches import TABLES, Encoded, batch_of, in_batches, path, write
from switchpoint.store.checksums import broken_seal
from switchpoint.store.compaction import Upkeep
from switchpoint.store.files import StoreFiles
from switchpoint.store.first_layout import FirstLayout
from switchpoint.store.ledger import ROW
from switchpoint.store.lost_runs import LASTING, batches_without_runs, told
from switchpoint.store.mark import set_mark
from switchpoint.store.store import Store
from switchpoint.store.tables import LATER, STORED_AS
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


def verify(store: Store) -> list[str]:
    """Read every file completely and return what is wrong, one sentence each."""
    stored, wrong = store.stored()
    named = " ".join(wrong)
    files = store.files
    left, lost = batches_without_runs(files)
    wrong += told(files, lost)
    for table, schema in TABLES.items():
        there = in_batches(files.below(table))[0]
        if table in LASTING:
            needed = {path(files, table, batch) for batch in stored.runs["batch"].dropna()}
            wrong += [
                f"{name}: is missing; import its runs again" for name in sorted(needed - {*there})
            ]
        for name in there:
            if name not in named:
                wrong += _problem(
                    files, name, {*schema.names} - LATER, "remove it and import its runs again"
                )
            if batch_of(name) in left:
                wrong.append(f"{name}: a writer was killed; `switchpoint store compact` removes it")
    for ledger in store.ledgers.values():
        for name in ledger.paths():
            wrong += _problem(files, name, {ROW})
    for name in files.below("values"):
        wrong += _problem(files, name, {"value_id"})
    wrong += [f"{name}: a writer was killed; `switchpoint store compact` removes it"
              for name in files.leftovers()]  # fmt: skip
    return wrong


def _problem(files: StoreFiles, name: str, columns: Set[str], fix: str = "remove it") -> list[str]:
    """Return what is wrong with one file that has these columns, if anything is, and the fix."""
    try:
        with files.system.open(name, "rb") as stream:
            if broken_seal(stream):
                return [f"{name}: is damaged (its bytes differ from their checksum); {fix}"]
            # Arrow reads a local file itself: its threads may outlive a file of Python.
            source = name if files.local else stream
            file = pq.ParquetFile(source, page_checksum_verification=True)
            names = file.schema_arrow.names
            for group in range(file.num_row_groups):
                file.read_row_group(group)
    except (pa.ArrowException, OSError) as error:
        return [f"{name}: is damaged ({str(error).splitlines()[0]}); {fix}"]
    missing = sorted(columns - {*names})
    return (
        [f"{name}: is not a file of a store (no column {missing[0]}); remove it"] if missing else []
    )
