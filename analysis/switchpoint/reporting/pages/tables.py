"""The tables that several pages share: findings, switches, chosen sizes, curves at a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from switchpoint.explanation.causes import PROMINENT_CONFIDENCE, matters, prominent
from switchpoint.explanation.places import Explained
from switchpoint.reporting.pages.page import (
    Cell,
    Row,
    Table,
    finding_anchor,
    number,
    share,
    size,
    whole_number,
    word,
)
from switchpoint.tables.columns import NotedFinding, Point, identity_columns, records, values_of
from switchpoint.tables.findings import SHOWN, Column
from switchpoint.tables.naming import plain_columns, shared_words, short, telling_columns
from switchpoint.tables.units import size_text

#: Commonly quoted sizes: smallest latency, about a cache line, both sides of 64 KiB, streaming.
CHOSEN_SIZES = [8, 1024, 32 * 1024, 64 * 1024, 1024 * 1024]

_CONFIDENCE = (
    "Time: the relative change, positive when slower; for a change of slope one octave later."
    " Confidence: the chance that another run shows it."
)


def finding_tables(
    findings: pd.DataFrame, pages: Mapping[str, str], told: Sequence[str] = ()
) -> list[Table]:
    """Return the prominent findings or, if there are none, those that matter; others are folded.

    Parameters
    ----------
    findings
        With notes.
    pages
        The path of the page of each run.
    told
        Columns that the page's title names.
    """
    if findings.empty:
        return []
    columns = telling_columns(findings, _present(findings, told))
    identity = identity_columns(findings)
    headings = [
        *(column.heading for column in SHOWN), "cause", *map(heading, columns), "from / B",
    ]  # fmt: skip
    rows = [_finding_row(row, columns, identity, pages) for row in records(findings, NotedFinding)]
    certain = prominent(findings)
    heads = (certain if certain.any() else matters(findings)).tolist()
    main = [row for row, head in zip(rows, heads, strict=True) if head]
    minor = [row for row, head in zip(rows, heads, strict=True) if not head]
    common = shared_words(findings)
    caption = f"{f'All of {common}. ' if common else ''}{_CONFIDENCE}"
    folded = (
        f"{len(minor):,} more, which have less than {100 * PROMINENT_CONFIDENCE:.0f} % confidence,"
        " or change the time by less than 20 % and have no suspect"
    )
    return [
        *([Table("findings-table", headings, main, caption)] if main else []),
        *([Table("minor-findings", headings, minor, "", folded)] if minor else []),
    ]


def _finding_row(
    row: NotedFinding, columns: list[str], identity: list[str], pages: Mapping[str, str]
) -> Row:
    """Return what was found first, then of which curve: a screen shows the first columns."""
    anchor = finding_anchor(row, identity)
    return Row(
        [
            *(_shown(column, row, f"{pages[row['run_id']]}#{anchor}") for column in SHOWN),
            Cell("; ".join(row["notes"])),
            *map(Cell, map(short, columns, values_of(row, columns))),
            whole_number(row["size_bytes"]),
        ],
        anchor,
    )


def _shown(column: Column, row: NotedFinding, page: str) -> Cell:
    """Return what people read of a column; the kind leads to the page of the run."""
    [value] = values_of(row, [column.name])
    number = float(value) if column.json_type == "number" and value is not None else None
    return Cell(column.text(row), number, page if column.name == "kind" else "")


def switch_table(switches: pd.DataFrame, pages: Mapping[str, str]) -> list[Table]:
    """Return the switches that are known to the byte, with their cause and their runs."""
    exact = switches[switches["exact"].astype(bool)]
    if exact.empty:
        return []
    columns = plain_columns(exact, ["site", "mpi", "environ", "placement", "mode"])
    rows = [
        Row(
            [
                *map(Cell, map(short, columns, values_of(row, columns))),
                whole_number(row["last_size_bytes"]),
                whole_number(row["first_size_bytes"]),
                share(row["magnitude"]),
                Cell(row["kind"].replace("_", " ")),
                word(row["cause"]),
                Cell(row["status"]),
                Cell(row["reason"]),
                _shown_by(row, pages),
            ]
        )
        for row in records(exact, Explained)
    ]
    headings = [*map(heading, columns), "last size / B", "first size / B", "time", "kind", "cause",
                "status", "why", "shown by"]  # fmt: skip
    return [Table("switches-table", headings, rows)]


def _shown_by(row: Explained, pages: Mapping[str, str]) -> Cell:
    """Name the runs that show a switch, with a link to the first."""
    told = [(told["method"].replace("_", " "), told["run_id"]) for told in row["evidence"]]
    words = dict.fromkeys(f"{method} {short('run_id', run_id)}" for method, run_id in told)
    return Cell(", ".join(words) or "-", link=pages.get(told[0][1], "") if told else "")


def size_table(
    curves: pd.DataFrame, pages: Mapping[str, str], told: Sequence[str] = ()
) -> list[Table]:
    """Return the median time at chosen sizes, with a row per curve that links to its run."""
    sizes = [size for size in CHOSEN_SIZES if (curves["size_bytes"] == size).any()]
    if not sizes:
        return []
    points = curves[curves["size_bytes"].isin(sizes)]
    columns = telling_columns(curves, _present(curves, told))
    identity = identity_columns(curves)
    groups: dict[tuple[Any, ...], dict[int, float]] = {}
    for row in records(points, Point):
        key = values_of(row, identity)
        groups.setdefault(key, {})[row["size_bytes"]] = row["time_us"]
    rows = []
    for key, times in groups.items():
        curve = dict(zip(identity, key, strict=True))
        link = pages[curve["run_id"]]
        cells = [Cell(short(name, curve[name])) for name in columns]
        run = Cell(short("run_id", curve["run_id"]), link=link)
        rows.append(Row([*cells, run, *(number(times.get(size)) for size in sizes)]))
    common = shared_words(curves)
    caption = f"{f'All of {common}. ' if common else ''}Median time per message in µs."
    headings = [*map(heading, columns), "page", *map(size_text, sizes)]
    return [Table("sizes-table", headings, rows, caption)]


def ratio_cells(cells: Sequence[Mapping[str, Any] | None]) -> list[Cell]:
    """Return ratios with their intervals."""
    return [
        Cell(f"{number(c['ratio']).text} [{number(c['low']).text}, {number(c['high']).text}]")
        if c
        else Cell("-")
        for c in cells
    ]


def sizes_as_headings(sizes: Sequence[int]) -> list[str]:
    """Return sizes as headings of columns."""
    return [size(one).text for one in sizes]


def _present(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in table]


def with_nulls(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries, with nulls as they are."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def heading(column: str) -> str:
    """Return the heading of an identity column."""
    return {"mpi": "MPI", "run_id": "run"}.get(column, column.replace("_", " "))
