"""Prints a comparison: a line for each kernel, then what differs; on request all ranges of sizes.

The counts of the lines add up to those of the last line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.comparison.compare import RangeRow, SideRow
from switchpoint.comparison.effects import WITHIN_LAUNCHES
from switchpoint.reporting.terminal.tables import (
    HEADING,
    SafeConsole,
    safe_text,
    show_line,
    show_table,
)
from switchpoint.tables.columns import records
from switchpoint.tables.units import counted, range_text, significant

if TYPE_CHECKING:
    from switchpoint.comparison.compare import Comparison

#: Printed facts, and printed reasons why curves were not compared. --json has all of them.
_FACTS = 15
_REASONS = 8

#: So few ranges of sizes are printed even if nobody asks for all.
_FEW_RANGES = 12

#: Columns that the line of a kernel names.
_OF_LINE = ("kernel", "mode")

#: Columns of the identity that a group's heading contains; the others are in its table.
_GROUP = [*HEADING, "placement"]


def _table(*, headed: bool = True) -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_header=headed)


def print_comparison(found: Comparison, *, show_all: bool = False) -> None:
    """Print the sides, a line for each kernel, what differs, and a summary.

    Parameters
    ----------
    found
        As from `compare`.
    show_all
        Print also the ranges of sizes of each pair of curves. A few are printed anyway.
    """
    console = SafeConsole()
    _print_sides(console, found.sides)
    several = len(found.sides) > 2
    kernels = list(_by_kernel(found.ranges))
    few = len(found.ranges) <= _FEW_RANGES
    if len(kernels) > 1 or not few:
        _print_kernels(console, kernels, several=several)
        console.print()
    if few or show_all:
        for other in dict.fromkeys(found.ranges["other"]):
            ranges = found.ranges[found.ranges["other"] == other]
            against = f"{other} and {ranges['first'].iloc[0]}: " if several else ""
            for heading, group in _groups(ranges):
                show_line(console, against + heading, style="bold")
                _print_ranges(console, group)
                console.print()
    _print_facts(console, found.facts)
    _print_unmatched(console, found.unmatched)
    for line in _summary(found.ranges):
        show_line(console, line)
    if not (few or show_all):
        show_line(console, "--all prints each range of sizes of each pair of curves.")


def _by_kernel(ranges: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield other side, kernel and mode with their ranges."""
    keys = [
        (row["other"], _either(row, "kernel"), _either(row, "mode"))
        for row in records(ranges, RangeRow)
    ]
    for key in sorted(set(keys)):
        yield key, ranges[[own == key for own in keys]]


def _either(row: RangeRow, name: str) -> str:
    """Return what both curves of a pair have in a column, or both values."""
    if name in row["differs"]:
        return " / ".join(value or "-" for value in row["differs"][name])
    return str(row["curve"].get(name, "-"))


def _print_kernels(
    console: Console, kernels: list[tuple[tuple[str, str, str], pd.DataFrame]], *, several: bool
) -> None:
    """Print for each kernel by how much its times differ, in how many ranges, and where most."""
    has_modes = any(mode != "-" for (_, _, mode), _ in kernels)
    table = _table()
    for heading in (*(["other"] if several else []), "kernel", *(["mode"] if has_modes else [])):
        table.add_column(heading, no_wrap=True)
    first = kernels[0][1]["first"].iloc[0]
    other = "other" if several else kernels[0][0][0]
    for heading in ("curves", f"{other} / {first}", f"{first} faster", f"{other} faster",
                    "not known"):  # fmt: skip
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("differs most")
    for (letter, kernel, mode), ranges in kernels:
        ratios = ranges["ratio"].tolist()
        most = ranges.iloc[max(range(len(ratios)), key=lambda at: abs(math.log(ratios[at])))]
        low, high = significant(min(ratios)), significant(max(ratios))
        faster = Counter(ranges["faster"].fillna("").tolist())
        table.add_row(
            *([letter] if several else []),
            safe_text(kernel),
            *([safe_text(mode)] if has_modes else []),
            f"{ranges['pair'].nunique():,}",
            low if low == high else f"{low} to {high}",
            *(f"{faster[side]:,}" for side in (first, letter, "")),
            safe_text(_where(most, _telling(ranges))),
        )
    show_table(console, table)
    show_line(
        console,
        f"{other} / {first}: the ratio of their times over ranges of sizes, which are counted.",
        style="dim",
    )


def _telling(ranges: pd.DataFrame) -> list[str]:
    """Return the columns in which the shared names of the pairs differ, without kernel and mode."""
    values: dict[str, set[str | None]] = {}
    curves = ranges["curve"].tolist()
    for name in dict.fromkeys(name for curve in curves for name in curve):
        values[name] = {curve.get(name) for curve in curves}
    return [name for name, own in values.items() if len(own) > 1 and name not in _OF_LINE]


def _where(row: Any, told: list[str]) -> str:
    """Write the sizes of a range and what distinguishes its curves from others."""
    curve = row["curve"]
    words = [_worded(name, curve[name]) for name in told if name in curve]
    return ", ".join([range_text(row["first_size_bytes"], row["last_size_bytes"]), *words])


