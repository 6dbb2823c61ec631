"""A check that asserts a point which its run leaves out: sanity has to notice."""

import sys
from pathlib import Path

import reframe as rfm
from reframe.core.builtins import run_before

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checks.pingpong import PingPong


@rfm.simple_test
class Forgetful(PingPong):
    """Expects 512 B, measures 8 B and 1024 B."""

    sizes_bytes = [8, 512, 1024]
    passes = 1
    samples = 2

    @run_before("run")
    def leave_a_size_out(self):
        """Take the middle size from the command line."""
        self.executable_opts = [
            "--sizes=8,1024" if option.startswith("--sizes=") else option
            for option in self.executable_opts
        ]
