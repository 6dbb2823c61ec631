"""The pages that compare: switch ladders, sites, MPIs, baselines, repeated runs, tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from switchpoint.comparison.baselines import Pairing, pairings, ratios
from switchpoint.comparison.compare import Comparison, RangeRow, compare_sides
from switchpoint.comparison.tools import has_echo, tools
from switchpoint.errors import InputError
from switchpoint.reporting.figures.curves import draw_again, draw_pairing
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import (
    Cell,
    Page,
    Plot,
    Row,
    Section,
    Table,
    number,
    whole_number,
    word,
)
from switchpoint.reporting.pages.places import ladder_section, reach_tables
from switchpoint.reporting.pages.tables import (
    ratio_cells,
    sizes_as_headings,
    switch_table,
    with_nulls,
)
from switchpoint.reproduction.again import Again, runs_again
from switchpoint.tables.columns import records
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import range_text

_LADDERS = (
    "By which protocol MPI_Send sends each size. A number is the last size before a boundary; a"
    " dashed boundary is only known to lie between two sizes. Without a proof the protocol is not"
    " known. Point at a boundary to see its cause."
)
_SWITCHES = (
    "A protocol switch is proved: MPI_Send of the last size returned before its receive was posted"
    " and MPI_Send of the first size did not, or the step moved when a setting was changed. A cause"
    " is confirmed only if the switch follows its setting by a law."
    " A governed switch moves with the setting, but the library computes its size."
)
_RATIOS = (
    "The ratio is the other's time over the first's: above 1 the first is faster. Brackets contain"
    " the 95 % interval, over launches if each side has two or more."
)
_BASELINES = (
    "Our kernel with baselines that exchange messages in the same pattern, at the same site, with"
    " the same MPI and placement. Each curve combines its launches. The tables show our time"
    " divided by the baseline's: below 1 ours is faster. Brackets contain the 95 % interval"
    " (bootstrap of the passes' medians). A baseline that was launched once gives one number, which"
    " is taken as exact, so its own scatter is not included."
)
_AGAIN = (
    "A run and the one that ran it again, from what switchpoint reproduce wrote: medians with their"
    " 95 % confidence intervals as bands, a panel for each mode."
)
_TOOLS = (
    "Round trips of the kernel echo in µs: the median over several runs, and its ratio to that of"
    " TCP sockets, with the faster way of waiting on them."
)


def comparison(contents: Contents) -> Page:
    """Return the page with ladders, switches, and each comparison that the runs allow."""
    reached = contents.reached
    rungs = contents.rungs
    return Page(
        "comparison.html",
        "Comparison",
        sections=[
            ladder_section(rungs, _LADDERS),
            *_baselines(contents.measurements),
            *_again(contents),
            Section("switches", "Switches to the byte", _SWITCHES,
                    tables=switch_table(contents.switches, contents.page_of)),
            *_compared(contents, "site", "Sites"),
            *_compared(contents, "mpi", "MPIs"),
            Section("reach", "What each place reaches", tables=[*reach_tables(reached)]),
            *_tools(contents.measurements),
        ],
    )  # fmt: skip


def _compared(contents: Contents, column: str, title: str) -> Iterator[Section]:
    """Compare the first value of a column with each of the others."""
    sides = list(contents.sides(column))
    if len(sides) < 2:
        return
    try:
        found = compare_sides(sides, contents.findings)
    except InputError as error:
        yield Section(column, title, f"They are not compared: {error.problem}.", stays=True)
        return
    names = dict(zip(found.sides["side"], (s.selection.wanted[column] for s in sides), strict=True))
    first = names["A"]
    words = f"{first} is compared with each of the others. {_RATIOS}"
    yield Section(column, title, words, tables=[*_range_table(found, names, column)])


def _range_table(found: Comparison, names: dict[str, str], column: str) -> Iterator[Table]:
    if found.ranges.empty:
        return
    known_first = found.ranges.sort_values("faster", key=pd.Series.isna, kind="stable")
    rows = []
    for row in records(known_first, RangeRow):
        curve = row["curve"]
        told = [curve[name] for name in ("kernel", "mode", "placement", "mpi") if curve.get(name)]
        faster = row["faster"]
        rows.append(
            Row(
                [
                    word(names[row["first"]]),
                    word(names[row["other"]]),
                    word(", ".join(told)),
                    Cell(range_text(row["first_size_bytes"], row["last_size_bytes"])),
                    whole_number(row["first_size_bytes"]),
                    number(row["ratio"]),
                    number(row["low"]),
                    number(row["high"]),
                    whole_number(row["first_launches"]),
                    whole_number(row["other_launches"]),
                    word(names[faster] if faster else "not known"),
                ]
            )
        )
    headings = ["first", "other", "curve", "sizes", "from / B", "ratio", "low", "high",
                "launches", "other's launches", "faster"]  # fmt: skip
    yield Table(f"{column}-table", headings, rows)


def _baselines(measurements: Measurements) -> Iterator[Section]:
    plots: list[Plot] = []
    tables: list[Table] = []
    for index, pairing in enumerate(pairings(measurements)):
        figure = draw_pairing(f"baseline-{index}", pairing)
        plots.append(Plot(figure.name, figure, pairing.samples))
        tables += _ratio_table(f"ratios-{index}", figure.title, pairing)
    yield Section("baselines", "Comparison with other benchmarks", _BASELINES, plots, "", tables)


def _ratio_table(name: str, title: str, pairing: Pairing) -> Iterator[Table]:
    """Yield ratios to each baseline at chosen sizes, with a row per placement and baseline."""
    table = ratios(pairing)
    sizes = sorted(set(table["size_bytes"]))
    rows = []
    for (placement, kernel), part in table.groupby(["placement", "kernel"]):
        at = {row["size_bytes"]: row for row in with_nulls(part)}
        passes = f"{part['our_passes'].max()} and {part['their_passes'].max()}"
        cells = ratio_cells([at.get(size) for size in sizes])
        rows.append(Row([word(placement), word(kernel), Cell(passes), *cells]))
    if rows:
        headings = ["placement", "baseline", "passes, ours and theirs", *sizes_as_headings(sizes)]
        yield Table(name, headings, rows, title)


def _again(contents: Contents) -> Iterator[Section]:
    """Draw each run that repeats another one with that one, and say what differs."""
    for index, pair in enumerate(runs_again(contents.measurements)):
        figure = draw_again(
            f"again-{index}",
            _again_title(contents.measurements, pair),
            contents.curves,
            {pair.first: f"{pair.first[:8]}, first", pair.second: f"{pair.second[:8]}, again"},
        )
        own = contents.curves[contents.curves["run_id"].isin([pair.first, pair.second])]
        same = f" The same in both: {', '.join(pair.same)}." if pair.same else ""
        nothing = "" if pair.differences else " Nothing else that is known differs."
        yield Section(
            f"again-{pair.second[:8]}", f"Run {pair.first[:8]} again", f"{_AGAIN}{nothing}{same}",
            [Plot(figure.name, figure, own)], "", [_differences(pair)],
        )  # fmt: skip


def _differences(pair: Again) -> Table:
    rows = [Row([Cell("started"), *map(word, pair.started)])]
    rows += [Row([word(d.topic), word(d.there), word(d.here)]) for d in pair.differences]
    headings = ["differs", f"first, {pair.first[:8]}", f"again, {pair.second[:8]}"]
    return Table(f"again-{pair.second[:8]}-table", headings, rows)


def _again_title(measurements: Measurements, pair: Again) -> str:
    """Name a run that was run again by where it was run, as far as the two agree."""
    runs = measurements.runs
    both = runs[runs["run_id"].isin([pair.first, pair.second])]
    names = ("site", "mpi", "kernel", "placement")
    shared = [str(both[name].iloc[0]) for name in names if len(set(both[name].dropna())) == 1]
    return ", ".join([*shared, f"run {pair.first[:8]} and again {pair.second[:8]}"])


def _tools(measurements: Measurements) -> Iterator[Section]:
    """Show round trips of each tool, with a row per site, placement, tool and size."""
    if not has_echo(measurements):
        return
    rows = [_tool_row(row) for row in records(tools(measurements))]
    headings = ["site", "placement", "tool", "size / B", "round trip / µs", "over sockets"]
    table = Table("tools-table", headings, rows)
    yield Section("tools", "Comparison of tools", _TOOLS, tables=[table])


def _tool_row(row: dict[Any, Any]) -> Row:
    told = [word(row[name]) for name in ("site", "placement", "tool")]
    return Row(
        [
            *told,
            whole_number(row["size_bytes"]),
            number(row["round_trip_us"]),
            number(row["over_sockets"]),
        ]
    )
