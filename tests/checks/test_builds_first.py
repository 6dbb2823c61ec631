"""Nothing is measured before all builds of the session have ended; no Spack is needed for that."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from sessions import BIN, ROOT

SITE = ROOT / "site-configs/local/settings.py"

#: Builds that reach their end, and measurements whose builds did: of one build with nothing to do,
#: of seven slow ones, and of none.
BUILDS, MEASUREMENTS = 8, 9


def start(folder: Path, slots: int = 8) -> subprocess.Popen[str]:
    """Start a session of `many_builds` here, `slots` at once, the wait among the first of them."""
    folder.mkdir(exist_ok=True)
    settings = folder / "settings.py"
    settings.write_text(
        f"import runpy\nsite_configuration = runpy.run_path({str(SITE)!r})['site_configuration']\n"
        f"site_configuration['systems'][0]['max_local_jobs'] = {slots}\n"
    )
    return subprocess.Popen(
        [
            *(BIN / "reframe", "-C", settings, "--nocolor"),
            *("-c", ROOT / "tests/checks/many_builds.py", "-r", "-p", "mpich", "--exec-order=name"),
            *("--prefix", folder, "--report-file", folder / "report.json"),
            *("-S", f"build_root={folder.parent / 'build'}"),
        ],
        env={**os.environ, "EVENTS": str(folder / "events")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def events(folder: Path) -> list[str]:
    """What a session did, in order."""
    path = folder / "events"
    return path.read_text().splitlines() if path.exists() else []


def ends(folder: Path) -> list[str]:
    """Builds that ended."""
    return [line for line in events(folder) if line.startswith("end ")]


def check_order(folder: Path, output: str) -> None:
    """All that could be built was, then all that could be measured was."""
    done = events(folder)
    assert len(ends(folder)) == BUILDS, output
    assert done.count("measured") == MEASUREMENTS, output
    assert set(done[-MEASUREMENTS:]) == {"measured"}, output


@pytest.mark.parametrize("slots", [2, 8])
def test_however_many_builds_there_are_all_end_first(tmp_path, slots):
    """Short ones, ones that wait for a slot, and ones that fail, whose end counts as well."""
    process = start(tmp_path / "session", slots)
    output, _ = process.communicate(timeout=120)
    check_order(tmp_path / "session", output)
    for reason in ("is not to be built", "[is not for here]", "build job failed with exit code: 1"):
        assert reason in output


def test_a_site_with_one_slot_is_told_so(tmp_path):
    process = start(tmp_path / "session", slots=1)
    output, _ = process.communicate(timeout=120)
    assert "max_local_jobs of system 'local' is 1; 2 are needed" in output
    assert "measured" not in events(tmp_path / "session")


def test_two_sessions_that_want_one_tree_both_end(tmp_path):
    sessions = [tmp_path / name for name in ("one", "two")]
    processes = [start(folder) for folder in sessions]
    for folder, process in zip(sessions, processes, strict=True):
        output, _ = process.communicate(timeout=120)
        check_order(folder, output)


def test_a_build_of_another_session_is_waited_for(tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    with (build / ".building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        process = start(tmp_path / "session")
        wait_for(lambda: len(ends(tmp_path / "session")) == BUILDS)
        time.sleep(1)
        assert "measured" not in events(tmp_path / "session")
        fcntl.flock(lock, fcntl.LOCK_UN)
        output, _ = process.communicate(timeout=120)
    check_order(tmp_path / "session", output)


def test_a_session_that_is_killed_keeps_nobody_waiting(tmp_path):
    killed = start(tmp_path / "killed")
    wait_for(lambda: events(tmp_path / "killed"))
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    process = start(tmp_path / "session")
    output, _ = process.communicate(timeout=120)
    check_order(tmp_path / "session", output)


def wait_for(holds) -> None:
    """Wait until something holds, a minute at most."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    pytest.fail("never came true")


@pytest.mark.parametrize("environ", ["openmpi", "mpich"])
def test_a_session_of_one_environment_has_its_wait_whichever_partition_has_it(
    tmp_path: Path, environ: str
) -> None:
    """ReFrame would put the wait where the environment is not, and then run nothing."""
    done = subprocess.run(
        [
            *(BIN / "reframe", "-C", SITE, "-c", ROOT / "checks/pingpong.py", "--dry-run"),
            "--nocolor",
            *("-n", "PingPongSmoke.*one_node$", "-p", environ, "--prefix", tmp_path),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "Ran 3/3 test case(s) from 3 check(s) (0 failure(s)" in done.stdout, done.stdout
    # The step may take 45 s, and the job a minute longer.
    would_take = "1 job of ranks: at most 2 min one after another and 0.029 node hours"
    assert would_take in done.stdout.splitlines()[-1]
