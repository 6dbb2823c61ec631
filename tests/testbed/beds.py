"""A testbed as tests see it: the command, the wrappers, and the folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TESTBED = Path(sys.executable).with_name("testbed")
Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Bed:
    """One testbed by its name, whose files are below `parent`."""

    name: str
    parent: Path

    @property
    def folder(self) -> Path:
        """Where all of its files are."""
        return self.parent / self.name

    def testbed(self, verb: str, *arguments: str, timeout_s: float = 90, **more: object) -> Done:
        """Run a verb of the command on this testbed."""
        return self.run([TESTBED, verb, "--name", self.name, *arguments], timeout_s, **more)

    def up(self, *arguments: str) -> Done:
        """Start it; it must come up."""
        done = self.testbed("up", *arguments)
        assert done.returncode == 0, done.stderr
        return done

    def inside(self, *command: str, node: str | None = None) -> str:
        """What a command prints on the controller or a node."""
        where = ["--node", node] if node else []
        done = self.testbed("exec", *where, "--", *command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def slurm(self, command: str, *arguments: str, timeout_s: float = 60, **more: object) -> Done:
        """Run a Slurm command through its wrapper, from outside."""
        return self.run([self.folder / "bin" / command, *arguments], timeout_s, **more)

    def submit(self, nodes: list[str], *options: str) -> str:
        """Submit a job that sleeps on these nodes; give its number."""
        where = [f"-N{len(nodes)}", "-w", ",".join(nodes), "-o/dev/null"]
        script = "#!/bin/sh\nsrun sleep 1000\n"
        job = self.slurm("sbatch", "--parsable", *where, *options, input=script)
        assert job.returncode == 0, job.stderr
        return job.stdout.strip()

    def run(self, command: list[object], timeout_s: float = 90, **more: object) -> Done:
        """Run a command in the folder of all testbeds, with `env` added to the environment."""
        settings = {"cwd": self.parent, **more}
        settings["env"] = {
            **os.environ,
            "SWITCHPOINT_TESTBED_DIR": str(self.parent),
            **settings.get("env", {}),
        }
        return subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            **settings,
        )


def wait_until(true: Callable[[], bool], timeout_s: float = 10) -> None:
    """Wait for something; fail if it does not happen. What takes long is asked for less often."""
    start = time.monotonic()
    while not true():
        waited_s = time.monotonic() - start
        assert waited_s < timeout_s, "it did not happen in time"
        time.sleep(min(0.02 + waited_s / 20, 1))
