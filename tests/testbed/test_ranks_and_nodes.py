"""Nodes are apart from each other, Slurm knows their hosts, and ranks get cores of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from beds import Bed, Done
from switchpoint.sites.launching import interface_of

NODES = ["a1", "a2", "b1", "b2"]
CORES = len(os.sched_getaffinity(0))

# Prints for each rank: its number, node, CPUs that it may use, and the sum over all ranks.
RANKS = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, sum;
    char host[64], cpus[4096] = "";
    cpu_set_t set;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    gethostname(host, sizeof host);
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) n += sprintf(cpus + n, "%s%d", n ? "," : "", cpu);
    printf("%d %s %s %d\n", rank, host, cpus, sum);
    MPI_Finalize();
}
"""

MPIS = {
    "openmpi": ("mpicc.openmpi", {}),
    "mpich": ("mpicc.mpich", {"UCX_TLS": "tcp,self"}),
}


@pytest.fixture(scope="module")
def programs(parent: Path) -> dict[str, Path]:
    source = parent / "ranks.c"
    source.write_text(RANKS)
    built = {}
    for mpi, (compiler, _) in MPIS.items():
        if not shutil.which(compiler):
            pytest.skip(f"{compiler} is not installed")
        built[mpi] = parent / f"ranks-{mpi}"
        subprocess.run([compiler, source, "-o", built[mpi]], check=True)
    return built


def ranks(bed: Bed, programs: dict[str, Path], mpi: str, *options: str) -> list[list[str]]:
    """Per rank: number, node, CPUs, sum of numbers over all ranks."""
    job = launched(bed, mpi, *options, str(programs[mpi]))
    assert job.returncode == 0, job.stderr
    return sorted(line.split() for line in job.stdout.splitlines())


def launched(bed: Bed, mpi: str, *words: str, tries: int = 3) -> Done:
    """Launch ranks, again if MPICH over UCX hangs in MPI_Finalize (openucx #8738).

    It does so now and then where cores are busy, which says nothing of the testbed.
    """
    compiler, environment = MPIS[mpi]
    try:
        return bed.slurm("srun", f"--mpi={interface_of(compiler)}", *words, env=environment)
    except subprocess.TimeoutExpired:
        if mpi != "mpich" or tries == 1:
            raise
        return launched(bed, mpi, *words, tries=tries - 1)


@pytest.mark.skipif(CORES < 2, reason="two ranks need two cores to be apart")
@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("pair", list(combinations(NODES, 2)), ids="-".join)
def test_two_ranks_on_any_two_nodes_have_different_cores(
    bed: Bed, programs: dict[str, Path], mpi: str, pair: tuple[str, str]
) -> None:
    first, second = ranks(bed, programs, mpi, "-N2", "-n2", "-w", ",".join(pair))
    assert (first[1], second[1]) == pair
    assert first[2].isdigit()
    assert second[2].isdigit()
    assert first[2] != second[2]
    assert first[3] == second[3] == "1"


@pytest.mark.parametrize("mpi", MPIS)
def test_ranks_of_one_node_share_no_core_while_cores_remain(
    bed: Bed, programs: dict[str, Path], mpi: str
) -> None:
    found = ranks(bed, programs, mpi, "-N1", f"-n{min(CORES, 8)}")
    assert len({cpus for _, _, cpus, _ in found}) == len(found) == min(CORES, 8)


def test_seven_ranks_fit_on_one_node(bed: Bed, programs: dict[str, Path]) -> None:
    found = ranks(bed, programs, "openmpi", "-N1", "-n7")
    assert [(rank, node, total) for rank, node, _, total in found] == [
        (str(rank), "a1", "21") for rank in range(7)
    ]


