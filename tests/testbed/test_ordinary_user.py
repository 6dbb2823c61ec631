"""All of it works without root, in a user namespace.

Run as root, this becomes the users `daemon` and `nobody` for real; whatever of the checkout and of
Python lies in folders that are closed to others is shown to that user, in a mount namespace of the
test's own.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from beds import TESTBED

SESSION = """
cd "$HOME"
{testbed} up
export PATH="$HOME/testbeds/main/bin:$PATH"
srun -N4 sh -c 'echo node $(hostname) as $(id -un) with $(grep CapEff /proc/self/status)'
echo 'echo batch on $(hostname)' > job.sh; sed -i '1i #!/bin/sh' job.sh
sbatch -W -Q -o job.out -N2 -w a1,b1 job.sh; cat job.out
{testbed} uplink b --cut --mtu 9000; {testbed} status; {testbed} uplink b --restore
{testbed} node a2 --off; {testbed} node a2 --restore; srun -w a2 echo back on a2
{testbed} exec --node b1 -- sh -c 'echo inside $(hostname)'
{testbed} down
ls testbeds | wc -l
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: the other tests ran as a user already")
@pytest.mark.parametrize("user", ["daemon", "nobody"])
def test_an_ordinary_user_has_all_of_it(tmp_path: Path, user: str) -> None:
    script = tmp_path / "session"
    script.write_text(SESSION.format(testbed=TESTBED))
    done = subprocess.run(
        ["unshare", "-m", "bash", "-ec", as_user(user, script)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout.splitlines()
    if "max_user_namespaces" in done.stderr or "apparmor" in done.stderr:
        pytest.skip(f"this kernel keeps ordinary users out: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert said[0] == "testbed main is up: a1, a2, b1, b2"
    none = "CapEff: 0000000000000000"
    assert sorted(line for line in said if line.startswith("node ")) == [
        f"node {node} as {user} with {none}" for node in ("a1", "a2", "b1", "b2")
    ]
    assert "batch on a1" in said
    assert any(line.split() == ["b", "cut", "1gbit", "-", "9000"] for line in said)
    assert "back on a2" in said
    assert "inside b1" in said
    assert said[-2:] == ["ended: main", "0"]


def as_user(user: str, script: Path, before: Sequence[str] = ()) -> str:
    """A shell script that shows a user what it needs, gives it a home, and runs `script`.

    `before` are root's commands before that.
    """
    needed = {Path(sys.base_prefix).resolve(), TESTBED.parents[2], Path(sys.prefix)}
    hidden = {path: top for path in needed if (top := closed_folder(path))}
    lines = [
        "mount -t tmpfs -o mode=755 tmpfs /mnt",
        "mkdir /mnt/home /mnt/kept",
        f"install -m 755 {script} /mnt/home/session",
        f"chown {user}: /mnt/home",
    ]
    for number, path in enumerate(hidden):
        lines += [f"mkdir /mnt/kept/{number}", f"mount --bind {path} /mnt/kept/{number}"]
    lines += [f"mount -t tmpfs -o mode=755 tmpfs {top}" for top in set(hidden.values())]
    for number, path in enumerate(hidden):
        lines += [f"mkdir -p {path}", f"mount --bind /mnt/kept/{number} {path}"]
    lines += before
    lines += [
        "export HOME=/mnt/home SWITCHPOINT_TESTBED_DIR=/mnt/home/testbeds",
        f"exec setpriv --reuid={user} --regid=$(id -g {user}) --clear-groups"
        " bash -e /mnt/home/session",
    ]
    return "\n".join(lines)


def closed_folder(path: Path) -> Path | None:
    """The outermost folder above `path` that others may not enter, if there is one."""
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None
