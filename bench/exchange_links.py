"""All-to-all of four nodes over slow links: share of the links' payload bandwidth.

Every schedule and MPI_Alltoall are modes of one run, in random order, so that they are paired. The
payload bandwidth of a link is its rate less the headers of Ethernet, IP and TCP in each packet.
Usage: ``.venv/bin/python bench/exchange_links.py [PASSES] [MPI...] [--size BYTES]``. Each pair
exchanges 16 MiB by default.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, count, parser
from on_testbed import ROOT, kernel, launch_on_all, testbed
from ratios import median_ratio
from switchpoint import read_record

SHAPE = ROOT / "bench" / "shapes" / "slow-links.yaml"
RATE_BITPS = 100e6
NODES = 4
MODES = [
    *("synchronous_shuffle_windowed", "group_shuffle_windowed"),
    *("synchronous_shuffle", "group_shuffle", "shift", "pairwise", "library"),
]

#: A frame as the shaper counts it (1514 B with the Ethernet header), and what it carries for MPI:
#: less 14 B Ethernet, 20 B IP, 20 B TCP and its 12 B time stamps.
FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
LINK_BYTES_PER_US = RATE_BITPS / 8e6 * PAYLOAD_BYTES / FRAME_BYTES


def times_us(
    name: str, mpi: str, size_bytes: int, passes: int, folder: Path
) -> dict[str, np.ndarray]:
    """Time of each exchange by mode, in the order of the passes."""
    record = folder / "exchange.record"
    launch_on_all(
        name,
        mpi,
        NODES,
        [
            kernel(mpi, "alltoall"),
            f"--mode={','.join(MODES)}",
            f"--sizes={size_bytes}",
            f"--passes={passes}",
            *("--samples=1", "--warmup=1", "--pass-time=1"),
            f"--record={record}",
        ],
        folder,
    )
    samples = read_record(record).samples.sort_values(["pass", "sample"])
    return {
        str(mode): part["time_us"].to_numpy()
        for mode, part in samples.groupby("mode", observed=True)
    }


def main(passes: int, mpis: list[str], size_bytes: int) -> None:
    """Print a row per MPI and mode, then our best over the library's."""
    print(
        f"{NODES} nodes, {size_bytes} B for each pair, links of {RATE_BITPS / 1e6:g} Mbit/s = "
        f"{LINK_BYTES_PER_US:.3f} MB/s of payload, {passes} passes"
    )
    print(f"{'MPI':8} {'mode':28} {'MB/s a link':>11}   share of the link [95 % interval]")
    ideal = (NODES - 1) * size_bytes / LINK_BYTES_PER_US
    with testbed(shape=SHAPE) as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in mpis:
            times = times_us(name, mpi, size_bytes, passes, Path(scratch).resolve())
            for mode in MODES:
                share, low, high = median_ratio(np.full(passes, ideal), times[mode])
                print(
                    f"{mpi:8} {mode:28} {share * LINK_BYTES_PER_US:11.2f}   "
                    f"{share:.3f} [{low:.3f}, {high:.3f}]"
                )
            ours = [mode for mode in MODES if mode != "library"]
            best = min(ours, key=lambda mode: float(np.median(times[mode])))
            ratio, low, high = median_ratio(times[best], times["library"])
            print(f"{mpi:8} {best} over MPI_Alltoall: {ratio:.3f} [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "passes", 7)
    add_mpis(options)
    options.add_argument("--size", type=count, default=16 * 2**20, metavar="BYTES")
    given = options.parse_args()
    main(given.passes, given.mpis, given.size)
