"""Reads tables in Markdown and reStructuredText: drawn with bars, dashes and equals signs.

Their headings mean what those of CSV files mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from switchpoint.data_warnings import (
    DataWarning,
    text_of_warnings,
    warning_of_error,
    warnings_of_text,
)
from switchpoint.errors import InputError
from switchpoint.importing.choices import Choices
from switchpoint.importing.column_plan import NoPlanError, has_kind, plan_of
from switchpoint.importing.external import content, text_lines
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed_tables import DRAWN, other_tool, plain_row
from switchpoint.importing.problems import CUT_ROW, Problem
from switchpoint.importing.row_forms import is_whole
from switchpoint.importing.same_curves import TABLE
from switchpoint.importing.tidy import measured
from switchpoint.limits import COLUMNS, HEADING_CHARACTERS
from switchpoint.printable import path_text
from switchpoint.tables import measurements
from switchpoint.tables.measurements import Measurements

NAME = "tables in Markdown and reStructuredText"

#: The line below the heading of Markdown, the border of a grid, and of a simple table.
_MARKDOWN = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|")
_GRID = re.compile(r"\+(?:[-=]+\+)+")
_SIMPLE = re.compile(r"=+(?:\s+=+)+")

_BAR = re.compile(r"(?<!\\)\|")
#: What emphasises a cell.
_MARKS = "*`_ \t"

#: All that the lines consist of that separate rows.
_OF_BORDERS = "|-:+= \t>"


@dataclass
class _Drawn:
    """A drawn table.

    Attributes
    ----------
    names, line
        The names of its columns, and their line.
    after
        The place of the first line that is not of the table.
    rows, lines
        Its rows, and the line of each.
    problems
        Why other lines are no rows.
    """

    names: list[str]
    line: int
    after: int = 0
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, cells: list[str], line: int, *, whole: bool = True) -> None:
        """Add a row, or say why it is none."""
        if len(cells) != len(self.names) or not whole:
            what = f"{len(cells)} cells under {len(self.names)} names, or no bar at its end"
            self.problems.append(Problem(line, f"{what}: the row is skipped"))
            return
        self.rows.append(cells)
        self.lines.append(line)

    def end(self, line: int, *, ended: bool) -> None:
        """Leave out the last row if the file ends there and the row may be cut."""
        if ended or not self.rows or self.lines[-1] != line:
            return
        *others, last = [row[-1] for row in self.rows]
        if not is_whole(last, others):
            self.problems.append(Problem(line, CUT_ROW))
            del self.rows[-1], self.lines[-1]


def recognises(head: bytes) -> bool:
    """Return whether a text has a drawn table of message sizes and times."""
    lines = _lines_with_border(head)
    return any(_is_of_messages(table.names) for table in _tables(lines))


def has_chosen(head: bytes, choices: Choices) -> bool:
    """Return whether a drawn table has a column that the user named."""
    lines = _lines_with_border(head) if choices.columns else []
    return any({*table.names} & {*choices.columns} for table in _tables(lines))


def read(path: Path, around: Surroundings) -> Measurements:
    """Read every drawn table of message sizes; several are curves of their own (`table`)."""
    data = content(path)
    lines = text_lines(path, data)
    chosen = {*around.choices.columns}
    tables = [
        table for table in _tables(lines) if _is_of_messages(table.names) or {*table.names} & chosen
    ]
    for table in tables:
        if table.after >= len(lines):
            table.end(len(lines), ended=data.endswith((b"\n", b"\r")))
    if tables:
        tables[0].problems += _left_out(lines, tables)
    parts, failures = [], []
    for number, table in enumerate(tables, start=1):
        numbered = {TABLE: str(number)} if len(tables) > 1 else {}
        try:
            parts.append(_measured(path, replace(around, said={**around.said, **numbered}),
                                   data, table))  # fmt: skip
        except InputError as error:
            failures.append(error)
    if not parts:
        raise failures[0] if failures else InputError(path, "has no table of messages; add one")
    measured = measurements.concat(parts)
    warnings = [warning_of_error("skipped_part", error) for error in failures]
    warnings = [replace(told, message=f"{told.message}: the table is skipped") for told in warnings]
    if len(tables) > 1:
        first_lines = ", ".join(str(table.line) for table in tables[:4])
        more = ", ..." if len(tables) > 4 else ""
        what = (
            f"the tables from lines {first_lines}{more} may be of different systems, so each is a"
            f" curve of its own ({TABLE} = 1, 2, ...)"
        )
        warnings.append(DataWarning("separate_curves", what, path_text(path)))
    if warnings:
        first = measured.runs.index[0]
        before = warnings_of_text(measured.runs.loc[first, "warnings"])
        measured.runs.loc[first, "warnings"] = text_of_warnings([*before, *warnings])
    return measured


def _left_out(lines: Sequence[str], tables: Sequence[_Drawn]) -> Iterator[Problem]:
    """Say which lines outside of the tables are rows, or titles of other tools."""
    place = 0
    for table in [*tables, None]:
        rows, tool = True, True
        for number in range(place, len(lines) if table is None else table.line - 1):
            text = lines[number].strip(" \t>")
            cells = _cells(text)
            if rows and (
                (plain_row(" ".join(cells)) and len(cells) > 1) or len(plain_row(text)) > 1
            ):
                yield Problem(number + 1, f"'{text[:40]}' is a row outside of a table: skipped")
                rows = False
            elif tool and (name := other_tool(text, DRAWN)):
                what = f"a table of {name} begins, which is skipped: import it from its own file"
                yield Problem(number + 1, what)
                tool = False
        place = table.after if table is not None else place


def _measured(path: Path, around: Surroundings, data: bytes, table: _Drawn) -> Measurements:
    try:
        plan = plan_of(table.names, around.choices)
    except NoPlanError as error:
        raise InputError(path, str(error), table.line) from None
    if len({*plan.names}) < len(plan.names):
        raise InputError(path, "has a column twice, or two without a name; name them", table.line)
    rows = pd.DataFrame(table.rows, columns=plan.names, dtype=str)
    lines = pd.Series(table.lines, index=rows.index, dtype="int64")
    return measured(path, around, data, rows, lines, plan, table.problems)


def _lines_with_border(head: bytes) -> list[str]:
    """Return the lines of a text; none if no line can separate the rows of a drawn table."""
    if b"\0" in head:
        return []
    lines = head.decode("utf-8", errors="replace").splitlines()
    borders = (line for line in lines if not line.strip(_OF_BORDERS))
    return lines if any("--" in line or "==" in line or "|-" in line for line in borders) else []


def _is_of_messages(names: Sequence[str]) -> bool:
    """Return whether the headings name a message size and a time or bandwidth."""
    metric = has_kind(names, "time") or has_kind(names, "bandwidth")
    return 1 < len(names) <= COLUMNS and has_kind(names, "size") and metric


def _tables(lines: Sequence[str]) -> Iterator[_Drawn]:
    """Return the drawn tables of a text."""
    texts = [line.strip().removeprefix(">").strip()[:HEADING_CHARACTERS] for line in lines]
    place = 0
    while place < len(texts):
        text, before = texts[place], texts[place - 1] if place else ""
        if _GRID.fullmatch(text):
            table, place = _grid(texts, place)
        elif _SIMPLE.fullmatch(text):
            table, place = _simple(lines, place)
        elif "|" in before and _MARKDOWN.fullmatch(text):
            table, place = _markdown(texts, place)
        else:
            table, place = None, place + 1
        if table is not None:
            table.after = place
            yield table


def _cells(text: str) -> list[str]:
    """Return the cells of a row that bars separate."""
    inner = text.removeprefix("|").removesuffix("|")
    return [cell.strip(_MARKS) for cell in _BAR.split(inner)]


def _markdown(texts: Sequence[str], border: int) -> tuple[_Drawn, int]:
    table = _Drawn(_cells(texts[border - 1]), border)
    closed = texts[border].endswith("|")
    place = border + 1
    while place < len(texts) and "|" in texts[place]:
        text = texts[place]
        table.add(_cells(text), place + 1, whole=text.endswith("|") or not closed)
        place += 1
    return table, place


def _grid(texts: Sequence[str], border: int) -> tuple[_Drawn | None, int]:
    table, place = None, border + 1
    while place < len(texts) and (texts[place].startswith("|") or _GRID.fullmatch(texts[place])):
        text = texts[place]
        if text.startswith("|"):
            if table is None:
                table = _Drawn(_cells(text), place + 1)
            else:
                table.add(_cells(text), place + 1, whole=text.endswith("|"))
        place += 1
    return table, place


def _simple(lines: Sequence[str], border: int) -> tuple[_Drawn | None, int]:
    starts = [match.start() for match in re.finditer(r"=+", lines[border])]
    ends = [*starts[1:], None]

    def cells(line: str) -> list[str]:
        spans = zip(starts, ends, strict=True)
        return [line[start:end].strip(_MARKS) for start, end in spans]

    if border + 2 >= len(lines) or not _SIMPLE.fullmatch(lines[border + 2].strip()):
        return None, border + 1
    table, place = _Drawn(cells(lines[border + 1]), border + 2), border + 3
    while place < len(lines) and not _SIMPLE.fullmatch(lines[place].strip()):
        line = lines[place]
        if not line.strip():
            return table, place
        apart = all(not line[start - 1 : start].strip() for start in starts if start)
        table.add(cells(line), place + 1, whole=apart and bool(cells(line)[-1]))
        place += 1
    return table, place + 1
