"""A check that prints with which libraries a kernel was linked."""

import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, run_before, sanity_function

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checks.mixins.build import KernelBuild


@rfm.simple_test
class LinkedMpi(rfm.RunOnlyRegressionTest):
    """Prints what the ping-pong needs."""

    valid_systems = ["*"]
    valid_prog_environs = ["+mpi"]
    local = True
    executable = "readelf"
    kernels = fixture(KernelBuild, scope="environment")

    @run_before("run")
    def choose_program(self):
        """Read the program that was built."""
        self.executable_opts = ["--dynamic", self.kernels.program("pingpong")]

    @sanity_function
    def validate(self):
        """Accept any MPI; the test reads which."""
        return sn.assert_found(r"libmpi\S*\.so", self.stdout)
