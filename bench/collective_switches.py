"""Switches of collectives beside the libraries' own decisions: found, to the byte, and their cause.

Four nodes with links of 8 Mbit/s and one rank each, so that messages decide, not cores. A sweep of
the library's choice finds steps, `plan` says where to search, launches search there with all
algorithms, and `explain` decides. The decisions are for 4 ranks: Open MPI's as SimGrid 3.32 copied
them from 4.1, MPICH's by its control variables' limits (MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE, ...).
The kernel `reduce_scatter` calls MPI_Reduce_scatter_block, which SimGrid takes for the other
call. Open MPI's decision is therefore that of ompi_coll_tuned_reduce_scatter_block_intra_dec_fixed,
by the bytes of one block. MPICH's limit (MPIR_CVAR_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE) is at
blocks of 128 KiB, past these sizes.
Usage: ``.venv/bin/python bench/collective_switches.py [LAUNCHES] [MPI...] [--only OPERATION]
[--sizes S]``
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, kernel, launch_on_all, testbed
from switchpoint import InputError, explain, plan, read_facts, read_files

SHAPE = ROOT / "bench" / "shapes" / "byte-links.yaml"
NODES = 4
#: Whole elements of 8 B.
SIZES = "1K:8K:+512,10K:32K:+2K"
#: Visits with one call each; a search ends after 20 s.
QUICK = ["--samples=1", "--block-time=0", "--warmup=1", "--search-time=20000", "--time-budget=150"]

#: First sizes of an algorithm between 1 KiB and 32 KiB, by MPI and kernel.
DECISIONS: dict[str, dict[str, dict[int, str]]] = {
    "openmpi": {
        "allreduce": {8192: "recursive_doubling to rabenseifner"},
        "broadcast": {2048: "binary_tree to binomial", 8192: "binomial to basic_linear"},
        "reduce": {4096: "binary to chain"},
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
        "allreduce": {2056: "recursive_doubling to reduce_scatter_allgather"},
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
    program = kernel(mpi, operation)
    swept = folder / f"{mpi}-{operation}.record"
    sweep = [f"--sizes={sizes}", "--passes=9", *QUICK, f"--record={swept}", "--quiet"]
    launch_on_all(name, mpi, NODES, [program, "--mode=library", *sweep], folder)
    planned = plan(swept)
    if not planned.brackets:
        return []
    records = [folder / f"{mpi}-{operation}-{number}.record" for number in range(launches)]
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    options = ["--mode=library", "--algorithms=all", f"--brackets={brackets}", *QUICK, "--quiet"]
    options.append(f"--sizes={','.join(map(str, planned.sizes_bytes))}")
    for record in records:
        launch_on_all(name, mpi, NODES, [program, *options, f"--record={record}"], folder)
    return records


def judged(records: list[Path]) -> dict[int, dict[str, Any]]:
    """Return what is known of each switch, by its first size."""
    if not records:
        return {}
    measurements = read_files(records).measurements
    if measurements is None:
        raise InputError("records", "nothing was measured")
    return {row["first_size_bytes"]: row for row in explain(measurements).to_dict("records")}


def differences(
    name: str, mpi: str, operation: str, launches: int, sizes: dict[int, str], folder: Path
) -> dict[int, str]:
    """Say for each decision without a step how much its two algorithms differ in time there."""
    said = {}
    for size, decision in sizes.items():
        before, after = decision.split(" to ")
        ratios = []
        for number in range(launches):
            record = folder / f"{mpi}-{operation}-{size}-{number}.record"
            options = [f"--algorithms={before},{after}", f"--sizes={size}", "--passes=25", *QUICK]
            command = [kernel(mpi, operation), "--mode=library", *options, f"--record={record}"]
            launch_on_all(name, mpi, NODES, [*command, "--quiet"], folder)
            footer = read_facts(record).footer
            assert footer is not None
            times = {point["mode"]: point["median_us"] for point in footer["points"]}
            ratios.append(times[f"library:{after}"] / times[f"library:{before}"] - 1)
        bounds = f"{100 * min(ratios):+.1f} to {100 * max(ratios):+.1f} %"
        said[size] = f"no step: there {after} takes {bounds} more time than {before}"
    return said


def print_rows(
    mpi: str, operation: str, found: dict[int, dict[str, Any]], alike: dict[int, str]
) -> None:
    """Print a row for each switch of the decision or of the measurement."""
    decided = DECISIONS[mpi].get(operation, {})
    for size in sorted({*decided, *found}):
        row = found.get(size)
        there = "-" if row is None else f"{100 * row['magnitude']:+.0f} %"
        says = alike[size] if row is None else f"{row['status']}: {row['reason']}"
        print(
            f"| {mpi} | {operation} | {size:,} | {decided.get(size, '-')} | {there} | {says} |",
            flush=True,
        )


def main(launches: int, mpis: list[str], only: list[str] | None, sizes: str) -> None:
    """Print the table."""
    print("| MPI | kernel | from byte | decision | time | found |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=".") as scratch, testbed(shape=SHAPE) as name:
        folder = Path(scratch).resolve()
        for mpi in mpis:
            for operation in only or DECISIONS[mpi]:
                found = judged(measure(name, mpi, operation, launches, sizes, folder))
                decided = DECISIONS[mpi][operation]
                missed = {size: decided[size] for size in decided if size not in found}
                alike = differences(name, mpi, operation, launches, missed, folder)
                print_rows(mpi, operation, found, alike)
    print(f"{launches} launches of each search")


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "launches", 2)
    add_mpis(options)
    options.add_argument("--only", action="append", metavar="OPERATION", help="one kernel")
    options.add_argument("--sizes", default=SIZES, help="as a kernel takes them")
    given = options.parse_args()
    main(given.launches, given.mpis, given.only, given.sizes)