def _print_sides(console: Console, sides: pd.DataFrame) -> None:
    table = _table(headed=False)
    for side in records(sides, SideRow):
        dates = list(dict.fromkeys(filter(None, [side["first_date"], side["last_date"]])))
        contents = [
            side["site"] if side["site"] != side["selection"] else None,
            counted(side["runs"], "run"),
            counted(side["curves"], "curve"),
            " to ".join(dates),
        ]
        table.add_row(
            safe_text(side["side"], style="bold"),
            safe_text(side["selection"]),
            safe_text(", ".join(filter(None, contents)), style="dim"),
        )
    show_table(console, table)
    console.print()


def _groups(ranges: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Group pairs of curves by everything but the mode."""
    headings = [_heading(row) for row in records(ranges, RangeRow)]
    for heading, group in ranges.groupby(pd.Series(headings, index=ranges.index), sort=False):
        yield str(heading), group


def _heading(row: RangeRow) -> str:
    """Name what both curves of a pair share, then what differs, first side first."""
    curve, differs = row["curve"], row["differs"]
    names = [*_GROUP, *(name for name in curve if name not in {*_GROUP, "mode"})]
    shared = [_worded(name, curve[name]) for name in names if name in curve]
    both = [
        f"{name} {values[0] or '(none)'} / {values[1] or '(none)'}"
        for name, values in differs.items()
        if name != "mode"
    ]
    return ", ".join([*shared, *both])


def _worded(name: str, value: str) -> str:
    return value if name in _GROUP else f"{name} {value}"


def _print_ranges(console: Console, ranges: pd.DataFrame) -> None:
    first, other = ranges["first"].iloc[0], ranges["other"].iloc[0]
    table = _table()
    table.add_column("mode", no_wrap=True)
    for heading in ("sizes", f"{first} / us", f"{other} / us", "ratio", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("launches", no_wrap=True)
    table.add_column("faster", no_wrap=True)
    for row in records(ranges, RangeRow):
        interval = "not known"
        if row["low"] is not None and row["high"] is not None:
            interval = f"{significant(row['low'])} to {significant(row['high'])}"
        table.add_row(
            safe_text(_either(row, "mode")),
            range_text(row["first_size_bytes"], row["last_size_bytes"]),
            significant(row["first_us"]),
            significant(row["other_us"]),
            significant(row["ratio"]),
            interval,
            f"{row['first_launches']} and {row['other_launches']}",
            row["faster"] or "-",
        )
    show_table(console, table)


def _print_facts(console: Console, facts: pd.DataFrame) -> None:
    if facts.empty:
        return
    sides = [str(name) for name in facts if name != "fact"]
    table = _table()
    for heading in ("what differs", *sides):
        table.add_column(heading, overflow="fold")
    for row in facts.head(_FACTS)[["fact", *sides]].itertuples(index=False):
        table.add_row(*map(safe_text, row))
    show_table(console, table)
    if len(facts) > _FACTS:
        show_line(
            console, f"and {counted(len(facts) - _FACTS, 'more fact')}; --json prints all of them"
        )
    console.print()


def _print_unmatched(console: Console, unmatched: pd.DataFrame) -> None:
    reasons = Counter(zip(unmatched["side"], unmatched["reason"], strict=True))
    for (side, reason), number in reasons.most_common(_REASONS):
        show_line(console, f"not compared: {counted(number, 'curve')} of {side}: {reason}")
    if rest := sum(number for _, number in reasons.most_common()[_REASONS:]):
        show_line(console, f"and {counted(rest, 'more curve')}; --json prints all of them")
    if reasons:
        console.print()


def _summary(ranges: pd.DataFrame) -> Iterator[str]:
    """Say in one line for each other side in how many ranges which side is faster."""
    for other in dict.fromkeys(ranges["other"]):
        part = ranges[ranges["other"] == other]
        first = part["first"].iloc[0]
        words = [
            f"{side} is faster in {len(won)} ({_by(won, inverse=side == other)})"
            for side, won in ((side, part[part["faster"] == side]) for side in (first, other))
            if len(won)
        ]
        unknown = int(part["faster"].isna().sum())
        words += [f"no difference is known in {unknown}"] if unknown else []
        yield f"Of {counted(len(part), 'range')} of sizes, {', '.join(words)}."
    if (ranges["interval_over"] == WITHIN_LAUNCHES).any():
        yield (
            "Where each side has one launch, only the scatter within a launch is known, which does"
            " not say whether a difference recurs. Measure several launches in one session:"
            " make measure LAUNCHES=3, or reframe --repeat=3."
        )


def _by(won: pd.DataFrame, *, inverse: bool) -> str:
    """Write how many times as long the slower side takes: smallest and largest."""
    ratios = (1 / won["ratio"] if inverse else won["ratio"]).tolist()
    low, high = (significant(value) for value in (min(ratios), max(ratios)))
    return f"{low} times" if low == high else f"{low} to {high} times"
