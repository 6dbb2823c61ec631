"""Compares our ping-pong with osu_latency, IMB-MPI1 PingPong and NetPIPE at 8 B and 1 MiB.

Both use the same MPI and placement and are launched in turn, with the peer's statistic over the
same duration: the mean over all round trips (OSU, IMB), or the fastest of seven blocks (NetPIPE).
IMB's buffers begin 32 bytes after a page, where MPICH's MPI_Alloc_mem starts; so do ours beside it.
NetPIPE sends what it has just received, from the same buffer, as our mode resend does.
A ratio of times above 1 means that ours is slower. The spread is the middle 80 % of the launches
divided by their median; its ratio is ours over theirs. Rows of all placements are geometric means.

OSU_OPENMPI and OSU_MPICH name the folder of OSU's programs built for that MPI, which contains
`pt2pt`, and IMB_MPI1 the program, which runs on MPICH through the common ABI. Peers that are not
named are skipped.
Usage: ``.venv/bin/python bench/pingpong_peers.py [PAIRS] [MPI[:PEER]...]``
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arguments import add_count, parser
from on_testbed import NETPIPE, PLACEMENTS, PMI, kernel, launch, osu, testbed
from ratios import median_ratio, ratio_interval
from switchpoint.records.record import read_facts

#: Message size and how long each side measures it, in microseconds.
SIZES = {8: 40_000, 1 << 20: 200_000}
TRIALS = 7  # NetPIPE's
MPICH_LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")


@dataclass(frozen=True)
class Peer:
    """A program of another project."""

    name: str
    blocks: int  # that our side measures, the peer's statistic being over as many
    statistic: str  # of our footer
    #: Half round trip in us: command for so many round trips of a size, and its output's number.
    command: Callable[[int, int], list[str | Path]]
    time_us: Callable[[str, int, Path], float]
    buffer_offset_bytes: int = 0  # in a page
    mode: str = "send"  # of ours


def osu_latency(folder: Path) -> Peer:
    """osu_latency: one mean."""
    return Peer(
        "OSU", 1, "mean_us",
        lambda size, trips: [folder / "pt2pt/osu_latency", f"-m{size}:{size}", f"-i{trips}",
                             f"-x{max(1, trips // 10)}"],
        lambda out, size, _: float(re.findall(rf"^{size}\s+([\d.]+)", out, re.M)[-1]),
    )  # fmt: skip


def imb(program: str, folder: Path) -> Peer:
    """IMB's PingPong: one mean, printed with its bandwidth; MPICH has the name that IMB expects."""
    libraries = folder / "libraries"
    libraries.mkdir()
    (libraries / "libmpi.so.12").symlink_to(MPICH_LIBRARY)

    def command(size: int, trips: int) -> list[str | Path]:
        log = size.bit_length() - 1
        return [
            *("env", f"LD_LIBRARY_PATH={libraries}", program, "PingPong"),
            *("-msglog", f"{log}:{log}", "-iter", f"{trips},1000000", "-iter_policy", "off"),
            *("-time", "100"),
        ]

    def time_us(out: str, size: int, _: Path) -> float:
        return float(re.findall(rf"^\s*{size}\s+\d+\s+([\d.]+)", out, re.M)[-1])

    return Peer("IMB", 1, "mean_us", command, time_us, buffer_offset_bytes=32)


def netpipe(program: str) -> Peer:
    """NetPIPE: the fastest of seven trials; the rate in its file has more digits than its time."""
    return Peer(
        "NetPIPE", TRIALS, "min_us",
        lambda size, trips: [program, f"-l{size}", f"-u{size}", f"-n{max(1, trips // TRIALS)}",
                             "-p0", "-onp.out"],
        lambda _, size, folder: size * 8 / (float((folder / "np.out").read_text().split()[1])
                                            * 2**20) * 1e6,
        mode="resend",
    )  # fmt: skip


def peers(mpi: str, folder: Path) -> Iterator[Peer]:
    """Return the available peers for an MPI."""
    if folder_of_osu := osu(mpi):
        yield osu_latency(folder_of_osu)
    if mpi == "mpich" and "IMB_MPI1" in os.environ:
        yield imb(os.environ["IMB_MPI1"], folder)
    if shutil.which(NETPIPE[mpi]):
        yield netpipe(NETPIPE[mpi])


def ours_us(
    name: str, mpi: str, placement: str, size: int, folder: Path,
    *, blocks: int = 1, statistic: str = "mean_us", buffer_offset_bytes: int = 0,
    mode: str = "send", block_us: float | None = None, options: Sequence[str] = (),
) -> float:  # fmt: skip
    """Half round trip in us by our kernel: a statistic over blocks."""
    record = folder / "bench.record"
    command = [
        kernel(mpi, "pingpong"),
        *(f"--mode={mode}", f"--sizes={size}", "--passes=1", "--pass-time=60000"),
        *(f"--samples={blocks}", f"--block-time={block_us or SIZES[size] // blocks:.0f}"),
        *(f"--buffer-offset={buffer_offset_bytes}", f"--record={record}", *options),
    ]
    launch(name, mpi, placement, command, folder)
    footer = read_facts(record).footer
    assert footer is not None
    return float(footer["points"][0][statistic])


