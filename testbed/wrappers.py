"""Scripts for users outside the testbed: Slurm's commands, run on the controller."""

from __future__ import annotations

import shlex
from pathlib import Path

from testbed import programs
from testbed.namespaces import enter_command
from testbed.slurm_conf import NO_BINDING

_WRAPPER = """\
#!/bin/sh
# Runs {command} on the controller of the testbed {name}. `testbed down` removes this file.
if [ "$SWITCHPOINT_TESTBED" = {name} ]; then
    exec {program} "$@"
fi
if [ ! /proc/{pid}/cwd -ef {folder} ]; then
    echo "{command}: the testbed {name} is down: start it with: testbed up --name {name}" >&2
    exit 2
fi
export SWITCHPOINT_TESTBED={name} {no_binding}
exec {enter} {program} "$@"
"""


def write(folder: Path, name: str, pid: int) -> None:
    """Write a wrapper for each Slurm command into `folder`/bin; `pid` is the supervisor's."""
    binaries = folder / "bin"
    binaries.mkdir()
    nsenter, *options = enter_command(pid, "$PWD")
    enter = [programs.find(nsenter, str(binaries)), *options]
    for command in programs.clients(str(binaries)):
        wrapper = binaries / command
        wrapper.write_text(
            _WRAPPER.format(
                command=command,
                name=name,
                no_binding=" ".join(f"{key}={value}" for key, value in NO_BINDING.items()),
                pid=pid,
                folder=shlex.quote(str(folder)),
                program=programs.find(command, str(binaries)),
                enter=" ".join('"--chdir=$PWD"' if "$PWD" in part else part for part in enter),
            )
        )
        wrapper.chmod(0o755)
