"""Reads the output of OSU Micro-Benchmarks: point-to-point, one-sided and collective tables.

For latencies the average is the curve. MB/s are 10^6 B/s, over all pairs and directions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from switchpoint.errors import NotRecognisedError, Reason
from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import Columns, as_runs, parts_of
from switchpoint.importing.printed_lines import BEFORE_TITLE, printed_lines
from switchpoint.importing.printed_tables import (
    Fact,
    Heading,
    Part,
    Table,
    Title,
    find_tables,
    plain_row,
)
from switchpoint.importing.problems import Problem
from switchpoint.tables.measurements import Measurements

NAME = "OSU Micro-Benchmarks' output"

_TITLE = re.compile(
    r"#\s*OSU MPI(?:-(?P<accelerator>\w+))?[ _](?P<name>.+?)(?: Test)+(?P<more> Persistent)?"
    r"(?: v(?P<version>\S+))?(?:\s.*)?"
)
_RECOGNISED = re.compile(BEFORE_TITLE + rb"#\s*OSU MPI(?:-\w+)?[ _].+ Test\b", re.MULTILINE)

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

#: Where each buffer is, in `HOST (H) and Receive Buffer on DEVICE (D)`.
_BUFFER = re.compile(r"\((\w+)\)")

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
    statistics={
        "Min Latency(us)": ("min", "time"),
        "Max Latency(us)": ("max", "time"),
        "P50 Tail Lat(us)": ("median", "time"),
        "P50 Tail Lat (us)": ("median", "time"),
        "P90 Tail Lat(us)": ("p90", "time"),
        "P90 Tail Lat (us)": ("p90", "time"),
        "P95 Tail Lat(us)": ("p95", "time"),
        "P99 Tail Lat(us)": ("p99", "time"),
        "P99 Tail Lat (us)": ("p99", "time"),
    },
)

#: Version 5 prints no number sign in `osu_ibarrier`, which has no sizes.
_HEADING = re.compile(
    r"(?:#\s*)?(?P<names>(?:Size\s+)?(?:"
    + "|".join(map(re.escape, _COLUMNS.metrics))
    + r")(?:\s.*)?)"
)
#: A heading of other columns.
_OTHER_HEADING = re.compile(r"(?:#\s*)?(?P<names>Size\s+\S.*)")
_BETWEEN_NAMES = re.compile(r"\s{2,}|\t|(?<=\))\s+|\s(?=P\d+ Tail)")

#: A heading of its usual programs, below which a table may have no title: it was not copied.
_BARE = re.compile(
    r"(?:#\s*)?(?P<size>Size)\s+(?P<metric>Latency \(us\)|Bandwidth \(MB/s\)|Avg Latency\(us\))"
)
_BARE_RECOGNISED = re.compile(
    BEFORE_TITLE
    + rb"(?:#[ \t]*)?Size[ \t]+(?:Latency \(us\)|Bandwidth \(MB/s\)|Avg Latency\(us\))[ \t]*\r?\n"
    + rb"[^\r\n]{0,64}?\d+[ \t]+\d+\.\d\d[ \t]*\r?\n",
    re.MULTILINE,
)
#: The program that a command starts.
_PROGRAM = re.compile(
    r"\b(?:srun|mpirun|mpiexec\S*|aprun|jsrun|prun|ibrun|flux)\b.*\b(?P<name>osu_[a-z_]+)\b"
)

#: Columns beside the curve's.
_BESIDE = re.compile(
    r"\w.* ?\((?:us|%)\)|P\d+ Tail .*|Iterations|Validation|Messages/s|(?:\w+ )?Size"
)

#: `osu_mbw_mr` with several windows prints these above its bandwidths, its rates and its columns.
_SECTIONS = {
    "# Uni-directional Bandwidth (MB/sec)": "bandwidths",
    "# Message Rate Profile": "rates",
}
_SECTION = "section by window"
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
    return b"\0" not in head and (
        _RECOGNISED.search(head) is not None or _BARE_RECOGNISED.search(head) is not None
    )


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read OSU output; a curve's identity is its program, such as `kernel` = osu_latency.

    Pairs, windows, threads, buffers and datatypes in the output are also part of the identity.
    """
    data = content(path) if data is None else data
    grammar = _Grammar()
    tables, problems = find_tables(printed_lines(path, data), grammar)
    if grammar.unnamed and tables and tables[0].rows:
        what = "no line names the benchmark: give the label kernel, such as osu_latency"
        problems.append(Problem(tables[0].lines[0], what))
    if not tables and grammar.kernels <= _WITHOUT_SIZES:
        raise NotRecognisedError(
            path,
            f"contains {', '.join(sorted(grammar.kernels))}, which times no messages; do not import"
            " it",
            Reason.NO_SIZES,
        )
    tool = grammar.tool
    if len(grammar.versions) == 1 and (version := grammar.versions.pop()):
        tool += f" {version}"
    plain = (part for table in tables for part in _plain(table))
    parts, of_rows = parts_of(plain, _COLUMNS, around.choices.statistic)
    return as_runs(path, around, "osu", tool, data, parts, [*problems, *of_rows])


