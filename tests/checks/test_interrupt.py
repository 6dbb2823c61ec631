"""An interrupted session ends at once, with everything that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sessions import BIN, ROOT

END_S = 10


def processes_of(session: int) -> list[str]:
    """Command lines of what still runs in a session of processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(command)
    return found


def jobs(cluster: str) -> str:
    """What Slurm has queued or running."""
    squeue = [BIN / "testbed", "exec", "--name", cluster, "--", "squeue", "--noheader"]
    return subprocess.run(squeue, capture_output=True, text=True, check=True).stdout


def wait_until(holds, seconds):
    """Wait for a condition; say whether it came true."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.5)
    return True


@pytest.mark.parametrize(
    ("send", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["Control-C", "a signal to make alone"],
)
def test_an_ended_session_ends_reframe_and_its_jobs(cluster, tmp_path, send, number):
    measure = subprocess.Popen(
        [
            *("make", "-C", ROOT, "INSTALLED=yes", f"VENV={Path(sys.executable).parents[1]}"),
            *("measure", "TAG=smoke"),
        ],
        env={**os.environ, "TESTBED_NAME": cluster, "RFM_PREFIX": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        # A test may run in the background, where shells have this signal ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert wait_until(lambda: " R " in jobs(cluster), 120), "no job was started"
        send(measure.pid, number)
        measure.wait(END_S)
        assert wait_until(lambda: not processes_of(measure.pid), END_S)
        assert wait_until(lambda: not jobs(cluster), END_S)
    finally:
        if left := processes_of(measure.pid):
            os.killpg(measure.pid, signal.SIGKILL)
            raise AssertionError(f"still there after the interrupt: {left}")
