"""Measures what the largest files of each format cost that `switchpoint import` reads.

Each file has nearly the most bytes, lines, rows or values of docs/reference/limits.md. It is
imported into an empty store in a process of its own.

Usage: .venv/bin/python bench/largest_inputs.py [FORMAT...]   (default: all, needs 2 GB of disk)
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from arguments import one_of, parser
from switchpoint.limits import (
    JSON_BYTES,
    LOG_VALUES,
    RECORD_ROWS,
    ROW_CHARACTERS,
    TABLE_BYTES,
    TABLE_ROWS,
    TEXT_BYTES,
    TEXT_LINES,
)

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests/analysis/records/mpich-memory.record.gz"

#: A process that needs more is ended by the system.
MOST_BYTES = 12 * 2**30

_OSU = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n"
_LOG = "result|job_completion_time|name|system|partition|environ|perf_var|perf_value|perf_unit"


def osu() -> Iterator[str]:
    """Tables one after the other, as of many launches."""
    for line in range((TEXT_LINES - 10) * 25 // 26):  # a heading has two lines
        yield _OSU if line % 25 == 0 else f"{1 << line % 25}  {3 + line % 25}.5\n"


def osu_long_lines() -> Iterator[str]:
    """A table, then lines as long as they may be in which a row is searched."""
    yield f"{_OSU}8 1.5\n"
    for _ in range(TEXT_BYTES // ROW_CHARACTERS - 2):
        yield "1 " * (ROW_CHARACTERS // 2 - 1) + "\n"


def imb() -> Iterator[str]:
    """One benchmark again and again."""
    whole = (ROOT / "tests/analysis/outputs/imb-mpi1.txt").read_text()
    for _ in range((TEXT_LINES - 10) // (whole.count("\n") + 1)):
        yield whole


def netpipe() -> Iterator[str]:
    """Rows of NetPIPE's own file."""
    for line in range(TEXT_LINES - 10):
        yield f"{1 + line % 100_000} 49.376639   0.00000015\n"


def tidy_csv() -> Iterator[str]:
    """Rows of a table with names."""
    yield "size_bytes,time_us,mode\n"
    for row in range(min(TABLE_ROWS, TABLE_BYTES // 20) - 10):
        yield f"{1 << row % 23},{3 + row % 97}.25,send\n"


def reframe_log() -> Iterator[str]:
    """A log of one value each hour."""
    yield f"{_LOG}\n"
    for row in range(LOG_VALUES - 1):
        minute = f"2024-{1 + row // 40320:02}-{1 + row // 1440 % 28:02}T{row // 60 % 24:02}"
        yield f"pass|{minute}:{row % 60:02}:00|Stream|alpha|batch|gnu|triad|{row}.5|GB/s\n"


def run_record() -> Iterator[str]:
    """A record with as many samples as are read."""
    header, heading, *_, footer = gzip.decompress(RECORD.read_bytes()).decode().splitlines()
    yield f"{header}\n{heading}\n"
    for row in range(RECORD_ROWS):
        yield f"send,{8 * (1 + row % 10_000)},0,{row // 10_000},10,{3 + row % 97}.25\n"
    yield json.dumps(json.loads(footer) | {"samples": RECORD_ROWS}) + "\n"


def run_record_header() -> Iterator[str]:
    """A record whose header is as large as JSON may be."""
    header, heading, *rows, footer = gzip.decompress(RECORD.read_bytes()).decode().splitlines()
    facts = json.loads(header)
    for number in range(JSON_BYTES // 40):
        facts["mpi"]["cvars"][f"a_setting_of_a_library_{number:08}"] = number
        if number % 10_000 == 0 and len(json.dumps(facts)) > JSON_BYTES - 10**6:
            break
    yield "\n".join([json.dumps(facts), heading, *rows, footer]) + "\n"


FORMATS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "OSU, lines": ("osu.txt", osu),
    "OSU, long lines": ("osu.txt", osu_long_lines),
    "IMB": ("imb.txt", imb),
    "NetPIPE": ("netpipe.out", netpipe),
    "tidy CSV": ("table.csv", tidy_csv),
    "ReFrame's log": ("Stream.log", reframe_log),
    "run record, rows": ("run.record", run_record),
    "run record, header": ("run.record", run_record_header),
}


def main(chosen: list[str]) -> None:
    """Print a row for each format."""
    print("| largest file of | size | packed | outcome | time of a processor | memory |")
    print("|---|---|---|---|---|---|")
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            print(_measured(name, Path(folder)), flush=True)


def _measured(name: str, folder: Path) -> str:
    file, lines = FORMATS[name]
    path = folder / f"{file}.gz"
    size = 0
    with gzip.open(path, "wb", compresslevel=1) as packed:
        stream = io.BufferedWriter(packed, 2**20)  # type: ignore[arg-type]
        for line in lines():
            size += stream.write(line.encode())
        stream.flush()
    switchpoint = Path(sys.executable).with_name("switchpoint")
    command = [switchpoint, "import", path, "--store", folder / "results"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES)),
    )
    assert child.stdout is not None
    said = child.stdout.read().splitlines() or ["printed nothing"]
    _, status, used = os.wait4(child.pid, 0)
    outcome = said[0].replace(str(folder), "").partition(" to ")[0]
    if os.waitstatus_to_exitcode(status) != 0:
        outcome = f"exit code {os.waitstatus_to_exitcode(status)}: {outcome[:60]}"
    return (
        f"| {name} | {size / 1e6:,.0f} MB | {path.stat().st_size / 1e6:,.0f} MB | {outcome}"
        f" | {used.ru_utime + used.ru_stime:.1f} s | {used.ru_maxrss / 1e6:.2f} GB |"
    )


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument(
        "formats", type=one_of("format", FORMATS), nargs="*", default=list(FORMATS),
        metavar="FORMAT",
    )  # fmt: skip
    main(options.parse_args().formats)
