"""Daemons that die, memory that is full, clocks that differ: it is said, and jobs go on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from beds import TESTBED, Bed, wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide a file from itself")

NODES = ["a1", "a2", "b1", "b2"]

#: The daemons, where each runs, and what starts it again.
DAEMONS = {
    "slurmctld": (None, ["controller", "--restore"]),
    "munged": (None, ["controller", "--restore"]),
    "slurmd-a2": ("a2", ["node", "a2", "--restore"]),
}

#: Kills the processes of a name in this pid namespace.
KILL = """
for process in /proc/[0-9]*; do
    [ "$(cat $process/comm 2>/dev/null)" != {name} ] || kill -9 ${{process#/proc/}}
done
"""


@pytest.fixture(scope="module")
def worn(parent: Path, request: pytest.FixtureRequest) -> Bed:
    """A testbed for these tests, each of which leaves it whole."""
    bed = Bed("worn", parent)
    bed.up()
    request.addfinalizer(lambda: bed.testbed("down"))
    return bed


@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_dead_daemon_is_named_until_it_is_restored(worn: Bed, daemon: str) -> None:
    node, fix = DAEMONS[daemon]
    worn.inside("sh", "-c", KILL.format(name=daemon.partition("-")[0]), node=node)
    wait_until(lambda: worn.testbed("status").returncode == 1, 30)

    status, again = worn.testbed("status"), worn.testbed("up")

    restore = f"`testbed {' '.join(fix)} --name worn`"
    assert f"worn is up, but {daemon} died: restore with {restore}" in status.stdout
    assert again.returncode == 2
    assert f"{daemon} died: restore with {restore}. The logs are in" in again.stderr
    assert again.stderr.count("\n") == 1
    daemons = json.loads(worn.testbed("status", "--json").stdout)["daemons"]
    assert [name for name, runs in daemons.items() if not runs] == [daemon]

    assert worn.testbed(*fix).returncode == 0

    assert worn.testbed("status").returncode == 0
    job = worn.slurm("srun", "-N4", "hostname")  # ready at once
    assert sorted(job.stdout.split()) == NODES, job.stderr


def test_no_node_is_restored_without_a_controller(worn: Bed) -> None:
    assert worn.testbed("controller", "--kill", "slurmctld").returncode == 0

    done = worn.testbed("node", "a1", "--restore")

    assert done.returncode == 2
    assert "slurmctld died: restore it first with `testbed controller --restore`" in done.stderr
    assert worn.testbed("controller", "--restore").returncode == 0


def test_a_job_outlives_its_controller(worn: Bed) -> None:
    log, go = worn.folder / "job.out", worn.folder / "go"
    script = f"#!/bin/sh\nsrun sh -c 'until [ -e {go} ]; do sleep 0.1; done; hostname'\n"
    job = worn.slurm("sbatch", "--parsable", "-N2", f"-o{log}", input=script).stdout.strip()
    wait_until(lambda: "RUNNING" in worn.slurm("squeue", "-h", "-o%T").stdout, 30)
    started = worn.folder / "started"
    started.touch()
    saved = ["find", "/run/slurm/ctld/job_state", "-newer", str(started)]
    wait_until(lambda: worn.inside(*saved) != "", 30)  # Slurm writes it every few seconds

    assert worn.testbed("controller", "--kill", "slurmctld").returncode == 0
    assert worn.testbed("controller", "--restore").returncode == 0

    assert worn.slurm("squeue", "-h", "-o%A %T").stdout == f"{job} RUNNING\n"
    go.touch()
    wait_until(lambda: worn.slurm("squeue", "-h").stdout == "", 30)
    assert "JobState=COMPLETED" in worn.slurm("scontrol", "-o", "show", "job", job).stdout
    assert sorted(log.read_text().split()) == ["a1", "a2"]


def test_folders_in_memory_fit_into_the_machine(worn: Bed) -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = ["df", "--output=size", "--block-size=1"]
    sizes = [int(worn.inside(*size, "/run").split()[-1])]
    for node in NODES:
        of_node = worn.inside(*size, "/tmp", "/dev/shm", node=node)
        sizes += [int(text) for text in of_node.split()[1:]]

    assert len(sizes) == 9
    assert sum(sizes) <= machine // 2
    assert max(sizes) <= 2**30


def test_a_full_tmp_costs_only_its_node(worn: Bed) -> None:
    fill = "dd if=/dev/zero of=/tmp/full bs=1M 2>&1; df --output=avail /tmp | tail -n1"
    said = worn.inside("sh", "-c", fill, node="a1")
    try:
        assert "No space left on device" in said
        assert said.splitlines()[-1].strip() == "0"
        jobs = worn.slurm("srun", "-N4", "hostname")
        assert sorted(jobs.stdout.split()) == NODES, jobs.stderr
        assert worn.slurm("srun", "-wa2", "touch", "/tmp/there").returncode == 0
        refused = worn.slurm("srun", "-wa1", "dd", "if=/dev/zero", "of=/tmp/there", "count=1")
        assert refused.returncode != 0
        assert "No space left on device" in refused.stderr
        assert worn.testbed("status").returncode == 0
    finally:
        worn.inside("rm", "/tmp/full", node="a1")
    assert worn.slurm("srun", "-wa1", "touch", "/tmp/there").returncode == 0


def test_clocks_of_nodes_may_differ_by_days(worn: Bed) -> None:
    """Each machine counts from its own start. Only a job can do so here; see the explanation."""
    clock = "cut -d. -f1 /proc/uptime"
    ahead = "unshare --time --fork --boottime 864000 --monotonic 864000"
    trial = worn.slurm("srun", "-wb1", "sh", "-c", f"{ahead} true")
    if trial.returncode != 0:
        pytest.skip(f"this kernel or user has no namespaces of time: {trial.stderr.strip()}")
    script = f'if [ "$(hostname)" = b1 ]; then {ahead} {clock}; else {clock}; fi'

    job = worn.slurm("srun", "-wa1,b1", "-N2", "--label", "sh", "-c", script)

    up_s = dict(line.split(": ") for line in job.stdout.splitlines())
    assert 863_000 < int(up_s["1"]) - int(up_s["0"]) < 865_000


#: Starts in place of slurmd; `again` is what it does from the second time on.
SLURMD = """\
#!/bin/sh
[ "$(hostname)" = b1 ] || exec {real} "$@"
echo x >>{tries}
{again}
echo 'slurmd: error: Address already in use' >&2
exit 1
"""


@as_root
@pytest.mark.parametrize("recovers", [True, False])
def test_a_slurmd_that_does_not_start_is_tried_again(
    new_bed: Callable[[str], Bed], recovers: bool
) -> None:
    bed = new_bed("stubborn")
    slurmd = Path(shutil.which("slurmd") or "/usr/sbin/slurmd").resolve()
    folder = bed.parent / f"slurmd-{recovers}"  # the nodes see it, although it is below /tmp
    folder.mkdir()
    real, tries, script = folder / "real", folder / "tries", folder / "script"
    shutil.copy(slurmd, real)
    again = f'[ $(wc -l <{tries}) -lt 2 ] || exec {real} "$@"' if recovers else ""
    script.write_text(SLURMD.format(real=real, tries=tries, again=again))
    script.chmod(0o755)
    up = f"mount --bind {script} {slurmd}; exec {TESTBED} up --name {bed.name}"

    done = bed.run(["unshare", "-m", "sh", "-ec", up])

    assert len(tries.read_text().split()) == (2 if recovers else 3)
    if recovers:
        assert done.returncode == 0, done.stderr
        assert bed.slurm("srun", "-wb1", "hostname").stdout == "b1\n"
    else:
        assert done.returncode == 2
        log = bed.folder / "logs/slurmd-b1.log"
        assert done.stderr == (
            "testbed: after 3 tries, slurmd-b1 does not start: slurmd: error: Address already in"
            f" use (see {log})\n"
        )
