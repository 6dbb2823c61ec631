"""Other users can do nothing to a testbed, and what is in the way is said in one line."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from beds import TESTBED, Bed
from test_ordinary_user import as_user

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")

VERBS = """
cd "$HOME"
for verb in up down status 'exec -- true' 'node a1 --off' 'controller --restore'; do
    {testbed} $verb 2>&1 && echo done || echo $?
done
"""

#: An empty folder of root's, and one of a testbed of root's.
OF_ROOT = [
    "install -d -m 755 /mnt/home/testbeds",
    "install -d -m 700 /mnt/home/testbeds/main",
    "touch /mnt/home/testbeds/main/lock",
]


@as_root
def test_a_testbed_of_another_user_is_named(tmp_path: Path) -> None:
    script = tmp_path / "session"
    script.write_text(VERBS.format(testbed=TESTBED))
    done = subprocess.run(
        ["unshare", "-m", "bash", "-ec", as_user("daemon", script, OF_ROOT)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    told = (
        "testbed: testbed main belongs to the user root (/mnt/home/testbeds/main):"
        " choose another --name, or set SWITCHPOINT_TESTBED_DIR"
    )
    assert done.stdout.splitlines() == [told, "2"] * 6, done.stderr


@as_root
def test_root_starts_no_testbed_in_a_folder_that_another_user_could_lock(
    new_bed: Callable[[str], Bed],
) -> None:
    bed = new_bed("foreign")
    bed.folder.mkdir()
    os.chown(bed.folder, 1, 1)
    done = bed.testbed("up")
    os.chown(bed.folder, 0, 0)
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: testbed foreign belongs to the user daemon (")
    assert done.stderr.count("\n") == 1


def test_only_its_user_can_open_its_folder_and_a_held_lock_is_told(
    new_bed: Callable[[str], Bed],
) -> None:
    bed = new_bed("locked")
    bed.folder.mkdir(0o755)  # as an older version made it
    bed.up()
    assert bed.folder.stat().st_mode & 0o777 == 0o700

    lock = os.open(bed.folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    down = subprocess.Popen(
        [TESTBED, "down", "--name", bed.name],
        env=os.environ | {"SWITCHPOINT_TESTBED_DIR": str(bed.parent)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert down.stderr is not None
    assert down.stderr.readline() == (
        f"testbed: waiting for another `testbed up` or `down` to release {bed.folder}\n"
    )
    os.close(lock)
    assert down.communicate(timeout=60) == ("ended: locked\n", "")
