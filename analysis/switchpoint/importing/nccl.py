"""Reads what nccl-tests and rccl-tests print.

Out-of-place and in-place calls are curves of their own, and each data type, operation and root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import Columns, as_runs, parts_of
from switchpoint.importing.printed_lines import printed_lines
from switchpoint.importing.printed_tables import (
    NUMBER,
    Heading,
    Part,
    Table,
    Title,
    find_tables,
    plain_row,
)
from switchpoint.importing.problems import Problem
from switchpoint.importing.row_forms import decimals
from switchpoint.tables.measurements import Measurements

NAME = "output of nccl-tests"

#: The names of the columns. The units are on the next line.
_NAMES = re.compile(r"#\s*(?P<names>size\s+count\s+type\b.*\balgbw\b.*)")
_UNITS = re.compile(r"#\s*\(B\)\s+\(elements\).*")
_UNITS_OF = {"time": "(us)", "algbw": "(GB/s)", "busbw": "(GB/s)"}

_PROGRAM = re.compile(r"\b(?P<name>[a-z]\w*)_perf(?:_mpi)?\b")
_RANK = re.compile(r"#\s+Rank\s+(\d+)\s")
_START = re.compile(r"#\s*(?:nThread\s|Using devices)")
_VERSION = re.compile(r"#\s*(?P<tool>[nr]ccl-tests)(?:: Version| version) (?P<version>\S+)")

#: Words in rows: data types, operations, and a check that was not made.
_FIELD = re.compile(rf"{NUMBER}|[a-z]\w*|N/A", re.IGNORECASE)

#: Columns of a call, and where the two calls of a row keep their results.
CURVE = ("type", "redop", "root")
PLACES = ("out_of_place", "in_place")

_COLUMNS = Columns(size="size", iterations="", metrics={"time": "time"}, fixed=False)

#: `algbw` is the size by the time, except for operations that count other bytes.
_LEAST_ROWS = 3


def recognises(head: bytes) -> bool:
    """Return whether a line is the heading of a table."""
    return (
        b"\0" not in head
        and re.search(rb"#\s*size\s+count\s+type\b[^\r\n]{0,128}\balgbw\b", head) is not None
    )


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel`, such as nccl_all_reduce, `mode` = in_place, `type`.

    Also `redop` and `root` where they mean something, and the number of `processes`.
    """
    data = content(path) if data is None else data
    grammar = _Grammar()
    tables, problems = find_tables(printed_lines(path, data), grammar)
    parts, of_rows = parts_of(
        (part for table in tables for part in _by_call(table, problems)), _COLUMNS
    )
    labels_needed = [table for table in tables if "kernel" not in table.identity and table.rows]
    for table in labels_needed[:1]:
        what = "no line names the operation: give the label kernel, such as nccl_all_reduce"
        problems.append(Problem(table.lines[0], what))
    tool = f"{grammar.program} {grammar.version}".strip()
    return as_runs(path, around, "nccl", tool, data, parts, [*problems, *of_rows])


@dataclass
class _Grammar:
    """What the programs print; the other fields are what the lines so far have said."""

    tool: str = "nccl-tests"
    size: str = "size"
    fixed: bool = False
    program: str = "nccl-tests"
    version: str = ""
    kernel: str = ""
    ranks: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text, _FIELD)

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if names := _NAMES.fullmatch(text):
            self.names = names["names"].split()
            facts = {"kernel": self.kernel} if self.kernel else {}
            if self.ranks:
                facts["processes"] = str(len(self.ranks))
            return Title(facts)
        if _UNITS.fullmatch(text) and self.names:
            return _heading(self.names, text.lstrip("# ").split())
        if rank := _RANK.match(text):
            self.ranks.add(rank[1])
        elif _START.match(text):
            self.ranks = set()
        elif version := _VERSION.match(text):
            self.program, self.version = version["tool"], version["version"]
        elif name := program(text):
            self.kernel = f"{self.program[:4]}_{name}"
        return None


def program(text: str) -> str | None:
    """Return the operation of a program that a text names.

    >>> program("srun ./build/all_reduce_perf -b 8"), program("perf stat ls")
    ('all_reduce', None)
    """
    match = _PROGRAM.search(text)
    return match["name"] if match else None


