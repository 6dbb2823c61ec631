"""NetPIPE's ping-pong: a baseline by other hands, on the same placements and MPIs."""

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

from .mixins.baseline import BaselineMixin


@rfm.simple_test
class NetPipe(rfm.RunOnlyRegressionTest, BaselineMixin):
    """Latency and bandwidth with NetPIPE 3.7, built by the distribution for each MPI.

    The environment names the program in ``extras['netpipe']``; without one the check is skipped.
    """

    descr = "NetPIPE ping-pong"
    tags = {"smoke", "baseline"}
    num_tasks = 2
    sourcesdir = None
    curve = "netpipe.out"
    table = "np.out"

    #: Smallest message in bytes.
    #:
    #: :type: :class:`int`
    first_bytes = variable(int, value=1)

    #: Largest message in bytes.
    #:
    #: :type: :class:`int`
    last_bytes = variable(int, value=65536)

    #: Round trips a trial; NetPIPE makes seven trials and keeps the fastest.
    #:
    #: :type: :class:`int`
    repeats = variable(int, value=100)

    @run_before("run")
    def prepare_run(self):
        """Name the program and its grid, without NetPIPE's odd sizes around each point."""
        self.skip_if(
            "netpipe" not in self.current_environ.extras,
            f"environment '{self.current_environ.name}' names no NetPIPE in its extras",
        )
        self.executable = self.current_environ.extras["netpipe"]
        self.executable_opts = [
            f"-l {self.first_bytes}",
            f"-u {self.last_bytes}",
            f"-n {self.repeats}",
            "-p 0",
            f"-o {self.table}",
        ]

    @sanity_function
    def validate_run(self):
        """Both ranks on the nodes that were asked for, and a curve up to the largest size."""
        sizes = sn.extractall(r"^\s*(\d+)\s+\S+\s+\S+$", self.curve, 1, int)
        return self.assert_curve(
            [
                sn.assert_true(sizes, "NetPIPE measured nothing"),
                sn.assert_eq(sn.min(sizes), self.first_bytes),
                sn.assert_eq(sn.max(sizes), self.last_bytes),
            ]
        )

    @performance_function("us")
    def latency(self):
        """Half round trip of the smallest message."""
        return sn.extractsingle(r"^\s*\d+\s+\S+\s+(\S+)$", self.curve, 1, float) * 1e6

    @performance_function("MB/s")
    def bandwidth(self):
        """Bandwidth of the largest message in ping-pong; NetPIPE's Mbps are 2^20 bit/s."""
        return sn.extractall(r"^\s*\d+\s+(\S+)\s+\S+$", self.curve, 1, float)[-1] * 2**20 / 8e6
