"""Checks measurements before anything is stored or analysed, whichever reader made them.

A reader names the line of a bad value. What it misses ends here, so later stages can rely on every
rule below.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from switchpoint.limits import (
    COLUMNS,
    COUNT,
    FOLDER_CHARACTERS,
    LONGEST_US,
    NAME_CHARACTERS,
    SHORTEST_US,
)
from switchpoint.strict_json import parse_json
from switchpoint.tables.columns import (
    CURVE_COLUMNS,
    MEASURES,
    RUN_COLUMNS,
    VALUE_COLUMNS,
    identity_columns,
)
from switchpoint.tables.measurements import Measurements

#: The numbers of samples: the smallest and the largest.
SAMPLE_RANGES = {
    "size_bytes": (0, COUNT - 1),
    "pass": (0, 2**31 - 1),
    "sample": (0, 2**31 - 1),
    "iterations": (1, COUNT - 1),
    "time_us": (SHORTEST_US, LONGEST_US),
}

#: The numbers of points that are always known.
POINT_RANGES = {
    "size_bytes": (0, COUNT - 1),
    "time_us": (SHORTEST_US, LONGEST_US),
    "count": (1, COUNT),
}

#: Columns of runs and values that are longer texts, such as JSON, and those that contain numbers.
_LONG = frozenset(["header", "footer", "lock", "labels", "warnings", "program", "spack_spec"])
_NUMBERS = frozenset(["value", "reference", "lower", "upper"])

_IDENTITY = re.compile(r"[0-9a-f]{32}")

#: As in run records: sorting by text is sorting by time, and the first ten characters are the day.
_START = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(T(?P<time>\d\d:\d\d(?P<seconds>:\d\d)?)(?P<fraction>\.\d+)?(Z|\+00:00)?)?",
    re.ASCII,
)


def problem_of(measurements: Measurements) -> str | None:
    """Return the first problem of measurements, or None if they can be stored."""
    runs = measurements.runs.to_dict("records")
    values = measurements.single_values
    problems = chain(
        _of_samples(measurements.samples, runs),
        _of_points(measurements.points),
        _of_runs(runs),
        _of_values(values.to_dict("records")) if len(values) else (),  # most files have none
    )
    return next(problems, None)


def is_start(text: str) -> bool:
    """Return whether a text is a day, or a time in UTC, as ISO 8601 writes it.

    >>> is_start("2026-11-21"), is_start("2026-11-21T10:00:00Z"), is_start("2026-02-30")
    (True, True, False)
    """
    match = _START.fullmatch(text)
    if match is None:
        return False
    try:
        datetime.fromisoformat(f"{match['day']}T{match['time'] or '00:00'}")
    except ValueError:  # for example 30 February
        return False
    return True


def whole_start(text: str) -> str:
    """Return a start with its seconds and `Z`, so that texts sort as times. A day stays a day.

    >>> whole_start("2026-11-21T10:00"), whole_start("2026-11-21T10:00:07.5+00:00")
    ('2026-11-21T10:00:00Z', '2026-11-21T10:00:07.5Z')
    """
    match = _START.fullmatch(text)
    if match is None or match["time"] is None:
        return text
    seconds = "" if match["seconds"] else ":00"
    return f"{match['day']}T{match['time']}{seconds}{match['fraction'] or ''}Z"


def _of_samples(samples: pd.DataFrame, runs: list[dict[Hashable, Any]]) -> Iterator[str]:
    if missing := [name for name in ("run_id", *MEASURES) if name not in samples]:
        yield f"has no column {missing[0]}"
        return
    for name, (low, high) in SAMPLE_RANGES.items():
        numbers = samples[name].to_numpy()
        if numbers.dtype.kind not in "iuf":
            yield f"{name} is not a number"
        elif len(wrong := numbers[~((numbers >= low) & (numbers <= high))]):
            yield f"{name} is {wrong[0]}, but must be from {low:g} to {high:g}"
    yield from _of_curves(samples)
    unknown = {*samples["run_id"].unique()} - {run.get("run_id") for run in runs}
    if unknown:
        yield f"has samples of a run that it does not describe: {next(iter(unknown))}"


def _of_points(points: pd.DataFrame) -> Iterator[str]:
    if points.empty:
        return
    if missing := [name for name in ("run_id", *CURVE_COLUMNS) if name not in points]:
        yield f"has no column {missing[0]} of its points"
        return
    for name in CURVE_COLUMNS:
        low, high = POINT_RANGES.get(name, (-sys.float_info.max, sys.float_info.max))
        numbers = points[name].to_numpy(dtype=float, na_value=math.nan)
        known = numbers[~np.isnan(numbers)] if name not in POINT_RANGES else numbers
        if len(wrong := known[~((known >= low) & (known <= high))]):
            yield f"{name} is {wrong[0]}, but must be from {low:g} to {high:g}"
    yield from _of_curves(points)


def _of_curves(table: pd.DataFrame) -> Iterator[str]:
    """Check the columns that distinguish the curves of samples or points."""
    own = identity_columns(table)
    if len(own) > COLUMNS:
        yield f"has {len(own)} columns; at most {COLUMNS} are read"
    yield from _of_texts("the name of a column", own)
    for name in own:
        column = table[name].array
        texts = column.categories if isinstance(column, pd.Categorical) else column
        yield from _of_texts(name, (text for text in texts if not _is_null(text)))


def _of_runs(runs: list[dict[Hashable, Any]]) -> Iterator[str]:
    yield from _of_identities("run_id", runs)
    for run in runs:
        if missing := [name for name in RUN_COLUMNS if name not in run]:
            yield f"has no column {missing[0]} of its runs"
            return
        if run["complete"] not in (True, False):
            yield f"complete is {run['complete']!r}, but must be true or false"
        yield from _of_row(run, [name for name in RUN_COLUMNS if name != "complete"])
        start, date = run["start_utc"], run["date"]
        if _is_null(start) != _is_null(date):
            yield "has a start without a date, or a date without a start"
        elif isinstance(start, str) and not (is_start(start) and start[:10] == date):
            yield f"start_utc is {start!r}, which is not a time in UTC of the date {date}"


def _of_values(values: list[dict[Hashable, Any]]) -> Iterator[str]:
    yield from _of_identities("value_id", values)
    for value in values:
        if missing := [name for name in VALUE_COLUMNS if name not in value]:
            yield f"has no column {missing[0]} of its values"
            return
        for name in _NUMBERS:
            if not (math.isfinite(value[name]) if name == "value" else _is_limit(value[name])):
                yield f"{name} is {value[name]}, which is not a finite number"
        texts = [*_of_row(value, [name for name in VALUE_COLUMNS if name not in _NUMBERS])]
        yield from texts or _of_site(value["site"])


def _of_site(site: object) -> Iterator[str]:
    """Find the site of a value that cannot name a folder of the store."""
    characters = len(quote(site, safe="")) if isinstance(site, str) else 0
    if characters > FOLDER_CHARACTERS:
        yield (
            f"site is a folder's name of {characters:,} characters; at most {FOLDER_CHARACTERS} do"
        )


def _is_limit(number: Any) -> bool:
    """Return whether a reference or limit is a number that is finite, or absent."""
    return number is None or not math.isinf(number)


def _of_identities(name: str, rows: list[dict[Hashable, Any]]) -> Iterator[str]:
    known = set()
    for row in rows:
        identity = row.get(name)
        if not isinstance(identity, str) or _IDENTITY.fullmatch(identity) is None:
            yield f"{name} is {identity!r}, but must be 32 hexadecimal digits"
        if identity in known:
            yield f"{name} {identity} is there twice"
        known.add(identity)


def _of_row(row: Mapping[Hashable, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not _is_null(row[name]):
            yield from _of_texts(name, [row[name]])
            if name == "labels" and labels_in(row[name]) is None:
                yield "labels are not a JSON object of texts"


def labels_in(text: str) -> dict[str, str] | None:
    """Return the labels of a text; None if it is not what they are kept as, an object of texts."""
    try:
        value = parse_json(text)
    except ValueError:
        return None
    sound = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return value if sound else None


def _of_texts(name: str, texts: Iterable[object]) -> Iterator[str]:
    """Find what is not text, is too long, or that no file can contain."""
    for text in texts:
        if not isinstance(text, str):
            yield f"{name} is {text!r}, but must be text"
        elif len(text) > NAME_CHARACTERS and name not in _LONG:
            yield f"{name} has {len(text):,} characters; at most {NAME_CHARACTERS:,} are read"
        elif not text.isascii() and not _is_unicode(text):
            yield f"{name} contains half a character (a lone surrogate)"


def _is_null(value: object) -> bool:
    return value is None or value != value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
