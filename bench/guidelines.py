"""Guidelines that collectives violate on slow links, each with the algorithm that would keep it.

Four nodes with links of 100 Mbit/s and one rank each, so that messages decide, not cores. Each
launch measures a collective, its replacement by other calls and all its algorithms in turns.
Usage: ``.venv/bin/python bench/guidelines.py [LAUNCHES] [MPI...] [--only OPERATION] [--sizes S]``
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, launch_often, measured, testbed
from switchpoint import detect
from switchpoint.records.replacements import REPLACEMENTS

SHAPE = ROOT / "bench" / "shapes" / "slow-links.yaml"
NODES = 4
#: Visits with one call each.
QUICK = ["--samples=1", "--block-time=0", "--warmup=1", "--time-budget=240", "--quiet"]


def measure(
    name: str, mpi: str, operation: str, launches: int, sizes: str, folder: Path
) -> list[Path]:
    """Return the records of the launches of one operation."""
    modes = f"--mode={','.join(['library', *REPLACEMENTS[operation]])}"
    options = [modes, "--algorithms=all", "--passes=9", *QUICK]
    options += [] if operation == "barrier" else [f"--sizes={sizes}"]
    return launch_often(name, mpi, NODES, operation, options, launches, folder)


def main(launches: int, mpis: list[str], only: list[str] | None, sizes: str) -> None:
    """Print a row for each guideline that an operation violates."""
    print("| MPI | kernel | finding |\n|---|---|---|")
    with tempfile.TemporaryDirectory(dir=".") as scratch, testbed(shape=SHAPE) as name:
        folder = Path(scratch).resolve()
        for mpi in mpis:
            for operation in only or REPLACEMENTS:
                records = measure(name, mpi, operation, launches, sizes, folder)
                found = detect(measured(records))
                found = found[found["kind"].eq("guideline_violation")]
                says = [evidence["says"] for evidence in found["evidence"]] or ["none"]
                for sentence in says:
                    print(f"| {mpi} | {operation} | {sentence} |", flush=True)
    print(f"{launches} launches of each operation")


if __name__ == "__main__":
    options = parser(__doc__)
    add_count(options, "launches", 3, least=3)
    add_mpis(options)
    options.add_argument("--only", action="append", choices=[*REPLACEMENTS], help="one kernel")
    options.add_argument("--sizes", default="1K:1M", help="as a kernel takes them")
    given = options.parse_args()
    main(given.launches, given.mpis, given.only, given.sizes)
