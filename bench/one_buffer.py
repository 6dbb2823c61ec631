"""Compares NetPIPE's time of 1 MiB on one node with ours, one thing changed at a time.

NetPIPE has one buffer, from which it sends what it has just received; with -I it has two, and goes
through more memory than caches hold. Ours has two (send), one (resend), two that begin at another
cache line, or two that it rotates (--rotate). On the heap all buffers come from large pages where
the system gives them. Launches of all follow each other in turn. Other work makes a launch slower
and never faster, so blocks are short and the table shows the fastest launch and the first
quartile.
Usage: ``.venv/bin/python bench/one_buffer.py [LAUNCHES] [MPI...]``
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, parser
from on_testbed import NETPIPE, ROOT, launch, testbed
from pingpong_peers import TRIALS, netpipe, ours_us

SIZE_BYTES = 1 << 20
PLACEMENT = "one_node"
TRIPS = 4  # in a block
#: More than the last-level cache of most machines.
ROTATE_MIB = 64
HEAP = {"GLIBC_TUNABLES": "glibc.malloc.top_pad=268435456:glibc.malloc.mmap_max=0"}


def cases(name: str, mpi: str, folder: Path) -> dict[str, Callable[[], float]]:
    """Return what is measured: a time in us of each."""

    def theirs(*options: str, settings: dict[str, str] | None = None) -> float:
        peer = netpipe(NETPIPE[mpi])
        command = [*peer.command(SIZE_BYTES, TRIPS * TRIALS), *options]
        launch(name, mpi, PLACEMENT, command, folder, settings)
        return peer.time_us("", SIZE_BYTES, folder)

    def ours(mode: str, *options: str, offset: int = 0) -> float:
        return ours_us(
            name, mpi, PLACEMENT, SIZE_BYTES, folder, blocks=TRIALS, statistic="min_us",
            buffer_offset_bytes=offset, mode=mode, block_us=800, options=options,
        )  # fmt: skip

    return {
        "NetPIPE": theirs,
        "NetPIPE, on the heap": lambda: theirs(settings=HEAP),
        "NetPIPE -I": lambda: theirs("-I"),
        "resend": lambda: ours("resend"),
        "send": lambda: ours("send"),
        "send, 64 B after a page": lambda: ours("send", offset=64),
        f"send --rotate {ROTATE_MIB}": lambda: ours("send", f"--rotate={ROTATE_MIB}"),
    }


def compare(name: str, mpi: str, launches: int, folder: Path) -> None:
    """Print a row for each case, with its fastest launch divided by NetPIPE's."""
    measured = cases(name, mpi, folder)
    times: dict[str, list[float]] = {case: [] for case in measured}
    order = list(measured)
    for turn in range(launches):
        first = turn % len(order)
        for case in order[first:] + order[:first]:
            times[case].append(measured[case]())
    for case, of_case in times.items():
        ratio = min(of_case) / min(times["NetPIPE"])
        print(
            f"| {mpi} | {case} | {min(of_case):.1f} us | {np.quantile(of_case, 0.25):.1f} us |"
            f" {ratio:.2f} |",
            flush=True,
        )


def main() -> None:
    """Print the rows of each MPI."""
    options = parser(__doc__)
    add_count(options, "launches", 15)
    add_mpis(options)
    given = options.parse_args()
    print("| MPI | program | fastest | first quartile | by NetPIPE's |\n|---|---|---|---|---|")
    with testbed() as name, tempfile.TemporaryDirectory(dir=ROOT / "build") as scratch:
        for mpi in given.mpis:
            compare(name, mpi, given.launches, Path(scratch).resolve())


if __name__ == "__main__":
    main()
