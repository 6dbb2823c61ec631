"""Compares our broadcasts with MPI_Bcast: same run, random order, at every size of the sweep.

The first table has a core for each rank. The second has four nodes with slow links, so that the
links decide, not the cores. A ratio above 1 means that ours is slower.
Usage: ``.venv/bin/python bench/broadcast_library.py [PASSES] [MPI...] [--size BYTES]``; both
tables have only that size then.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
from arguments import add_count, add_mpis, count, parser
from on_testbed import PLACEMENTS, ROOT, kernel, launch, launch_on_all, testbed
from ratios import median_ratio
from switchpoint import read_record

SHAPE = ROOT / "bench" / "shapes" / "slow-links.yaml"
NODES = 4
SIZES = [1, 8, 64, 512, 4096, 32768, 65536, 262144, 1048576]
LARGE = [262144, 1048576]
OURS = ["repeated", "binomial", "pipelined", "scatter_allgather"]


def sweep(sizes: list[int], passes: int, record: Path) -> list[str]:
    """Options of the kernel."""
    return [
        f"--mode={','.join([*OURS, 'library'])}",
        f"--sizes={','.join(map(str, sizes))}",
        f"--passes={passes}",
        *("--samples=40", "--pass-time=100"),
        f"--record={record}",
    ]


def print_ratios(mpi: str, where: str, record: Path) -> None:
    """Return one row per size: the best of ours divided by the library, pass by pass."""
    samples = read_record(record).samples
    times = samples.groupby(["size_bytes", "mode", "pass"], observed=True)["time_us"].median()
    for size, part in times.groupby(level="size_bytes"):
        table = part.droplevel("size_bytes").unstack("mode")  # noqa: PD010 (a series' own way)
        best = str(table[OURS].median().idxmin())
        print_row(mpi, where, int(size), best, table)


def print_row(mpi: str, where: str, size: int, best: str, table: pd.DataFrame) -> None:
    """Medians and their ratio."""
    ratio, low, high = median_ratio(table[best], table["library"])
    print(
        f"{mpi:8} {where:20} {size:9} {best:18} {table[best].median():11.2f} "
        f"{table['library'].median():11.2f}   {ratio:.3f} [{low:.3f}, {high:.3f}]",
        flush=True,
    )


def main(passes: int, mpis: list[str], only: list[int]) -> None:
    """Print both tables, of these sizes only if there are any."""
    print(
        f"{'MPI':8} {'where':20} {'bytes':>9} {'best of ours':18} {'ours us':>11} "
        f"{'MPI_Bcast us':>11}   ratio [95 % interval], {passes} passes"
    )
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        record = folder / "broadcast.record"
        with testbed() as name:
            for mpi in mpis:
                for placement in PLACEMENTS.placements:
                    command = [kernel(mpi, "broadcast"), *sweep(only or SIZES, passes, record)]
                    launch(name, mpi, placement, command, folder)
                    print_ratios(mpi, placement, record)
        with testbed(shape=SHAPE) as name:
            for mpi in mpis:
                command = [kernel(mpi, "broadcast"), *sweep(only or LARGE, passes, record)]
                launch_on_all(name, mpi, NODES, command, folder)
                print_ratios(mpi, f"{NODES} slow links", record)


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "passes", 7)
    add_mpis(options)
    options.add_argument("--size", type=count, nargs=1, default=[], metavar="BYTES")
    given = options.parse_args()
    main(given.passes, given.mpis, given.size)
