"""Ping-pong between two ranks (study 001): latency and bandwidth, standard and synchronous sends."""

import reframe as rfm
from reframe.core.builtins import run_before
from reframe.utility import sanity as sn

from .mixins.kernel import KernelMixin
from .mixins.sizes import points_per_octave

#: The message size that people quote latency for.
LATENCY_BYTES = 8


class PingPong(rfm.RunOnlyRegressionTest, KernelMixin):
    """Half round trips (``send``, ``ssend``) and windowed streams (``stream``, ``sstream``)."""

    kernel = "pingpong"
    modes = ["send", "ssend", "stream", "sstream"]
    num_tasks = 2

    @run_before("performance")
    def extract_curve_ends(self):
        """One number for each mode: latency at 8 B, or bandwidth at the largest message."""
        points = {(p["mode"], p["size_bytes"]): p for p in self.facts.footer["points"]}
        largest = max(self.sizes_bytes)
        self.perf_variables = {}
        for mode in self.modes:
            if mode.endswith("stream"):
                value = largest / points[mode, largest]["median_us"]
                self.perf_variables[f"{mode}_bandwidth"] = sn.make_performance_function(
                    sn.defer(value), "MB/s"
                )
            else:
                value = points[mode, LATENCY_BYTES]["median_us"]
                self.perf_variables[f"{mode}_latency"] = sn.make_performance_function(
                    sn.defer(value), "us"
                )


@rfm.simple_test
class PingPongSmoke(PingPong):
    """Few sizes, few samples: does every part work?"""

    tags = {"smoke", "study-001"}
    sizes_bytes = [1, 8, 1024, 65536, 1048576]
    passes = 2
    samples = 4


@rfm.simple_test
class PingPongSweep(PingPong):
    """The whole curve, dense enough to find switches."""

    tags = {"sweep", "study-001"}
    sizes_bytes = points_per_octave(1, 1 << 20, 3)
    step_limit_s = 120
