"""Builds the kernels once for each programming environment."""

from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable

#: The kernels' sources.
SOURCES = Path(__file__).resolve().parents[2] / "src"


class KernelBuild(rfm.CompileOnlyRegressionTest):
    """Builds every kernel with CMake against the environment's own MPI.

    The build tree stays between sessions, one for each system and environment, so that a second
    session compiles nothing. The environment's ``cc`` is the MPI's compiler wrapper.
    """

    descr = "build the kernels"
    build_system = "CustomBuild"
    sourcesdir = None
    valid_systems = ["*"]
    valid_prog_environs = ["+mpi"]

    #: Where the build trees are.
    #:
    #: :type: :class:`str`
    build_root = variable(str, value=str(SOURCES.parent / "build"))

    @run_before("compile")
    def prepare_build(self):
        """Configure and build in a tree of the environment's own."""
        self.tree = Path(
            self.build_root, self.current_system.name, self.current_environ.name
        ).resolve()
        self.build_system.commands = [
            f"cmake -S {SOURCES} -B {self.tree} -DMPI_C_COMPILER={self.current_environ.cc} "
            "-DBUILD_TESTING=OFF",
            f"cmake --build {self.tree} --parallel",
        ]

    @sanity_function
    def validate_build(self):
        """Every program that the build announces must be there."""
        return sn.assert_true(
            any(self.tree.glob("bin/*")), f"the build left no program in {self.tree}/bin"
        )

    def program(self, name):
        """Path of a built program."""
        return str(self.tree / "bin" / name)
