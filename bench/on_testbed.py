"""Runs programs on the benchmarks' own testbed, by placement and MPI, without ReFrame."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from switchpoint import InputError, Measurements, read_files
from switchpoint.sites.placements import Placements, load_placements

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
PLACEMENTS: Placements = load_placements(ROOT / "site-configs/testbed/placements.yaml")

#: How srun starts each MPI on the testbed.
PMI = {"openmpi": "pmix", "mpich": "pmi2"}
#: Seconds that one command may take, and the exit code of `timeout` after them.
LONGEST_S, TIMED_OUT = 300, 124
#: Compilers of MPIs that Debian does not name `mpicc.MPI`.
COMPILERS = {"simgrid": "smpicc"}
NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}


@contextmanager
def testbed(shape: str | Path = "two-hosts") -> Iterator[str]:
    """Start a testbed that no other program uses, yield its name, and stop it, also on SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    name = f"bench-{os.getpid()}"
    up = [BIN / "testbed", "up", "--name", name, "--shape", shape]
    subprocess.run(up, check=True, stdout=subprocess.DEVNULL)
    try:
        yield name
    finally:
        down = [BIN / "testbed", "down", "--name", name]
        subprocess.run(down, check=True, stdout=subprocess.DEVNULL)


@cache
def kernel(mpi: str, name: str, source: Path = ROOT) -> Path:
    """Path of a checkout's kernel for an MPI, Debian's, SimGrid's or a folder; builds it if old."""
    folder = Path(mpi).resolve()
    compiler = folder / "bin/mpicc" if folder.is_dir() else COMPILERS.get(mpi, f"mpicc.{mpi}")
    tree = source / "build" / "bench" / folder.name
    tree.mkdir(parents=True, exist_ok=True)
    with (tree / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two benchmarks may need the same tree
        for command in (
            ["cmake", "-S", source / "src", "-B", tree, f"-DMPI_C_COMPILER={compiler}"],
            ["cmake", "--build", tree, "--parallel", "--target", name],
        ):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tree / "bin" / name


def osu(mpi: str) -> Path | None:
    """Folder of OSU's programs built for an MPI, by OSU_OPENMPI or OSU_MPICH; None if not named.

    It contains `pt2pt` and `collective`, as Spack's `libexec/osu-micro-benchmarks/mpi` does.
    """
    name = f"OSU_{mpi.upper()}"
    if name not in os.environ:
        return None
    folder = Path(os.environ[name]).resolve()
    if not (folder / "pt2pt/osu_latency").exists():
        sys.exit(f"{name}: {folder} does not contain pt2pt/osu_latency")
    return folder


def launch(
    name: str,
    mpi: str,
    placement: str,
    command: list[str | Path],
    cwd: Path,
    settings: dict[str, str] | None = None,
) -> str:
    """Run two ranks on a placement of the testbed ``name`` and return their standard output.

    ``settings`` are environment variables beside those of the placement.
    """
    wanted = PLACEMENTS.placements[placement]
    words = [*srun_words(mpi, wanted.nodes, 2), *wanted.scheduler_options, *wanted.launcher_options]
    return run(name, [*words, *command], wanted.variables(mpi) | (settings or {}), cwd)


def launch_on_all(name: str, mpi: str, nodes: int, command: list[str | Path], cwd: Path) -> str:
    """Run a rank on each node of the testbed ``name``; waiting ranks give up their core."""
    return run(name, [*srun_words(mpi, nodes, nodes), *command], sharing_cores(mpi), cwd)


def launch_often(
    name: str, mpi: str, nodes: int, operation: str, options: list[str], launches: int, folder: Path
) -> list[Path]:
    """Return the records of launches of a kernel with a rank on each node."""
    records = [folder / f"{mpi}-{operation}-{number}.record" for number in range(launches)]
    for record in records:
        command = [kernel(mpi, operation), *options, f"--record={record}"]
        launch_on_all(name, mpi, nodes, command, folder)
    return records


def measured(records: Iterable[Path]) -> Measurements:
    """Return what is in records, or in a folder of them."""
    found = read_files(records).measurements
    if found is None:
        raise InputError("records", "nothing was measured")
    return found


@cache
def sharing_cores(mpi: str) -> dict[str, str]:
    """Return the variables with which ranks that wait give up their core, over TCP."""
    if mpi != "mpich":
        return {"OMPI_MCA_mpi_yield_when_idle": "1"}
    library = ROOT / "build" / "bench" / "yielding_epoll.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "bench" / "yielding_epoll.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"UCX_TLS": "tcp,self", "LD_PRELOAD": str(library)}


def srun_words(mpi: str, nodes: int, ranks: int) -> list[str]:
    """Return the command that starts ranks, divided evenly over the nodes."""
    return [
        "srun",
        f"--mpi={PMI[mpi]}",
        f"--nodes={nodes}",
        f"--ntasks={ranks}",
        f"--ntasks-per-node={ranks // nodes}",
    ]


def run(
    name: str,
    command: list[str | Path],
    variables: dict[str, str],
    cwd: Path,
    longest_s: int = LONGEST_S,
) -> str:
    """Run a command in the testbed ``name`` and return its standard output.

    Raises
    ------
    TimeoutError
        If it does not end. Its job was ended, so that the nodes are free again.
    """
    ends = ["timeout", "--kill-after=20", str(longest_s)]
    words = [BIN / "testbed", "exec", "--name", name, "--", *ends, *command]
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == TIMED_OUT:
        raise TimeoutError(f"{' '.join(map(str, command))} did not end within {longest_s} s")
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{done.stderr}")
    return done.stdout
