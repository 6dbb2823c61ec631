"""Compares our streams and collectives with OSU's, at every size, launched in turn.

Streams have OSU's window and, as with `osu_bw -b multiple`, own buffers for each message in
flight. Collectives are the library's own, by OSU's definition of time, in which each call contains
the time of reading the clock. Both sides take the mean.
A ratio of times above 1 means that ours is slower; rows of all sizes are geometric means.

OSU_OPENMPI and OSU_MPICH name the folder that contains OSU's `pt2pt` and `collective` for that MPI.
Usage: ``.venv/bin/python bench/osu_peers.py [PAIRS] [PLACEMENT or PROGRAM]...``, without a program
for all of them.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from arguments import add_count, one_of, parser
from on_testbed import PLACEMENTS, PMI, kernel, launch, osu, testbed
from ratios import median_ratio
from switchpoint.records.record import read_facts

WINDOW = 64

#: Message sizes in bytes that are compared.
SIZES = [1, 64, 1024, 8192, 65536, 1 << 20, 4 << 20]


@dataclass(frozen=True)
class Pair:
    """One of our modes and the program that measures the same.

    Attributes
    ----------
    kernel, options : str, tuple of str
        Ours.
    program, arguments : str, tuple of str
        OSU's.
    bandwidth : bool
        Whether OSU prints MB/s instead of microseconds.
    """

    kernel: str
    options: tuple[str, ...]
    program: str
    arguments: tuple[str, ...] = ()
    bandwidth: bool = False

    @property
    def name(self) -> str:
        """OSU's program, without its folder."""
        return self.program.rpartition("/")[2]


_BUFFERS = ("-W", str(WINDOW), "-b", "multiple")
_WINDOW = (f"--window={WINDOW}", f"--window-kib={WINDOW << 12}")

#: OSU's ranks leave a barrier before each call, and its time is the mean over ranks.
_OSU_TIME = ("--start=barrier", "--time-of=mean")

PAIRS = [
    Pair("pingpong", ("--mode=stream", *_WINDOW), "pt2pt/osu_bw", _BUFFERS, bandwidth=True),
    Pair("pingpong", ("--mode=bistream", *_WINDOW), "pt2pt/osu_bibw", _BUFFERS, bandwidth=True),
    Pair("broadcast", ("--mode=library", *_OSU_TIME), "collective/osu_bcast"),
    Pair("alltoall", ("--mode=library", *_OSU_TIME), "collective/osu_alltoall"),
]


def ours_us(name: str, mpi: str, placement: str, pair: Pair, folder: Path) -> np.ndarray:
    """Mean time of each size by our kernel."""
    record = folder / "bench.record"
    sizes = ",".join(map(str, SIZES))
    command = [
        kernel(mpi, pair.kernel), *pair.options, f"--sizes={sizes}", "--passes=2", "--samples=5",
        "--block-time=2000", "--pass-time=200", f"--record={record}", "--quiet",
    ]  # fmt: skip
    launch(name, mpi, placement, command, folder)
    facts = read_facts(record)
    assert facts.footer is not None
    means = {point["size_bytes"]: point["mean_us"] for point in facts.footer["points"]}
    # OSU reads the clock twice for each call, and one of these readings is part of its time.
    reading_us = 0 if pair.bandwidth else facts.header["clock"]["overhead_ns"] / 1e3
    return np.array([means[size] for size in SIZES]) + reading_us


def theirs_us(
    name: str, mpi: str, placement: str, pair: Pair, programs: Path, folder: Path
) -> np.ndarray:
    """Mean time of each size by OSU's program.

    One launch measures all powers of two with OSU's own repetitions, as its users do. A size that
    is measured alone, with fewer, also contains the start of the program: up to 15 % of the mean
    of 30 broadcasts.
    """
    sizes = f"-m{SIZES[0]}:{SIZES[-1]}"
    out = launch(name, mpi, placement, [programs / pair.program, sizes, *pair.arguments], folder)
    values = np.array([re.findall(rf"^{size}\s+([\d.]+)", out, re.M)[0] for size in SIZES], float)
    return np.array(SIZES) / values if pair.bandwidth else values


def compare(
    name: str, mpi: str, placement: str, pair: Pair, pairs: int, programs: Path, folder: Path
) -> None:
    """Print a row for each size, and one of all sizes."""
    sides = [
        partial(ours_us, name, mpi, placement, pair, folder),
        partial(theirs_us, name, mpi, placement, pair, programs, folder),
    ]
    both = []
    for number in range(pairs):
        # A launch gets the pages that the one before it left, so each side goes first in turn.
        turn = -1 if number % 2 else 1
        both.append([side() for side in sides[::turn]][::turn])
    ours, theirs = (np.stack(side, axis=1) for side in zip(*both, strict=True))
    start = f"{mpi:8} {placement:20} {pair.name:13}"
    for size, one, other in zip(SIZES, ours, theirs, strict=True):
        ratio, low, high = median_ratio(one, other)
        print(
            f"{start} {size:8} {np.median(one):11.3f} {np.median(other):11.3f}"
            f"   {ratio:.3f} [{low:.3f}, {high:.3f}]"
        )
    ratio, low, high = median_ratio(ours, theirs)
    print(f"{start} {'all':8} {'':23}   {ratio:.3f} [{low:.3f}, {high:.3f}]", flush=True)


def main() -> None:
    """Print the rows of each MPI, placement and program."""
    of_osu = {pair.name: pair for pair in PAIRS}
    options = parser(__doc__)
    add_count(options, "pairs", 7)
    known = one_of("placement or program", [*PLACEMENTS.placements, *of_osu])
    options.add_argument("chosen", type=known, nargs="*", metavar="PLACEMENT or PROGRAM")
    given = options.parse_args()
    compared = [of_osu[word] for word in given.chosen if word in of_osu] or PAIRS
    placements = [word for word in given.chosen if word not in of_osu]
    print(
        f"{'MPI':8} {'placement':20} {'program':13} {'bytes':>8} {'ours us':>11} {'theirs us':>11}"
        f"   ratio [95 % interval], {given.pairs} pairs"
    )
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        for mpi in PMI:
            if not (programs := osu(mpi)):
                continue
            for placement in placements or ["one_node", "two_nodes_one_host"]:
                for pair in compared:
                    compare(name, mpi, placement, pair, given.pairs, programs, folder)


if __name__ == "__main__":
    main()
