"""A testbed comes up, runs jobs, and leaves nothing behind, however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from beds import TESTBED, Bed, wait_until

NODES = ["a1", "a2", "b1", "b2"]
NAMESPACES = ("net", "mnt", "uts", "ipc", "pid")


def test_runs_a_job_on_every_node_and_down_leaves_nothing(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("once")
    mounts = Path("/proc/self/mountinfo").read_text()
    bed.up()
    job = bed.slurm("srun", "-N4", "hostname")
    assert sorted(job.stdout.split()) == NODES, job.stderr
    theirs = namespaces_of(bed)
    assert theirs <= namespaces_in_use()

    assert bed.testbed("down").returncode == 0

    assert_nothing_is_left(bed, theirs)
    assert not bed.folder.exists()
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_kill_9_of_the_supervisor_ends_everything(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("killed")
    bed.up()
    theirs = namespaces_of(bed)

    os.kill(supervisor(bed), signal.SIGKILL)

    assert_nothing_is_left(bed, theirs)
    assert bed.testbed("status").returncode == 1
    wrapper = bed.slurm("sinfo")
    assert wrapper.returncode == 2
    assert "the testbed killed is down" in wrapper.stderr
    assert bed.testbed("down").stdout == "ended: killed\n"
    assert not bed.folder.exists()


def test_kill_9_of_the_supervisors_parent_ends_everything(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("orphan")
    bed.up()
    theirs = namespaces_of(bed)

    os.kill(parent_of(supervisor(bed)), signal.SIGKILL)

    assert_nothing_is_left(bed, theirs)
    bed.testbed("down")
    assert not bed.folder.exists()


def test_up_after_a_crash_starts_afresh(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("crashed")
    bed.up()
    os.kill(supervisor(bed), signal.SIGKILL)
    bed.up()
    assert bed.slurm("srun", "hostname").stdout == "a1\n"


def test_up_killed_half_way_is_cleaned_by_down(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("halfway")
    environment = {**os.environ, "SWITCHPOINT_TESTBED_DIR": str(bed.parent)}
    up = subprocess.Popen([TESTBED, "up", "--name", bed.name], env=environment)
    wait_until(lambda: (bed.folder / "logs" / "slurmctld.log").exists())
    up.kill()
    up.wait()

    assert bed.testbed("down").returncode == 0

    assert not bed.folder.exists()
    assert_nothing_is_left(bed, set())


def test_interrupted_up_ends_what_it_started(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("interrupted")
    environment = {**os.environ, "SWITCHPOINT_TESTBED_DIR": str(bed.parent)}
    up = subprocess.Popen(
        [TESTBED, "up", "--name", bed.name],
        env=environment,
        # A shell starts what runs in its background with SIGINT ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_until(lambda: (bed.folder / "logs" / "slurmctld.log").exists())
    up.send_signal(signal.SIGINT)

    assert up.wait(10) == 130
    assert_nothing_is_left(bed, set())


def test_up_twice_is_fine_but_not_with_another_shape(bed: Bed) -> None:
    again = bed.up()
    assert "was already up" in again.stdout
    other = bed.testbed("up", "--shape", "four-hosts")
    assert other.returncode == 2
    assert "up with another shape" in other.stderr
    assert "testbed down --name shared" in other.stderr


def test_down_twice_has_nothing_to_do(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("twice")
    done = bed.testbed("down")
    assert done.returncode == 0
    assert "nothing to do" in done.stdout
    assert not bed.folder.exists()


def test_down_never_removes_a_folder_that_is_not_a_testbeds(bed: Bed) -> None:
    precious = bed.parent / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    for verb in ("down", "up"):
        done = Bed("precious", bed.parent).testbed(verb)
        assert done.returncode == 2
        assert str(precious) in done.stderr
    assert (precious / "thesis.tex").read_text() == "years of work"


def test_two_at_once_have_the_same_addresses_and_their_own_jobs(
    bed: Bed, new_bed: Callable[[str], Bed]
) -> None:
    other = new_bed("second")
    other.up()
    assert addresses(bed) == addresses(other)
    script = "#!/bin/sh\nsleep 60\n"
    assert other.slurm("sbatch", "-o/dev/null", input=script).returncode == 0
    assert other.slurm("squeue", "-h", "-o%j").stdout == "sbatch\n"
    assert bed.slurm("squeue", "-h", "-o%j").stdout == ""


def test_four_hosts_are_one_file_away(new_bed: Callable[[str], Bed]) -> None:
    bed = new_bed("four")
    bed.up("--shape", "four-hosts")
    addresses = bed.slurm("srun", "-N8", "sh", "-c", "echo $SLURM_TOPOLOGY_ADDR").stdout.split()
    assert sorted(addresses) == [f"core.host_{h}.{h}{n}" for h in "abcd" for n in (1, 2)]


#: Sends 150,000 B to a peer and receives as much from it at the same time; prints the seconds.
BOTH_WAYS = """
import socket, sys, threading, time
start = time.monotonic()
if sys.argv[1] == "listen":
    server = socket.create_server(("", 5000))
    print("ready", flush=True)
    peer = server.accept()[0]
else:
    peer = socket.create_connection((sys.argv[1], 5000), timeout=30)
left = 150_000
sender = threading.Thread(target=peer.sendall, args=(bytes(left),))
sender.start()
while left:
    left -= len(peer.recv(min(left, 65536)))
