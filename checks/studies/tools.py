"""Comparison of message-passing tools (study 004): echo over MPI, TCP sockets and PVM."""

import re
import shutil
from pathlib import Path

import reframe as rfm
from reframe.core.builtins import performance_function, run_after, run_before

from ..mixins.kernel import KernelMixin

#: Runs a command while the job's nodes have PVM daemons.
WITH_PVM_DAEMONS = Path(__file__).resolve().parent / "pvm" / "with_daemons.sh"


class EchoOverTools(rfm.RunOnlyRegressionTest, KernelMixin):
    """The study's echo: its sizes, and 100 single round trips for each.

    Its statistic, the mean without the best and the worst, is what `switchpoint tools` prints.
    """

    tags = {"study-004"}
    kernel = "echo"
    sizes_bytes = [1, *(kib << 10 for kib in (1, 4, 8, 16, 32, 64))]
    num_tasks = 2
    samples = 20
    passes = 5
    # Each sample is one round trip, and slow ones are not removed.
    block_time_us = 0
    pass_time_ms = 2000

    @property
    def takes_shared_memory(self):
        """Whether the placement uses shared memory, which sockets cannot use."""
        return self.requested_placement.path == "shared_memory"

    @run_before("performance")
    def name_performance_variables(self):
        """Each tool's round trip of the smallest and of the largest message."""
        self.perf_variables = {
            f"{mode}_{size}B": self.round_trip_us(mode, size)
            for mode in self.modes
            for size in (min(self.sizes_bytes), max(self.sizes_bytes))
        }

    @performance_function("us")
    def round_trip_us(self, mode="mpi", size_bytes=1):
        """Median round trip; the record has half of it."""
        return 2 * self.median_us(mode, size_bytes)


@rfm.simple_test
class Echo(EchoOverTools):
    """The environment's MPI and TCP sockets, in one random order."""

    modes = ["mpi", "sockets", "sockets_polling"]

    @run_after("setup")
    def leave_sockets_out(self):
        """Use only MPI if the path is shared memory."""
        if self.takes_shared_memory:
            self.modes = ["mpi"]


@rfm.simple_test
class EchoOverPvm(EchoOverTools):
    """PVM through its daemons and directly, and sockets for comparison, in one random order.

    The environment's MPI starts the ranks, which register with the daemon of their node.
    """

    modes = ["sockets", "pvm", "pvm_direct"]

    @run_before("run")
    def start_daemons(self):
        """Start PVM's daemons around the step, or skip with the reason."""
        self.skip_if(
            self.takes_shared_memory,
            "PVM's messages always take the network: see placement one_node_network",
        )
        self.skip_if(
            shutil.which("pvmd") is None, "PVM is not installed: install it (Debian: pvm, pvm-dev)"
        )
        self.skip_if(
            not self.build_found_pvm,
            f"the kernels in {self.build.programs} are built without PVM: install its headers "
            "(Debian: pvm-dev), then build with -S builder=cmake",
        )
        launcher = self.job.launcher
        launcher.modifier_options = [launcher.modifier, *launcher.modifier_options]
        launcher.modifier = str(WITH_PVM_DAEMONS)

    @property
    def build_found_pvm(self):
        """Whether CMake found PVM's library."""
        cache = Path(self.build.directory, "CMakeCache.txt")
        return cache.exists() and re.search(
            r"^PVM_LIBRARY:FILEPATH=/", cache.read_text(), re.MULTILINE
        )
