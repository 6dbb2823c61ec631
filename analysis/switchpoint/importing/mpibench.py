"""Reads what LLNL's mpiBench prints: a line for each operation, size and communicator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import Columns, as_runs, parts_of
from switchpoint.importing.printed_lines import BEFORE_TITLE, Line, printed_lines
from switchpoint.importing.printed_tables import Lost, Part, Title, find_tables, plain_row
from switchpoint.importing.problems import CUT_ROW
from switchpoint.tables.measurements import Measurements

NAME = "mpiBench"

_ROW = re.compile(
    r"(?P<operation>\w+)\s+Bytes:\s+(?P<size>\d+)\s+Iters:\s+(?P<iterations>\d+)"
    r"\s+Avg:\s+(?P<avg>\d+\.\d+)\s+Min:\s+(?P<min>\d+\.\d+)\s+Max:\s+(?P<max>\d+\.\d+)"
    r"\s+Comm:\s+(?P<comm>\S+)\s+Ranks:\s+(?P<ranks>\d+)"
)
_BROKEN_ROW = re.compile(r".*\b(?:Bytes|Iters|Avg):\s.*")
_RECOGNISED = re.compile(
    BEFORE_TITLE + rb"\w{1,40}[ \t]+Bytes:[ \t]+\d+[ \t]+Iters:[ \t]+\d+[ \t]+Avg:[ \t]",
    re.MULTILINE,
)

#: The form of a row for the scanner of tables, and of a title before the rows of one curve.
_FIELDS = ("size", "iterations", "avg", "min", "max")
_CURVE = re.compile(r"mpiBench (?P<operation>\w+) (?P<comm>\S+) (?P<ranks>\d+)")

#: What a last line without a line end becomes.
_CUT = "mpiBench ends in "

_COLUMNS = Columns(
    size="size",
    iterations="iterations",
    metrics={"avg": "time"},
    statistics={"min": ("min", "time"), "max": ("max", "time")},
)


def recognises(head: bytes) -> bool:
    """Return whether a line is a row."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel`, such as mpibench_bcast, `processes`, communicator."""
    data = content(path) if data is None else data
    tables, problems = find_tables(_lines(printed_lines(path, data)), _Grammar())
    parts, of_rows = parts_of(tables, _COLUMNS, around.choices.statistic)
    return as_runs(path, around, "mpibench", _Grammar.tool, data, parts, [*problems, *of_rows])


def _lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Replace each row by its numbers, behind a title where a curve begins."""
    before: dict[str, str] = {}
    for line in lines:
        row = _ROW.fullmatch(line.text)
        if row is None:
            cut = not line.ended and line.text and before
            yield replace(line, text=f"{_CUT}{line.text}") if cut else line
            continue
        title = f"mpiBench {row['operation']} {row['comm']} {row['ranks']}"
        if before.get(line.rank) != title:
            before[line.rank] = title
            yield replace(line, text=title)
        yield replace(line, text=" ".join(row[name] for name in _FIELDS))


class _Grammar:
    """What the program prints, with numbers for rows."""

    tool = "mpiBench"
    size = "size"
    fixed = True

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text)

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if curve := _CURVE.fullmatch(text):
            names = {"kernel": f"mpibench_{curve['operation'].lower()}"}
            if curve["comm"] != "MPI_COMM_WORLD":
                names["communicator"] = curve["comm"]
            return Title(names | {"processes": curve["ranks"]}, list(_FIELDS))
        if text.startswith(_CUT):
            return Lost(CUT_ROW)
        if _BROKEN_ROW.fullmatch(text):
            return Lost(f"'{text[:40]}' is no whole row and is skipped")
        return None
