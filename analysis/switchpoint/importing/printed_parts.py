"""The parts of what benchmarks print: titles, facts, headings and tables, and a tool's grammar."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass
class Table:
    """One printed table.

    Attributes
    ----------
    identity : dict of str to str
        What the text around it says about the curve, such as `kernel` and `processes`.
    columns : list of str
        In the printed order.
    rank, command : str
        The rank that printed it, and the command before it; empty if they are not known.
    after_another : bool
        Whether the title before its own has no rows, so that the rows may be of both.
    rows, lines : list
        The fields of each row as text, and the row's line in the file, counted from 1.
    not_ended : set of int
        Rows' lines without a line end: the rest of the last number may be lost.
    """

    identity: dict[str, str]
    columns: list[str]
    rank: str = ""
    command: str = ""
    after_another: bool = False
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    not_ended: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Title:
    """A line after which another benchmark's tables follow; `columns` if they have no heading."""

    identity: dict[str, str]
    columns: list[str] | None = None


@dataclass(frozen=True)
class Fact:
    """A line with facts about the tables of a title: of the next one, or of the last one."""

    identity: dict[str, str]
    ahead: bool = False


@dataclass(frozen=True)
class Heading:
    """The names of a table's columns.

    Attributes
    ----------
    columns : list of str
    problem : str
        Why the rows cannot be read, if they cannot.
    left_out : list of str
        Columns of which nothing is known.
    """

    columns: list[str]
    problem: str = ""
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lost:
    """A line in place of a row, and why there is none."""

    what: str


Part = Title | Fact | Heading | Lost


class Grammar(Protocol):
    """What a tool prints."""

    @property
    def tool(self) -> str:
        """Its key in `printed_tables.TITLES`."""

    @property
    def size(self) -> str:
        """The column of the message size; the first one if a table has no such column."""

    @property
    def fixed(self) -> bool:
        """Whether all numbers of a column have the same decimals."""

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row; none if a line is not one."""

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row; `identity` is known so far."""
