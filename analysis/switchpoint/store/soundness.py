"""Checks the files of a store that another program wrote, as everything is before it is stored.

Files of this program have a seal (see `checksums`), and what they contain was checked before they
were written. A file without a seal may contain anything; if a value cannot be right, the file costs
its own rows and one warning, like a damaged one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Set

import pyarrow as pa
import pyarrow.compute as pc

from switchpoint.importing.lock import locks_problem
from switchpoint.records.footer import footer_problem
from switchpoint.records.header import header_problem
from switchpoint.store.tables import OTHER_IDENTITY
from switchpoint.strict_json import parse_json
from switchpoint.tables.columns import RESERVED
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.validity import POINT_RANGES, SAMPLE_RANGES, is_start, labels_in

_ID = r"\A[0-9a-f]{32}\z"


def problem_of_table(table: pa.Table) -> str | None:
    """Return the first problem of rows of runs, facts, samples, curves or values, or None."""
    return next(_problems(table), None)


def _problems(table: pa.Table) -> Iterator[str]:
    names = {*table.schema.names}
    identity = "value_id" if "value_id" in names else "run_id"
    if {"format", "value_id"} & names and table[identity].null_count == len(table):
        return  # a table of something else, which the caller names so
    ids = table[identity].unique().cast(pa.string())
    if ids.null_count or not pc.all(pc.match_substring_regex(ids, _ID), min_count=0).as_py():
        yield f"a {identity} is not 32 hexadecimal digits"
    if "value" in names:
        yield from _of_numbers(table, {"value": (-sys.float_info.max, sys.float_info.max)})
    if "time_us" in names:
        yield from _of_numbers(table, POINT_RANGES if "count" in names else SAMPLE_RANGES)
    if "labels" in names:
        yield from _of_labels(table["labels"], "labels")
    if OTHER_IDENTITY in names:
        yield from _of_labels(table[OTHER_IDENTITY], OTHER_IDENTITY, RESERVED | {*IDENTITY})
    if "complete" in names and table["complete"].null_count:
        yield "complete is neither true nor false"
    if {"date", "start_utc"} <= names:
        yield from _of_times(table)
    if {"header", "footer"} <= names:
        yield from _of_facts(table)


def _of_numbers(table: pa.Table, ranges: dict[str, tuple[float, float]]) -> Iterator[str]:
    for field in table.schema:
        if not (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)):
            continue
        low, high = ranges.get(field.name, (-sys.float_info.max, sys.float_info.max))
        column = table[field.name]
        if field.name in ranges and column.null_count:
            yield f"a row has no {field.name}"
        known = column.drop_null()
        if pa.types.is_floating(field.type) and field.name not in ranges:
            known = known.filter(pc.invert(pc.is_nan(known)))  # an interval that is not known
        right = pc.and_(pc.greater_equal(known, low), pc.less_equal(known, high))
        wrong = known.filter(pc.invert(right))
        if len(wrong):
            yield f"{field.name} is {wrong[0]}, but must be from {low:g} to {high:g}"


def _of_labels(column: pa.ChunkedArray, name: str, taken: Set[str] = frozenset()) -> Iterator[str]:
    """Check JSON objects of texts, none of which has the name of a column that exists."""
    for text in _texts(column):
        labels = labels_in(text)
        if labels is None:
            yield f"{name} is not a JSON object of texts"
        elif there := sorted(taken & labels.keys()):
            yield f"{name} contains {there[0]}, which is a column of its own"


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Return each text of a column once."""
    texts: list[str] = column.unique().drop_null().to_pylist()
    return texts


def _of_times(table: pa.Table) -> Iterator[str]:
    pairs = zip(table["start_utc"].to_pylist(), table["date"].to_pylist(), strict=True)
    for start, date in pairs:
        if (start is None) != (date is None):
            yield "a start without a date, or a date without a start"
        elif start is not None and not (is_start(start) and start[:10] == date):
            yield "a start is not a time in UTC of its date"


def _of_facts(table: pa.Table) -> Iterator[str]:
    for text, end in zip(table["header"].to_pylist(), table["footer"].to_pylist(), strict=True):
        if text is None:
            continue
        header = _parsed(text)
        footer = None if end is None else _parsed(end)
        if header is None or (end is not None and footer is None):
            yield "a header or footer is not a JSON object"
        elif (problem := header_problem(header)) or (
            footer is not None and (problem := footer_problem(footer, header))
        ):
            yield problem
    if "lock" in table.schema.names and (problem := locks_problem(_texts(table["lock"]))):
        yield problem


def _parsed(text: str) -> dict[str, object] | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
