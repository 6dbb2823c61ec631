"""Checks every file of a store, also while other commands write and join files."""

from __future__ import annotations

import time
from collections.abc import Set

import pyarrow.parquet as pq

from switchpoint.store.batches import TABLES, batch_files, path
from switchpoint.store.checksums import broken_seal
from switchpoint.store.files import Rewritten, StoreFiles, first_line
from switchpoint.store.ledger import ROW
from switchpoint.store.lost_runs import LASTING, lost_warnings, unfinished_warnings
from switchpoint.store.scan import MAKE_READABLE, failures, why_unreadable
from switchpoint.store.store import Store

#: What seems to be missing or left over is looked for again after this pause, until it is the same
#: twice: another command may be joining files.
_PAUSE_S = 0.5
_MOST_LOOKS = 20

#: Other commands may add and join files while these are read; then the new ones are read too.
_MOST_LISTINGS = 20


def verify(store: Store) -> list[str]:
    """Read every file completely and return what is wrong, one sentence each."""
    problems = _problems_of_files(store)
    _, wrong = store.stored()
    others = [str(warning) for warning in wrong if warning.place not in problems]
    return [*others, *_settled(store), *(problems[name] for name in sorted(problems))]


def unfinished(store: Store) -> list[str]:
    """Return a sentence about files of runs that are being stored, if there are any."""
    return [*map(str, unfinished_warnings(store.without_runs().unfinished))]


def _problems_of_files(store: Store) -> dict[str, str]:
    """Return what is wrong with each file that is not sound."""
    read: set[str] = set()
    problems = {}
    for _ in range(_MOST_LISTINGS):
        columns = _columns(store)
        unread = columns.keys() - read
        for name in unread:
            if problem := _problem(store.files, name, columns[name], _fix(name, store)):
                problems[name] = problem
        read |= unread
        if not unread:
            break
    return problems


def _columns(store: Store) -> dict[str, Set[str]]:
    """Return every file with the columns that it must have."""
    files = store.files
    return {
        **{
            name: {*schema.names}
            for table, schema in TABLES.items()
            for name in batch_files(files, table)
        },
        **{name: {ROW} for ledger in store.ledgers.values() for name in ledger.paths()},
        **{name: {"value_id"} for name in files.below("values")},
    }


def _fix(name: str, store: Store) -> str:
    table = name.removeprefix(f"{store.files.root}/").partition("/")[0]
    return "remove it and import its runs again" if table in TABLES else "remove it"


def _problem(files: StoreFiles, name: str, columns: Set[str], fix: str) -> str | None:
    """Return what is wrong with one file that has these columns, if anything is, and the fix."""
    try:
        with files.open(name) as stream:
            if broken_seal(stream):
                return f"{name}: is damaged (its bytes differ from their checksum); {fix}"
            # Arrow reads a local file itself: its threads may outlive a file of Python.
            source = name if files.local else stream
            file = pq.ParquetFile(source, page_checksum_verification=True)
            names = file.schema_arrow.names
            for group in range(file.num_row_groups):
                file.read_row_group(group)
    except failures(files) as error:
        try:
            reason = why_unreadable(files, name, error)
        except Rewritten:  # another command has joined it with others
            return None
        if reason is None:
            return f"{name}: is damaged ({first_line(error)}); {fix}"
        return f"{name}: cannot be read ({reason}). {MAKE_READABLE}"
    if missing := sorted(columns - {*names}):
        return f"{name}: is not a file of a store (no column {missing[0]}); remove it"
    return None


def _settled(store: Store) -> list[str]:
    """Return which files are missing or left over, once this does not change any more."""
    sentences = _missing_or_left(store)
    for _ in range(_MOST_LOOKS):
        if not sentences:
            break
        time.sleep(_PAUSE_S)
        before, sentences = sentences, _missing_or_left(store)
        if sentences == before:
            break
    return sentences


def _missing_or_left(store: Store) -> list[str]:
    files = store.files
    without = store.without_runs()
    batches = store.stored()[0].runs["batch"].unique()
    sentences = [*map(str, lost_warnings(files, without.lost))]
    for table in TABLES:
        if table in LASTING:
            there = {*files.below(table)}
            needed = {path(files, table, batch) for batch in batches}
            sentences += [
                f"{name}: is missing; import its runs again"
                for name in sorted(needed - there)
                if not files.exists(name)  # a network file system may list a new file late
            ]
    killed = sorted([*without.left, *files.leftovers()])
    return sentences + [f"{name}: a writer was killed; `switchpoint store compact` removes it"
                   for name in killed]  # fmt: skip
