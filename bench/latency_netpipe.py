"""8 B latency of our ping-pong against NetPIPE's: same MPI, same placement, launches in turn.

Both take the fastest of seven blocks, since that is what NetPIPE reports, and of equal length,
since a longer block is hit more often by whatever else runs. Ratio above 1: ours is slower.
Usage: ``.venv/bin/python bench/latency_netpipe.py [PAIRS]``
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from on_testbed import NETPIPE, PLACEMENTS, kernel, launch, testbed
from ratios import median_ratio
from switchpoint.record import read_facts

SIZE_BYTES = 8
BLOCKS = 7
BLOCK_US = 5000


def ours_us(name: str, mpi: str, placement: str, folder: Path) -> float:
    """Half round trip in microseconds by our kernel."""
    record = folder / "bench.record"
    launch(
        name,
        mpi,
        placement,
        [
            kernel(mpi, "pingpong"),
            "--mode=send",
            f"--sizes={SIZE_BYTES}",
            "--passes=1",
            f"--samples={BLOCKS}",
            "--pass-time=10000",
            f"--block-time={BLOCK_US}",
            f"--record={record}",
        ],
        folder,
    )
    footer = read_facts(record).footer
    assert footer is not None
    return float(footer["points"][0]["min_us"])


def netpipe_us(name: str, mpi: str, placement: str, repeats: int, folder: Path) -> float:
    """Half round trip in microseconds by NetPIPE, from the rate that it prints with more digits."""
    size = str(SIZE_BYTES)
    launch(
        name,
        mpi,
        placement,
        [NETPIPE[mpi], "-l", size, "-u", size, "-n", str(repeats), "-p", "0", "-o", "np.out"],
        folder,
    )
    mbps = float((folder / "np.out").read_text().split()[1])
    return SIZE_BYTES * 8 / (mbps * 2**20) * 1e6


def main(pairs: int) -> None:
    """Print one row per MPI and placement."""
    print(f"{'MPI':8} {'placement':20} {'ours us':>8} {'NetPIPE us':>10}   ratio [95 % interval]")
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        for mpi in NETPIPE:
            for placement in PLACEMENTS.placements:
                ours, theirs = [], []
                for _ in range(pairs):
                    ours.append(ours_us(name, mpi, placement, folder))
                    repeats = max(1, round(BLOCK_US / (2 * min(ours))))
                    theirs.append(netpipe_us(name, mpi, placement, repeats, folder))
                ratio, low, high = median_ratio(ours, theirs)
                print(
                    f"{mpi:8} {placement:20} {sorted(ours)[pairs // 2]:8.3f} "
                    f"{sorted(theirs)[pairs // 2]:10.3f}   {ratio:.3f} [{low:.3f}, {high:.3f}]",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
