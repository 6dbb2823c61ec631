"""What every page of the report is made of: sections of plots, tables and terms, and its address.

Pages are data; one template renders all of them, so that each escapes, links and sorts in one way.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from switchpoint.reporting.figures.figure import Figure
from switchpoint.reporting.pages.spreadsheets import protected
from switchpoint.tables.columns import values_of
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.units import percent, significant, size_text

#: An address contains at most so many characters of a name.
_MOST_OF_NAME = 40

#: A page contains so many rows of a table; its CSV contains all. More make the page slow.
_MOST_ROWS = 1000

#: A page of a table has at most so many rows: the browser lays no others out.
_ROWS_OF_PAGE = 100


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
        What people read.
    number : float or None
        The value behind the text: the table is sorted by it, and its CSV contains it.
    link : str
        A path from the top of the report, perhaps with an anchor; empty without one.
    shade : float or None
        Colours the cell: 0 for the best value of its table, 1 for the worst.
    """

    text: str
    number: float | None = None
    link: str = ""
    shade: float | None = None

    @property
    def raw(self) -> str:
        """The cell in a CSV file."""
        if self.number is not None:
            return f"{self.number:.15g}"
        return protected(self.text)


@dataclass(frozen=True)
class Row:
    """One row of a table, and the anchor by which links find it."""

    cells: list[Cell]
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """A table that can be sorted, filtered and saved as CSV.

    Attributes
    ----------
    name : str
        Unique on its page.
    headings : list of str
    rows : list of Row
    caption : str
    folded : str
        If it is not empty, the table is hidden below this summary until it is opened.
    all_rows : bool
        Whether the page contains all rows, however many there are.
    """

    name: str
    headings: list[str]
    rows: list[Row]
    caption: str = ""
    folded: str = ""
    all_rows: bool = False

    @property
    def first_rows(self) -> list[Row]:
        """The rows that a browser shows at first."""
        return self.rows[:_ROWS_OF_PAGE]

    @property
    def more_rows(self) -> list[Row]:
        """The rows that it shows when the reader asks for them, or for one of them."""
        return self.rows[_ROWS_OF_PAGE : len(self.rows) - self.only_in_csv]

    @property
    def only_in_csv(self) -> int:
        """How many rows are only in the CSV."""
        return 0 if self.all_rows else max(len(self.rows) - _MOST_ROWS, 0)

    @property
    def numeric(self) -> list[bool]:
        """Whether each column contains numbers."""
        return [
            any(row.cells[place].number is not None for row in self.rows)
            for place in range(len(self.headings))
        ]

    @property
    def csv(self) -> str:
        """The same table as text with commas."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(protected, self.headings))
        writer.writerows([cell.raw for cell in row.cells] for row in self.rows)
        return stream.getvalue()


@dataclass(frozen=True)
class Plot:
    """A figure with the values that it shows, which can be saved as CSV.

    Figures that show the same values in several metrics have one CSV, with one `name`.
    """

    name: str
    figure: Figure
    values: pd.DataFrame


@dataclass(frozen=True)
class Terms:
    """Terms with their texts, hidden below a summary."""

    summary: str
    terms: list[tuple[str, str]]


@dataclass(frozen=True)
class Section:
    """A part of a page with its heading: plots first, then tables, then terms.

    Without content it is left out, unless it `stays` because its words matter.
    """

    name: str
    title: str
    words: str = ""
    plots: list[Plot] = field(default_factory=list)
    drawing: str = ""
    tables: list[Table] = field(default_factory=list)
    terms: list[Terms] = field(default_factory=list)
    stays: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.stays or self.plots or self.drawing or self.tables or self.terms)


@dataclass(frozen=True)
class Page:
    """One page of the report.

    Attributes
    ----------
    path : str
        From the top of the report, such as `runs/3f2a.html`.
    title : str
    answer : list of str
        What it says, in sentences.
    drawing : str
        The picture next to the answer, as SVG.
    sections : list of Section
        Those without content are left out.
    warnings : list of str
    """

    path: str
    title: str
    answer: list[str] = field(default_factory=list)
    drawing: str = ""
    sections: list[Section] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def shown(self) -> list[Section]:
        """The sections that show anything."""
        return [section for section in self.sections if section]

    @property
    def has_plots(self) -> bool:
        """Whether it needs the library that draws plots."""
        return any(section.plots for section in self.sections)

    @property
    def has_tables(self) -> bool:
        """Whether it needs the library that sorts and filters tables."""
        return any(section.tables for section in self.sections)

    @property
    def slug(self) -> str:
        """Its path as one word, for the names of its files."""
        return self.path.removesuffix(".html").replace("/", "-")


def address(*names: object) -> str:
    """Return a word for a path or an anchor that says the names and stays the same.

    >>> address("pingpong", "send"), address("Open MPI 4.1.4", None)
    ('pingpong-send', 'open-mpi-4-1-4-cee3e54c')
    """
    whole = "-".join(name for name in names if isinstance(name, str))
    plain = re.sub(r"[^a-z0-9_]+", "-", whole.lower()).strip("-")[:_MOST_OF_NAME]
    told = f"{plain or 'none'}-{digest_of(*names)}"
    return plain if plain == whole and plain else told


def digest_of(*values: object) -> str:
    """Return eight digits that identify some values."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()[:8]


def finding_anchor(row: Anomaly, identity: Iterable[str]) -> str:
    """Return the anchor of a finding, which is the same in every report of its run."""
    told = [value for value in values_of(row, identity) if isinstance(value, str)]
    return f"finding-{digest_of(row['kind'], int(row['size_bytes']), *told)}"


def word(value: object, link: str = "") -> Cell:
    """Return a cell with text; without a value a dash."""
    return Cell(value if isinstance(value, str) and value else "-", link=link)


def number(value: Any) -> Cell:
    """Return a cell with a number of three significant digits."""
    known = value is not None and not pd.isna(value) and math.isfinite(value)
    return Cell(significant(float(value)), float(value)) if known else Cell("-")


def whole_number(value: Any) -> Cell:
    """Return a cell with a whole number, such as a size in bytes."""
    return Cell("-") if value is None or pd.isna(value) else Cell(f"{int(value):,}", float(value))


def size(value: Any) -> Cell:
    """Return a cell with a size in bytes, written with its unit."""
    return Cell(size_text(value), float(value))


def share(value: Any) -> Cell:
    """Return a cell with a relative change."""
    known = value is not None and not pd.isna(value)
    return Cell(percent(float(value)), float(value)) if known else Cell("-")
