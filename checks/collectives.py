"""Collectives of the MPI library: each by its own choice, or with all algorithms side by side."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before, variable

from .mixins.following import FollowingMixin, SearchMixin
from .mixins.kernel import KernelMixin
from .mixins.ranks import RanksMixin

#: The operations, which are the names of their kernels.
OPERATIONS = [
    "allgather", "allreduce", "alltoall", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip

#: Sizes of a sweep for which the user sets none.
SIZES_BYTES = [8 << n for n in range(18)]


@rfm.simple_test
class Collective(rfm.RunOnlyRegressionTest, RanksMixin, KernelMixin):
    """One operation at sizes from 8 B to 1 MiB, with any number of ranks."""

    tags = {"collectives"}
    modes = ["library"]
    sizes_bytes = SIZES_BYTES
    # If there are more ranks than cores, each message waits for a time slice of the scheduler.
    step_limit_s = 120

    #: The operation, which is the name of its kernel.
    #:
    #: :type: :class:`str`
    operation = parameter(OPERATIONS, loggable=True)

    #: Ranks; any number that the nodes divide.
    #:
    #: :type: :class:`int`
    ranks = variable(int, value=4)

    #: The library's algorithms to measure in the same launch as its choice: ``all``, or names of
    #: its control variable, separated by commas. Empty: its choice alone.
    #:
    #: :type: :class:`str`
    algorithms = variable(str, value="")

    @run_after("init")
    def choose_kernel(self):
        """Run the kernel of the operation."""
        self.kernel = self.operation

    @run_after("setup")
    def measure_little_if_oversubscribed(self):
        """Take few samples if there are more ranks than cores, and few sizes if none were set."""
        if self.oversubscribed:
            if self.sizes_bytes == SIZES_BYTES:
                self.sizes_bytes = [8, 4 << 10, 1 << 20]
            self.passes = self.samples = 2

    @run_before("run")
    def choose_algorithms(self):
        """Pass the algorithms to the kernel, which makes a mode of each."""
        if self.algorithms:
            self.executable_opts.append(f"--algorithms={self.algorithms}")

    @run_before("performance")
    def name_performance_variables(self):
        """One time for each mode that was measured, with the largest message."""
        if self.is_dry_run():
            return  # nothing was measured
        largest = max(self.sizes_bytes)
        measured = [mode for mode, size_bytes in self.points if size_bytes == largest]
        self.perf_variables = {
            mode.replace(":", "_"): self.slowest_rank_us(mode) for mode in measured
        }

    @performance_function("us")
    def slowest_rank_us(self, mode="library"):
        """Median time until the last rank has ended."""
        return self.median_us(mode, max(self.sizes_bytes))


@rfm.simple_test
class CollectiveZoom(
    rfm.RunOnlyRegressionTest, FollowingMixin, SearchMixin, RanksMixin, KernelMixin
):
    """Locates the steps of a collective to the byte, and times all algorithms there.

    ``switchpoint explain`` needs two launches to confirm a change of algorithm: ``--repeat=2``.
    """

    tags = {"collective-switches"}
    follows = Collective
    shared = ("placement", "operation")
    modes = planned_modes = ["library"]
    sizes_bytes = [8, 1 << 20]
    samples = 3
    search_time_ms = 20_000
    step_limit_s = 240

    #: The operation, which is the name of its kernel.
    #:
    #: :type: :class:`str`
    operation = parameter(OPERATIONS, loggable=True)

    #: Ranks, as many as the sweep has.
    #:
    #: :type: :class:`int`
    ranks = variable(int, value=4)

    @run_after("init")
    def choose_kernel(self):
        """Run the kernel of the operation."""
        self.kernel = self.operation

    @run_after("setup", always_last=True)
    def need_a_step(self):
        """Skip if the sweep has no step."""
        self.skip_if(not [*self.brackets, *self.also_search], "the sweep has no step")

    @run_before("run")
    def choose_algorithms(self):
        """Time all algorithms of the library where a switch is found."""
        self.executable_opts.append("--algorithms=all")

    @run_before("performance")
    def name_performance_variables(self):
        """One number: how many switches were located to the byte."""
        self.perf_variables = {"switches": self.located()}

    @performance_function("")
    def located(self):
        """Switches between neighbouring sizes."""
        return sum(search["verdict"] == "exact" for search in self.facts.footer["switches"])
