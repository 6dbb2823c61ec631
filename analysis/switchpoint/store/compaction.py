"""Joins small files of a store, and removes what killed writers left.

It first adds what replaces the old files, and then removes those. Whoever reads in between, or
finds what a killed command left, sees each run once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.store.batches import (
    TABLES,
    batch_bytes,
    batch_files,
    batch_name,
    batch_of,
    joined_name,
    month_of,
    path,
    whole_batch,
)
from switchpoint.store.files import StoreFiles
from switchpoint.store.ledger import Ledger
from switchpoint.store.lost_runs import lost_warnings, unfinished_warnings
from switchpoint.store.mark import check_mark
from switchpoint.store.scan import paths_of
from switchpoint.store.store import Store
from switchpoint.store.stored_runs import StoredRuns
from switchpoint.store.tables import GrowingParquet
from switchpoint.store.values import values_of, write_values
from switchpoint.store.wanted import Wanted

#: Batches of this size stay as they are; smaller ones are joined up to about this size.
LARGE_BYTES = 2**26

#: An import joins the batches of a month if there are more small ones: a year of sessions with many
#: imports and gates stays below 1,500 files.
MOST_BATCHES = 16


@dataclass
class Upkeep:
    """What a command changed.

    Attributes
    ----------
    batches, files : int
        Batches joined or shortened, and files removed.
    runs : int
        Runs whose samples were dropped.
    left_out : list of DataWarning
        What could not be changed.
    """

    batches: int = 0
    files: int = 0
    runs: int = 0
    left_out: list[DataWarning] = field(default_factory=list)


def compact(store: Store) -> Upkeep:
    """Join the small files of each month and site, and remove what killed writers left."""
    files, done = store.files, Upkeep()
    check_mark(files)
    if not files.below("values"):  # without runs, a store may have single values
        store.files_of_runs()
    with files.alone():
        without = store.without_runs()
        done.left_out += lost_warnings(files, without.lost)
        done.left_out += unfinished_warnings(without.unfinished)
        left = [*files.leftovers(), *without.left]
        files.remove(left)
        done.files = len(left)
        for month in sorted({month_of(name) for name in batch_files(files, "runs")}):
            _join_runs(files, month, done)
        for ledger in store.ledgers.values():
            for month in sorted({month_of(name) for name in ledger.paths()}):
                _join_rows(files, ledger, month, done)
        for folder, names in _values_by_site(files).items():
            _join_values(files, folder, names, done)
    return done


def join_if_many(store: Store) -> Upkeep:
    """Join the files of those months and sites that have many small ones, unless others do it.

    Only in a folder: an object store has no lock that keeps others from doing the same.
    """
    files, done = store.files, Upkeep()
    if not files.local:
        return done
    many = {
        table: _months_of_many(files, batch_files(files, table))
        for table in ("runs", *store.ledgers)
    }
    values = _sites_of_many(files)
    if not values and not any(many.values()):
        return done
    try:
        with files.alone():
            for month in many["runs"]:
                _join_runs(files, month, done)
            for name, ledger in store.ledgers.items():
                for month in many[name]:
                    _join_rows(files, ledger, month, done)
            for folder, names in values.items():
                _join_values(files, folder, names, done)
    except InputError:  # another command rewrites the store, and this one need not
        return Upkeep()
    return done


def _months_of_many(files: StoreFiles, paths: list[str]) -> list[str]:
    """Return the months with more than `MOST_BATCHES` small files."""
    counts = Counter(month_of(name) for name in paths)
    months = [month for month, count in counts.items() if count > MOST_BATCHES]
    small = Counter(
        month_of(name)
        for name in paths
        if month_of(name) in months and batch_bytes(files, batch_of(name)) < LARGE_BYTES
    )
    return sorted(month for month, count in small.items() if count > MOST_BATCHES)


def _join_runs(files: StoreFiles, month: str, done: Upkeep) -> None:
    """Join the small batches of a month."""
    paths = [name for name in batch_files(files, "runs") if month_of(name) == month]
    sizes = {batch_of(name): batch_bytes(files, batch_of(name)) for name in paths}
    stored, damaged = StoredRuns.read(files, paths, Wanted({}))
    done.left_out += damaged
    unread = {batch_of(name) for name in paths_of(damaged)}
    pruned = {batch for batch in sizes if not files.exists(path(files, "samples", batch))}
    for alike, tables in (
        ({*sizes} - pruned, list(TABLES)),
        (pruned, [table for table in TABLES if table != "samples"]),
    ):
        for group in _groups({name: sizes[name] for name in alike - unread}):
            _replace(files, stored, group, tables, done)


def _join_rows(files: StoreFiles, ledger: Ledger, month: str, done: Upkeep) -> None:
    """Join the small files of a ledger of a month."""
    sizes = {name: files.size(name) for name in ledger.paths() if month_of(name) == month}
    for group in _groups(sizes):
        table, damaged = ledger.rows(group, Wanted({}))
        done.left_out += damaged
        if damaged:
            continue
        ledger.write(f"{month}/{batch_name()}", table)
        files.remove(group)
        done.batches += len(group)
        done.files += len(group)


def _values_by_site(files: StoreFiles) -> dict[str, list[str]]:
    """Return the files of single values by their folders, one for each site."""
    folders: dict[str, list[str]] = {}
    for name in files.below("values"):
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    return folders


def _sites_of_many(files: StoreFiles) -> dict[str, list[str]]:
    """Return those folders of single values that have more than `MOST_BATCHES` small files."""
    return {
        folder: names
        for folder, names in _values_by_site(files).items()
        if len(names) > MOST_BATCHES
        and sum(files.size(name) < LARGE_BYTES for name in names) > MOST_BATCHES
    }


def _join_values(files: StoreFiles, folder: str, names: list[str], done: Upkeep) -> None:
    """Join the small files of single values of a site."""
    for group in _groups({name: files.size(name) for name in names}):
        values, damaged = values_of(files, group, Wanted({}))
        done.left_out += damaged
        unread = paths_of(damaged)
        sound = [name for name in group if name not in unread]
        if len(sound) > 1:
            joined = write_values(files, folder, values)
            old = [name for name in sound if name != joined]  # which may contain all the others
            files.remove(old)
            done.batches += len(sound)
            done.files += len(old)


def _groups(sizes: dict[str, int]) -> Iterator[list[str]]:
    """Divide the small batches or files of a month into groups that are joined."""
    size_bytes = 0
    group: list[str] = []
    for name, own in sorted(sizes.items()):
        if own >= LARGE_BYTES:
            continue
        if size_bytes + own > 2 * LARGE_BYTES:
            if len(group) > 1:
                yield group
            group, size_bytes = [], 0
        group.append(name)
        size_bytes += own
    if len(group) > 1:
        yield group


def _replace(
    files: StoreFiles, stored: StoredRuns, group: list[str], tables: list[str], done: Upkeep
) -> None:
    """Write the runs of some batches as one, and remove these batches."""
    runs = stored.of(group)
    if len(runs):
        joined = f"{month_of(path(files, 'runs', group[0]))}/{joined_name(group)}"
        try:
            with whole_batch(files, joined, tables) as write_table:
                for table in tables:
                    write_table(table, _joined(stored, runs, table))
        except _Unusable as error:
            done.left_out += error.damaged
            return
    _remove(files, group, done)
    done.batches += len(group)


class _Unusable(Exception):  # noqa: N818  no error: the batches stay as they are
    """Files that are to be joined are damaged, or cannot be read."""

    def __init__(self, damaged: list[DataWarning]) -> None:
        super().__init__()
        self.damaged = damaged


def _joined(stored: StoredRuns, runs: pd.DataFrame, table: str) -> bytes:
    """Return the file of a table of some runs; `_Unusable` if not all of it can be read.

    One batch is in memory at a time: the headers of a month need gigabytes.
    """
    file = GrowingParquet(TABLES[table])
    for _, own in runs.groupby("batch", sort=False):  # oldest first
        encoded, damaged = stored.everything(own, [table])
        if damaged:
            raise _Unusable(damaged)
        file.add(encoded.tables[table])
    return file.finished()


def _remove(files: StoreFiles, batches: list[str], done: Upkeep) -> None:
    """Remove batches: the runs first, so that no run is without its samples."""
    for table in reversed(TABLES):
        old = [path(files, table, batch) for batch in batches]
        old = [name for name in old if files.exists(name)]
        files.remove(old)
        done.files += len(old)
