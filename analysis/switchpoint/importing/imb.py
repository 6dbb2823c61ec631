"""Reads what Intel MPI Benchmarks print: every table of IMB-MPI1, and those of IMB-NBC.

The average over ranks is the curve; where a message rate is printed the time is its inverse.
"""

from __future__ import annotations

import re
from pathlib import Path

from switchpoint.importing.external import content
from switchpoint.importing.printed import Columns, Table, as_runs
from switchpoint.measurements import Measurements

NAME = "Intel MPI Benchmarks' output"

_TITLE = re.compile(r"^#\s*Benchmarking\s+(?P<name>[\w-]+)")
_RECOGNISED = re.compile(rb"^#\s*Benchmarking\s+[\w-]+", re.MULTILINE)
_PROCESSES = re.compile(r"#processes = (\d+)")
_HEADING = re.compile(r"^\s*(?P<names>(?:#bytes\s+)?#repetitions\s.*\S)\s*$")
_ROW = re.compile(r"^\s*\d+(?:\s+\S+){1,12}\s*$")
_VERSION = re.compile(rb"Intel\(R\) MPI Benchmarks\s+(?:Version\s+)?(\d[\w.]*)", re.IGNORECASE)

_COLUMNS = Columns(
    size="#bytes",
    iterations="#repetitions",
    metrics={
        "t[usec]": "time",
        "t_avg[usec]": "time",
        "t_ovrl[usec]": "time",
        "Msg/sec": "rate",
        "Mbytes/sec": "bandwidth",
    },
)


def recognises(head: bytes) -> bool:
    """Tell whether a benchmark's title and the heading of a table are there."""
    return b"\0" not in head and b"#repetitions" in head and bool(_RECOGNISED.search(head))


def read(path: Path) -> Measurements:
    """Read IMB output; identity: `kernel`, such as imb_pingpong, and how many `processes`."""
    data = content(path)
    tables: list[Table] = []
    identity: dict[str, str] = {}
    open_table = None
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), start=1):
        if title := _TITLE.match(line):
            identity = {"kernel": "imb_" + title["name"].lower().replace("-", "_")}
            open_table = None
        elif open_table is None and (processes := _PROCESSES.search(line)):
            identity = identity | {"processes": processes[1]}
        elif identity and (heading := _HEADING.match(line)):
            open_table = Table(identity, heading["names"].split())
            tables.append(open_table)
        elif open_table is not None and _ROW.match(line):
            open_table.rows.append(line.split())
            open_table.lines.append(number)
    version = _VERSION.search(data)
    tool = "Intel MPI Benchmarks" + (f" {version[1].decode()}" if version else "")
    return as_runs(path, "imb", tool, data, tables, _COLUMNS)
