"""One table in every format that is read, with every damage: nothing may be silently wrong.

A file is `right` if every point comes back as it was measured, `told` if points are missing and a
message names the file and the reason, and `wrong` otherwise: a point that nobody measured, a curve
with points of two tables, or a loss without a word. `python -m fuzz.differential` prints the table.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from switchpoint import read_files
from switchpoint.tables.columns import identity_columns

from fuzz.processes import Counts

#: Time in microseconds by message size in bytes.
Times = Mapping[int, float]

#: What a file says, and the tables that are in it.
Damaged = tuple[bytes, list[Times]]

#: Two printed decimals of a time of a microsecond.
_TOLERANCE = 0.006

#: The formats of a round of `make fuzz`.
_FORMATS_AT_ONCE = 3

#: A message that says what is lost.
_SAYS = re.compile(r"\bline|\bcolumn|\bunit|\brank|\bsingle values")


@dataclass(frozen=True)
class Format:
    """How one tool writes a table.

    Attributes
    ----------
    name, file : str
    write : callable
        Returns the text of a table.
    head : int
        The number of lines before the first row.
    in_bits : callable or None
        Returns the text with another unit.
    rows : bool
        Whether a line is a row with a size and a time, or a bandwidth.
    fixed : bool
        Whether a number always has the same decimals, so that one that was cut can be known.
    """

    name: str
    file: str
    write: Callable[[Times], str]
    head: int
    in_bits: Callable[[Times], str] | None = None
    rows: bool = True
    fixed: bool = True


def _rows(times: Times, row: str) -> str:
    return "".join(
        row.format(
            size=size,
            time=time,
            mbps=size / time,
            mbits=8 * size / time,
            sec=time / 1e6,
            binary=8e6 * size / time / 2**20,  # Mbit/s as NetPIPE counts them
        )
        for size, time in times.items()
    )


def _netpipe(unit: str) -> Callable[[Times], str]:
    row = f"  1: {{size:8}} bytes 100 times --> {{binary:9.2f}} {unit} in {{time:9.2f}} usec\n"
    return lambda times: _rows(times, row)


def _csv(heading: str, row: str) -> Callable[[Times], str]:
    return lambda times: f"{heading}\n{_rows(times, row)}"


def _day(times: Times) -> str:
    """Return a day that the times choose."""
    return f"2026-05-{1 + int(100 * next(iter(times.values()))) % 28:02}"


def _osu(name: str, heading: str, row: str) -> Callable[[Times], str]:
    return lambda times: f"# OSU MPI {name} Test v5.9\n# Size  {heading}\n{_rows(times, row)}"


def _imb(name: str, heading: str, row: str) -> Callable[[Times], str]:
    rule = "#" + "-" * 40
    title = f"{rule}\n# Benchmarking {name}\n# #processes = 2\n{rule}\n"
    return lambda times: f"{title}       #bytes #repetitions {heading}\n{_rows(times, row)}"


def _log(unit: str, of_bandwidth: Callable[[float], float]) -> Callable[[Times], str]:
    """Write a performance log with a variable for each size, and a row for each of two sessions."""

    def write(times: Times) -> str:
        names = [f"bw_{size}B" for size in times]
        heading = "|".join(f"{name}_value|{name}_unit|{name}_ref|{name}_result" for name in names)
        values = "|".join(
            f"{of_bandwidth(size / time)!r}|{unit}|1|pass" for size, time in times.items()
        )
        start = "result|job_completion_time|environ|display_name|partition|system"
        return f"{start}|{heading}\npass|{_day(times)}T10:00:00|gnu|Bw|batch|alpha|{values}\n"

    return write


def _log_by_size(times: Times) -> str:
    """Write a performance log with a row for each size, which is a parameter."""
    heading = "result|job_completion_time|message_size|name|partition|system|time_value|time_unit"
    rows = _rows(times, f"pass|{_day(times)}T10:00:00|{{size}}|Lat|batch|alpha|{{time:.2f}}|us\n")
    return f"{heading}\n{rows}"


def _report(times: Times) -> str:
    values = {f"alpha:batch:lat_{size}B": [time, 0, None, None, "us", "pass"]
              for size, time in times.items()}  # fmt: skip
    case = {"display_name": "Lat", "system": "alpha", "partition": "batch", "environ": "gnu",
            "job_completion_time": "2026-05-01T10:00:00+0000", "result": "pass",
            "perfvalues": values}  # fmt: skip
    session = {"session_info": {"version": "4.6"}, "runs": [{"testcases": [case]}]}
    return json.dumps(session, indent=1) + "\n"


def _nccl(times: Times) -> str:
    """Write calls out of place and in place, which take the same time."""
    call = "{time:8.2f} {gbps:7.2f} {gbps:7.2f}  0"
    rows = "".join(
        f"{size:12} {size // 4:12}  float  sum  -1 "
        + " ".join(call.format(time=t, gbps=size / t / 1000) for t in (time, time))
        + "\n"
        for size, time in times.items()
    )
    half = "time algbw busbw #wrong"
    return (
        "# nccl-tests version 2.17.1\n# Collective test starting: all_reduce_perf\n"
        "# nThread 1 nGpus 1\n# Using devices\n#  Rank  0 Group  0 Pid 7 on n1 device 0 GPU\n"
        f"# size count type redop root {half} {half}\n"
        f"# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n{rows}"
        "# Out of bounds values : 0 OK\n"
    )


def _nccl_json(times: Times) -> str:
    """Write a report with the iterations of each call, which all take the same time."""
    results = [
        {"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": "    -1",
         "out_of_place": {"time": time, "alg_bw": size / time / 1000, "nwrong": 0.0},
         "in_place": {"time": time, "alg_bw": size / time / 1000, "nwrong": 0.0},
         "in_place_per_iter": {"times_us": [time] * 3}, "actual_iterations": 3}
        for size, time in times.items()
    ]  # fmt: skip
    report = {"version": 3, "args": ["./all_reduce_perf", "-J", "x"], "nccl_version": 22801,
              "config": {"devices": [{"rank": 0}, {"rank": 1}]}, "results": results}  # fmt: skip
    return json.dumps(report, indent=1) + "\n"


def _log_3(times: Times) -> str:
    """Write a log of ReFrame 3 with a line for each size."""
    return "".join(
        f"{_day(times)}T10:00:00|reframe 3.9.0|Lat on alpha:batch using gnu|jobid=7|"
        f"lat_{size}B={time:.2f}|ref=1.0 (l=None, u=0.1)|us\n"
        for size, time in times.items()
    )


_RULE = "-" * 60


def _markdown(times: Times) -> str:
    return "| Size | Latency (us) |\n|-----:|-------------:|\n" + _rows(
        times, "| {size} | {time:.2f} |\n"
    )


def _grid(times: Times) -> str:
    rule = f"+{'-' * 12}+{'-' * 14}+\n"
    heading = f"{rule}| Size       | Latency (us) |\n{rule.replace('-', '=')}"
    return heading + _rows(times, "| {size:10} | {time:12.2f} |\n") + rule


def _simple(times: Times) -> str:
    rule = f"{'=' * 10} {'=' * 12}\n"
    rows = _rows(times, "{size:<10} {time:<12.2f}\n")
    return f"{rule}Size       Latency (us)\n{rule}{rows}{rule}"


def _in_strings(times: Times) -> str:
    text = _osu("Latency", "Latency (us)", "{size:<10} {time:10.2f}\n")(times)
    return json.dumps({"nodes": 2, "stdout": text}, indent=1) + "\n"


def _perftest(times: Times) -> str:
    columns = "t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    row = " {size:<7} 1000  {time:.2f}  {time:.2f}  {time:.2f}  {time:.2f}  0.01\n"
    return (
        f"{_RULE}\n                    RDMA_Write Latency Test\n Number of qps   : 1\t\t"
        f"Transport type : IB\n{_RULE}\n #bytes #iterations    {columns}\n"
        f"{_rows(times, row)}{_RULE}\n"
    )


def _reprompi(times: Times) -> str:
    heading = f"{'test':>40} {'nrep':>10} {'count':>12} {'runtime_sec':>14}"
    row = f"{'MPI_Bcast':>40} {0:>10} {{size:>12}} {{sec:14.10f}}\n"
    return f"#@datatype_size_bytes=1\n#@nprocs=4\n{heading}\n{_rows(times, row)}"


FORMATS = [
    Format("Markdown", "table.md", _markdown, 2, fixed=False),
    Format("reStructuredText grid", "grid.rst", _grid, 3, fixed=False),
    Format("reStructuredText", "simple.rst", _simple, 3, fixed=False),
    Format("JSON string", "job.json", _in_strings, 0, rows=False),
    Format("perftest", "ib.txt", _perftest, 5, fixed=False),
    Format(
        "mpiBench", "mpibench.txt",
        lambda times: "START mpiBench v1.5\n" + _rows(
            times, "Bcast  Bytes: {size:10}  Iters: 1000  Avg: {time:10.4f}  Min: {time:10.4f}"
            "  Max: {time:10.4f}  Comm: MPI_COMM_WORLD  Ranks: 4\n"), 1,
    ),
    Format(
        "SKaMPI", "skampi.txt",
        lambda times: '# SKaMPI Version 5.0\nbegin result "MPI_Bcast-length"\n' + _rows(
            times, "count= {size}  {size:10}  {time:10.2f}  0.01  40\n") + "end result\n", 2,
        fixed=False,
    ),
    Format("ReproMPI", "reprompi.txt", _reprompi, 3),
    Format(
        "OSU latency", "osu.out", _osu("Latency", "Latency (us)", "{size:<10} {time:10.2f}\n"), 2
    ),
    Format(
        "OSU bandwidth", "bw.out",
        _osu("Bandwidth", "Bandwidth (MB/s)", "{size:<10} {mbps:10.2f}\n"), 2,
        _osu("Bandwidth", "Bandwidth (Gb/s)", "{size:<10} {mbps:10.2f}\n"),
    ),
    Format(
        "IMB PingPong", "imb.out",
        _imb("PingPong", "t[usec] Mbytes/sec", "{size:12} 1000 {time:10.2f} {mbps:10.2f}\n"), 5,
        _imb("PingPong", "t[usec] Gbits/sec", "{size:12} 1000 {time:10.2f} {mbps:10.2f}\n"),
    ),
    Format(
        "IMB Allreduce", "all.out",
        _imb("Allreduce", "t_min[usec] t_max[usec] t_avg[usec]",
             "{size:12} 1000 {time:10.2f} {time:10.2f} {time:10.2f}\n"), 5,
    ),
    Format(
        "NetPIPE np.out", "np.out",
        lambda times: _rows(times, "{size:8} {binary:12.6f} {sec:12.8f}\n"), 0,
    ),
    Format(
        "NetPIPE printed", "np.txt", _netpipe("Mbps"), 0, _netpipe("Gbps"),
    ),
    Format(
        "ReFrame log", "Bw.log", _log("MB/s", lambda mbps: mbps), 1,
        _log("Gb/s", lambda mbps: mbps * 8e-3), rows=False,
    ),
    Format("ReFrame log by size", "Lat.log", _log_by_size, 1),
    Format("ReFrame 3 log", "Lat3.log", _log_3, 0),
    Format(
        "ReFrame log of a site", "Site.log",
        lambda times: "job_completion_time,info,jobid,"
        + ",".join(f"lat_{size}B_value,lat_{size}B_unit" for size in times)
        + f"\n{_day(times)}T10:00:00,Lat /0123abcd @alpha:batch+gnu,7,"
        + ",".join(f"{time:.2f},us" for time in times.values()) + "\n", 1, rows=False,
    ),
    Format("ReFrame report", "report.json", _report, 0, rows=False),
    Format("nccl-tests", "nccl.txt", _nccl, 7, fixed=False),
    Format("nccl-tests JSON", "nccl.json", _nccl_json, 0, rows=False),
    Format("CSV time", "time.csv", _csv("size_bytes,time_us", "{size},{time:.2f}\n"), 1,
           fixed=False),
    Format(
        "CSV of R", "r.csv",
        lambda times: '"","X.bytes","X.repetitions","t.usec.","Mbytes.sec"\n' + "".join(
            f'"{n}",{size},1000,{time},{round(size / time, 2)}\n'
            for n, (size, time) in enumerate(times.items(), start=1)),
        1, fixed=False,
    ),
    Format(
        "CSV of a spreadsheet", "sheet.csv",
        lambda times: "Size;Latency (us)\n" + "".join(
            f"{size};{time:.2f}\n".replace(".", ",") for size, time in times.items()), 1,
        fixed=False,
    ),
    Format(
        "CSV bandwidth", "bandwidth.csv",
        _csv("size_bytes,bandwidth_MBps,net", "{size},{mbps!r},ib\n"), 1,
        _csv("size_bytes,bandwidth_Mbps,net", "{size},{mbits!r},ib\n"), fixed=False,
    ),
]  # fmt: skip


@dataclass
class Case:
    """A format, and two tables of other times."""

    form: Format
    table: Times
    other: Times
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def text(self) -> str:
        """The table."""
        return self.form.write(self.table)

    @property
    def lines(self) -> list[str]:
        """The lines of the table."""
        return self.text.splitlines(keepends=True)

    @property
    def others_lines(self) -> list[str]:
        """The lines of the other table."""
        return self.form.write(self.other).splitlines(keepends=True)

    @property
    def middle(self) -> int:
        """The line of a row in the middle."""
        return (self.form.head + len(self.lines)) // 2

    @property
    def size(self) -> int:
        """The size of that row, if it has one."""
        return list(self.table)[min(self.middle - self.form.head, len(self.table) - 1)]

    def edited(self, change: Callable[[str], str]) -> Damaged:
        """Change the row in the middle."""
        lines = self.lines
        lines[self.middle] = change(lines[self.middle].rstrip("\n")) + "\n"
        return _one(self, "".join(lines))

    def inserted(self, line: str) -> Damaged:
        """Insert a line before the row in the middle."""
        lines = self.lines
        return _one(self, "".join([*lines[: self.middle], line, *lines[self.middle :]]))


def _one(case: Case, text: str | bytes) -> Damaged:
    return (text if isinstance(text, bytes) else text.encode()), [case.table]


def _both(case: Case, text: str) -> Damaged:
    return text.encode(), [case.table, case.other]


def _cuts(case: Case) -> Iterator[Damaged]:
    """Cut at each byte of the last three lines; in a long line, at some and the last ones."""
    text = case.text
    start = len("".join(case.lines[:-3]))
    places = list(range(start, len(text)))
    if len(places) > 100:
        places = sorted({*case.draw.sample(places, 40), *places[-60:]})
    sizes = list(case.table)
    for place in places:
        begun = len([line for line in text[:place].splitlines() if line.strip()]) - case.form.head
        there = sizes[: max(begun, 0)] if case.form.rows else (sizes if begun > 0 else [])
        yield text[:place].encode(), [{size: case.table[size] for size in there}]


def _interleaved(case: Case) -> Iterator[Damaged]:
    pairs = list(zip(case.lines, case.others_lines, strict=True))
    yield _both(case, "".join(mine + theirs for mine, theirs in pairs))
    mixed, order = "", random.Random(case.draw.random())
    mine, theirs = case.lines, case.others_lines
    while mine or theirs:
        chosen = mine if mine and (not theirs or order.random() < 0.5) else theirs
        mixed += chosen.pop(0)
    yield _both(case, mixed)


def _tagged(case: Case) -> Iterator[Damaged]:
    pairs = zip(case.lines, case.others_lines, strict=True)
    yield _both(case, "".join(f"0: {mine}1: {theirs}" for mine, theirs in pairs))


def _halves(case: Case, between: str) -> str:
    return f"{case.text}{between}{''.join(case.others_lines)}"


def _rows_moved(case: Case) -> Iterator[Damaged]:
    lines = case.lines
    head, rows = lines[: case.form.head], lines[case.form.head :]
    case.draw.shuffle(rows)
    yield _one(case, "".join([*head, *rows]))
    yield _one(case, "".join([*head, *rows[::-1]]))


def _other_tools(case: Case) -> Iterator[Damaged]:
    for form in FORMATS:
        if form is not case.form and form.rows:
            yield _both(case, case.text + form.write(case.other))


def _side_by_side(case: Case, columns: Callable[[str], str]) -> Iterator[Damaged]:
    pairs = zip(case.lines, case.others_lines, strict=True)
    yield _both(case, "".join(f"{mine.rstrip()}\t{columns(theirs)}" for mine, theirs in pairs))


def _lines_lost(case: Case) -> Iterator[Damaged]:
    """A number in the middle that was cut: of a job that was killed and started again."""
    row = case.lines[case.middle].rstrip("\n") if case.form.fixed else ""
    for kept in range(1, min(4, len(row))):
        yield case.edited(lambda line, kept=kept: line[: len(line) - kept])  # type: ignore[misc]


_SCHEDULER = "Resources: cput=00:00:10\n20261128 120000\n12 34 56 78 90\n"

Damage = Callable[[Case], Iterator[Damaged]]


def _each(*acts: Callable[[Case], Damaged]) -> Damage:
    return lambda case: (act(case) for act in acts)


def _line_ends(case: Case, end: str) -> Damaged:
    return _one(case, case.text.replace("\n", end).encode())


#: What people, jobs and copies do to a file.
DAMAGES: dict[str, Damage] = {
    "none": _each(lambda c: _one(c, c.text)),
    "cut in the last 3 lines": _cuts,
    "number cut in the middle": _lines_lost,
    "no last line end": _each(lambda c: _one(c, c.text.rstrip("\n"))),
    "heading twice": _each(
        lambda c: _one(c, "".join(c.lines[: c.form.head]) + c.text),
        lambda c: c.inserted("".join(c.lines[c.form.head - 1 : c.form.head])),
        lambda c: c.inserted("".join(c.lines[: c.form.head])),
    ),
    "remark behind a row": _each(
        lambda c: c.edited(lambda row: f"{row}  <-- drop here"),
        lambda c: c.edited(lambda row: f"{row} *"),
        lambda c: c.edited(lambda row: f"{row}*"),
        lambda c: c.edited(lambda row: f"{row} # 3"),
        lambda c: c.edited(lambda row: f"{row} 3"),
    ),
    "size 4K": _each(lambda c: c.edited(lambda row: re.sub(rf"\b{c.size}\b", _in_k, row))),
    "decimal comma": _each(
        lambda c: c.edited(lambda row: re.sub(r"\.(\d)", r",\1", row)),
        lambda c: _one(c, "".join([*c.lines[: c.form.head], *(re.sub(r"\.(\d)", r",\1", row)
                                                              for row in c.lines[c.form.head :])])),
    ),
    "two rows on a line": _each(
        lambda c: c.edited(lambda row: row + c.lines[c.middle + 1 :][0].rstrip("\n"))
        if len(c.lines) > c.middle + 1
        else _one(c, c.text)
    ),
    "a line twice": _each(lambda c: c.inserted(c.lines[c.middle])),
    "interleaved": _interleaved,
    "two ranks": _tagged,
    "glued": _each(lambda c: _both(c, c.text.rstrip("\n") + "".join(c.others_lines))),
    "appended": _each(
        lambda c: _both(c, _halves(c, "")),
        lambda c: _both(c, _halves(c, "$ mpirun -n 2 ./other -x\n")),
        lambda c: _both(c, c.text + "".join(c.others_lines[c.form.head :])),
    ),
    "second tool": _other_tools,
    "side by side": lambda c: (
        damaged
        for columns in (str, lambda line: line.split()[-1] + "\n" if line.split() else line)
        for damaged in _side_by_side(c, columns)
    ),
    "unit in bits": lambda c: (
        _one(c, form_text) for form_text in ([c.form.in_bits(c.table)] if c.form.in_bits else [])
    ),
    "reordered": _rows_moved,
    "CRLF": _each(lambda c: _line_ends(c, "\r\n")),
    "CR": _each(lambda c: _line_ends(c, "\r")),
    "BOM": _each(lambda c: _one(c, b"\xef\xbb\xbf" + c.text.encode())),
    "UTF-16": _each(lambda c: _one(c, c.text.encode("utf-16"))),
    "trailing blanks": _each(lambda c: _line_ends(c, "  \t\n")),
    "indented": _each(lambda c: _one(c, "".join(f"    {line}" for line in c.lines))),
    "blank lines": _each(
        lambda c: _line_ends(c, "\n\n"), lambda c: c.inserted("\n"), lambda c: c.inserted(" \n")
    ),
    "lines of a job": _each(
        lambda c: _one(c, c.text + _SCHEDULER),
        lambda c: _one(c, _SCHEDULER + c.text),
        lambda c: c.inserted(_SCHEDULER),
        lambda c: c.inserted("12345 678\n"),
        lambda c: c.inserted("[node1:12] WARNING: 8 somethings went 1.5 times\n"),
        lambda c: _one(c, c.text + "\n300000 7\n"),
    ),
}  # fmt: skip


def _in_k(found: re.Match[str]) -> str:
    size = int(found[0])
    return f"{size // 1024}K" if size and size % 1024 == 0 else f"{size} B"


@dataclass(frozen=True)
class Verdict:
    """What became of a damaged file: `right`, `told` or `wrong`, and why."""

    kind: str
    why: str = ""


def judge(name: str, content: bytes, tables: list[Times], folder: Path) -> Verdict:
    """Read a file, and compare what comes back with the tables that are in it."""
    path = folder / name
    path.write_bytes(content)
    gathered = read_files([path])
    found = gathered.measurements
    messages = [str(failure) for failure in gathered.failures]
    read: set[tuple[int, int]] = set()
    whole: set[int] = set()
    if found is not None:
        messages += map(str, found.warnings)
        for curve in _curves(found.samples):
            mine = [number for number, table in enumerate(tables) if _is_of(curve, table)]
            if not mine:
                return Verdict("wrong", f"nobody measured {curve}")
            read |= {(number, size) for number in mine for size, _ in curve}
            whole |= {n for n in mine if {size for size, _ in curve} == set(tables[n])}
    missing = {(n, size) for n, table in enumerate(tables) for size in table} - read
    if not missing and all(n in whole for n, table in enumerate(tables) if table):
        return Verdict("right")
    if any(str(path) in text and (_SAYS.search(text) or gathered.failures) for text in messages):
        return Verdict("told", messages[0])
    return Verdict("wrong", f"{len(missing)} points are lost or divided without a word: {messages}")


def _curves(samples: Any) -> list[list[tuple[int, float]]]:
    curves: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    for row in samples.to_dict("records"):
        key = tuple(str(row[name]) for name in identity_columns(samples))
        curves.setdefault(key, []).append((row["size_bytes"], row["time_us"]))
    return list(curves.values())


def _is_of(curve: list[tuple[int, float]], table: Times) -> bool:
    return all(size in table and abs(time / table[size] - 1) <= _TOLERANCE for size, time in curve)


def drawn_case(form: Format, number: int) -> Case:
    """Return a case with tables that a number chooses; 0 gives a usual one."""
    draw = random.Random(number)
    first, count = (10, 8) if number == 0 else (draw.randint(6, 12), draw.randint(6, 10))
    sizes = [2**power for power in range(first, first + count)]
    base, rate = draw.uniform(1, 20), draw.uniform(500, 20000)
    table = {size: round(base + size / rate, 2) for size in sizes}
    return Case(form, table, {size: round(10 * time, 2) for size, time in table.items()}, draw)


def verdicts(case: Case, damage: str, folder: Path) -> Iterator[tuple[bytes, Verdict]]:
    """Judge each file that a damage makes."""
    for content, tables in DAMAGES[damage](case):
        yield content, judge(case.form.file, content, tables, folder)


def one_round(number: int, failures: Path) -> Counts:
    """Judge some formats with every damage, and tables that a number chooses, for `make fuzz`."""
    counts = dict.fromkeys(("damaged tables", "right", "told", "problems"), 0)
    inputs: set[bytes] = set()
    with tempfile.TemporaryDirectory(prefix="switchpoint-fuzz-") as folder:
        for form in random.Random(number).sample(FORMATS, _FORMATS_AT_ONCE):
            for damage in DAMAGES:
                for content, verdict in verdicts(drawn_case(form, number), damage, Path(folder)):
                    counts["damaged tables"] += 1
                    wrong = verdict.kind == "wrong"
                    counts["problems" if wrong else verdict.kind] += 1
                    if wrong:
                        _keep(
                            failures, f"{number}-{form.file}", content, f"{damage}: {verdict.why}"
                        )
                    inputs.add(hashlib.sha256(content).digest()[:8])
    return counts, inputs


def _keep(failures: Path, name: str, content: bytes, why: str) -> None:
    failures.mkdir(parents=True, exist_ok=True)
    (failures / name).write_bytes(content)
    (failures / f"{name}.why").write_text(why + "\n")
    print(f"damaged tables: {failures / name}: {why}", file=sys.stderr, flush=True)


def main() -> int:
    """Print how many files of each format and damage are right, told and wrong."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    total: Counter[str] = Counter()
    print(f"{'damage':26}" + "".join(f"{form.name:>21}" for form in FORMATS))
    with tempfile.TemporaryDirectory(prefix="switchpoint-fuzz-") as folder:
        for damage in DAMAGES:
            cells = []
            for form in FORMATS:
                case = drawn_case(form, seed)
                found = [verdict for _, verdict in verdicts(case, damage, Path(folder))]
                counts = Counter(verdict.kind for verdict in found)
                total.update(counts)
                cells.append("/".join(str(counts[kind]) for kind in ("right", "told", "wrong")))
                for verdict in found:
                    if verdict.kind == "wrong":
                        print(f"{form.name}: {damage}: {verdict.why}"[:300], file=sys.stderr)
            print(f"{damage:26}" + "".join(f"{cell:>21}" for cell in cells), flush=True)
    print(
        "right/told/wrong: "
        + ", ".join(f"{total[kind]:,} {kind}" for kind in ("right", "told", "wrong"))
    )
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
