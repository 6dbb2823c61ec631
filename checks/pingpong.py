"""Ping-pong (study 001): latency and bandwidth between two ranks, and between pairs of them."""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from .mixins.baseline import CrowdMixin
from .mixins.kernel import KernelMixin
from .mixins.sizes import LATENCY_BYTES, WINDOW, points_per_octave

#: A last-level cache that most machines do not exceed, where ReFrame knows no processors.
COMMON_CACHE_BYTES = 32 << 20


class PingPong(rfm.RunOnlyRegressionTest, KernelMixin):
    """Half round trips (``send``, ``ssend``) and windowed streams (``stream``, ``sstream``)."""

    kernel = "pingpong"
    modes = ["send", "ssend", "stream", "sstream"]
    num_tasks = 2

    #: Messages in flight in streams, at every size.
    #:
    #: :type: :class:`int`
    window = variable(int, value=WINDOW)

    @run_before("run")
    def set_window(self):
        """Pass the window to the kernel, whose record makes it part of the curve's identity."""
        self.executable_opts.append(f"--window={self.window}")

    @run_before("performance")
    def name_performance_variables(self):
        """One number for each mode: latency, or bandwidth at the largest message."""
        self.perf_variables = {
            f"{mode}_bandwidth": self.bandwidth_MBps(mode)
            for mode in self.modes
            if mode.endswith("stream")
        } | {
            f"{mode}_latency": self.latency_us(mode)
            for mode in self.modes
            if not mode.endswith("stream")
        }

    @performance_function("us")
    def latency_us(self, mode="send"):
        """Median half round trip at 8 B, or at the smallest size if that is larger."""
        return self.median_us(mode, max(LATENCY_BYTES, min(self.sizes_bytes)))

    @performance_function("MB/s")
    def bandwidth_MBps(self, mode="stream"):  # noqa: N802 (the unit's own capitals)
        """Median bandwidth at the largest size."""
        largest = max(self.sizes_bytes)
        return largest / self.median_us(mode, largest)


@rfm.simple_test
class PingPongSmoke(PingPong):
    """Few sizes and few samples: shows whether every part works."""

    tags = {"smoke", "study-001"}
    sizes_bytes = [1, 8, 1024, 65536, 1048576]
    passes = 2
    samples = 4


@rfm.simple_test
class PingPongSweep(PingPong):
    """The whole curve, with enough sizes to find switches."""

    tags = {"sweep", "study-001"}
    sizes_bytes = points_per_octave(1, 1 << 20, 3)
    # On a link of 100 Mbit/s a window of 1 MiB messages takes 1.4 s: one pass must do there.
    point_time_ms = 1000
    step_limit_s = 120


@rfm.simple_test
class PingPongNear64K(PingPong):
    """Longer blocks around 64 KiB, as in study 001, which used ten seconds per size.

    ``-S size_time_s=10 -S step_limit_s=3600`` takes as long as the study did.
    """

    tags = {"study-001"}
    modes = ["send", "ssend"]
    sizes_bytes = [8, *range(48 << 10, (80 << 10) + 1, 2 << 10)]
    passes = 3
    samples = 2
    block_time_us = 20000
    pass_time_ms = 60
    step_limit_s = 120


@rfm.simple_test
class PingPongModes(PingPong):
    """Every MPI send mode (study 001), at the sizes of study 004's echo."""

    tags = {"study-001", "study-004"}
    modes = [
        *("send", "ssend", "isend", "bsend", "resend", "rsend", "persistent", "sendrecv"),
        *("stream", "sstream", "bistream"),
    ]
    sizes_bytes = [1, 8, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10]


@rfm.simple_test
class PingPongWholeRange(PingPong):
    """Study 001's whole range, at most 2 s per size as there, or until the median is known to 2 %.

    The study used long times because the load of other users is visible in short blocks. More time
    helps little if the median is known.
    """

    tags = {"study-001"}
    modes = ["send", "ssend"]
    sizes_bytes = points_per_octave(1, 1 << 20, 1)
    size_time_s = 2
    precision_percent = 2
    # Enough blocks for a pass of 20 ms.
    block_time_us = 1000
    samples = 20
    step_limit_s = 600


@rfm.simple_test
class PingPongCold(PingPong):
    """Messages that start and end out of cache.

    The buffers are twice the largest cache that ReFrame knows of the partition's processors. The
    check fails if the record shows that a node has a cache which they do not exceed: then use
    ``-S rotate_mib=...``.
    """

    tags = {"study-001"}
    modes = ["send", "ssend", "isend", "rsend", "sendrecv"]
    sizes_bytes = [1, 8, 1 << 10, 8 << 10, 64 << 10, 1 << 20]

    @run_after("setup")
    def exceed_caches(self):
        """Choose `rotate_mib`, unless it was set. Many sites let ReFrame know no processors."""
        if self.rotate_mib == 0:
            known = (self.current_partition.processor.topology or {}).get("caches", [])
            self.rotate_mib = twice_mib([COMMON_CACHE_BYTES, *(c["size"] for c in known)])

    @sanity_function
    def validate_run(self):
        """Assert that the run is complete, and that its buffers exceed every recorded cache."""
        complete = sn.evaluate(super().validate_run())
        largest = largest_cache_bytes(self.facts.header)
        return sn.all(
            [
                complete,
                sn.assert_gt(
                    self.rotate_mib << 20,
                    largest,
                    f"buffers of {self.rotate_mib} MiB fit into a cache of {largest >> 20} MiB, so "
                    f"that messages are not cold; use -S rotate_mib={twice_mib([largest])}",
                ),
            ]
        )


def twice_mib(cache_bytes):
    """Return twice the largest of these caches in MiB, rounded up."""
    return -(-2 * max(cache_bytes) // (1 << 20))


def largest_cache_bytes(header):
    """Return the size of the largest cache that a record's ranks have; 0 if it names none."""
    topologies = [rank.get("topology") or {"caches": []} for rank in header["ranks"]]
    return max((c["size_bytes"] for known in topologies for c in known["caches"]), default=0)


@rfm.simple_test
class MultiPair(CrowdMixin, PingPong):
    """Several pairs at the same time. The bandwidth of a stream is that of all pairs together."""

    tags = {"study-001"}
    kernel = "multipair"
    modes = ["send", "stream", "bistream"]
    sizes_bytes = [8, 1 << 10, 8 << 10, 64 << 10, 1 << 20]
