"""Measures each process map: merge sort by seven ranks on two nodes over slow links.

All maps are measured in turn. The study has 1 : 2 : 4 for figures 10, 12 and 13. By default each
link carries both directions at once; with ``--shape shared-ethernet`` one cable carries all, as the
study's did.
Usage: ``.venv/bin/python bench/sort_maps.py [ROUNDS] [MPI...] [--shape SHAPE] [--size BYTES]``
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, count, parser
from on_testbed import ROOT, kernel, run, sharing_cores, srun_words, testbed
from ratios import median_ratio
from switchpoint import read_facts

SHAPE = ROOT / "bench" / "shapes" / "very-slow-links.yaml"
NODES = {"A": "a1", "B": "b1"}
SIZE_BYTES = 1_600_000

#: Figure of study 000, and its map; figure 12 is our reconstruction.
FIGURES = {"10": "AABAABB", "11": "AAAAABB", "12": "AABABAB", "13": "ABBAAAA"}


def sort_once(
    name: str, mpi: str, process_map: str, size_bytes: int, folder: Path
) -> tuple[float, float]:
    """Time of a sort in us, and the bytes that it sends between nodes."""
    hosts, record = folder / "hosts", folder / "sort.record"
    hosts.write_text("".join(f"{NODES[letter]}\n" for letter in process_map))
    words = [word for word in srun_words(mpi, 2, len(process_map)) if "per-node" not in word]
    run(
        name,
        [
            *words,
            "--distribution=arbitrary",
            kernel(mpi, "mergesort"),
            *("--mode=tree", f"--sizes={size_bytes}", "--passes=1", "--samples=1"),
            *("--warmup=0", "--pass-time=1", f"--record={record}"),
        ],
        {"SLURM_HOSTFILE": str(hosts)} | sharing_cores(mpi),
        folder,
    )
    footer = read_facts(record).footer
    assert footer is not None
    (point,) = footer["points"]
    return point["median_us"], point["traffic"]["bytes_between_nodes"]


def main(rounds: int, mpis: list[str], shape: str | Path, size_bytes: int) -> None:
    """Print a row per MPI and figure."""
    print(f"{size_bytes:,} B, seven ranks on two nodes, shape {Path(shape).stem}, {rounds} rounds")
    print(f"{'MPI':8} {'map':8} {'between nodes':>15} {'ms':>8}   over figure 10 [95 % interval]")
    with testbed(shape=shape) as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        for mpi in mpis:
            sorts = [
                {
                    figure: sort_once(name, mpi, process_map, size_bytes, Path(scratch).resolve())
                    for figure, process_map in FIGURES.items()
                }
                for _ in range(rounds)
            ]
            for figure, process_map in FIGURES.items():
                times = np.array([each[figure][0] for each in sorts])
                ratio, low, high = median_ratio(times, [each["10"][0] for each in sorts])
                print(
                    f"{mpi:8} {process_map:8} {sorts[0][figure][1]:13,.0f} B "
                    f"{np.median(times) / 1e3:8.0f}   {ratio:.2f} [{low:.2f}, {high:.2f}] "
                    f"(figure {figure})",
                    flush=True,
                )


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "rounds", 5)
    add_mpis(options)
    options.add_argument("--shape", default=SHAPE, help="a shape of the testbed, or its file")
    options.add_argument("--size", type=count, default=SIZE_BYTES, metavar="BYTES")
    given = options.parse_args()
    main(given.rounds, given.mpis, given.shape, given.size)
