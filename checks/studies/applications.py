"""Applications (study 004): complete problems with message passing."""

from pathlib import Path

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_before

from ..mixins.kernel import KernelMixin
from ..mixins.ranks import RanksMixin


class ApplicationMixin(RanksMixin, KernelMixin):
    """Problems of two sizes in parallel and on rank 0 alone, in one random order.

    A child defines ``kernel``, ``modes`` and ``sizes_bytes`` in its class body. A mode ``m`` is
    compared with ``m_serial`` if that exists, otherwise with ``serial``.
    """

    #: Ranks, as in the study. The serial modes use one.
    #:
    #: :type: :class:`int`
    ranks = parameter([2, 4], loggable=True)

    # If there are more ranks than cores, each hop waits for a time slice of the scheduler.
    step_limit_s = 120

    # The study gives neither problem sizes nor repetitions. Claims need three passes.
    passes = 3
    samples = 4
    pass_time_ms = 100

    @run_before("run")
    def leave_out_what_was_not_built(self):
        """Say which library is missing, and name the reference page."""
        self.skip_if(
            not Path(self.build.program(self.kernel)).exists(),
            f"{self.kernel} was not built in {self.build.programs}, because its library is "
            "missing: see docs/reference/applications.md",
        )

    @run_before("performance")
    def name_performance_variables(self):
        """The speed-up of each parallel mode, and the times of rank 0 alone, at each size."""
        self.perf_variables = {}
        for mode in self.modes:
            alone = mode.endswith(("serial", "one_rank"))
            for size in self.sizes_bytes:
                at = f"{size >> 10}_KiB"
                if alone:
                    self.perf_variables[f"{mode}_{at}"] = self.time_us(mode, size)
                else:
                    self.perf_variables[f"{mode}_speedup_{at}"] = self.speedup(mode, size)

    @performance_function("1")
    def speedup(self, mode="parallel", size_bytes=0):
        """Time of the serial mode divided by the time of all ranks, with the data on rank 0."""
        own = f"{mode}_serial"
        serial = own if own in self.modes else "serial"
        return self.median_us(serial, size_bytes) / self.median_us(mode, size_bytes)

    @performance_function("us")
    def time_us(self, mode="serial", size_bytes=0):
        """Time of rank 0 alone, with the serial program or with the parallel one."""
        return self.median_us(mode, size_bytes)


@rfm.simple_test
class FastFourierTransform(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """FFT of 64 x 64 and of 256 x 256 complex numbers."""

    tags = {"study-004"}
    kernel = "fft"
    modes = ["parallel", "serial", "one_rank"]
    sizes_bytes = [16 * n * n for n in (64, 256)]


@rfm.simple_test
class SortingByRegularSampling(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """PSRS of 16 Ki and of 256 Ki keys."""

    tags = {"study-004"}
    kernel = "psrs"
    modes = ["parallel", "serial", "one_rank"]
    sizes_bytes = [64 << 10, 1 << 20]


@rfm.simple_test
class BackPropagation(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """BPNN learning from 256 and from 1024 patterns."""

    tags = {"study-004"}
    kernel = "backpropagation"
    modes = ["parallel", "serial", "one_rank"]
    sizes_bytes = [64 << 10, 256 << 10]


@rfm.simple_test
class Voting(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """Ballots of 8 Ki and of 128 Ki votes."""

    tags = {"study-004"}
    kernel = "voting"
    modes = ["everywhere", "shares", "serial"]
    sizes_bytes = [64 << 10, 1 << 20]


@rfm.simple_test
class JpegCompression(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """JPEG of 16 and of 256 blocks of 64 x 64 pixels."""

    tags = {"study-004"}
    kernel = "jpeg"
    modes = ["parallel", "serial", "one_rank", "both", "both_serial"]
    sizes_bytes = [64 << 10, 1 << 20]


@rfm.simple_test
class LinearEquations(rfm.RunOnlyRegressionTest, ApplicationMixin):
    """LU, INV and MULT of 64 x 64 and of 256 x 256 numbers."""

    tags = {"study-004"}
    kernel = "linear"
    modes = [
        *("lu", "lu_serial", "lu_one_rank", "inv", "inv_serial", "inv_one_rank"),
        *("mult", "mult_serial", "mult_one_rank"),
    ]
    sizes_bytes = [8 * n * n for n in (64, 256)]
