"""Times a broadcast of 1 B between two ranks whose clocks drift apart, by drift and MPI.

The clock of rank 1 is made fast or slow by a library that is preloaded, and rank 1 reads another
boot ID than rank 0, so that the ranks compare their clocks by messages. Launches with each drift
follow each other in turn. The table shows how far apart the ranks start (most, over the launches),
the error that the records contain (median), and the time of the broadcast: the median of the
fastest launch, since other work makes it slower and never faster. In the first row the ranks know
that they share a clock.
Usage: ``.venv/bin/python bench/drifting_clock.py [LAUNCHES] [MPI...]``; ``--drift PPM``
measures only that drift, and ``--source FOLDER`` the kernels of another checkout, such as one of
an earlier version.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arguments import add_count, add_mpis, parser
from on_testbed import ROOT, kernel, launch, testbed
from switchpoint.records.record import read_facts

#: Millionths by which rank 1's clock is fast.
DRIFTS_PPM = (0, 10, -10, 50, -50, 200, -200)
PLACEMENT = "one_node"
TESTS = ROOT / "tests" / "src"


def main() -> None:
    """Print a row for each MPI and drift."""
    options = parser(__doc__)
    add_count(options, "launches", 5)
    add_mpis(options)
    options.add_argument("--source", type=Path, default=ROOT, help="checkout of the kernels")
    options.add_argument("--drift", type=int, action="append", metavar="PPM", help="only this one")
    given = options.parse_args()
    print("| MPI | drift | starts apart | clock error | 1 B broadcast |\n|---|---|---|---|---|")
    with testbed() as name, tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch).resolve()
        for mpi in given.mpis:
            tree = build(given.source.resolve(), mpi)
            compare(name, mpi, tree, given.drift or DRIFTS_PPM, given.launches, folder)


def build(source: Path, mpi: str) -> Path:
    """Build the kernel, the program that knows the true time, and the library; their folder."""
    tree = kernel(mpi, "broadcast", source).parents[1]
    library = [TESTS / "drifting_clock.c", "-ldl", "-o", tree / "drifting_clock.so"]
    quietly("cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", *library)
    headers = [f"-I{source / 'src' / layer}" for layer in ("base", "machine", "engine")]
    layers = [tree / layer / f"lib{layer}.a" for layer in ("engine", "machine", "base")]
    program = [TESTS / "test_start.c", tree / "drifting_clock.so", *layers]
    quietly(
        f"mpicc.{mpi}", "-std=c11", "-D_GNU_SOURCE", "-O2", *headers, *program,
        *("-lm", "-ldl", f"-Wl,-rpath,{tree}", "-o", tree / "test_start"),
    )  # fmt: skip
    return tree


def quietly(*command: str | Path) -> None:
    """Run a command that must succeed; it prints only errors."""
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def compare(
    name: str, mpi: str, tree: Path, drifts_ppm: Sequence[int], launches: int, folder: Path
) -> None:
    """Print the rows of an MPI."""
    cases: list[int | None] = [None, *drifts_ppm]
    apart: dict[int | None, list[float]] = {case: [0.0] for case in cases}
    errors: dict[int | None, list[float]] = {case: [] for case in cases}
    times: dict[int | None, list[float]] = {case: [] for case in cases}
    for _ in range(launches):
        for case in cases:
            error_us, time_us = broadcast(name, mpi, tree, case, folder)
            errors[case].append(error_us)
            times[case].append(time_us)
            if case is not None:
                apart[case].append(starts_apart_us(name, mpi, tree, case, folder))
    for case in cases:
        drift = "one clock" if case is None else f"{case:+} ppm" if case else "0 ppm"
        print(
            f"| {mpi} | {drift} | {max(apart[case]):.2f} us | {np.median(errors[case]):.2f} us |"
            f" {min(times[case]):.2f} us |",
            flush=True,
        )


def variables(tree: Path, drift_ppm: int | None) -> dict[str, str]:
    """Return the environment that makes rank 1's clock drift."""
    if drift_ppm is None:
        return {}
    loaded = [str(tree / "drifting_clock.so"), *os.environ.get("LD_PRELOAD", "").split()]
    return {"LD_PRELOAD": " ".join(loaded), "DRIFT_PPM": str(drift_ppm)}


def broadcast(
    name: str, mpi: str, tree: Path, drift_ppm: int | None, folder: Path
) -> tuple[float, float]:
    """Return the recorded error of the clocks and the median time of 1 B, in us."""
    record = folder / "bench.record"
    command = [
        tree / "bin" / "broadcast", *("--mode=library", "--sizes=1", "--start=agreed"),
        *("--passes=20", "--samples=10", f"--record={record}"),
    ]  # fmt: skip
    launch(name, mpi, PLACEMENT, command, folder, variables(tree, drift_ppm))
    footer = read_facts(record).footer
    assert footer is not None
    return float(footer["start"]["clock_error_us"]), float(footer["points"][0]["median_us"])


def starts_apart_us(name: str, mpi: str, tree: Path, drift_ppm: int, folder: Path) -> float:
    """Return by how much the agreed starts of two ranks differ at most, on a clock they share."""
    # It fails if they differ by more than their error, which is what is measured here.
    command = ["sh", "-c", f"{tree / 'test_start'} 2>/dev/null || true"]
    output = launch(name, mpi, PLACEMENT, command, folder, variables(tree, drift_ppm))
    return max(float(us) for us in re.findall(r"most apart ([\d.]+) us", output))


if __name__ == "__main__":
    main()