def _heading(names: list[str], units: list[str]) -> Heading:
    """Return the columns with the place of their results, if their units are the known ones."""
    said = iter(units[2:])
    for name in names[names.index("type") :]:
        unit = _UNITS_OF.get(name) or ("(us)" if name.startswith("i_") else None)
        if name == "i_cv%":
            unit = "(%)"
        if unit and next(said, "") != unit:
            return Heading(names, f"need the units (us) and (GB/s), and '{name}' has another")
    columns, place = [], -1
    for name in names:
        place += name in ("time", "cputime")
        columns.append(name if place < 0 else f"{PLACES[min(place, 1)]} {name}")
    return Heading(columns)


def _by_call(table: Table, problems: list[Problem]) -> Iterator[Table]:
    """Return a table of times for each place, type, operation and root."""
    columns = _columns_in_use(table)
    calls: dict[tuple[tuple[str, str], ...], list[tuple[int, dict[str, str]]]] = {}
    for fields, line in zip(table.rows, table.lines, strict=True):
        if len(fields) != len(columns):
            what = f"{len(fields)} values under {len(table.columns)} names: the row is skipped"
            problems.append(Problem(line, what, table.identity.get("kernel", "")))
            continue
        row = dict(zip(columns, fields, strict=True))
        named = [(name, row[name]) for name in CURVE if row.get(name) not in (None, "none", "-1")]
        calls.setdefault(tuple(named), []).append((line, row))
    for curve, every in calls.items():
        # With less than an element for each rank, several steps of the size are calls of 0 B.
        empty = [line for line, row in every if row["size"] == "0"]
        rows = [(line, row) for line, row in every if line not in empty[1:]]
        for place in PLACES:
            if f"{place} time" not in columns:
                continue
            kept = _agreeing(rows, place, table, problems)
            yield replace(
                table,
                identity=table.identity | dict(curve) | {"mode": place},
                columns=["size", "time", "Validation"],
                rows=[_of_place(row, place) for _, row in kept],
                lines=[line for line, _ in kept],
            )


def _of_place(row: dict[str, str], place: str) -> list[str]:
    """Return size, time and whether the payload arrived, of one of the two calls of a row."""
    right = row.get(f"{place} #wrong", "0") in ("0", "N/A")
    return [row["size"], row[f"{place} time"], "pass" if right else "fail"]


def _columns_in_use(table: Table) -> list[str]:
    """Return the columns that rows have: operations without `redop` or `root` leave them blank."""
    columns = table.columns
    widths = {len(row) for row in table.rows}
    for blank in (["redop"], ["root"], ["redop", "root"]):
        if widths == {len(columns) - len(blank)} and {*blank} <= {*columns}:
            left = [name for name in columns if name not in blank]
            numbers = (
                all(decimals(row[left.index("root")]) == 0 for row in table.rows)
                if "root" in left
                else True
            )
            if numbers:
                return left
    return columns


def _agreeing(
    rows: list[tuple[int, dict[str, str]]], place: str, table: Table, problems: list[Problem]
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows whose bandwidth is that of their time, and report the others."""
    if f"{place} algbw" not in table.columns:
        return rows
    size, time, rate = (
        np.array([_number(row[name]) for _, row in rows])
        for name in ("size", f"{place} time", f"{place} algbw")
    )
    time_step, rate_step = (
        np.array([_half_step(row[f"{place} {name}"]) for _, row in rows])
        for name in ("time", "algbw")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        of_time = size / time / 1000
        sharp = (rate_step < 0.02 * rate) & (time_step < 0.02 * time)
        usual = float(np.median(rate[sharp] / of_time[sharp])) if sharp.sum() >= _LEAST_ROWS else 1
        expected = usual * of_time
        allowed = 1.01 * rate_step + (1.01 * time_step / time + 2e-3) * expected
        wrong = np.abs(rate - expected) > allowed
    for n in np.flatnonzero(wrong):
        what = f"time and algbw of {place} do not agree: the row is skipped"
        problems.append(Problem(rows[n][0], what, table.identity.get("kernel", "")))
    return [rows[n] for n in np.flatnonzero(~wrong)]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _half_step(text: str) -> float:
    """Return half of the step of the last digit.

    >>> _half_step("12.5"), _half_step("1.0e+06")
    (0.05, 50000.0)
    """
    number, _, power = text.lower().partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - (decimals(number) or 0))
