"""More builds than ReFrame starts at once, and what is measured with them.

Each writes a line to the file that the variable EVENTS names. Of the builds some have nothing to
do, some take a while, one fails, one cannot even be prepared, and one is skipped.
"""

import os
import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, parameter, run_before, sanity_function, variable
from reframe.core.exceptions import ReframeError

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checks.mixins.build import BuildsEnded, ProgramBuild

EVENTS = os.environ["EVENTS"]


class Build(ProgramBuild):
    """Builds nothing, for as long as `steps` says."""

    spack_spec = "none"
    steps = variable(str, value="true")

    def prepare_other_build(self):
        """Say when it begins and ends, all in one tree."""
        self.programs = Path("/bin")
        tree = f"exec 9>{self.builds}/.lock && flock 9"
        self.build_system.commands = [
            f"mkdir -p {self.builds} && {tree}",
            f"echo begin {self.unique_name} >>{EVENTS}",
            self.steps,
            f"echo end {self.unique_name} >>{EVENTS}",
        ]


class Measured(rfm.RunOnlyRegressionTest):
    """Stands for a measurement."""

    valid_systems = ["*"]
    valid_prog_environs = ["+mpi"]
    sourcesdir = None
    local = True
    executable = "echo"
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_before("run")
    def tell(self):
        """Say when it is measured."""
        self.executable_opts = [f"measured >>{EVENTS}"]

    @sanity_function
    def validate(self):
        """There is nothing to be wrong."""
        return sn.assert_true(True)


@rfm.simple_test
class OfNothingBuilt(Measured):
    """Has no build of its own, and waits all the same."""


@rfm.simple_test
class OfNothingToDo(Measured):
    """Its own build is over at once."""

    build = fixture(Build, scope="environment")


class Slow(Build):
    """Takes a while."""

    steps = "sleep 0.5"


@rfm.simple_test
class OfSlow(Measured):
    """Seven builds of them, which are still waiting for a slot when others have ended."""

    number = parameter(range(7))
    build = fixture(Slow, scope="test")


class Failing(Build):
    """Fails."""

    steps = "false"


class Unprepared(Build):
    """Has something wrong before it starts."""

    def prepare_other_build(self):
        """Refuse."""
        raise ReframeError("is not to be built")


class Skipped(Build):
    """Is not for this environment."""

    def prepare_other_build(self):
        """Skip."""
        self.skip("is not for here")


@rfm.simple_test
class OfFailing(Measured):
    """Is not measured."""

    build = fixture(Failing, scope="environment")


@rfm.simple_test
class OfUnprepared(Measured):
    """Is not measured."""

    build = fixture(Unprepared, scope="environment")


@rfm.simple_test
class OfSkipped(Measured):
    """Is not measured."""

    build = fixture(Skipped, scope="environment")