@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_ranks_that_mpirun_starts_are_not_held_on_one_core(
    bed: Bed, programs: dict[str, Path]
) -> None:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    run = ["mpirun.openmpi", *root, "-n", "2", "--map-by", "node", str(programs["openmpi"])]
    job = bed.slurm("salloc", "-N2", "-n2", "-w", "a1,b1", *run)
    found = sorted(line.split() for line in job.stdout.splitlines() if line[:1].isdigit())
    assert [node for _, node, _, _ in found] == ["a1", "b1"], job.stderr
    assert all(len(cpus.split(",")) == CORES for _, _, cpus, _ in found)


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        (["--ntasks-per-node=1", "-C", "[host_a*1&host_b*1]"], {"host_a", "host_b"}),
        (["-w", "a2,b1"], {"host_a", "host_b"}),
        (["-C", "host_b"], {"host_b"}),
        (["--switches=1", "-x", "a1"], {"host_b"}),
    ],
)
def test_slurm_selects_by_host(bed: Bed, options: list[str], hosts: set[str]) -> None:
    show = ["sh", "-c", "echo $SLURM_TOPOLOGY_ADDR"]
    job = bed.slurm("srun", "-N2", "-n2", *options, *show)
    assert job.returncode == 0, job.stderr
    levels = [address.split(".") for address in job.stdout.split()]
    assert len(levels) == 2
    assert {level[0] for level in levels} == {"core"}
    assert {level[1] for level in levels} == hosts


def test_nodes_have_their_own_tmp_shared_memory_network_and_processes(bed: Bed) -> None:
    for node in NODES:
        bed.inside("sh", "-c", "hostname > /tmp/who; hostname > /dev/shm/who", node=node)
    for number, node in enumerate(NODES):
        assert bed.inside("cat", "/tmp/who", "/dev/shm/who", node=node).split() == [node, node]
        assert bed.inside("ls", "/sys/class/net", node=node).split() == ["eth0", "lo"]
        address = f"10.0.{number // 2 + 1}.{number % 2 + 1}/16"
        assert address in bed.inside("ip", "-o", "-4", "addr", "show", "eth0", node=node)
    assert not Path("/tmp/who").exists()


def test_every_node_reaches_the_controller_through_its_uplink(bed: Bed) -> None:
    """Not through the nearest switch, which is an interface of the controller too."""
    core = bed.inside("cat", "/sys/class/net/core/address")
    assert bed.slurm("srun", "-N4", "true").returncode == 0  # each node talks to it
    for node in NODES:
        known = bed.inside("ip", "neigh", "show", "10.0.0.1", node=node)
        assert core in known.split(), (node, known)


def test_the_machines_own_configuration_is_hidden_and_untouched(bed: Bed) -> None:
    assert "ClusterName=testbed" in bed.inside("cat", "/etc/slurm/slurm.conf", node="a1")
    assert "10.0.2.2 b2" in bed.inside("cat", "/etc/hosts")
    assert "10.0.2.2" not in Path("/etc/hosts").read_text()
    own = Path("/etc/slurm/slurm.conf")
    assert not own.exists() or "ClusterName=testbed" not in own.read_text()


def test_jobs_have_no_rights_beyond_the_users(bed: Bed) -> None:
    outside = Path("/proc/self/status").read_text()
    inside = bed.slurm("srun", "cat", "/proc/self/status").stdout
    for field in ("CapEff", "Uid", "Gid"):
        line = next(line for line in outside.splitlines() if line.startswith(field))
        assert line in inside.splitlines()


def test_a_batch_script_finds_slurm_and_the_callers_environment(bed: Bed, parent: Path) -> None:
    script = "#!/bin/sh\necho $COLOUR\nsrun -N2 -n2 hostname\n"
    binaries = f"{bed.folder}/bin:{os.environ['PATH']}"
    job = bed.slurm(
        "sbatch", "-W", "-N2", "-ojob.out", input=script, env={"COLOUR": "blue", "PATH": binaries}
    )
    assert job.returncode == 0, job.stderr
    assert sorted((parent / "job.out").read_text().split()) == ["a1", "a2", "blue"]
