"""Reads the output of Intel MPI Benchmarks: every table of IMB-MPI1, and those of IMB-NBC.

The average over ranks is the curve. If a message rate is printed, the time is its inverse.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import NUMBER, TAG, Columns, Table, as_runs, printed_lines
from switchpoint.tables.measurements import Measurements

NAME = "Intel MPI Benchmarks' output"

_TITLE = re.compile(r"#\s*Benchmarking\s+(?P<name>[\w-]+)")
_RECOGNISED = re.compile(rb"^" + TAG + rb"#\s*Benchmarking\s+[\w-]+", re.MULTILINE)
_PROCESSES = re.compile(r"#processes = (?P<processes>\d+)")
#: A line below the title with `-multi`. A table with a column `Group` has a row for each group.
_GROUPS = re.compile(r"\( (?P<groups>\d+) groups of (?P<processes>\d+) processes")
#: Modes of one-sided transfers: many between two synchronisations, or one.
_MODE = re.compile(r"#\s*MODE: (?P<mode>[\w-]+)")
_HEADING = re.compile(r"(?P<names>(?:Group\s+)?(?:#bytes\s+)?#repetitions\s.*\S)")
_ROW = re.compile(rf"(?=\d){NUMBER}(?:\s+{NUMBER})+", re.IGNORECASE)
_GIVEN_UP = re.compile(r"(?P<numbers>(?:\d+\s+)+)(?:out-of-mem|int-overflow|time-out)\b.*")
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
    """Return whether the text contains a benchmark's title and the heading of a table."""
    return b"\0" not in head and b"#repetitions" in head and bool(_RECOGNISED.search(head))


def read(path: Path, around: Surroundings) -> Measurements:
    """Read IMB output; identity: `kernel`, such as imb_pingpong, and number of `processes`.

    For one-sided transfers also the `mode`; with `-multi` the number of `groups`, and the `group`.
    """
    data = content(path)
    tables: list[Table] = []
    identity: dict[str, str] = {}
    open_table = None
    for number, line in printed_lines(path, data):
        if title := _TITLE.match(line):
            identity = {"kernel": "imb_" + title["name"].lower().replace("-", "_")}
            open_table = None
        elif open_table is None and (told := _PROCESSES.search(line) or _GROUPS.search(line)):
            identity = identity | told.groupdict()
        elif mode := _MODE.match(line):
            identity = identity | {"mode": mode["mode"].lower()}
        elif identity and (heading := _HEADING.fullmatch(line)):
            open_table = Table(identity, heading["names"].split())
            tables.append(open_table)
        elif open_table is not None and (row := _ROW.fullmatch(line) or _GIVEN_UP.fullmatch(line)):
            open_table.rows.append((row.groupdict().get("numbers") or line).split())
            open_table.lines.append(number)
    version = _VERSION.search(data)
    tool = "Intel MPI Benchmarks" + (f" {version[1].decode()}" if version else "")
    plain = [part for table in tables for part in _by_group(table)]
    return as_runs(path, around, "imb", tool, data, plain, _COLUMNS)


def _by_group(table: Table) -> Iterator[Table]:
    """Split a table whose first column names the group of processes of a row."""
    if table.columns[0] != "Group":
        yield table
        return
    groups = list(dict.fromkeys(row[0] for row in table.rows))
    for group in groups:
        mine = [row[0] == group for row in table.rows]
        yield Table(
            table.identity | ({"group": group} if len(groups) > 1 else {}),
            table.columns[1:],
            [row[1:] for row in itertools.compress(table.rows, mine)],
            list(itertools.compress(table.lines, mine)),
        )
