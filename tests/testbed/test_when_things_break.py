"""What fails on real clusters fails here: the job ends with a reason, and the next one runs."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from beds import Bed, wait_until

# One job per fault, all at once: they do not share a node, nor a host with a cut uplink.
FAULTS = {
    "slurmd killed": (["a1", "a2"], ["node", "a2", "--kill-slurmd"], ["node", "a2", "--restore"]),
    "node off": (["b1", "b2"], ["node", "b2", "--off"], ["node", "b2", "--restore"]),
    "uplink cut": (["c1", "d1"], ["uplink", "d", "--cut"], ["uplink", "d", "--restore"]),
}
ENDED = re.compile(r"JobState=(?!RUNNING|PENDING|COMPLETING)(\w+) Reason=(\w+)")


@dataclass
class Broken:
    """A testbed that all faults have hit: per fault how its job ended, and what ran next."""

    bed: Bed
    endings: dict[str, tuple[str, str]]
    next_jobs: dict[str, str]


@pytest.fixture(scope="module")
def broken(past_limit: tuple[Bed, str]) -> Broken:
    bed, _ = past_limit
    jobs = {fault: bed.submit(nodes) for fault, (nodes, _, _) in FAULTS.items()}
    for nodes, _, _ in FAULTS.values():
        wait_until(lambda nodes=nodes: all(sleeps(bed, node) for node in nodes))
    for _, fault, _ in FAULTS.values():
        assert bed.testbed(fault[0], *fault[1:]).returncode == 0
    endings = {fault: ending(bed, job, 60) for fault, job in jobs.items()}
    next_jobs = {}
    for fault, (nodes, _, fix) in FAULTS.items():
        done = bed.testbed(fix[0], *fix[1:])
        assert done.returncode == 0, done.stderr
        job = bed.slurm("srun", "-N2", "-n2", "-w", ",".join(nodes), "hostname")
        next_jobs[fault] = " ".join(sorted(job.stdout.split())) or job.stderr
    return Broken(bed, endings, next_jobs)


def show(bed: Bed, job: str) -> str:
    return bed.slurm("scontrol", "-o", "show", "job", job).stdout


def ending(bed: Bed, job: str, timeout_s: float) -> tuple[str, str]:
    """State and reason of a job that ends within the time."""
    wait_until(lambda: ENDED.search(show(bed, job)) is not None, timeout_s)
    found = ENDED.search(show(bed, job))
    assert found is not None
    return found[1], found[2]


def sleeps(bed: Bed, node: str) -> bool:
    """Whether a process of the jobs is on the node."""
    # A process that ends before its name is read is none of the job's.
    names = bed.inside("sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null || true", node=node)
    return "sleep" in names.split()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_job_ends_within_a_minute_when_its_node_or_link_breaks(
    broken: Broken, fault: str
) -> None:
    assert broken.endings[fault] == ("NODE_FAIL", "NodeDown")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_job_runs_when_it_is_mended(broken: Broken, fault: str) -> None:
    assert broken.next_jobs[fault] == " ".join(FAULTS[fault][0])


def test_the_testbed_itself_meets_no_error(broken: Broken) -> None:
    for log in (broken.bed.folder / "logs").iterdir():
        assert "Traceback" not in log.read_text(), log


@pytest.mark.parametrize("fault", FAULTS)
def test_no_process_of_the_job_is_left(broken: Broken, fault: str) -> None:
    wait_until(lambda: not any(sleeps(broken.bed, node) for node in FAULTS[fault][0]))


def test_a_job_past_its_time_limit_ends_and_the_next_runs(past_limit: tuple[Bed, str]) -> None:
    bed, job = past_limit
    assert ending(bed, job, 100) == ("TIMEOUT", "TimeLimit")
    assert bed.slurm("srun", "-w", "c2", "hostname").stdout == "c2\n"
    assert not sleeps(bed, "c2")


def test_a_node_that_is_off_says_how_to_bring_it_back(broken: Broken) -> None:
    bed = broken.bed
    assert bed.testbed("node", "b1", "--off").returncode == 0
    for verb in (["exec", "--node", "b1", "--", "true"], ["node", "b1", "--off"]):
        done = bed.testbed(*verb)
        assert done.returncode == 2
        assert "node b1 is off" in done.stderr
        assert "testbed node b1 --restore" in done.stderr
    assert re.search(r"b1 +b +10\.0\.2\.1 +off", bed.testbed("status").stdout)
    assert bed.testbed("node", "b1", "--restore").returncode == 0
    assert bed.inside("hostname", node="b1") == "b1"


def test_a_rate_slows_what_leaves_the_host(broken: Broken) -> None:
    bed = broken.bed
    assert bed.testbed("uplink", "a", "--rate", "10mbit").returncode == 0
    # 2 MB at 10 Mbit/s take 1.6 s, of which a burst of 128 KiB is spared
    assert seconds_for(bed, 2_000_000, "a1", "b1") > 1.4
    assert seconds_for(bed, 2_000_000, "a1", "a2") < 1.4
    assert bed.testbed("uplink", "a", "--restore").returncode == 0
    assert seconds_for(bed, 2_000_000, "a1", "b1") < 1.4


RECEIVE = """
import socket
with socket.create_server(("", 5001)) as server:
    connection, _ = server.accept()
    while connection.recv(65536):
        pass
    connection.send(b"x")