@dataclass
class _Grammar:
    """What OSU's benchmarks print; `kernels` and `versions` are those of the titles so far."""

    tool: str = "OSU Micro-Benchmarks"
    size: str = "Size"
    fixed: bool = True
    kernels: set[str] = field(default_factory=set)
    versions: set[str | None] = field(default_factory=set)
    started: str = ""
    unnamed: bool = False

    def part(self, text: str, identity: dict[str, str]) -> Part | None:
        """Return what a line is, if it is no plain row."""
        if title := _TITLE.fullmatch(text):
            return self._title(title)
        if facts := _facts(_FACTS_AHEAD, text):
            return Fact(facts, ahead=True)
        if facts := _facts(_FACTS, text):
            return Fact(facts)
        if started := _PROGRAM.search(text):
            self.started = started["name"]
        if not self.kernels and (bare := _BARE.fullmatch(text)):
            return self._bare(bare)
        return _heading(text, identity) if "kernel" in identity else None

    def row(self, text: str) -> list[str]:
        """Return the fields of a plain row."""
        return plain_row(text)

    def _bare(self, heading: re.Match[str]) -> Title:
        """Return the title that a command above the heading stands for, if it fits."""
        is_bandwidth = heading["metric"].startswith("Bandwidth")
        fits = bool(self.started) and ("bw" in self.started) == is_bandwidth
        self.unnamed |= not fits
        kernel = {"kernel": self.started} if fits else {}
        return Title(kernel, [heading["size"], heading["metric"]])

    def _title(self, title: re.Match[str]) -> Title:
        kernel = program(title["name"] + (title["more"] or ""))
        self.kernels.add(kernel)
        self.versions.add(title["version"])
        names = {"kernel": kernel}
        if title["accelerator"]:
            names["accelerator"] = title["accelerator"].lower()
        # 7.1 prints no heading for a barrier.
        return Title(names, ["Avg Latency(us)"] if "barrier" in kernel else None)


def _heading(text: str, identity: dict[str, str]) -> Part | None:
    """Return what a line below a title is."""
    if section := _SECTIONS.get(text):
        return Fact({_SECTION: section})
    if _SECTION in identity and (windows := _WINDOWS.fullmatch(text)):
        return Heading([_COLUMNS.size, *windows["windows"].split()])
    if heading := _HEADING.fullmatch(text):
        columns = _BETWEEN_NAMES.split(heading["names"])
        metric = next((name for name in _COLUMNS.metrics if name in columns), None)
        is_bandwidth = metric is not None and _COLUMNS.metrics[metric] == "bandwidth"
        if metric is not None and is_bandwidth != ("bw" in identity["kernel"]):
            return Heading(columns, f"are not those of {identity['kernel']}, the last title")
        known = [name for name in columns if name in _COLUMNS.metrics or _BESIDE.fullmatch(name)]
        return Heading(columns, left_out=[name for name in columns if name not in known])
    if other := _OTHER_HEADING.fullmatch(text):
        return Heading(_BETWEEN_NAMES.split(other["names"]), "are not known")
    return None


def _facts(patterns: dict[str, re.Pattern[str]], line: str) -> dict[str, str]:
    if not line.startswith("#"):
        return {}
    matches = {name: pattern.search(line) for name, pattern in patterns.items()}
    return {name: match[1] for name, match in matches.items() if match is not None}


def _plain(table: Table) -> Iterator[Table]:
    """Convert tables of some options to the usual form: one metric of the sent messages."""
    identity, columns, rows = dict(table.identity), table.columns, table.rows
    if places := _BUFFER.findall(identity.get("buffers", "")):
        identity["buffers"] = " ".join(places)
    if identity.pop(_SECTION, None) == "rates":
        return
    if identity.get("datatype") == _USUAL_DATATYPE:
        del identity["datatype"]
    if "Transmit Size" in columns:  # -D: only this part of a buffer of `Size` is sent and timed
        identity["layout"] = "derived"
        names = {"Size": "Size of buffer", "Transmit Size": "Size"}
        columns = [names.get(name, name) for name in columns]
    if (
        identity.get("kernel") == "osu_multi_lat"
    ):  # -z: 7.4 prints the heading, but not the percentiles
        without_tails = [name for name in columns if " Tail " not in name]
        if max(map(len, rows), default=0) == len(without_tails):
            columns = without_tails
    if not columns[-1].isdigit():
        yield replace(table, identity=identity, columns=columns)
        return
    for place, window in enumerate(columns[1:], start=1):
        of_window = [row if len(row) != len(columns) else [row[0], row[place]] for row in rows]
        yield replace(
            table,
            identity=identity | {"window_size": window},
            columns=[_COLUMNS.size, "MB/s"],
            rows=of_window,
        )


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
