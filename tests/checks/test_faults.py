"""A node, a link or a time limit is lost in the middle of a check: it fails in words, soon.

Each fault has a testbed of its own, so that they run side by side.
"""

import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sessions import BIN, ROOT, Session, preloaded, run_testbed, start_reframe

#: A sweep that outlasts the fault and mostly sleeps; nothing here depends on its timings.
LONG = (
    *("-c", str(ROOT / "checks/pingpong.py"), "-r", "-p", "openmpi"),
    *("-n", "PingPongSmoke.*%placement=two_nodes_two_hosts"),
    *("-S", "passes=4000", "-S", "modes=send", "-S", "pause_us=20000"),
)
WITHIN_S = 60


def slurm(name, *words):
    return subprocess.run(
        [BIN / "testbed", "exec", "--name", name, "--", *words],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout


def wait_for(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(1)


def break_a_run(fault, prefix, extra, break_it, fix_it):
    """Start a check, break something once it runs, and report how it ended."""
    name = f"{fault}-{os.getpid()}"
    prefix.mkdir()
    run_testbed("up", "--name", name)
    try:
        site = "site-configs/testbed/settings.py"
        process = start_reframe(name, prefix, *LONG, *extra, site=site)
        # The three sessions build in one folder, and each waits for the builds of the others.
        wait_for(lambda: slurm(name, "squeue", "-h", "-t", "RUNNING", "-o", "%i").strip(), 180)
        time.sleep(1)
        broken_at = time.monotonic()
        break_it(name)
        output, _ = process.communicate(timeout=120)
        took_s = time.monotonic() - broken_at
        fix_it(name)
        left_over = slurm(name, "squeue", "-h", "-o", "%i %T").strip()
        again = subprocess.run(
            [
                *(BIN / "testbed", "exec", "--name", name, "--"),
                *("srun", "--nodes=4", "--time=1", "hostname"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return {
            "session": Session(process.returncode, output, prefix),
            "took_s": took_s,
            "left_over": left_over,
            "again": sorted(again.stdout.split()),
        }
    finally:
        run_testbed("down", "--name", name)


FAULTS = {
    "slurmd-killed": (
        lambda folder: (),
        lambda name: run_testbed("node", "b1", "--kill-slurmd", "--name", name),
        lambda name: run_testbed("node", "b1", "--restore", "--name", name),
        r"Slurm ended the job with NODE_FAIL \(Reason=\S+\) on a\d,b\d",
    ),
    "uplink-cut": (
        lambda folder: ("-S", "step_limit_s=20"),
        lambda name: run_testbed("uplink", "b", "--cut", "--name", name),
        lambda name: run_testbed("uplink", "b", "--restore", "--name", name),
        r"NODE_FAIL|the step was ended after 20 s.*: a rank, a node or a link is lost",
    ),
    "time-limit": (
        # In ranks that wait for ever nothing sees that the sweep's time budget is over.
        lambda folder: ("-S", "step_limit_s=5", *preloaded(folder, "endless_barrier")),
        lambda name: None,
        lambda name: None,
        "the step was ended after 5 s",
    ),
}


@pytest.fixture(scope="module")
def broken_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    with ThreadPoolExecutor(len(FAULTS)) as pool:
        runs = {
            fault: pool.submit(break_a_run, fault, folder / fault, extra(folder), break_it, fix_it)
            for fault, (extra, break_it, fix_it, _) in FAULTS.items()
        }
    return {fault: run.result() for fault, run in runs.items()}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_fails_within_a_minute_and_says_why(broken_runs, fault):
    run = broken_runs[fault]
    assert run["session"].exit_code == 1, run["session"].output
    assert run["took_s"] < WITHIN_S
    assert re.search(FAULTS[fault][3], run["session"].failures[0])


@pytest.mark.parametrize("fault", FAULTS)
def test_no_job_stays_and_the_next_one_runs_on_all_nodes(broken_runs, fault):
    run = broken_runs[fault]
    assert run["left_over"] == ""
    assert run["again"] == ["a1", "a2", "b1", "b2"]