"""
SEND = """
import socket, sys, time
while True:
    try:
        connection = socket.create_connection((sys.argv[1], 5001), 5)
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
start = time.perf_counter()
connection.sendall(bytes(int(sys.argv[2])))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
print(time.perf_counter() - start)
"""


def seconds_for(bed: Bed, size_bytes: int, source: str, target: str) -> float:
    """Time to send so much from one node to another, until the last byte is confirmed."""
    receiver = subprocess.Popen(
        [bed.folder / "bin" / "srun", "-w", target, "python3", "-c", RECEIVE]
    )
    took = bed.slurm("srun", "-w", source, "python3", "-c", SEND, target, str(size_bytes))
    assert receiver.wait(30) == 0
    return float(took.stdout)


def test_an_mtu_reaches_the_nodes_and_goes_again(broken: Broken) -> None:
    bed = broken.bed
    assert bed.testbed("uplink", "c", "--mtu", "9000").returncode == 0
    assert bed.inside("cat", "/sys/class/net/eth0/mtu", node="c2") == "9000"
    assert bed.inside("cat", "/sys/class/net/eth0/mtu", node="a1") == "1500"
    assert bed.inside("cat", "/sys/class/net/c_uplink/mtu") == "9000"
    assert bed.testbed("uplink", "c", "--restore").returncode == 0
    assert bed.inside("cat", "/sys/class/net/eth0/mtu", node="c2") == "1500"


def test_a_cut_shows_in_status_until_it_is_restored(broken: Broken) -> None:
    bed = broken.bed
    assert bed.testbed("uplink", "d", "--cut", "--rate", "5mbit").returncode == 0
    assert re.search(r"d +cut +5mbit", bed.testbed("status").stdout)
    assert bed.testbed("uplink", "d", "--restore").returncode == 0
    assert re.search(r"d +up +1gbit", bed.testbed("status").stdout)


#: Looks 300 times whether the program of a name is stopped, as the controller sees it.
LOOK = """
import pathlib, sys, time
name = sys.argv[1].encode()
def program(folder):
    try:
        return (folder / "cmdline").read_bytes().split(bytes(1))[0]
    except OSError:
        return b""  # it has just ended
while not (found := [
    folder for folder in pathlib.Path("/proc").glob("[0-9]*") if program(folder) == name
]):
    time.sleep(0.05)
states = []
for _ in range(300):
    states.append((found[0] / "stat").read_text().rpartition(")")[2].split()[0])
    time.sleep(0.0013)
print(states.count("T"))
"""


def test_a_throttled_nodes_jobs_are_stopped_most_of_the_time(broken: Broken) -> None:
    bed = broken.bed
    assert bed.testbed("node", "c1", "--throttle", "20").returncode == 0
    assert re.search(r"c1 +c +10\.0\.3\.1 +20 %", bed.testbed("status").stdout)
    assert times_stopped(bed, "c1") > 10  # fewer on a busy machine, where all wait anyway
    assert times_stopped(bed, "c2") == 0
    assert bed.testbed("node", "c1", "--restore").returncode == 0
    assert re.search(r"c1 +c +10\.0\.3\.1 +on", bed.testbed("status").stdout)
    assert times_stopped(bed, "c1") == 0


def times_stopped(bed: Bed, node: str) -> int:
    """In how many of 300 looks a job of a node was stopped."""
    script = f"#!/bin/bash\nexec -a spin-{node} bash -c 'while :; do :; done'\n"
    job = bed.slurm("sbatch", "--parsable", "-w", node, "-o/dev/null", input=script)
    assert job.returncode == 0, job.stderr
    try:
        return int(bed.inside("python3", "-c", LOOK, f"spin-{node}"))
    finally:
        bed.slurm("scancel", job.stdout.strip())


def test_a_node_cannot_be_throttled_to_nothing(broken: Broken) -> None:
    done = broken.bed.testbed("node", "c1", "--throttle", "0")
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: throttle: 0 is not between 1 and 99")


def test_a_sites_default_of_open_mpi_counts_in_its_jobs(broken: Broken) -> None:
    bed = broken.bed
    defaults = bed.folder / "openmpi/openmpi-mca-params.conf"
    if not defaults.exists():
        pytest.skip("this machine's Open MPI has no /etc/openmpi")
    machine = Path("/etc/openmpi/openmpi-mca-params.conf").read_text()
    with defaults.open("a") as file:
        file.write("btl_tcp_eager_limit = 12345\n")
    asked = ("ompi_info", "--parsable", "--param", "btl", "tcp", "--level", "9")
    told = bed.slurm("srun", "-w", "a1", *asked).stdout
    assert "mca:btl:tcp:param:btl_tcp_eager_limit:value:12345" in told
    assert Path("/etc/openmpi/openmpi-mca-params.conf").read_text() == machine
