"""Compares the time of 1 MiB between buffers at other places in a page with buffers at a page.

Launches with each place follow each other in turn. A ratio of times above 1 means that the place is
slower than the start of a page.
Usage: ``.venv/bin/python bench/buffer_offset.py [LAUNCHES] [MPI or PLACEMENT]...
[--offset BYTES]``, without a placement for the network path of one node, without an offset for
all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arguments import add_count, count, one_of, parser
from on_testbed import PLACEMENTS, PMI, testbed
from pingpong_peers import ours_us
from ratios import median_ratio

SIZE_BYTES = 1 << 20

#: Bytes from the start of a page: at it, where allocators begin (MPICH's MPI_Alloc_mem at 32), and
#: at other cache lines.
OFFSETS = (0, 16, 32, 48, 64, 128, 256, 1024, 2048)


def compare(
    name: str, mpi: str, placement: str, offsets: Sequence[int], launches: int, folder: Path
) -> None:
    """Print a row for each place, of which the first is the start of a page."""
    times_us: dict[int, list[float]] = {offset: [] for offset in offsets}
    for launch in range(launches):
        # Each place goes first in turn: a launch gets the pages that the one before it left.
        turn = launch % len(offsets)
        for offset in [*offsets[turn:], *offsets[:turn]]:
            times_us[offset].append(
                ours_us(name, mpi, placement, SIZE_BYTES, folder, buffer_offset_bytes=offset)
            )
    for offset, times in times_us.items():
        ratio, low, high = median_ratio(times, times_us[0])
        interval = f"   {ratio:.3f} [{low:.3f}, {high:.3f}]" if offset else ""
        print(f"{mpi:8} {placement:20} {offset:6} {np.median(times):9.1f}{interval}", flush=True)


def main() -> None:
    """Print the rows of each MPI and placement."""
    options = parser(__doc__)
    add_count(options, "launches", 9)
    known = one_of("MPI or placement", [*PMI, *PLACEMENTS.placements])
    options.add_argument("chosen", type=known, nargs="*", metavar="MPI or PLACEMENT")
    options.add_argument("--offset", type=count, action="append", metavar="BYTES")
    given = options.parse_args()
    mpis = [word for word in given.chosen if word in PMI] or list(PMI)
    placements = [word for word in given.chosen if word not in PMI] or ["one_node_network"]
    offsets = [0, *given.offset] if given.offset else OFFSETS
    print(
        f"{'MPI':8} {'placement':20} {'offset':>6} {'us':>9}"
        f"   ratio [95 % interval], {given.launches} launches of each"
    )
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in mpis:
            for placement in placements:
                compare(name, mpi, placement, offsets, given.launches, Path(scratch).resolve())


if __name__ == "__main__":
    main()
