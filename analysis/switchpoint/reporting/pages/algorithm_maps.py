"""The page that maps which algorithms collectives use, over sizes and numbers of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from switchpoint.comparison.algorithms import RESULTS
from switchpoint.reporting.algorithms import MOST_PROBABILITY, answers, ranges, used_text
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import (
    Cell,
    Page,
    Row,
    Section,
    Table,
    address,
    share,
    whole_number,
    word,
)
from switchpoint.tables.columns import records
from switchpoint.tables.naming import curve_name
from switchpoint.tables.units import percent, range_text

_WORDS = (
    "Which algorithm the library uses, by number of ranks and message size. In brackets: how much"
    " longer it takes than the fastest algorithm, if that was faster in every launch (the most over"
    " these sizes); the darker, the more. Algorithms with equal times are named together."
)


def algorithm_maps(contents: Contents) -> Page | None:
    """Return the page, or None if no run measured algorithms beside the library's choice."""
    table = contents.algorithms
    if table is None:
        return None
    place = [str(name) for name in table if name not in [*RESULTS, "ranks"]]
    named = [name for name in place if table[name].notna().any()]
    sections = []
    for key, part in table.groupby(place, dropna=False, observed=True, sort=False):
        values = dict(zip(place, key, strict=True))
        title = curve_name(named, tuple(values[name] for name in named))
        name = address(*values.values())
        tables = [_map(name, part), _all_sizes(name, part)]
        sections.append(Section(name, title, tables=tables))
    return Page("algorithms.html", "Algorithms", [*_answer(table), _WORDS], sections=sections)


def _answer(table: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence about the largest loss."""
    if table["fastest"].isna().all():
        return
    row = table.sort_values("loss", na_position="first").iloc[-1]
    loss = percent(row["loss"]).removeprefix("+")
    yield (
        f"The library's choice loses most in {row['kernel']} of {int(row['size_bytes']):,} B by"
        f" {row['ranks']} ranks with {row['mpi']}: it takes {loss} longer than {row['fastest']}."
    )


def _map(name: str, part: pd.DataFrame) -> Table:
    """Return a row for each number of ranks, and a column for each range of sizes."""
    cells = part.set_index(["size_bytes", "ranks"]).sort_index()
    used = cells["used"].map(used_text)
    texts = answers(cells).unstack()  # noqa: PD010 - of text
    losses = cells["loss"].astype(float).fillna(0)
    columns = [[int(size) for size in own.index] for _, own in texts.groupby(ranges(texts))]
    headings = ["ranks", *(range_text(sizes[0], sizes[-1]) for sizes in columns)]

    def cell(ranks: int, sizes: list[int]) -> Cell:
        first = (sizes[0], ranks)
        if first not in cells.index:
            return Cell("-")
        fastest, loss = cells["fastest"].loc[first], losses.loc[[(n, ranks) for n in sizes]].max()
        over = f" ({percent(loss)} over {fastest})" if fastest else ""
        shade = round(loss / losses.max(), 3) if loss else None
        return Cell(f"{used.loc[first]}{over}", shade=shade)

    rows = [
        Row([whole_number(ranks), *(cell(ranks, sizes) for sizes in columns)])
        for ranks in map(int, texts.columns)
    ]
    return Table(f"{name}-map", headings, rows)


def _all_sizes(name: str, part: pd.DataFrame) -> Table:
    rows = [
        Row(
            [
                whole_number(row["ranks"]),
                whole_number(row["size_bytes"]),
                word(used_text(row["used"])),
                _probability(min(row["probability"], MOST_PROBABILITY)),
                word(row["fastest"]),
                *(share(row[of]) for of in ("loss", "loss_low", "loss_high")),
                whole_number(row["launches"]),
            ]
        )
        for row in records(part)
    ]
    headings = ["ranks", "size / B", "in use", "probability", "faster", "loss", "at least",
                "at most", "launches"]  # fmt: skip
    return Table(f"{name}-sizes", headings, rows, "", "each number of ranks and size")


def _probability(value: float) -> Cell:
    return Cell(f"{100 * value:.0f} %", value)
