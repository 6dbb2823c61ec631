"""Prints recommendations: what to use by size and group, where ranks run, which grains pay."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from switchpoint.models.collectives import KEEP, UNKNOWN, USE, Advice
from switchpoint.models.rules_files import settings_in
from switchpoint.models.rules_folder import module_name
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.units import range_text, significant, size_text

if TYPE_CHECKING:
    from switchpoint.models.grains import GrainAdvice
    from switchpoint.models.recommend import Recommendation
    from switchpoint.models.sort_maps import MapAdvice


def print_recommendation(found: Recommendation) -> None:
    """Print each answer, then once each what limits them."""
    console = SafeConsole()
    where = f"{found.mpi or 'MPI'}, {found.placement}"
    for _, group in groupby(found.algorithms, key=lambda one: (one.operation, one.ranks)):
        _print_group(console, where, list(group))
    if found.maps:
        _print_maps(console, found.maps)
    if found.grains:
        _print_grains(console, found.grains)
    for note in found.notes:
        show_line(console, f"note: {note}")


def print_written(written: Sequence[Path]) -> None:
    """Print the files, and how to use the settings among them."""
    console = SafeConsole()
    for path in written:
        console.print(safe_text(str(path)), soft_wrap=True)
    for path in written:
        if path.suffix != ".env":
            continue
        if not settings_in(path.read_text(encoding="utf-8")):
            show_line(console, f"{path} sets nothing: no rule of before is recommended any more")
        else:
            # A shell looks for a name without a slash in PATH.
            file = shlex.quote(str(path) if "/" in str(path) else f"./{path}")
            console.print(safe_text(f"use it: set -a; . {file}; set +a"), soft_wrap=True)
            folder, module = shlex.quote(str(path.parent)), module_name(path.name)
            module_lines = f"or: module use {folder}; module load {module}"
            console.print(safe_text(module_lines), soft_wrap=True)
    if not written:
        show_line(console, "no file was written: the recommendations change nothing in the library")


def _print_group(console: Console, where: str, algorithms: Sequence[Advice]) -> None:
    """Print a row for each range of sizes with the same advice; a row's end is a crossover."""
    first = algorithms[0]
    nodes = f"{first.nodes} node{'s'[: first.nodes != 1]}"
    title = f"{first.operation} by {first.ranks} ranks on {nodes}, {where}"
    show_line(console, title, style="bold")
    table = _table("sizes", "use", "predicted us", "default", "default us", "times faster")
    for same in _ranges(algorithms):
        last = same[-1]
        table.add_row(
            range_text(same[0].size_bytes, last.size_bytes), _use(last), _time(last.best_us),
            str(last.default or "-"), _time(last.default_us), _gains(same),
        )  # fmt: skip
    show_table(console, table)
    if len(algorithms) > 1:
        show_line(console, "times are those of the last size of a row")
    for advice in algorithms:
        if advice.checked is not None:
            show_line(console, _checked(advice))


def _ranges(algorithms: Sequence[Advice]) -> Iterator[list[Advice]]:
    """Yield neighbouring sizes that have the same advice and the same default."""
    for _, same in groupby(algorithms, key=lambda one: (_use(one), one.default)):
        yield list(same)


def _use(advice: Advice) -> str:
    if advice.checked is not None and not advice.checked.wins:
        return f"the default ({advice.best} withdrawn)"
    if advice.verdict == USE:
        return str(advice.best)
    if advice.verdict == KEEP:
        return "the default" if advice.best == advice.default else "the default (no difference)"
    others = " or ".join(advice.as_good)
    return f"{advice.best}, or as good: {others}" if others else str(advice.best)


def _gains(same: Sequence[Advice]) -> str:
    if same[-1].verdict == UNKNOWN:
        return "-"
    if same[-1].verdict == KEEP:
        return ""
    return _gain(same[-1])


def _gain(advice: Advice) -> str:
    """Write how many times faster the advice is predicted to be, with the interval."""
    low, high = advice.gain_interval or (0.0, 0.0)
    return f"{advice.gain:.2f} [{low:.2f}, {high:.2f}]"


def _checked(advice: Advice) -> str:
    """Say in words whether launches confirm an advice."""
    checked = advice.checked
    if checked is None:
        return ""
    what = f"{advice.operation} of {size_text(advice.size_bytes)} by {advice.ranks} ranks"
    measured = (
        f"{_interval(checked.with_us)} us with {advice.best}, {_interval(checked.without_us)} us"
        f" without, in {checked.launches} launches of each"
    )
    predicted = f"predicted: {_gain(advice)}" if advice.gain else "no time was predicted"
    if checked.wins:
        return f"confirmed: {what} is {checked.gain:.2f} times faster ({predicted}): {measured}"
    return f"withdrawn: {what} is not faster ({predicted}): {measured}"


def _print_maps(console: Console, maps: Sequence[MapAdvice]) -> None:
    show_line(console, "process map of the merge sort", style="bold")
    table = _table(
        "array", "fastest", "one process us", "one node us", "best map", "its us", "as good"
    )
    for one in maps:
        others = ", ".join(one.as_good[:3]) + (", ..." if len(one.as_good) > 3 else "")
        table.add_row(
            size_text(one.size_bytes), one.winner, _time(one.alone_us), _time(one.one_node_us),
            one.best_map or "-", _time(one.best_us), others or "-",
        )  # fmt: skip
    show_table(console, table)


def _print_grains(console: Console, grains: Sequence[GrainAdvice]) -> None:
    show_line(console, "break-even grain: a shorter task is faster on one rank", style="bold")
    table = _table("ranks", "message", "exchange us", "grain us", "between")
    for one in grains:
        table.add_row(
            str(one.ranks), size_text(one.size_bytes), significant(one.exchange_us),
            significant(one.grain_us),
            f"{significant(one.low_us)} and {significant(one.high_us)}",
        )  # fmt: skip
    show_table(console, table)


def _time(prediction: object) -> str:
    """Write a predicted time with its interval; nothing if there is none."""
    if prediction is None:
        return "-"
    numbers = [getattr(prediction, name) for name in ("time_us", "low_us", "high_us")]
    return _interval(numbers)


def _interval(numbers: Sequence[float]) -> str:
    value, low, high = (significant(number) for number in numbers)
    return f"{value} [{low}, {high}]"


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading)
    return table