sender.join()
peer.sendall(b".")  # all is here
peer.recv(1)
print(time.monotonic() - start)
peer.close()
"""


def test_both_directions_share_one_cable_of_10_mbit(new_bed: Callable[[str], Bed]) -> None:
    """Each direction alone takes 0.12 s, so with a rate for each both would take as long."""
    bed = new_bed("cable")
    bed.up("--shape", "shared-ethernet")
    words = [TESTBED, "exec", "--name", bed.name, "--node", "b1", "--"]
    command = [*words, sys.executable, "-c", BOTH_WAYS, "listen"]
    environment = {**os.environ, "SWITCHPOINT_TESTBED_DIR": str(bed.parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as listener:
        assert listener.stdout is not None
        listener.stdout.readline()
        took = bed.inside(sys.executable, "-c", BOTH_WAYS, "10.0.2.1", node="a1")

    assert 0.23 < float(took) < 2

    refused = bed.testbed("uplink", "a", "--rate", "1gbit")
    assert refused.returncode == 2
    assert "all hosts share one link" in refused.stderr


def test_status_names_nodes_and_uplinks(bed: Bed) -> None:
    status = json.loads(bed.testbed("status", "--json").stdout)
    assert status["up"] is True
    assert [node["node"] for node in status["nodes"]] == NODES
    assert {node["state"] for node in status["nodes"]} == {"idle"}
    assert [link["rate"] for link in status["uplinks"]] == ["1gbit", "1gbit"]
    assert "b2    b     10.0.2.2  on" in bed.testbed("status").stdout


def test_status_of_a_testbed_that_is_down_exits_1(parent: Path) -> None:
    done = Bed("absent", parent).testbed("status", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"name": "absent", "up": False}


def test_exec_keeps_folder_environment_and_exit_code(bed: Bed, parent: Path) -> None:
    show = "pwd; echo $COLOUR $SWITCHPOINT_TESTBED; hostname; exit 7"
    done = bed.testbed("exec", "--", "sh", "-c", show, env={"COLOUR": "blue"})
    assert done.stdout.split() == [str(parent), "blue", "shared", "ctl"]
    assert done.returncode == 7


def test_exec_enters_a_node(bed: Bed) -> None:
    assert bed.inside("hostname", node="b2") == "b2"
    unknown = bed.testbed("exec", "--node", "z9", "--", "true")
    assert unknown.returncode == 2
    assert unknown.stderr == "testbed: node z9 does not exist; there are a1, a2, b1, b2\n"


def test_a_command_that_is_killed_outside_ends_inside(bed: Bed) -> None:
    srun = subprocess.Popen([bed.folder / "bin" / "srun", "sleep", "1234"])
    # Between its job's start and its step's, srun 22.05 may obey a signal and leave the job.
    wait_until(lambda: "sleep" in bed.slurm("squeue", "-h", "--steps", "-o%j").stdout)
    srun.kill()
    srun.wait()
    wait_until(lambda: bed.slurm("squeue", "-h").stdout == "", 30)


def test_verbs_say_that_the_testbed_is_down(parent: Path) -> None:
    absent = Bed("absent", parent)
    for verb in (["exec", "--", "true"], ["uplink", "a", "--cut"], ["node", "a1", "--off"]):
        done = absent.testbed(*verb)
        assert done.returncode == 2
        assert done.stderr == (
            "testbed: testbed absent is down: start it with `testbed up --name absent`\n"
        )


def test_in_another_folder_verbs_say_where_the_testbed_runs(bed: Bed, tmp_path: Path) -> None:
    other = Bed(bed.name, tmp_path)
    for verb, code in ((["exec", "--", "true"], 2), (["status"], 1), (["down"], 0)):
        done = other.testbed(*verb)
        assert done.returncode == code
        assert f"SWITCHPOINT_TESTBED_DIR={bed.folder.parent}" in done.stdout + done.stderr


def test_nodes_see_a_project_and_testbeds_that_are_apart_below_tmp() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        project, parent = Path(folder, "project"), Path(folder, "testbeds")
        for made in (project, parent):
            made.mkdir()
        (project / "pyproject.toml").touch()
        (parent / "job").touch()
        Path(folder, "private").touch()
        bed = Bed("apart", parent)
        try:
            up = bed.testbed("up", cwd=project)
            assert up.returncode == 0, up.stderr
            assert bed.inside("ls", folder, node="a1").split() == ["project", "testbeds"]
            assert bed.inside("ls", str(project), node="a1") == "pyproject.toml"
            assert "job" in bed.inside("ls", str(parent), node="b1").split()
        finally:
            bed.testbed("down")


def addresses(bed: Bed) -> list[tuple[str, str]]:
    nodes = json.loads(bed.testbed("status", "--json").stdout)["nodes"]
    return [(node["node"], node["address"]) for node in nodes]


def supervisor(bed: Bed) -> int:
    """The process outside whose pid is 1 inside: found by its command line and its parent."""
    ours = [pid for pid in processes_of(bed) if b"unshare" not in command_line(pid)]
    return next(pid for pid in ours if b"unshare" in command_line(parent_of(pid)))


def processes_of(bed: Bed) -> list[int]:
    pids = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if str(bed.folder).encode() in command_line(pid).split(b"\0")]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def namespaces_of(bed: Bed) -> set[str]:
    """The namespaces of the controller and all nodes, such as net:[4026532000]."""
    links = [f"/proc/self/ns/{kind}" for kind in NAMESPACES]
    places = [None, *NODES]
    return {name for node in places for name in bed.inside("readlink", *links, node=node).split()}


def namespaces_in_use() -> set[str]:
    """The namespaces of all processes of the machine, and those that a mount keeps."""
    mounts = {line.split()[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    links = (
        process / "ns" / kind for process in Path("/proc").glob("[0-9]*") for kind in NAMESPACES
    )
    return {name for link in links if (name := target(link))} | mounts


def target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""  # its process has just ended


def assert_nothing_is_left(bed: Bed, namespaces: set[str]) -> None:
    wait_until(lambda: not namespaces & namespaces_in_use() and not processes_of(bed))
