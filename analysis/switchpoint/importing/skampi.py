"""Reads what SKaMPI 5 prints: `begin result "NAME"`, rows such as `count= 4 16 2.31 0.02 40`."""

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
from switchpoint.tables.measurements import Measurements

NAME = "SKaMPI"

_TITLE = re.compile(r'begin result "(?P<name>[^"]+)"')
_RECOGNISED = re.compile(BEFORE_TITLE + rb'begin result "[^"\n]+"', re.MULTILINE)

#: Loop variables, the size in bytes, the time in us, its deviation and the repetitions. The times
#: of the processes may follow.
_ROW = re.compile(
    r"(?P<variables>(?:\w+= *[\w.]+\s+)+)(?P<size>\d+)\s+(?P<time>\d+\.\d+)"
    r"\s+(?P<deviation>\d+\.\d+)\s+(?P<iterations>\d+)(?:\s+\d+\.\d+)*"
)
_VARIABLE = re.compile(r"(\w+)= *([\w.]+)")
_BROKEN_ROW = re.compile(r"\w+= *\S+\s.*\d.*")

#: What the names of measurements end with: the variables of their loops.
_LOOPS = re.compile(r"(?:-(?:nodes|length|count|short|long|size))+$")

#: What takes the place of a missing end.
_CUT = "SKaMPI ends"

#: The variable that the size repeats.
_COUNT = "count"

_FIELDS = ("size", "time", "deviation", "iterations")
_COLUMNS = Columns(size="size", iterations="iterations", metrics={"time": "time"})


def recognises(head: bytes) -> bool:
    """Return whether a line begins a result."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel`, such as skampi_mpi_bcast, and loop variables.

    SKaMPI's `nodes` are processes.
    """
    data = content(path) if data is None else data
    tables, problems = find_tables(_lines(printed_lines(path, data)), _Grammar())
    parts, of_rows = parts_of(tables, _COLUMNS, around.choices.statistic)
    return as_runs(path, around, "skampi", _Grammar.tool, data, parts, [*problems, *of_rows])


def _lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Replace each row by its numbers, behind the title and variables where a curve begins."""
    title, variables, last = "", "", None
    for line in lines:
        if _TITLE.fullmatch(line.text):
            title, variables, last = line.text, "", line
            continue
        if line.text == "end result":
            title = ""
        row = _ROW.fullmatch(line.text) if title else None
        if row is None:
            yield line
            continue
        loops = [f"{name}={value}" for name, value in _VARIABLE.findall(row["variables"])
                 if name != _COUNT]  # fmt: skip
        if (said := " ".join([title, *loops])) != variables:
            variables = said
            yield replace(line, text=said)
        yield replace(line, text=" ".join(row[name] for name in _FIELDS))
        last = line
    if title and last is not None:
        yield replace(last, text=_CUT)


class _Grammar:
    """What the program prints, with numbers for rows."""

    tool = "SKaMPI"
    size = "size"
    fixed = False

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text)

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if title := _TITLE.match(text):
            name = re.sub(r"\W+", "_", _LOOPS.sub("", title["name"])).lower()
            loops = dict(_VARIABLE.findall(text[title.end() :]))
            if "nodes" in loops:
                loops["processes"] = loops.pop("nodes")
            return Title({"kernel": f"skampi_{name}"} | loops, list(_FIELDS))
        if text == _CUT:
            return Lost("the result has no end, so rows may be missing")
        if "kernel" in identity and _BROKEN_ROW.fullmatch(text):
            return Lost(f"'{text[:40]}' is no whole row and is skipped")
        return None
