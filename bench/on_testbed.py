"""Runs programs on a testbed of the benchmarks' own, by placement and MPI, without ReFrame."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from switchpoint.placements import Placements, load_placements

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
PLACEMENTS: Placements = load_placements(ROOT / "site-configs/testbed/placements.yaml")

#: How srun starts each MPI on the testbed.
PMI = {"openmpi": "pmix", "mpich": "pmi2"}
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}


@contextmanager
def testbed(name: str = "bench") -> Iterator[str]:
    """Bring a testbed up, yield its name, take it down."""
    subprocess.run([BIN / "testbed", "up", "--name", name], check=True)
    try:
        yield name
    finally:
        subprocess.run([BIN / "testbed", "down", "--name", name], check=True)


def kernel(mpi: str, name: str) -> Path:
    """Path of a kernel built for an MPI; builds it when it is missing or old."""
    tree = ROOT / "build" / "bench" / mpi
    for command in (
        ["cmake", "-S", ROOT / "src", "-B", tree, f"-DMPI_C_COMPILER=mpicc.{mpi}"],
        ["cmake", "--build", tree, "--parallel", "--target", name],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tree / "bin" / name


def srun_words(mpi: str, placement: str) -> list[str]:
    """Words that start two ranks on a placement."""
    wanted = PLACEMENTS.placements[placement]
    return [
        "srun",
        f"--mpi={PMI[mpi]}",
        f"--nodes={wanted.nodes}",
        "--ntasks=2",
        f"--ntasks-per-node={2 // wanted.nodes}",
        *wanted.scheduler_options,
        *wanted.launcher_options,
    ]


def launch(name: str, mpi: str, placement: str, command: list[str | Path], cwd: Path) -> str:
    """Run a command on the testbed ``name`` and return its standard output."""
    words = [BIN / "testbed", "exec", "--name", name, "--", *srun_words(mpi, placement), *command]
    environment = {**os.environ, **PLACEMENTS.placements[placement].variables(mpi)}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} on {placement} with {mpi}:\n{done.stderr}")
    return done.stdout
