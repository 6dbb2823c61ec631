"""The tables of the page of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from switchpoint.models.efficiency import Link, break_even_us
from switchpoint.models.kernels import MERGE_SORT
from switchpoint.models.planes import WORDS
from switchpoint.reporting.figures.crossovers import TIE
from switchpoint.reporting.pages.page import (
    Cell,
    Row,
    Table,
    number,
    share,
    size,
    whole_number,
    word,
)
from switchpoint.tables.columns import none_for_nulls, records

#: Numbers of ranks whose break-even grain is shown: those of study 002 and of its model.
_BREAK_EVEN_RANKS = (2, 4, 8)


def error_table(name: str, compared: Mapping[str, pd.DataFrame]) -> Table:
    """Return the errors of each kernel's predictions.

    Parameters
    ----------
    name
        Of the table.
    compared
        As from `compare_with`, by kernel.
    """
    rows = [row for kernel, points in compared.items() for row in _error_rows(kernel, points)]
    headings = ["kernel", "MPI", "placement", "map", "points", "median error", "largest error",
                "ranks outnumber cores", "not predicted because"]  # fmt: skip
    return Table(name, headings, rows)


def _error_rows(kernel: str, points: pd.DataFrame) -> Iterator[Row]:
    """Yield a row for each MPI and placement, and for each map of the merge sort."""
    keys = ["mpi", "environ", "placement", "oversubscribed"]
    keys += ["ranks_on_nodes"] if kernel == MERGE_SORT else []
    known = [name for name in keys if name in points]
    for values, own in none_for_nulls(points).groupby(known, dropna=False, sort=True):
        told = dict(zip(known, values, strict=True))
        errors = own["error"].dropna().astype(float)
        median = 100 * errors.abs().median()
        largest = max(errors, key=abs, default=None)
        reasons = [notes[0] for notes in own.loc[own["predicted_us"].isna(), "notes"]]
        mpi = told.get("mpi")
        yield Row(
            [
                word(kernel),
                word(mpi if isinstance(mpi, str) else told.get("environ")),
                word(told.get("placement")),
                word(told.get("ranks_on_nodes")),
                whole_number(len(errors)),
                Cell(f"{median:,.0f} %", float(median)) if len(errors) else Cell("-"),
                share(largest),
                _yes_or_no(told["oversubscribed"]),
                word("; ".join(dict.fromkeys(reasons)).replace("`", "")),
            ]
        )


def phase_table(name: str, sides: Mapping[str, pd.DataFrame]) -> Table:
    """Return how long all ranks together spend in each phase.

    Parameters
    ----------
    name
        Of the table.
    sides
        `phase`, `start_us` and `end_us` of the spans, predicted and measured.
    """
    sums = {
        side: (table["end_us"] - table["start_us"]).groupby(table["phase"]).sum()
        for side, table in sides.items()
    }
    phases = dict.fromkeys(phase for own in sums.values() for phase in own.index)
    rows = [
        Row([word(phase), *(number(own.get(phase, 0.0) / 1000) for own in sums.values())])
        for phase in phases
    ]
    ends = [number(table["end_us"].max() / 1000) for table in sides.values()]
    rows.append(Row([Cell("until the last rank ends"), *ends]))
    return Table(name, ["all ranks together", *(f"{side} / ms" for side in sides)], rows)


def cell_table(name: str, title: str, cells: pd.DataFrame) -> Table:
    """Return the predictions behind the cells of a crossover map, as from `crossovers`."""
    rows = [
        Row(
            [
                whole_number(cell["ranks"]),
                size(cell["size_bytes"]),
                word(TIE if cell["as_good"] else cell["fastest"]),
                word(cell["fastest"]),
                size(cell["segment_bytes"]) if cell["segment_bytes"] else Cell("-"),
                number(cell["time_us"]),
                number(cell["low_us"]),
                number(cell["high_us"]),
                word(cell["as_good"]),
            ]
        )
        for cell in cells.to_dict("records")
    ]
    headings = ["ranks", "size", "shown", "shortest time", "segments", "time / µs", "low", "high",
                "no difference from"]  # fmt: skip
    return Table(name, headings, rows, "", f"{title}: {len(rows):,} predictions")


def break_even_table(name: str, where: str, link: Link) -> Table:
    """Return the tasks below which the parallel program is slower than the serial one."""
    headings = ["L / words", *(f"{ranks} ranks / ms" for ranks in _BREAK_EVEN_RANKS)]
    rows = [
        Row(
            [
                whole_number(words),
                *(
                    number(break_even_us(ranks, link.exchange_us(ranks, words)) / 1000)
                    for ranks in _BREAK_EVEN_RANKS
                ),
            ]
        )
        for words in WORDS
    ]
    caption = f"{where}: a task shorter than this is faster on one rank (break-even T)."
    return Table(name, headings, rows, caption)


def ring_tables(name: str, where: str, measured: pd.DataFrame) -> list[Table]:
    """Return measured efficiencies, as from `measured_efficiency`, if there are any."""
    rows = [
        Row(
            [
                whole_number(row["words"]),
                whole_number(row["ranks"]),
                number(row["task_us"] / 1000),
                number(row["efficiency"]),
                number(row["predicted"]),
                share(row["efficiency"] / row["predicted"] - 1),
                whole_number(row["launches"]),
                _yes_or_no(row["oversubscribed"]),
            ]
        )
        for row in measured.to_dict("records")
    ]
    headings = ["L / words", "ranks", "T / ms", "measured efficiency", "predicted", "error",
                "launches", "ranks outnumber cores"]  # fmt: skip
    return [Table(name, headings, rows, f"{where}: measured by the kernel ring.")] if rows else []


def scaling_table(name: str, title: str, points: pd.DataFrame) -> Table:
    """Return the points of one kind of scaling, as from `scaling`."""
    told: Sequence[str] = ["kernel", "mode", "topology", "placement", "site", "moved"]
    rows = [
        Row(
            [
                *(word(row[column]) for column in told),
                whole_number(row["ranks"]),
                whole_number(row["size_bytes"]),
                number(row["time_us"]),
                number(row["efficiency"]),
            ]
        )
        for row in records(points)
    ]
    headings = [*told[:-1], "stays the same", "ranks", "size / B", "time / µs", "efficiency"]
    return Table(name, headings, rows, title)


def _yes_or_no(value: Any) -> Cell:
    return Cell("yes" if value else "no")
