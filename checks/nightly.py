"""What is measured night after night: few sizes, several launches, both sides of each switch.

A launch is what varies most: the ranks' places, buffers and connections are new in each. Each curve
therefore has several launches in a session, and all other curves are measured between two of them,
so that a disturbance of a minute hits one launch of many curves, not all launches of one.
"""

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before

from .mixins.baseline import CrowdMixin
from .mixins.kernel import KernelMixin
from .mixins.launches import LaunchesMixin
from .mixins.sizes import WINDOW, points_per_octave

#: Kernels of a night with their modes.
MODES = {"pingpong": ["send", "stream"], "broadcast": ["library"]}


@rfm.simple_test
class Nightly(rfm.RunOnlyRegressionTest, LaunchesMixin, CrowdMixin, KernelMixin):
    """Ping-pong and the library's broadcast at every placement, two sizes an octave.

    Both kernels are variants of one check, because ReFrame runs all variants of a check before
    those of the next, and their launches should alternate.
    """

    tags = {"nightly"}
    num_tasks = 2
    sizes_bytes = points_per_octave(8, 1 << 20, 2)
    passes = 4
    samples = 5
    # On a link of 100 Mbit/s a window of 1 MiB messages takes 1.4 s: one pass must do there.
    point_time_ms = 500
    step_limit_s = 120

    #: The kernel to run.
    #:
    #: :type: :class:`str`
    measures = parameter(list(MODES), loggable=True)

    @run_after("init")
    def describe(self):
        """Take the kernel's name and modes, then describe the test in the listing."""
        self.kernel = self.measures
        self.modes = MODES[self.kernel]
        super().describe()

    @property
    def takes_many_ranks(self):
        """Whether more than two ranks may take part."""
        return self.kernel != "pingpong"

    @run_before("run")
    def pass_what_only_one_kernel_has(self):
        """Pass the streams' window, or name the number of ranks, which is part of the identity."""
        if self.kernel == "pingpong":
            self.executable_opts.append(f"--window={WINDOW}")
        else:
            self.executable_opts.append(f"--label=ranks={self.num_tasks}")

    @run_before("performance")
    def name_performance_variables(self):
        """The time of each mode at the smallest and at the largest message."""
        self.perf_variables = {
            f"{mode}_{size}B": self.time_us(mode, size)
            for mode in self.modes
            for size in (min(self.sizes_bytes), max(self.sizes_bytes))
        }

    @performance_function("us")
    def time_us(self, mode="send", size_bytes=8):
        """Median time per message or call."""
        return self.median_us(mode, size_bytes)
