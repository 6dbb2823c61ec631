"""Names switch ladders and groups them by site, for the terminal and for figures."""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from typing import Any

import pandas as pd

from switchpoint.comparison.ladder import RUNG_COLUMNS, Rung, RungOfCurve, Shown, TimeLine
from switchpoint.comparison.reach import Jump
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.naming import telling_columns, worded
from switchpoint.tables.units import percent, range_text, significant

#: Columns in the heading of a group.
_HEADS = ("side", "site")

#: A ladder names so many rare boundaries.
_MOST_RARE = 3


def by_site(rungs: pd.DataFrame) -> dict[str, dict[str, list[RungOfCurve]]]:
    """Return the rungs of each ladder by its name, by its site.

    Ladders whose names are the same, such as of one value of two labels, are numbered.
    """
    identity = rungs.drop(columns=RUNG_COLUMNS)
    heads = [name for name in _HEADS if name in identity]
    columns = [name for name in telling_columns(identity, heads) if name not in heads]
    sites: dict[str, dict[str, list[RungOfCurve]]] = {}
    own: dict[tuple[Any, ...], list[RungOfCurve]] = {}
    for row in records(rungs, RungOfCurve):
        values = zip(heads, values_of(row, heads), strict=True)
        heading = ", ".join(value or f"no {name}" for name, value in values)
        curve = values_of(row, map(str, identity))
        if curve not in own:
            told = zip(columns, values_of(row, columns), strict=True)
            words = (worded(name, value) for name, value in told if value is not None)
            name, ladders = ", ".join(words) or "all", sites.setdefault(heading, {})
            own[curve] = ladders[_free(name, ladders)] = []
        own[curve].append(row)
    return sites


def line_text(rung: TimeLine) -> str:
    """Write the line through the times of a rung; empty if it is not known.

    >>> line_text({"latency_us": 1.104, "rate_MBps": 12103.0})
    '1.10 µs + size / (12,103 MB/s)'
    """
    latency, rate = rung["latency_us"], rung["rate_MBps"]
    if latency is None:
        return ""
    if rate is None:
        return f"about {significant(latency)} µs"
    return f"{significant(latency)} µs + size / ({significant(rate)} MB/s)"


def _free(name: str, taken: Container[str]) -> str:
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in taken)


def launches_text(boundary: Shown) -> str:
    """Write how many launches show a boundary; empty if there is one launch.

    >>> launches_text({"launches": 26, "of_launches": 28})
    '26 of 28 launches'
    """
    shown, of = boundary["launches"], boundary["of_launches"]
    return f"{shown:,} of {of:,} launches" if of is not None and of > 1 else ""


def rare_text(rungs: Sequence[Rung]) -> str:
    """Write where only some launches of a ladder jump; empty if there is no such place."""
    rare = [one for rung in rungs for one in rung["rare"]]
    told = [
        f"{range_text(one['last_size_before'], one['size_bytes'])} ({launches_text(one)})"
        for one in rare[:_MOST_RARE]
    ]
    more = f" and {len(rare) - _MOST_RARE} more" if len(rare) > _MOST_RARE else ""
    return f"not drawn: {', '.join(told)}{more}" if told else ""


def boundaries_text(boundaries: Sequence[Jump] | None) -> str:
    """Write where the time of a place jumps, and by how much, from the table of `reach`."""
    told = [
        range_text(boundary["last_size_before"], boundary["first_size_bytes"])
        + (f" ({words})" if (words := _words(boundary)) else "")
        for boundary in boundaries or []
    ]
    return ", ".join(told) or "-"


def _words(boundary: Jump) -> str:
    """Say by how much the time jumps, and in how many launches if not in all."""
    time = "" if boundary["magnitude"] is None else percent(boundary["magnitude"])
    some = boundary["launches"] != boundary["of_launches"]
    return ", ".join(filter(None, [time, launches_text(boundary) if some else ""]))
