"""Broadcast from rank 0 to all others (study 004): trees of ours against the MPI library's."""

import reframe as rfm
from reframe.core.builtins import performance_function, run_before

from .mixins.kernel import KernelMixin


@rfm.simple_test
class Broadcast(rfm.RunOnlyRegressionTest, KernelMixin):
    """Every algorithm, with and without acknowledgement, at sizes of the study."""

    tags = {"study-004"}
    kernel = "broadcast"
    modes = [
        *("repeated", "binary", "two_level", "binomial", "pipelined"),
        *("repeated_ack", "binary_ack", "two_level_ack", "binomial_ack", "pipelined_ack"),
        *("scatter_allgather", "library"),
    ]
    sizes_bytes = [1, 1 << 10, 8 << 10, 64 << 10]
    num_tasks = 4
    passes = 2
    # Where ranks outnumber cores, each hop waits for a slice of the scheduler's time.
    step_limit_s = 120

    @run_before("performance")
    def name_performance_variables(self):
        """The time of each algorithm at the largest message."""
        self.perf_variables = {mode: self.slowest_rank_us(mode) for mode in self.modes}

    @performance_function("us")
    def slowest_rank_us(self, mode="library"):
        """Median time until the last rank has ended."""
        return self.median_us(mode, max(self.sizes_bytes))
