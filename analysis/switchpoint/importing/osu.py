"""Reads the output of OSU Micro-Benchmarks: point-to-point, one-sided and collective tables.

For latencies the average is the curve. MB/s are 10^6 B/s, over all pairs and directions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from switchpoint.errors import NotRecognisedError, Reason
from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import NUMBER, TAG, Columns, Table, as_runs, printed_lines
from switchpoint.tables.measurements import Measurements

NAME = "OSU Micro-Benchmarks' output"

_TITLE = re.compile(
    r"#\s*OSU MPI(?:-\w+)?[ _](?P<name>.+?)(?: Test)+(?P<more> Persistent)?(?: v(?P<version>\S+))?"
)
_RECOGNISED = re.compile(rb"^" + TAG + rb"#\s*OSU MPI(?:-\w+)?[ _].+ Test\b", re.MULTILINE)
_ROW = re.compile(
    rf"(?=-?\d){NUMBER}(?:\s+(?:{NUMBER}|pass(?:ed)?|fail(?:ed)?)){{0,15}}", re.IGNORECASE
)

#: Comments above a table, and the columns of the curve's identity that they fill.
_FACTS = {
    "pairs": re.compile(r"(?:\[ p|# P)airs: (\d+)"),
    "window_size": re.compile(r"\[ window size: (\d+) \]"),
    "window_creation": re.compile(r"# Window(?: creation)?: (\w+)"),
    "synchronization": re.compile(r"# Synchronization: (\S+)"),
    "buffers": re.compile(r"# (?:Send Buffer|Rank 0 Memory) on (.+)"),
    "datatype": re.compile(r"# Datatype: (\w+)"),
}

#: The same for comments above the title.
_FACTS_AHEAD = {
    "sender_threads": re.compile(r"# Number of Sender threads: (\d+)"),
    "receiver_threads": re.compile(r"# Number of Receiver threads: (\d+)"),
    "sender_processes": re.compile(r"# Number of forked processes in sender: (\d+)"),
    "receiver_processes": re.compile(r"# Number of forked processes in receiver: (\d+)"),
}

#: The datatype of versions before 7, which do not print it.
_USUAL_DATATYPE = "MPI_CHAR"

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

#: Version 5 prints no number sign in `osu_ibarrier`, which has no sizes.
_HEADING = re.compile(
    r"(?:#\s*)?(?P<names>(?:Size\s+)?(?:"
    + "|".join(map(re.escape, _COLUMNS.metrics))
    + r")(?:\s.*)?)"
)
_BETWEEN_NAMES = re.compile(r"\s{2,}|(?<=\))\s+|\s(?=P\d+ Tail)")

#: `osu_mbw_mr` with several windows prints these above its bandwidths, its rates and its columns.
_BANDWIDTHS_BY_WINDOW = "# Uni-directional Bandwidth (MB/sec)"
_RATES_BY_WINDOW = "# Message Rate Profile"
_WINDOWS = re.compile(r"#(?P<windows>(?:\s+\d+)+)")

#: Start-up tests, which do not time messages.
_WITHOUT_SIZES = {"osu_init", "osu_hello_world"}

#: Words of a title, in this order, and their form in the program's name.
_WORDS = [
    (r"personalized exchange ", ""), (r"all-to-all", "alltoall"), (r"non-blocking ", "i"),
    (r"multi-threaded latency", "latency_mt"), (r"multi-process latency", "latency_mp"),
    (r"multi latency", "multi_lat"), (r"multiple bandwidth / message rate", "mbw_mr"),
    (r"multiple bandwidth bandwidth", "mbw"), (r"bi-directional bandwidth", "bibw"),
    (r"bandwidth", "bw"), (r"broadcast", "bcast"), (r"neighborhood", "neighbor"),
    (r"accumulate", "acc"), (r"compare_and_swap", "cas"), (r"fetch_and_op", "fop"),
    (r"-(cuda|openacc|rocm|sycl)\b", ""),
]  # fmt: skip
_COLLECTIVE = re.compile(
    r"alltoall|allgather|allreduce|barrier|bcast|gather|reduce|scatter|neighbor"
)


def recognises(head: bytes) -> bool:
    """Return whether a line is the title of one of the benchmarks."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings) -> Measurements:
    """Read OSU output; a curve's identity is its program, such as `kernel` = osu_latency.

    Pairs, windows, threads, buffers and datatypes in the output are also part of the identity.
    """
    data = content(path)
    tables, kernels, versions = _tables(path, data)
    if not tables and kernels <= _WITHOUT_SIZES:
        raise NotRecognisedError(
            path,
            f"contains {', '.join(sorted(kernels))}, which times no messages; do not import it",
            Reason.NO_SIZES,
        )
    tool = "OSU Micro-Benchmarks"
    if len(versions) == 1 and (version := versions.pop()):
        tool += f" {version}"
    plain = [part for table in tables for part in _plain(table)]
    return as_runs(path, around, "osu", tool, data, plain, _COLUMNS)


