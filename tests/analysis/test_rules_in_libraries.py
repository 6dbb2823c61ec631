"""MPI libraries read the rules, and all calls keep their results, whatever the rules name."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import zip_longest
from pathlib import Path

import pytest
from switchpoint import write_tuning
from switchpoint.models.libraries import open_mpi
from switchpoint.models.recommend import LIBRARIES
from switchpoint.models.rules_files import read_rules
from switchpoint.tuning.facts import Group, Tuning, Winner, operation_of
from switchpoint.tuning.tune import why_no_rule

pytestmark = [
    pytest.mark.build,
    pytest.mark.skipif(
        not (shutil.which("mpicc.mpich") and shutil.which("mpicc.openmpi")),
        reason="needs Debian's MPICH and Open MPI",
    ),
]

SOURCE = Path(__file__).with_name("collective_calls.c")
MPICH_LIBRARY = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"

LAUNCHERS = {
    "MPICH": ("mpich", ["mpiexec.mpich"]),
    "Open MPI": ("openmpi", ["mpirun.openmpi", "--oversubscribe"]),
}
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}

#: Algorithms of both libraries, for Open MPI in the order of their numbers.
ALGORITHMS = {
    "MPICH": {
        "allgather": ["brucks", "recursive_doubling", "ring", "nb"],
        "allreduce": ["recursive_doubling", "reduce_scatter_allgather", "nb"],
        "alltoall": ["brucks", "pairwise", "scattered", "nb"],
        "broadcast": [
            "binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "nb",
        ],
        "reduce": ["binomial", "reduce_scatter_gather", "nb"],
        "reduce_scatter": ["noncommutative", "pairwise", "recursive_doubling", "recursive_halving"],
    },
    "Open MPI": {
        "allgather": ["linear", "bruck", "recursive_doubling", "ring", "neighbor"],
        "allreduce": [
            "basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring",
            "rabenseifner",
        ],
        "alltoall": ["linear", "pairwise", "modified_bruck", "linear_sync"],
        "broadcast": [
            "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial",
            "knomial", "scatter_allgather", "scatter_allgather_ring",
        ],
        "reduce": [
            "linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner",
        ],
        "reduce_scatter": [
            "basic_linear", "recursive_doubling", "recursive_halving", "butterfly",
        ],
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with calls, compiled with each library."""
    folder = tmp_path_factory.mktemp("calls")
    for name, _ in LAUNCHERS.values():
        command = [f"mpicc.{name}", "-O1", str(SOURCE), "-o", str(folder / name)]
        subprocess.run(command, check=True)
    return folder


def rules(library: str, ranks: int, algorithms: dict[str, tuple[str, int]]) -> Tuning:
    """Return a rule for each collective and all sizes."""
    sizes = [1, 1 << 24]
    groups = [
        Group(
            kernel=kernel, ranks=ranks, nodes=1, sizes_bytes=sizes,
            winners=[
                Winner(
                    size_bytes=size, algorithm=name, number=number, fan_out=4, gain=2, gain_low=2,
                    gain_high=2, launches=3,
                )
                for size in sizes
            ],
        )
        for kernel, (name, number) in algorithms.items()
    ]  # fmt: skip
    when = "2026-11-29T10:00:00.000000Z"
    return Tuning(
        library=library, mpi=library, hosts=["here"], first_utc=when, last_utc=when,
        least_gain=0.05, groups=groups,
    )  # fmt: skip


def start(programs: Path, library: str, ranks: int, folder: Path) -> subprocess.CompletedProcess:
    """Run all calls with the rules of a folder."""
    name, launcher = LAUNCHERS[library]
    return subprocess.run(
        [*launcher, "-n", str(ranks), str(programs / name)],
        env=os.environ | ENVIRONMENT | read_rules(folder).variables,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("library", LAUNCHERS)
@pytest.mark.parametrize("ranks", [3, 4])
def test_all_calls_are_right_with_each_algorithm_that_can_have_a_rule(
    programs: Path, tmp_path: Path, library: str, ranks: int
) -> None:
    by_kernel = [
        [
            (kernel, name, number)
            for number, name in enumerate(names, start=1)
            if not why_no_rule(LIBRARIES[library], kernel, name, ranks, False)
        ]
        for kernel, names in ALGORITHMS[library].items()
    ]
    for turn, together in enumerate(zip_longest(*by_kernel)):
        folder = tmp_path / str(turn)
        algorithms = {one[0]: one[1:] for one in together if one is not None}
        write_tuning(rules(library, ranks, algorithms), folder, MPICH_LIBRARY)
        done = start(programs, library, ranks, folder)
        assert done.returncode == 0, (algorithms, done.stdout, done.stderr)


def test_open_mpi_reads_the_rules_and_reduces_wrongly_where_they_say_so(
    programs: Path, tmp_path: Path
) -> None:
    """No rule is written for these algorithms unless all operations commute."""
    for kernel, names in ALGORITHMS["Open MPI"].items():
        for number, name in enumerate(names, start=1):
            if not open_mpi.needs_commuting(operation_of(kernel), name):
                continue
            folder = tmp_path / f"{kernel}-{name}"
            write_tuning(rules("Open MPI", 4, {kernel: (name, number)}), folder)
            done = start(programs, "Open MPI", 4, folder)
            assert "is wrong" in done.stderr, (kernel, name)
