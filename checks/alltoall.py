"""All-to-all (study 003): our packet schedules, compared with the MPI library's."""

import reframe as rfm
from reframe.core.builtins import performance_function, run_after, run_before, variable

from .mixins.kernel import KernelMixin
from .mixins.ranks import RanksMixin


@rfm.simple_test
class CompleteExchange(rfm.RunOnlyRegressionTest, RanksMixin, KernelMixin):
    """Every schedule, for short messages and long ones."""

    tags = {"study-003"}
    kernel = "alltoall"
    modes = [
        *("shift", "pairwise", "group_shuffle", "synchronous_shuffle"),
        *("group_shuffle_windowed", "synchronous_shuffle_windowed", "library"),
    ]
    sizes_bytes = [64, 1 << 10, 16 << 10, 128 << 10]
    # If there are more ranks than cores, each hop waits for a time slice of the scheduler.
    step_limit_s = 120

    #: Ranks; any number that the nodes divide. Pairwise needs a power of two.
    #:
    #: :type: :class:`int`
    ranks = variable(int, value=4)

    #: Largest packet in bytes.
    #:
    #: :type: :class:`int`
    packet_bytes = variable(int, value=65536)

    #: Ranks in a group of the group shuffle.
    #:
    #: :type: :class:`int`
    group = variable(int, value=2)

    #: Packets in flight per rank in the windowed modes: 0 for one to each other rank.
    #:
    #: :type: :class:`int`
    send_window = variable(int, value=0)

    @run_after("init")
    def leave_pairwise_out(self):
        """Use only the schedules for this number of ranks: pairwise needs a power of two."""
        if self.ranks & (self.ranks - 1):
            self.modes = [mode for mode in self.modes if mode != "pairwise"]

    @run_after("setup")
    def measure_little_if_oversubscribed(self):
        """Take few samples if there are more ranks than cores."""
        if self.oversubscribed:
            self.passes = self.samples = 2

    @run_before("run")
    def pass_schedule(self):
        """Pass packets, groups and window to the kernel, and write them as labels."""
        chosen = {"packet": self.packet_bytes, "group": self.group}
        if self.send_window:
            chosen["send-window"] = self.send_window
        self.executable_opts += [f"--{option}={value}" for option, value in chosen.items()]
        self.executable_opts += [
            f"--label={option.replace('-', '_')}={value}" for option, value in chosen.items()
        ]

    @run_before("performance")
    def name_performance_variables(self):
        """The bandwidth of each schedule with the largest message."""
        self.perf_variables = {mode: self.rank_bandwidth_MBps(mode) for mode in self.modes}

    @performance_function("MB/s")
    def rank_bandwidth_MBps(self, mode="library"):  # noqa: N802 (the unit's own capitals)
        """Payload that each rank sends to all others, divided by the time of the slowest rank."""
        return self.points[mode, max(self.sizes_bytes)]["bus_MBps"]
