"""Keeps a store small and sound: joins small files, drops old samples, migrates, verifies.

Every command here first adds what replaces the old files, and then removes those. Whoever reads in
between, or finds what a killed command left, sees each run once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq

from switchpoint.errors import InputError
from switchpoint.store.batches import (
    TABLES,
    Encoded,
    batch_bytes,
    batch_of,
    in_batches,
    path,
    write,
)
from switchpoint.store.checksums import broken_seal
from switchpoint.store.files import StoreFiles
from switchpoint.store.first_layout import FirstLayout
from switchpoint.store.mark import set_mark
from switchpoint.store.store import Store
from switchpoint.store.stored_runs import StoredRuns
from switchpoint.tables.columns import RUN_COLUMNS
from switchpoint.tables.measurements import Measurements

#: Batches of this size stay as they are; smaller ones are joined up to about this size.
LARGE_BYTES = 2**26

#: Runs of the first layout that are migrated at once.
_RUNS_AT_ONCE = 500


@dataclass
class Upkeep:
    """What a command changed.

    Attributes
    ----------
    batches, files : int
        Batches joined or shortened, and files removed.
    runs : int
        Runs migrated, or whose samples were dropped.
    left_out : list of str
        What could not be changed, one sentence each.
    """

    batches: int = 0
    files: int = 0
    runs: int = 0
    left_out: list[str] = field(default_factory=list)


def compact(store: Store) -> Upkeep:
    """Join the small batches of each month, and remove what killed writers left."""
    files, done = store.files, Upkeep()
    stored, done.left_out = store.stored()
    with files.alone():
        left = [*files.leftovers(), *_orphans(files)]
        files.remove(left)
        done.files = len(left)
        damaged = " ".join(done.left_out)
        for group in _groups(files, [batch for batch in stored.batches() if batch not in damaged]):
            _replace(store, stored, group, done)
    return done


def _groups(files: StoreFiles, batches: list[str]) -> Iterator[list[str]]:
    """Divide the small batches of each month into groups that are joined."""
    month, size_bytes = "", 0
    group: list[str] = []
    for batch in sorted(batches):
        own = batch_bytes(files, batch)
        if own >= LARGE_BYTES:
            continue
        if batch.partition("/")[0] != month or size_bytes + own > 2 * LARGE_BYTES:
            if len(group) > 1:
                yield group
            month, group, size_bytes = batch.partition("/")[0], [], 0
        group.append(batch)
        size_bytes += own
    if len(group) > 1:
        yield group


def _replace(store: Store, stored: StoredRuns, group: list[str], done: Upkeep) -> None:
    """Write the runs of some batches as one, and remove these batches."""
    runs = stored.of(group)
    if len(runs):
        encoded, damaged = store.tables_of(stored, runs)
        if damaged:
            done.left_out += damaged
            return
        write(store.files, encoded)
    _remove(store.files, group, done)
    done.batches += len(group)


def _remove(files: StoreFiles, batches: list[str], done: Upkeep) -> None:
    """Remove batches: the runs first, so that no run is without its samples."""
    for table in reversed(TABLES):
        old = [path(files, table, batch) for batch in batches]
        old = [name for name in old if files.exists(name)]
        files.remove(old)
        done.files += len(old)


def _orphans(files: StoreFiles) -> list[str]:
    """Return old files of batches whose runs were never written."""
    complete = {batch_of(name) for name in in_batches(files.below("runs"))[0]}
    return [
        name
        for table in TABLES
        if table != "runs"
        for name in in_batches(files.below(table))[0]
        if batch_of(name) not in complete and files.is_old(name)
    ]


def prune(store: Store, before: date) -> Upkeep:
    """Remove the samples of batches all of whose runs are older than a day; their curves stay."""
    files, done = store.files, Upkeep()
    stored, done.left_out = store.stored()
    with files.alone():
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
            write(files, Encoded.of(Measurements(samples, part[RUN_COLUMNS])))
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
    _, wrong = store.stored()
    told = " ".join(wrong)
    files = store.files
    known = {batch_of(name) for name in in_batches(files.below("runs"))[0]}
    for table, schema in TABLES.items():
        for name in in_batches(files.below(table))[0]:
            if name not in told:
                wrong += _problem(files, name, schema)
            if batch_of(name) not in known:
                wrong.append(f"{name}: a writer was killed; `switchpoint store compact` removes it")
    for name in files.below("values"):
        wrong += _problem(files, name, pa.schema([("value_id", pa.string())]))
    wrong += [f"{name}: a writer was killed; `switchpoint store compact` removes it"
              for name in files.leftovers()]  # fmt: skip
    return wrong


def _problem(files: StoreFiles, name: str, schema: pa.Schema) -> list[str]:
    """Return what is wrong with one file, if anything is."""
    try:
        with files.system.open(name, "rb") as stream:
            if broken_seal(stream):
                return [f"{name}: is damaged (its bytes differ from their checksum); remove it"]
            # Arrow reads a local file itself: its threads may outlive a file of Python.
            source = name if files.local else stream
            table = pq.ParquetFile(source, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError) as error:
        return [f"{name}: is damaged ({str(error).splitlines()[0]}); remove it"]
    missing = [column for column in schema.names if column not in table.schema.names]
    return (
        [f"{name}: is not a file of a store (no column {missing[0]}); remove it"] if missing else []
    )
