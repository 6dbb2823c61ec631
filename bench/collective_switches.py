"""Switches of collectives beside the libraries' own decisions: found, to the byte, and their cause.

Four nodes with links of 8 Mbit/s and one rank each, so that messages decide, not cores. A sweep of
the library's choice finds steps, `plan` says where to search, launches search there with all
algorithms, and `explain` decides. More launches time all algorithms at a size of each octave: they
show which one the library uses, and how much two algorithms differ where a decision makes no step.
The decisions are for 4 ranks with a node each. Open MPI's are those that SimGrid 3.32 copied from
4.1; MPICH's are in the JSON text in libmpich 4.0.2 (its allreduce does not follow the variable
MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE). The kernel `reduce_scatter` calls
MPI_Reduce_scatter_block, which SimGrid takes for the other call. Open MPI's decision is therefore
that of ompi_coll_tuned_reduce_scatter_block_intra_dec_fixed, by the bytes of one block.
Usage: ``.venv/bin/python bench/collective_switches.py [LAUNCHES] [MPI...] [--only OPERATION]
[--sizes S]``
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, kernel, launch_often, launch_on_all, measured, testbed
from switchpoint import Measurements, explain, plan
from switchpoint.comparison.algorithms import Race, algorithms, races
from switchpoint.explanation.places import Explained
from switchpoint.reporting.algorithms import answered
from switchpoint.tables.columns import records as table_rows

SHAPE = ROOT / "bench" / "shapes" / "byte-links.yaml"
NODES = 4
#: Whole elements of 8 B.
SIZES = "512:2K:+256,2560:8K:+512,10K:32K:+2K"
OCTAVES = [1024 << n for n in range(5)]
#: The library's choice and each algorithm.
EACH = ["--mode=library", "--algorithms=all"]
#: Visits with one call each; a search ends after 20 s.
QUICK = ["--samples=1", "--block-time=0", "--warmup=1", "--search-time=20000", "--time-budget=150"]

#: First sizes of an algorithm between 1 KiB and 32 KiB, by MPI and kernel.
DECISIONS: dict[str, dict[str, dict[int, str]]] = {
    "openmpi": {
        "allreduce": {8192: "recursive_doubling to rabenseifner"},
        "broadcast": {2048: "binary_tree to binomial", 8192: "binomial to basic_linear"},
        # A chain with no fan-out set is one chain: the same as a pipeline of one segment.
        "reduce": {4096: "binary to pipeline"},
        "alltoall": {
            8192: "linear_sync to linear",
            16384: "linear to linear_sync",
        },
        "allgather": {},
        "reduce_scatter": {
            8192: "recursive_halving to butterfly",
            16384: "butterfly to recursive_halving",
        },
    },
    "mpich": {
        "allreduce": {},
        "reduce": {2056: "binomial to reduce_scatter_gather"},
        "alltoall": {},
        "broadcast": {},
        "allgather": {},
        "reduce_scatter": {},
    },
}


def measure(
    name: str, mpi: str, operation: str, launches: int, sizes: str, folder: Path
) -> list[Path]:
    """Return the records of the searches that the plan after a sweep asks for."""
    swept = folder / f"{mpi}-{operation}.record"
    sweep = ["--mode=library", f"--sizes={sizes}", "--passes=9", *QUICK, f"--record={swept}"]
    launch_on_all(name, mpi, NODES, [kernel(mpi, operation), *sweep], folder)
    planned = plan(swept)
    if not planned.brackets:
        return []
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    options = [f"--brackets={brackets}", f"--sizes={','.join(map(str, planned.sizes_bytes))}"]
    searches = folder / "search"
    searches.mkdir(exist_ok=True)
    return launch_often(name, mpi, NODES, operation, [*EACH, *options, *QUICK], launches, searches)


def difference(race: Race, size: int, decision: str) -> str:
    """Say how much two algorithms differ at a size, from launch to launch."""
    before, after = (race.names.index(name) for name in decision.split(" to "))
    at = race.sizes.tolist().index(size)
    differences = np.expm1(race.slower[:, before, at] - race.slower[:, after, at])
    low, high = 100 * differences.min(), 100 * differences.max()
    return f"no step: {race.names[after]} takes {low:+.0f} to {high:+.0f} % more time there"


def print_rows(mpi: str, operation: str, found: dict[int, Explained], race: Race) -> None:
    """Print a row for each switch of the decision or of the measurement."""
    decided = DECISIONS[mpi][operation]
    for size in sorted({*decided, *found}):
        row = found.get(size)
        there = "-" if row is None else f"{100 * row['magnitude']:+.0f} %"
        says = f"{row['status']}: {row['reason']}" if row else difference(race, size, decided[size])
        print(
            f"| {mpi} | {operation} | {size:,} | {decided.get(size, '-')} | {there} | {says} |",
            flush=True,
        )
    if not decided and not found:
        print(f"| {mpi} | {operation} | - | - | - | no step |", flush=True)


def uses(mpi: str, operation: str, measurements: Measurements) -> Iterator[str]:
    """Yield a row for each range of sizes in which the library uses the same algorithms."""
    for one in answered(algorithms(measurements)):
        yield f"| {mpi} | {operation} | {one.sizes} | {one.used} | {one.probability} |"


def main(launches: int, mpis: list[str], only: list[str] | None, sizes: str) -> None:
    """Print the tables."""
    print("| MPI | kernel | from byte | decision | time | found |\n|---|---|---|---|---|---|")
    used = []
    with tempfile.TemporaryDirectory(dir=".") as scratch, testbed(shape=SHAPE) as name:
        folder = Path(scratch).resolve()
        for mpi in mpis:
            for operation in only or DECISIONS[mpi]:
                records = measure(name, mpi, operation, launches, sizes, folder)
                rows = table_rows(explain(measured(records)), Explained) if records else []
                found = {row["first_size_bytes"]: row for row in rows}
                missed = DECISIONS[mpi][operation].keys() - found.keys()
                at = ",".join(map(str, sorted({*OCTAVES, *missed})))
                times = [*EACH, f"--sizes={at}", "--passes=9", *QUICK]
                raced = measured(launch_often(name, mpi, NODES, operation, times, launches, folder))
                [(_, _, race)] = races(raced)
                print_rows(mpi, operation, found, race)
                used += uses(mpi, operation, raced)
    print("\n| MPI | kernel | sizes | the library uses | probability |\n|---|---|---|---|---|")
    print(*used, sep="\n")
    print(f"\n{launches} launches of each search")


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "launches", 2)
    add_mpis(options)
    options.add_argument("--only", action="append", metavar="OPERATION", help="one kernel")
    options.add_argument("--sizes", default=SIZES, help="as a kernel takes them")
    given = options.parse_args()
    main(given.launches, given.mpis, given.only, given.sizes)