def theirs_us(
    name: str, mpi: str, placement: str, peer: Peer, size: int, trips: int, folder: Path
) -> float:
    """Half round trip in us by the peer; one launch may hang, as NetPIPE did, and is repeated."""
    command = peer.command(size, trips)
    try:
        out = launch(name, mpi, placement, command, folder)
    except TimeoutError:
        print(f"{mpi:8} {placement:20} {peer.name} did not end; launched again", flush=True)
        out = launch(name, mpi, placement, command, folder)
    return peer.time_us(out, size, folder)


def spread(times: np.ndarray) -> np.ndarray:
    """Middle 80 % over the median, of each row."""
    low, middle, high = np.quantile(times, [0.1, 0.5, 0.9], axis=-1)
    return np.asarray((high - low) / middle)


def measure(
    name: str, mpi: str, placement: str, peer: Peer, size: int, pairs: int, folder: Path
) -> tuple[np.ndarray, np.ndarray]:
    """Half round trips in us of both sides, shape (pairs,) each."""
    ours, theirs = np.full(pairs, np.inf), np.full(pairs, np.inf)
    for pair in range(pairs):
        # A launch gets the pages that the one before it left, so each side goes first in turn.
        for is_ours in (True, False) if pair % 2 == 0 else (False, True):
            if is_ours:
                ours[pair] = ours_us(
                    name, mpi, placement, size, folder, blocks=peer.blocks,
                    statistic=peer.statistic, buffer_offset_bytes=peer.buffer_offset_bytes,
                    mode=peer.mode,
                )  # fmt: skip
                continue
            # From the fastest so far: after a disturbed launch of ours theirs would be shorter, and
            # other programs disturb a short measurement less often.
            trips = max(TRIALS, round(SIZES[size] / (2 * min(ours.min(), theirs.min()))))
            theirs[pair] = theirs_us(name, mpi, placement, peer, size, trips, folder)
    return ours, theirs


def row(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Ratio of times, both spreads, and their ratio."""
    ratio, low, high = median_ratio(ours, theirs)
    return (
        f"{ratio:.3f} [{low:.3f}, {high:.3f}]   {np.mean(spread(ours)):6.1%} "
        f"{np.mean(spread(theirs)):6.1%}  {wider(np.atleast_2d(ours), np.atleast_2d(theirs))}"
    )


def wider(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Ratio of the spreads, over the placements in which both have one.

    A program that prints 0.14 us for each launch has none.
    """
    spreads = (spread(ours) > 0) & (spread(theirs) > 0)
    if not spreads.any():
        return "-"
    ratio, low, high = ratio_interval(
        ours[spreads], theirs[spreads], lambda one, two: spread(one) / spread(two)
    )
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]"


def compare(name: str, mpi: str, peer: Peer, pairs: int, folder: Path) -> None:
    """Print a row for each size and placement, and for each size one of all placements."""
    for size in SIZES:
        sides = []
        for placement in PLACEMENTS.placements:
            ours, theirs = measure(name, mpi, placement, peer, size, pairs, folder)
            sides.append((ours, theirs))
            print(
                f"{mpi:8} {placement:20} {peer.name:8} {size:8} {np.median(ours):10.3f} "
                f"{np.median(theirs):10.3f}   {row(ours, theirs)}",
                flush=True,
            )
        ours, theirs = (np.stack(side) for side in zip(*sides, strict=True))
        print(f"{mpi:8} {'all':20} {peer.name:8} {size:8} {'':24}{row(ours, theirs)}", flush=True)


def main() -> None:
    """Print the rows of each MPI and peer."""
    options = parser(__doc__)
    add_count(options, "pairs", 9, least=2)  # one pair has no interval
    options.add_argument("chosen", nargs="*", metavar="MPI[:PEER]")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        every = [(mpi, peer) for mpi in PMI for peer in peers(mpi, folder)]
        known = [*PMI, *(f"{mpi}:{peer.name}" for mpi, peer in every)]
        unknown = {*given.chosen} - {*known}
        if unknown or not every:
            options.error(
                f"there is no {min(unknown, default='peer')}; choose from {', '.join(known)}, or"
                " name more programs by OSU_OPENMPI, OSU_MPICH and IMB_MPI1"
            )
        print(
            f"{'MPI':8} {'placement':20} {'peer':8} {'bytes':>8} {'ours us':>10} {'theirs us':>10}"
            f"   ratio [95 % interval]   spreads  their ratio, {given.pairs} pairs"
        )
        with testbed() as name:
            for mpi, peer in every:
                if not given.chosen or {mpi, f"{mpi}:{peer.name}"} & {*given.chosen}:
                    compare(name, mpi, peer, given.pairs, folder)


if __name__ == "__main__":
    main()
