"""Daemons that die, memory that is full, clocks that differ: it is said, and jobs go on."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from beds import TESTBED, Bed, wait_until
from switchpoint import read

from testbed import locks

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide a file from itself")

BUILT = Path(__file__).parents[2] / "build/ctest"

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


def test_a_drained_node_is_named_with_the_reason_until_it_is_restored(worn: Bed) -> None:
    """As Slurm does when it cannot write to a node's spool folder."""
    reason = "SlurmdSpoolDir is full"
    drain = ["update", "nodename=a2", "state=drain", f"reason={reason}"]
    assert worn.slurm("scontrol", *drain).returncode == 0

    status, again = worn.testbed("status"), worn.testbed("up")

    told = f"Slurm drained a2 ({reason}): restore with `testbed node a2 --restore --name worn`"
    assert status.returncode == 1
    assert f"testbed worn is up, but {told}\n" in status.stdout
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert told in again.stderr
    nodes = json.loads(worn.testbed("status", "--json").stdout)["nodes"]
    assert {node["node"]: node["reason"] for node in nodes} == dict.fromkeys(NODES) | {"a2": reason}

    worn.testbed("controller", "--kill", "munged")  # slurmctld would forget a young state
    restored = worn.testbed("controller", "--restore", timeout_s=30)
    assert restored.returncode == 2
    assert f"the controller is restored, but Slurm drained a2 ({reason})" in restored.stderr

    assert worn.testbed("node", "a2", "--restore").returncode == 0
    assert worn.testbed("status").returncode == 0
    assert worn.slurm("srun", "-wa2", "hostname").stdout == "a2\n"
    # Slurm writes its state every few seconds: a controller killed before drains the node again.
    saved = f"grep -q '{reason}' /run/slurm/ctld/node_state || echo undrained"
    wait_until(lambda: worn.inside("sh", "-c", saved) == "undrained", 30)


def test_a_node_that_died_is_named_and_costs_only_itself(worn: Bed) -> None:
    """As when the kernel kills its first process because memory is short."""
    pid = locks.holder(worn.folder / "nodes/a1")
    hardware_address = ("cat", "/sys/class/net/eth0/address")
    before = worn.inside(*hardware_address, node="a1")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: worn.testbed("status").returncode == 1, 30)

    status, again = worn.testbed("status"), worn.testbed("up")

    assert "worn is up, but slurmd-a1 died: restore with `testbed node a1 --res" in status.stdout
    assert re.search(r"a1 +a +10\.0\.1\.1 +off", status.stdout)
    assert again.returncode == 2
    for action in (["--kill-slurmd"], ["--off"], ["--throttle", "50"]):
        done = worn.testbed("node", "a1", *action)
        assert done.returncode == 2
        assert done.stderr == "testbed: node a1 died: `testbed node a1 --restore` starts it\n"
    for change in (["--mtu", "1400"], ["--restore"]):
        done = worn.testbed("uplink", "a", *change)
        assert done.returncode == 0, done.stderr

    done = worn.testbed("node", "a1", "--restore")

    assert done.returncode == 0, done.stderr
    assert worn.testbed("status").returncode == 0
    assert worn.inside(*hardware_address, node="a1") == before
    job = worn.slurm("srun", "-N4", "hostname")
    assert sorted(job.stdout.split()) == NODES, job.stderr
    assert "Traceback" not in (worn.folder / "logs/supervisor.log").read_text()


def test_no_node_is_restored_without_a_controller(worn: Bed) -> None:
    assert worn.testbed("controller", "--kill", "slurmctld").returncode == 0

    done = worn.testbed("node", "a1", "--restore")

    assert done.returncode == 2
    assert "slurmctld died: restore it first with `testbed controller --restore`" in done.stderr
    assert worn.testbed("controller", "--restore").returncode == 0


def test_a_job_outlives_its_controller(worn: Bed) -> None:
    log, go = worn.folder / "job.out", worn.folder / "go"
    script = f"#!/bin/sh\nsrun sh -c 'until [ -e {go} ]; do sleep 0.1; done; hostname'\n"
    job = worn.slurm("sbatch", "--parsable", "-wa1,a2", f"-o{log}", input=script).stdout.strip()
    wait_until(lambda: "RUNNING" in worn.slurm("squeue", "-h", "-o%T").stdout, 30)
    started = worn.folder / "started"
    started.touch()
    saved = ["find", "/run/slurm/ctld", "-name", "job_state", "-newer", str(started)]
    wait_until(lambda: worn.inside(*saved) != "", 30)  # Slurm writes it every few seconds

    assert worn.testbed("controller", "--kill", "slurmctld").returncode == 0
    assert worn.testbed("controller", "--restore").returncode == 0

    def state() -> str:
        return worn.slurm("squeue", "-h", "-tall", f"-j{job}", "-o%T").stdout.strip()

    assert state() == "RUNNING"
    go.touch()
    wait_until(lambda: state() == "COMPLETED", 30)
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


#: Runs a program, on b1 with clocks that count from ten days earlier, as after another start.
AHEAD = """\
#!/bin/sh
[ "$(hostname)" != b1 ] || exec unshare --time --fork --boottime 864000 --monotonic 864000 "$@"
exec "$@"
"""


def test_clocks_that_are_days_apart_change_no_time(worn: Bed) -> None:
    """Nodes of real clusters count from their own start. Here only a job can have such a clock."""
    built = [BUILT / tree / "bin/broadcast" for tree in ("openmpi", "sanitize")]
    program = next((path for path in built if path.exists()), None)
    if program is None:
        pytest.skip("no kernel is built: make kernels-test")
    ahead, record = worn.folder / "ahead", worn.folder / "clocks.record"
    ahead.write_text(AHEAD)
    ahead.chmod(0o755)
    where = ["--mpi=pmix", "-N2", "-wa1,b1"]
    up_s = worn.slurm("srun", *where, "--label", str(ahead), "cut", "-d.", "-f1", "/proc/uptime")
    if up_s.returncode != 0:
        pytest.skip(f"no namespaces of time here: {up_s.stderr.strip()}")
    first, second = (int(line.split(":")[1]) for line in sorted(up_s.stdout.splitlines()))
    assert second - first > 860_000

    short = ["--passes=2", "--samples=2", "--sizes=8,1024", f"--record={record}"]
    job = worn.slurm("srun", *where, str(ahead), str(program), *short,
                     env={"ASAN_OPTIONS": "detect_leaks=0"})  # fmt: skip

    assert job.returncode == 0, job.stderr
    samples = read(record).samples
    assert len(samples) > 0
    assert samples["time_us"].max() < 60e6  # not ten days


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
