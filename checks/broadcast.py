"""Broadcast from rank 0 to all others (study 004): our trees, compared with the MPI library's."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before

from .mixins.kernel import KernelMixin
from .mixins.ranks import RanksMixin

#: Sizes of a sweep for which the user sets none.
SIZES_BYTES = [1, 256, *(kib << 10 for kib in (1, 4, 8, 16, 32, 64))]


@rfm.simple_test
class Broadcast(rfm.RunOnlyRegressionTest, RanksMixin, KernelMixin):
    """Every algorithm, with and without acknowledgement, at sizes of the study."""

    tags = {"study-004"}
    kernel = "broadcast"
    modes = [
        *("repeated", "binary", "two_level", "binomial", "pipelined"),
        *("repeated_ack", "binary_ack", "two_level_ack", "binomial_ack", "pipelined_ack"),
        *("scatter_allgather", "library"),
    ]
    sizes_bytes = SIZES_BYTES
    # If there are more ranks than cores, each hop waits for a time slice of the scheduler.
    step_limit_s = 120

    #: Members of the group, as in the study. If a partition names its cores in
    #: ``extras['most_ranks']``, it runs groups up to this size, and always one of four.
    #:
    #: :type: :class:`int`
    ranks = parameter([2, 4, 8, 16], type=int, loggable=True)

    @run_after("setup")
    def keep_to_the_cores(self):
        """Skip groups that have more ranks than cores, which would measure the scheduler."""
        most = max(4, self.current_partition.extras.get("most_ranks", self.ranks))
        self.skip_if(
            self.ranks > most, f"this partition has no cores for {self.ranks} ranks (most_ranks)"
        )
        if self.oversubscribed:
            if self.sizes_bytes == SIZES_BYTES:  # those that a user sets stay
                self.sizes_bytes = [1, 64 << 10]
            self.passes = self.samples = 2

    @run_before("performance")
    def name_performance_variables(self):
        """The time of each algorithm at the largest message."""
        self.perf_variables = {mode: self.slowest_rank_us(mode) for mode in self.modes}

    @performance_function("us")
    def slowest_rank_us(self, mode="library"):
        """Median time until the last rank has ended."""
        return self.median_us(mode, max(self.sizes_bytes))