def _tables(path: Path, data: bytes) -> tuple[list[Table], set[str], set[str]]:
    """Tables as they are printed, and the kernels and versions that titles name."""
    tables: list[Table] = []
    kernels, versions = set(), set()
    identity: dict[str, str] = {}
    ahead: dict[str, str] = {}
    by_window = False
    open_table = None
    for number, line in printed_lines(path, data):
        if title := _TITLE.fullmatch(line):
            identity = {"kernel": program(title["name"] + (title["more"] or ""))} | ahead
            kernels.add(identity["kernel"])
            versions.add(title["version"])
            ahead, open_table, by_window = {}, None, False
            if "barrier" in identity["kernel"]:  # 7.1 prints no heading here
                open_table = Table(identity, ["Avg Latency(us)"])
                tables.append(open_table)
        elif facts := _facts(_FACTS_AHEAD, line):
            ahead |= facts
        elif facts := _facts(_FACTS, line):
            identity = identity | facts
            if open_table is not None:  # 7.1 prints the datatype below the heading
                open_table = Table(identity, open_table.columns)
                tables.append(open_table)
        elif "kernel" in identity and (heading := _HEADING.fullmatch(line)):
            open_table = Table(identity, _BETWEEN_NAMES.split(heading["names"]))
            tables.append(open_table)
        elif "kernel" in identity and line in (_BANDWIDTHS_BY_WINDOW, _RATES_BY_WINDOW):
            by_window, open_table = line == _BANDWIDTHS_BY_WINDOW, None
        elif by_window and (heading := _WINDOWS.fullmatch(line)):
            open_table = Table(identity, [_COLUMNS.size, *heading["windows"].split()])
            tables.append(open_table)
        elif open_table is not None and _ROW.fullmatch(line):
            open_table.rows.append(line.split())
            open_table.lines.append(number)
        elif line.startswith("#") and open_table is not None and open_table.rows:
            open_table = None  # the rest belongs to another tool
    return tables, kernels, versions


def _facts(patterns: dict[str, re.Pattern[str]], line: str) -> dict[str, str]:
    if not line.startswith("#"):
        return {}
    found = {name: pattern.search(line) for name, pattern in patterns.items()}
    return {name: match[1] for name, match in found.items() if match is not None}


def _plain(table: Table) -> Iterator[Table]:
    """Convert tables of some options to the usual form: one metric of the sent messages."""
    identity, columns, rows = dict(table.identity), table.columns, table.rows
    if identity.get("datatype") == _USUAL_DATATYPE:
        del identity["datatype"]
    if "Transmit Size" in columns:  # -D: only this part of a buffer of `Size` is sent and timed
        identity["layout"] = "derived"
        names = {"Size": "Size of buffer", "Transmit Size": "Size"}
        columns = [names.get(name, name) for name in columns]
    if identity["kernel"] == "osu_multi_lat":  # -z: 7.4 prints the heading, but not the percentiles
        without_tails = [name for name in columns if " Tail " not in name]
        if max(map(len, rows), default=0) == len(without_tails):
            columns = without_tails
    if columns[-1].isdigit():
        for place, window in enumerate(columns[1:], start=1):
            yield Table(
                identity | {"window_size": window},
                [_COLUMNS.size, "MB/s"],
                [row[:1] + row[place : place + 1] for row in rows],
                table.lines,
            )
    else:
        yield Table(identity, columns, rows, table.lines)


def program(title: str) -> str:
    """Return the name of the program that prints a title.

    >>> program("Bi-Directional Bandwidth"), program("All-to-All Personalized Exchange Latency")
    ('osu_bibw', 'osu_alltoall')
    """
    name = title.lower()
    for words, short in _WORDS:
        name = re.sub(words, short, name)
    if _COLLECTIVE.search(name):
        name = name.replace(" latency", "")
    return "osu_" + re.sub(r"\W+", "_", name).strip("_")
