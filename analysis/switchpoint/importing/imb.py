"""Reads the output of Intel MPI Benchmarks: every table of IMB-MPI1, and those of IMB-NBC.

The average over ranks is the curve. If a message rate is printed, the time is its inverse.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import Columns, as_runs, parts_of
from switchpoint.importing.printed_lines import BEFORE_TITLE, printed_lines
from switchpoint.importing.printed_tables import (
    Fact,
    Heading,
    Lost,
    Part,
    Table,
    Title,
    find_tables,
    plain_row,
)
from switchpoint.importing.problems import Problem
from switchpoint.importing.rate_checks import DISAGREES, SWAPPED, are_swapped, disagreeing, step_of
from switchpoint.tables.measurements import Measurements

NAME = "Intel MPI Benchmarks' output"

_TITLE = re.compile(r"#\s*Benchmarking\s+(?P<name>[\w-]+)")
_RECOGNISED = re.compile(BEFORE_TITLE + rb"#\s*Benchmarking\s+[\w-]+", re.MULTILINE)
_PROCESSES = re.compile(r"#processes = (?P<processes>\d+)")
#: A line below the title with `-multi`. A table with a column `Group` has a row for each group.
_GROUPS = re.compile(r"\( (?P<groups>\d+) groups of (?P<processes>\d+) processes")
#: Modes of one-sided transfers: many between two synchronisations, or one.
_MODE = re.compile(r"#\s*MODE: (?P<mode>[\w-]+)")
_HEADING = re.compile(r"(?P<names>(?:Group\s+)?(?:#bytes\s+)?#repetitions\s.*\S)")
#: A heading of other columns.
_OTHER_HEADING = re.compile(r"(?:Group\s+)?#(?:bytes|repetitions)\b.*")
_GIVEN_UP = re.compile(r"(?:\d+\s+)+(?P<why>out-of-mem|int-overflow|time-out)\b.*")
_VERSION = re.compile(rb"Intel\(R\) MPI Benchmarks\s+(?:Version\s+)?(\d[\w.]*)", re.IGNORECASE)

_RATE = "Mbytes/sec"

_COLUMNS = Columns(
    size="#bytes",
    iterations="#repetitions",
    metrics={
        "t[usec]": "time",
        "t_avg[usec]": "time",
        "t_ovrl[usec]": "time",
        "Msg/sec": "rate",
        _RATE: "bandwidth",
    },
    statistics={"t_min[usec]": ("min", "time"), "t_max[usec]": ("max", "time")},
)


def recognises(head: bytes) -> bool:
    """Return whether the text contains a benchmark's title and the heading of a table."""
    return b"\0" not in head and b"#repetitions" in head and bool(_RECOGNISED.search(head))


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read IMB output; identity: `kernel`, such as imb_pingpong, and number of `processes`.

    For one-sided transfers also the `mode`; with `-multi` the number of `groups`, and the `group`.
    """
    data = content(path) if data is None else data
    tables, problems = find_tables(printed_lines(path, data), _Grammar())
    version = _VERSION.search(data)
    tool = _Grammar.tool + (f" {version[1].decode()}" if version else "")
    for table in tables:
        problems += _leave_out_wrong_rows(table)
    by_group = (part for table in tables for part in _by_group(table))
    parts, of_rows = parts_of(by_group, _COLUMNS, around.choices.statistic)
    return as_runs(path, around, "imb", tool, data, parts, [*problems, *of_rows])


def _leave_out_wrong_rows(table: Table) -> Iterator[Problem]:
    """Remove rows whose time and rate do not agree, and say so.

    Each benchmark divides by one of the times that it prints.
    """
    whole = [place for place, row in enumerate(table.rows) if len(row) == len(table.columns)]
    if not whole or not {_COLUMNS.size, _RATE} <= {*table.columns}:
        return
    rows = [table.rows[place] for place in whole]
    kernel = table.identity.get("kernel", "")
    size, rate = (_numbers(table, rows, name) for name in (_COLUMNS.size, _RATE))
    rate_step = _steps(table, rows, _RATE)
    times = [name for name in table.columns if name.endswith("[usec]")]
    curve = next((name for name in _COLUMNS.metrics if name in times), None)
    if curve is not None and are_swapped(size, _numbers(table, rows, curve), rate):
        yield Problem(table.lines[0], SWAPPED, kernel)
        table.rows, table.lines = [], []
        return
    wrong = [
        disagreeing(size, _numbers(table, rows, name), rate, _steps(table, rows, name), rate_step)
        for name in times
    ]
    places = np.flatnonzero(np.logical_and.reduce(wrong)).tolist() if wrong else []
    for place in sorted((whole[n] for n in places), reverse=True):
        yield Problem(table.lines[place], DISAGREES, kernel)
        del table.rows[place], table.lines[place]


def _numbers(table: Table, rows: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    texts = [row[table.columns.index(name)] for row in rows]
    return np.asarray(pd.to_numeric(np.array(texts, dtype=object), errors="coerce"), dtype=float)


def _steps(table: Table, rows: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    return np.array([step_of(row[table.columns.index(name)]) for row in rows])


class _Grammar:
    """What Intel's benchmarks print."""

    tool = "Intel MPI Benchmarks"
    size = "#bytes"
    fixed = True

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text)

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if title := _TITLE.match(text):
            return Title({"kernel": "imb_" + title["name"].lower().replace("-", "_")})
        if "kernel" not in identity:
            return None
        if facts := _PROCESSES.search(text) or _GROUPS.search(text):
            return Fact(facts.groupdict())
        if mode := _MODE.match(text):
            return Fact({"mode": mode["mode"].lower()})
        if heading := _HEADING.fullmatch(text):
            return Heading(heading["names"].split())
        if _OTHER_HEADING.fullmatch(text):
            return Heading(text.split(), "are not known")
        if given_up := _GIVEN_UP.fullmatch(text):
            return Lost(f"the benchmark gave up this size ({given_up['why']}): the row is skipped")
        return None


def _by_group(table: Table) -> Iterator[Table]:
    """Split a table whose first column names the group of processes of a row."""
    if table.columns[0] != "Group":
        yield table
        return
    groups = list(dict.fromkeys(row[0] for row in table.rows))
    several = len(groups) > 1 or table.identity.get("groups", "1") != "1"
    for group in groups:
        mine = [row[0] == group for row in table.rows]
        yield replace(
            table,
            identity=table.identity | ({"group": group} if several else {}),
            columns=table.columns[1:],
            rows=[row[1:] for row in itertools.compress(table.rows, mine)],
            lines=list(itertools.compress(table.lines, mine)),
        )
