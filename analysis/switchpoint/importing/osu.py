"""Reads what OSU Micro-Benchmarks print: point-to-point, one-sided and collective tables.

Of latencies the average is the curve; MB/s are 10^6 B/s, of all pairs and directions together.
"""

from __future__ import annotations

import re
from pathlib import Path

from switchpoint.importing.external import content
from switchpoint.importing.printed import Columns, Table, as_runs
from switchpoint.measurements import Measurements

NAME = "OSU Micro-Benchmarks' output"

_TITLE = re.compile(r"^#\s*OSU MPI(?:-\w+)?[ _](?P<name>.+?) Test(?: v(?P<version>\S+))?\s*$")
_RECOGNISED = re.compile(rb"^#\s*OSU MPI(?:-\w+)?[ _].+ Test\b", re.MULTILINE)
_ROW = re.compile(r"^\s*\d+(?:\.\d+)?(?:\s+(?:-?[\d.]+|-?nan|-?inf|Pass|Fail)){0,15}\s*$")
_PAIRS = re.compile(r"^#\s*\[ pairs: (\d+) \]")
_DATATYPE = re.compile(r"^#\s*Datatype: (\w+)")

_COLUMNS = Columns(
    size="Size",
    iterations="Iterations",
    metrics={
        "Latency (us)": "time",
        "Avg Latency(us)": "time",
        "Overall(us)": "time",
        "Bandwidth (MB/s)": "bandwidth",
        "MB/s": "bandwidth",
    },
)

_HEADING = re.compile(
    r"^#\s*(?P<names>(?:Size\s+)?(?:" + "|".join(map(re.escape, _COLUMNS.metrics)) + r")(?:\s.*)?)$"
)

#: Words of a title, in this order, and what the program's name has instead.
_WORDS = [
    (r"personalized exchange ", ""), (r"all-to-all", "alltoall"), (r"non-blocking ", "i"),
    (r"multi-threaded latency", "latency_mt"), (r"multi-process latency", "latency_mp"),
    (r"multi latency", "multi_lat"), (r"multiple bandwidth / message rate", "mbw_mr"),
    (r"bi-directional bandwidth", "bibw"), (r"bandwidth", "bw"), (r"broadcast", "bcast"),
    (r"neighborhood", "neighbor"),
]  # fmt: skip
_COLLECTIVE = re.compile(
    r"alltoall|allgather|allreduce|barrier|bcast|gather|reduce|scatter|neighbor"
)


def recognises(head: bytes) -> bool:
    """Tell whether a line is the title of one of the benchmarks."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path) -> Measurements:
    """Read OSU output; a curve's identity is its program, such as `kernel` = osu_latency."""
    data = content(path)
    tables: list[Table] = []
    identity: dict[str, str] = {}
    versions = set()
    open_table = None
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), start=1):
        if title := _TITLE.match(line):
            identity = {"kernel": program(title["name"])}
            versions.add(title["version"])
            open_table = None
        elif pairs := _PAIRS.match(line):
            identity = identity | {"pairs": pairs[1]}
        elif datatype := _DATATYPE.match(line):
            identity = {k: v for k, v in identity.items() if k != "datatype"}
            if datatype[1] != "MPI_CHAR":
                identity["datatype"] = datatype[1]
            if open_table is not None:  # 7.1 prints it below the heading
                open_table.identity = identity
        elif identity and (heading := _HEADING.match(line)):
            names = re.split(r"\s{2,}|(?<=\))\s+", heading["names"].strip())
            open_table = Table(identity, names)
            tables.append(open_table)
        elif open_table is not None and _ROW.match(line):
            open_table.rows.append(line.split())
            open_table.lines.append(number)
    tool = "OSU Micro-Benchmarks"
    if len(versions) == 1 and (version := versions.pop()):
        tool += f" {version}"
    return as_runs(path, "osu", tool, data, tables, _COLUMNS)


def program(title: str) -> str:
    """Name of the program that prints a title.

    >>> program("Bi-Directional Bandwidth"), program("All-to-All Personalized Exchange Latency")
    ('osu_bibw', 'osu_alltoall')
    """
    name = title.lower()
    for words, short in _WORDS:
        name = re.sub(words, short, name)
    if _COLLECTIVE.search(name):
        name = name.replace(" latency", "")
    return "osu_" + re.sub(r"\W+", "_", name).strip("_")
