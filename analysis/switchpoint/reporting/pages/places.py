"""The page of a site: its ladders, a map of its placements, what it reaches, its findings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from switchpoint.comparison.reach import place_columns
from switchpoint.reporting.figures.ladder import draw_ladders
from switchpoint.reporting.ladders import boundaries_text
from switchpoint.reporting.pages.contents import Contents, kernel_path, site_path
from switchpoint.reporting.pages.page import (
    Cell,
    Page,
    Row,
    Section,
    Table,
    number,
    size,
    whole_number,
    word,
)
from switchpoint.reporting.pages.tables import CHOSEN_SIZES, finding_tables, heading
from switchpoint.tables.columns import Run, records

_LADDERS = (
    "By which protocol MPI_Send sends each size, or without a proof of it the line through the"
    " measured times."
)

#: A page draws so many ladders: more are too many to read.
_MOST_LADDERS = 60

#: Columns of what a place reaches: heading and column of the table of `reach`.
_REACHED = {
    "latency / µs": "latency_us",
    "peak / (MB/s)": "peak_MBps",
    "n1/2 / B": "half_size_bytes",
    "messages/s": "messages_per_s",
    "share of link": "share_of_link",
}


def site_pages(contents: Contents) -> Iterator[Page]:
    """Yield the page of each site."""
    reached = contents.reached
    for site in contents.sites:
        curves = _of_site(contents.curves, site)
        findings = _of_site(contents.findings, site)
        rungs = _of_site(contents.rungs, site)
        runs = [run for run in contents.runs if run["site"] == site]
        yield Page(
            site_path(site),
            f"Site {site}",
            [f"{len(runs):,} runs, {_count_curves(curves):,} curves, {len(findings):,} findings."],
            sections=[
                ladder_section(rungs, _LADDERS),
                Section(
                    "placements",
                    "Placements",
                    "Median time in µs by placement. Within a row the best value is light and the"
                    " worst is dark.",
                    tables=[*placement_map(curves)],
                ),
                Section(
                    "reach",
                    "What it reaches",
                    "Half a round trip at the smallest size, the largest bandwidth, the size that"
                    " reaches half of it, and messages per second. A share is that of the link's"
                    " rate.",
                    tables=[*reach_tables(_of_site(reached, site))],
                ),
                Section(
                    "findings",
                    "Findings",
                    tables=finding_tables(findings, contents.page_of, ["site"]),
                ),
                Section("kernels", "Kernels", tables=[_kernels(curves)] if len(curves) else []),
                Section("runs", "Runs", tables=[run_table(runs, contents.page_of)]),
            ],
        )


def ladder_section(rungs: pd.DataFrame, words: str) -> Section:
    """Return the section with ladders: those with the most rungs if there are too many."""
    curve = rungs["last_size_before"].isna().cumsum()
    sizes = curve.value_counts()
    if len(sizes) > _MOST_LADDERS:
        kept = sizes.sort_index().sort_values(ascending=False, kind="stable")[:_MOST_LADDERS]
        rungs = rungs[curve.isin(kept.index)]
        words += (
            f" These are the {_MOST_LADDERS} of {len(sizes):,} ladders with the most boundaries;"
            " switchpoint ladder prints all."
        )
    drawing = draw_ladders(rungs, dark=True) if len(rungs) else ""
    return Section("ladders", "Switch ladders", words, drawing=drawing)


def placement_map(curves: pd.DataFrame) -> Iterator[Table]:
    """Yield a map of the placements: a row per MPI, kernel, mode and size, shaded within a row."""
    if "placement" not in curves or curves["placement"].nunique() < 2:
        return
    told = [name for name in ("mpi", "kernel", "mode") if name in curves]
    points = curves[curves["size_bytes"].isin(CHOSEN_SIZES)]
    points = points[points["placement"].notna()]
    placements = sorted(set(points["placement"]))
    cells: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    columns = [*told, "size_bytes", "placement", "time_us"]
    for row in records(points[columns]):
        key = (*(row[name] for name in told), row["size_bytes"])
        cells.setdefault(key, {}).setdefault(row["placement"], []).append(row["time_us"])
    rows = [
        Row([*map(word, key[:-1]), size(key[-1]), *_shaded(placements, times)])
        for key, times in cells.items()
        if len(times) > 1
    ]
    if rows:
        headings = [*(name if name != "mpi" else "MPI" for name in told), "size", *placements]
        yield Table("placements-table", headings, rows)


def _shaded(placements: list[str], times: dict[str, list[float]]) -> Iterator[Cell]:
    """Yield the best time of each placement, shaded by its logarithm."""
    best = {name: min(values) for name, values in times.items()}
    low, high = min(best.values()), max(best.values())
    for name in placements:
        if name not in best:
            yield Cell("-")
            continue
        wide = math.log(high / low) if low > 0 else 0.0
        shade = math.log(best[name] / low) / wide if wide > 0 else 0.0
        yield dataclasses.replace(number(best[name]), shade=round(shade, 2))


def reach_tables(reached: pd.DataFrame) -> Iterator[Table]:
    """Yield what places reach, with every label that a place has, and no empty column."""
    if reached.empty:
        return
    known = reached.notna().any()
    names = [name for name in place_columns(reached) if name != "side" and known[name]]
    numbers = {title: name for title, name in _REACHED.items() if known[name]}
    rows = [
        Row(
            [
                *(word(row[name]) for name in names),
                whole_number(row["launches"]),
                *(number(row[name]) for name in numbers.values()),
                Cell(boundaries_text(row["switches"])),
            ]
        )
        for row in records(reached)
    ]
    headings = [*map(heading, names), "launches", *numbers, "time jumps at"]
    yield Table("reach-table", headings, rows)


def run_table(runs: list[Run], pages: Mapping[str, str]) -> Table:
    """Return runs, each with a link to its page."""
    rows = [
        Row(
            [
                Cell(run["run_id"][:8], link=pages[run["run_id"]]),
                word(run["start_utc"]),
                word(run["site"]),
                word(run["mpi"]),
                word(run["kernel"]),
                word(run["placement"]),
                word(run["session"]),
                Cell("complete" if run["complete"] else "truncated"),
            ]
        )
        for run in runs
    ]
    headings = ["run", "started", "site", "MPI", "kernel", "placement", "session", "record"]
    return Table("runs-table", headings, rows)


def _kernels(curves: pd.DataFrame) -> Table:
    told = [name for name in ("kernel", "mode") if name in curves]
    by_pair = records(curves[[*told, "run_id"]].drop_duplicates())
    counts: dict[tuple[Any, Any], int] = {}
    for row in by_pair:
        key = row.get("kernel"), row.get("mode")
        counts[key] = counts.get(key, 0) + 1
    rows = [
        Row([word(kernel, kernel_path(kernel, mode)), word(mode), whole_number(count)])
        for (kernel, mode), count in sorted(
            counts.items(), key=lambda item: tuple(map(str, item[0]))
        )
    ]
    return Table("kernels-table", ["kernel", "mode", "curves"], rows)


def _of_site(table: pd.DataFrame, site: str) -> pd.DataFrame:
    return table[table["site"] == site] if "site" in table else table[:0]


def _count_curves(curves: pd.DataFrame) -> int:
    told = [name for name in ("kernel", "mode", "run_id") if name in curves]
    return len(curves.drop_duplicates(told))
