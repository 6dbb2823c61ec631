"""Reads what ReproMPI prints: a line for each repetition, or for each size with its statistics.

Times are in seconds. Sizes are numbers of elements of the datatype that the lines above name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.column_names import STATISTICS
from switchpoint.importing.column_plan import Plan
from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed_lines import Line, printed_lines
from switchpoint.importing.printed_tables import other_tool
from switchpoint.importing.problems import Problem
from switchpoint.importing.row_forms import decimals, is_whole
from switchpoint.importing.tidy import measured
from switchpoint.tables.measurements import Measurements

NAME = "ReproMPI"

_HEADING = re.compile(r"test\s+(?:\w+\s+){1,12}?\w*runtime_sec\b.*")
_RECOGNISED = re.compile(rb"^[ \t]*test[ \t]+(?:\w+[ \t]+){1,12}?\w*runtime_sec\b", re.MULTILINE)
_FACT = re.compile(r"#@(?P<name>\w+)=(?P<value>\S+)")
_FACTS = {
    "nprocs": "processes",
    "operation": "operation",
    "datatype": "datatype",
    "sync": "synchronization",
    "process_sync": "synchronization",
    "root_proc": "root",
}
#: What is measured: an MPI function, or an algorithm of a library.
_CALL = re.compile(r"[A-Za-z_]\w*")

_BYTES = "datatype_size_bytes"
_TIME = "runtime_sec"


def recognises(head: bytes) -> bool:
    """Return whether a line is the heading of a table."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel`, such as reprompi_mpi_bcast, and what the lines say.

    Repetitions are samples of one point.
    """
    data = content(path) if data is None else data
    scan = _Scan(path)
    for line in printed_lines(path, data):
        scan.take(line)
    if not scan.rows:
        raise InputError(path, "contains the heading of a table but no results; measure again")
    plan = _plan(path, [name for name in scan.names if name.endswith(_TIME)], around)
    table = pd.DataFrame(scan.rows, dtype=str).rename(columns={plan.names[0]: plan.metric})
    kept = ["kernel", "size_bytes", plan.metric, *dict.fromkeys(_FACTS.values())]
    table = table[[name for name in kept if name in table]]
    lines = pd.Series(scan.lines, index=table.index)
    return measured(path, around, data, table, lines, plan, scan.problems)


@dataclass
class _Scan:
    """Reads lines, one after the other: the rows so far, and what the lines above them say."""

    path: Path
    rows: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    unit: str = ""
    _open: bool = False
    _since_heading: set[tuple[str, ...]] = field(default_factory=set)

    def take(self, line: Line) -> None:
        """Read the next line."""
        text = line.text
        if fact := _FACT.fullmatch(text):
            if fact["name"] == _BYTES:
                self.unit = fact["value"]
            elif ours := _FACTS.get(fact["name"]):
                self.facts = self.facts | {ours: fact["value"]}
        elif _HEADING.fullmatch(text):
            self._heading(text.split(), line.number)
        elif tool := other_tool(text, "ReproMPI"):
            what = f"a table of {tool} begins, which is skipped: import it from its own file"
            self.problems.append(Problem(line.number, what))
            self._open = False
        elif self._open and text and not text.startswith("#"):
            self._row(line)

    def _heading(self, names: list[str], line: int) -> None:
        if self.rows and names != self.names:
            what = f"the columns '{'  '.join(names)[:60]}' are others than above; split the file"
            raise InputError(self.path, what, line)
        self.names, self._open = names, True
        self._since_heading = set()

    def _row(self, line: Line) -> None:
        fields = line.text.split()
        problem = self._problem(line, fields)
        if problem:
            self.problems.append(Problem(line.number, f"{problem}: the row is skipped"))
            return
        row = dict(zip(self.names, fields, strict=True))
        repetition = tuple(row.get(name, "") for name in ("test", "count", "msize", "nrep"))
        if repetition in self._since_heading:
            what = "the same repetition again: rows of several runs are mixed; split the file"
            raise InputError(self.path, what, line.number)
        self._since_heading.add(repetition)
        row["kernel"] = f"reprompi_{row['test'].lower()}"
        row["size_bytes"] = _size(self.path, row, self.unit, line.number)
        self.rows.append(self.facts | row)
        self.lines.append(line.number)

    def _problem(self, line: Line, fields: list[str]) -> str:
        """Return why a line is no row; times always have the same decimals."""
        if len(fields) != len(self.names):
            return f"{len(fields)} values under {len(self.names)} names"
        if not _CALL.fullmatch(fields[0]):
            return f"'{fields[0][:40]}' is no call"
        last = self.names[-1]
        if self.rows and decimals(fields[-1]) != decimals(self.rows[0][last]):
            return f"'{fields[-1][:40]}' has other decimals than the other rows"
        if not line.ended and not is_whole(fields[-1], [row[last] for row in self.rows[-20:]]):
            return "the file or line ends within this row"
        return ""


def _size(path: Path, row: dict[str, str], element: str, line: int) -> str:
    unit = "1" if "msize" in row else element
    count = row.get("msize") or row.get("count", "")
    if not unit.isdecimal():
        what = f"no line '#@{_BYTES}=...' above says how many bytes an element has; add it"
        raise InputError(path, what, line)
    if not count.isdecimal():
        raise InputError(path, f"'{count[:40]}' is not a number of elements; correct the row", line)
    return str(int(count) * int(unit))


def _plan(path: Path, columns: list[str], around: Surroundings) -> Plan:
    """Return which of some columns of times is the curve: the average, or the chosen one."""
    statistics = {
        name: STATISTICS.get(name.removesuffix(_TIME).rstrip("_"), "avg") for name in columns
    }
    wanted = around.choices.statistic
    column = next((name for name, what in statistics.items() if what == (wanted or "avg")), None)
    if column is None and not wanted:
        column = next(iter(statistics), None)
    if column is None:
        known = " or ".join(dict.fromkeys(statistics.values()))
        raise InputError(path, f"has no {wanted} of times; choose --statistic {known}")
    statistic = statistics[column] if statistics[column] != "avg" else ""
    return Plan([column], "time_us", metric_scale=1e6, statistic=statistic)
