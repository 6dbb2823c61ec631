"""Measures the verbs on many imported runs: OSU and IMB tables of several sites, MPIs and fabrics.

Usage: .venv/bin/python bench/many_sites.py [RUNS] [--launches N] [--into FOLDER] [--only VERB...]
(default 2,304 runs, 8 launches of each, in a new folder; with --into all files stay there)
Targets: 2,304 runs on 2 cores: a report in under 120 s of wall time and 30 MB, no page over 1 MB.
Times are those of the processors, user and system of all processes, beside that on the wall.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arguments import add_count, count, parser

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "switchpoint"]
PATTERN = "{site}/{mpi}/{fabric}/{nodes}/"

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h

MPIS = ["Open MPI 4.1.6", "MPICH 4.2.1", "Intel MPI 2021.11"]
FABRICS = {"infiniband": (1.1, 1.0), "roce": (1.7, 1.9)}  # factors of latency and of time a byte
EAGER = [4096, 16384, 65536]  # of each MPI

#: OSU's programs: title, heading, whether the value is a rate, time of a call in latencies.
OSU = {
    "osu_latency": ("Latency Test", "Latency (us)", False, 1.0),
    "osu_bw": ("Bandwidth Test", "Bandwidth (MB/s)", True, 0.3),
    "osu_bibw": ("Bi-Directional Bandwidth Test", "Bandwidth (MB/s)", True, 0.2),
    "osu_allreduce": ("Allreduce Latency Test", "Avg Latency(us)", False, 5.0),
    "osu_alltoall": (
        "All-to-All Personalized Exchange Latency Test", "Avg Latency(us)", False, 9.0
    ),
    "osu_bcast": ("Broadcast Latency Test", "Avg Latency(us)", False, 3.0),
}  # fmt: skip
PROGRAMS = [*OSU, "imb_pingpong", "imb_allreduce"]
SIZES = [2**power for power in range(23)]

#: What is measured, with the selections of two sides for the comparison.
VERBS = {
    "detect": ["detect"],
    "reach": ["reach", "--switches"],
    "compare": ["compare", "fabric=infiniband", "fabric=roce"],
    "report": ["report"],
}


def places(runs: int, launches: int) -> Iterator[tuple[str, int, str, str, int]]:
    """Yield site, number of the MPI, fabric, program and launch of so many runs."""
    sites = (f"site{number:02d}" for number in itertools.count(1))
    every = (
        (site, mpi, fabric, program, launch)
        for site in sites
        for launch in range(launches)
        for mpi, fabric in itertools.product(range(len(MPIS)), FABRICS)
        for program in PROGRAMS
    )
    return itertools.islice(every, runs)


def write(folder: Path, runs: int, launches: int) -> None:
    """Write a table for each run, in folders that name its place."""
    random = np.random.default_rng(1)
    for site, mpi, fabric, program, launch in places(runs, launches):
        pair = program in {"osu_latency", "osu_bw", "osu_bibw", "imb_pingpong"}
        nodes = "2" if pair else "8"
        own = folder / site / MPIS[mpi] / fabric / nodes
        own.mkdir(parents=True, exist_ok=True)
        latency, per_byte = FABRICS[fabric]
        later = 1 + 0.03 * int(site[4:])
        calls = OSU.get(program, ("", "", False, 1.0 if pair else 5.0))[3]
        sizes = np.array(SIZES)
        time_us = calls * (later * latency + 8e-5 * per_byte * sizes)
        time_us *= np.where(sizes > EAGER[mpi], 1.5, 1.0)
        time_us *= np.exp(random.normal(0, 0.02) + random.normal(0, 0.01, len(sizes)))
        table = osu(program, time_us) if program in OSU else imb(program, time_us)
        (own / f"{program}-{launch}.txt").write_text(table)


def osu(program: str, time_us: np.ndarray) -> str:
    """Return what a program of OSU prints."""
    title, heading, rate, _ = OSU[program]
    values = np.array(SIZES) / time_us if rate else time_us
    rows = [f"{size:<10d}{value:>18.2f}" for size, value in zip(SIZES, values, strict=True)]
    return "\n".join([f"# OSU MPI {title} v5.8", f"# Size      {heading}", *rows, ""])


def imb(program: str, time_us: np.ndarray) -> str:
    """Return what IMB prints for one or two of its benchmarks."""
    if program == "imb_pingpong":
        rows = [f"{n:>13d} {1000:>12d} {t:>12.2f} {n / t:>12.2f}"
                for n, t in zip(SIZES, time_us, strict=True)]  # fmt: skip
        both = [
            f"{n:>13d} {1000:>12d} {t:>12.2f} {1.02 * t:>12.2f} {1.01 * t:>12.2f} {n / t:>12.2f}"
            for n, t in zip(SIZES, 1.1 * time_us, strict=True)
        ]
        return _benchmark("PingPong", 2, "t[usec]   Mbytes/sec", rows) + _benchmark(
            "Sendrecv", 2, "t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec", both
        )
    rows = [f"{n:>13d} {1000:>12d} {t:>12.2f} {t * 1.02:>12.2f} {t * 1.01:>12.2f}"
            for n, t in zip(SIZES, time_us, strict=True)]  # fmt: skip
    return _benchmark("Allreduce", 8, "t_min[usec]  t_max[usec]  t_avg[usec]", rows)


def _benchmark(name: str, processes: int, headings: str, rows: list[str]) -> str:
    line = "#" + "-" * 60
    head = [line, f"# Benchmarking {name} ", f"# #processes = {processes} ", line,
            f"       #bytes #repetitions  {headings}"]  # fmt: skip
    return "\n".join([*head, *rows, "", ""])


def adopt_orphans() -> None:
    """Become the parent of what ended processes leave, such as those that start workers."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spent() -> float:
    """Return the processor time of all processes that ended, after all of them did."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words: list[str], folder: Path) -> tuple[str, str]:
    """Run a verb; return what it printed and how long it took."""
    start, before = time.perf_counter(), spent()
    done = subprocess.run(
        [*COMMAND, *words, "--store", "store"], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    took = time.perf_counter() - start
    return done.stdout, f"{spent() - before:7.1f} s of processors, {took:7.1f} s"


def measure(folder: Path, runs: int, launches: int, verbs: list[str]) -> None:
    """Write the tables, import them, and print what each verb takes."""
    if not (folder / "store").exists():
        write(folder / "tables", runs, launches)
        _, took = run(["import", "tables", "--path", PATTERN], folder)
        print(f"{'import':8} {took}", flush=True)
    for verb in verbs:
        printed, took = run(VERBS[verb], folder)
        lines = printed.splitlines()
        longest = max(map(len, lines), default=0)
        print(f"{verb:8} {took}, {len(lines)} lines, the longest {longest}", flush=True)
        (folder / f"{verb}.txt").write_text(printed)
    if "report" in verbs:
        files = [path for path in (folder / "report").rglob("*") if path.is_file()]
        total = sum(path.stat().st_size for path in files) / 1e6
        pages = sorted(
            (path.stat().st_size / 1e3, str(path.relative_to(folder / "report")))
            for path in files
            if path.suffix == ".html"
        )
        largest = ", ".join(f"{name} {size:,.0f} KB" for size, name in pages[:-4:-1])
        print(f"report: {len(files):,} files, {total:.1f} MB; largest pages: {largest}")
    print(f"on {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Read the arguments, and measure."""
    options = parser(__doc__)
    add_count(options, "runs", 2_304)
    options.add_argument("--launches", type=count, default=8, metavar="N")
    options.add_argument("--into", type=Path, metavar="FOLDER")
    options.add_argument("--only", nargs="+", choices=VERBS, default=list(VERBS), metavar="VERB")
    chosen = options.parse_args()
    adopt_orphans()
    if chosen.into:
        chosen.into.mkdir(parents=True, exist_ok=True)
        measure(chosen.into, chosen.runs, chosen.launches, chosen.only)
        return
    with tempfile.TemporaryDirectory() as scratch:
        measure(Path(scratch), chosen.runs, chosen.launches, chosen.only)


if __name__ == "__main__":
    main()
