"""Ring with a compute grain (study 002): the speed-up with communication."""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_before

from .mixins.kernel import KernelMixin
from .mixins.ranks import RanksMixin

#: Message lengths of the study, in words of 4 bytes.
WORDS = [1, 1000, 10000]


@rfm.simple_test
class Ring(rfm.RunOnlyRegressionTest, RanksMixin, KernelMixin):
    """A task of ``grain_us`` over the ranks, then the round-robin exchange."""

    tags = {"study-002"}
    kernel = "ring"
    modes = ["alternate", "serial"]
    sizes_bytes = [4 * words for words in WORDS]

    #: Ranks, as in the study. Only its model goes to 8.
    #:
    #: :type: :class:`int`
    ranks = parameter([2, 4], type=int, loggable=True)

    #: T: the task's time on one rank in microseconds. Today's networks break even at tasks a
    #: thousand times shorter than the study's; ``-P grain_us=1000000`` uses one of its tasks.
    #:
    #: :type: :class:`int`
    grain_us = parameter([2000, 20000], type=int, loggable=True)

    #: s: the part of the task that only rank 0 can do, in percent.
    #:
    #: :type: :class:`int`
    serial_percent = parameter([0, 1, 20], type=int, loggable=True)

    #: The study's mean is of 20 iterations; one block each.
    samples = 4
    pass_time_ms = 500

    @run_before("run")
    def pass_grain(self):
        """Pass the task to the kernel, and write it as labels."""
        self.executable_opts += [
            f"--grain={self.grain_us}",
            f"--serial={self.serial_percent}",
            f"--label=grain_us={self.grain_us}",
            f"--label=serial_percent={self.serial_percent}",
        ]

    @run_before("performance")
    def name_performance_variables(self):
        """One speed-up for each message length."""
        self.perf_variables = {f"speedup_{words}_words": self.speedup(4 * words) for words in WORDS}

    @performance_function("1")
    def speedup(self, size_bytes=4):
        """Equation 1: the task's time on one rank divided by its time on all ranks."""
        return self.median_us("serial", size_bytes) / self.median_us("alternate", size_bytes)
