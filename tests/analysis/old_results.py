"""Writes a tree of old results as groups keep them: OSU and IMB output of several systems.

Each MPI of each system switches at a size of its own, from a seed; between the results lies what
lies between results: scripts, logs, damaged and binary files, links.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

#: Layouts that are no ReFrame's: what `--path` says of them.
PATTERN = "old/{site}/{mpi}/{suite}/{test}"

_OSU = {  # title and column by program
    "osu_latency": ("OSU MPI Latency Test", "Latency (us)"),
    "osu_bw": ("OSU MPI Bandwidth Test", "Bandwidth (MB/s)"),
    "osu_bcast": ("OSU MPI Broadcast Latency Test", "Avg Latency(us)"),
}


@dataclass(frozen=True)
class System:
    """One MPI of one system, as its results lie there.

    Attributes
    ----------
    site, mpi : str
        As tables must name them; `mpi` is the environment where nobody says which library it is.
    folder : str
        Where its runs lie, with the fields `test` and `run`.
    switch_bytes : int
        First slow size; sizes are powers of two.
    """

    site: str
    mpi: str
    folder: str
    switch_bytes: int

    @property
    def bracket(self) -> str:
        """Where `detect` must find the switch."""
        return f"{self.switch_bytes // 2:,} to {self.switch_bytes:,} B"


SYSTEMS = [
    System("alpha", "gnu-openmpi", "runs/output/alpha/batch/gnu-openmpi/{test}_{run:08x}", 2**14),
    System("alpha", "gnu-mpich", "runs/output/alpha/batch/gnu-mpich/{test}_{run:08x}", 2**17),
    System("beta", "Open MPI 4.0.3", "old/beta/openmpi-4.0.3/osu/{test}/run{run}", 2**13),
    System("beta", "MPICH 3.2", "old/beta/mpich-3.2/osu/{test}/run{run}", 2**16),
    System("gamma", "Intel MPI 2021.9", "from-gamma/2023/{test}/{run}", 2**19),
]

#: Runs of each benchmark.
_RUNS = 12


def write_tree(root: Path) -> int:
    """Write results of all systems; returns how many files hold a curve."""
    rng = np.random.default_rng(11)
    written = 0
    for system in SYSTEMS:
        for run in range(_RUNS):
            for test, text in _outputs(system.switch_bytes, rng):
                folder = root / system.folder.format(test=test, run=run)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "rfm_job.sh").write_text("#!/bin/bash\nsrun osu\n")
                (folder / "rfm_job.err").touch()
                (folder / "rfm_job.out").write_text(text)
                written += 1
    labels = {"site": "gamma", "mpi": "Intel(R) MPI Library 2021.9 for Linux* OS", "fabric": "ib"}
    (root / "from-gamma" / "switchpoint.labels.json").write_text(json.dumps(labels))
    return written


def write_rubbish(root: Path) -> list[str]:
    """Write what no reader can read; returns the names of those files that count as damaged."""
    folder = root / "old" / "rest"
    folder.mkdir(parents=True)
    (folder / "program").write_bytes(b"\x7fELF\0\0\1")
    (folder / "wide.csv").write_text("size_bytes,time_us\n8,1\n", encoding="utf-16")
    (folder / "notes.txt").write_text("Dear reader,\n")
    (folder / "one-line.log").write_text("x" * 2**22)
    (folder / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "gone")
    (folder / "bad\x1b[31m\nname.txt").write_text("nothing\n")
    (folder / "startup.out").write_text("# OSU MPI Init Test v7.4\nnprocs: 2\n")
    damaged = {
        "cut.out.gz": b"\x1f\x8b\x08\0" + bytes(40),
        "deep.json": b'{"session_info": {' + b'"a":[' * 20000,
        "wide.log": b'result|job_completion_time|x_value|x_unit\npass|now|1|"' + b"y" * 2**18,
        "heading.csv": b'size_bytes,"' + b"z" * 2**18 + b'",time_us\n8,1,1\n',
        "numbers.csv": b"size_bytes,time_us\n8,quick\n",
    }
    for name, content in damaged.items():
        (folder / name).write_bytes(content)
    return ["nowhere", *damaged]


def _outputs(switch_bytes: int, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Text of each benchmark's output with its name."""
    sizes = 2 ** np.arange(23)
    for program, (title, column) in _OSU.items():
        times = _times(sizes, switch_bytes, rng)
        values = sizes / times if column.startswith("Bandwidth") else times
        rows = (f"{size:<10}{value:15.2f}" for size, value in zip(sizes, values, strict=True))
        yield program, "\n".join([f"# {title} v5.9", f"# Size          {column}", *rows]) + "\n"
    rows = (
        f"{size:13}         1000 {time:12.2f} {size / time:12.2f}"
        for size, time in zip(sizes, _times(sizes, switch_bytes, rng), strict=True)
    )
    heading = [
        "#    Intel(R) MPI Benchmarks 2019 Update 6, MPI-1 part",
        "# Benchmarking PingPong ",
        "# #processes = 2 ",
        "#---------------------------------------------------",
        "       #bytes #repetitions      t[usec]   Mbytes/sec",
    ]
    yield "imb_pingpong", "\n".join([*heading, *rows]) + "\n"


def _times(sizes: np.ndarray, switch_bytes: int, rng: np.random.Generator) -> np.ndarray:
    jump = 0.6 * (2 + switch_bytes * 4e-4) * (sizes >= switch_bytes)
    return np.asarray((2 + sizes * 4e-4 + jump) * (1 + rng.normal(0, 0.01, len(sizes))))
