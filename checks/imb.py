"""Intel MPI Benchmarks: a baseline on the same placements and MPIs."""

import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    fixture,
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from .mixins.baseline import BuiltBaselineMixin, CrowdMixin
from .mixins.build import ImbBuild
from .mixins.sizes import LATENCY_BYTES

#: Soname of every MPI with MPICH's binary interface, such as Intel MPI
#: (https://www.mpich.org/abi/). Distributions may use another name for MPICH's own library.
MPICH_ABI = "libmpi.so.12"


#: Benchmarks with the column of their tables that is used, counted from 1: the time in us (for a
#: call the average over ranks), or for streams MB/s.
COLUMNS = {
    "PingPong": 3,
    "Sendrecv": 5,
    "Uniband": 3,
    "Biband": 3,
    "Alltoall": 5,
    "Bcast": 5,
}

#: Benchmarks with 64 messages in flight.
STREAMS = ("Uniband", "Biband")

#: Benchmarks that take more than two ranks.
COLLECTIVES = ("Alltoall", "Bcast")


@rfm.simple_test
class Imb(rfm.RunOnlyRegressionTest, CrowdMixin, BuiltBaselineMixin):
    """One benchmark of IMB-MPI1: its whole table at powers of two.

    Spack builds the program for each MPI, or the site has it. A program that was built with Intel
    MPI runs on any library with MPICH's binary interface. The environment names this library in
    ``extras['imb_mpi_library']``, and the program loads it under the name that it expects.
    """

    tags = {"baseline"}
    num_tasks = 2
    sourcesdir = None

    #: Name of the benchmark.
    #:
    #: :type: :class:`str`
    benchmark = parameter(list(COLUMNS), loggable=True)

    #: Largest message in bytes, as a power of two; the smallest is empty.
    #:
    #: :type: :class:`int`
    last_power = variable(int, value=20)

    #: Most repetitions of a size; 0: 1000, of streams 50.
    #:
    #: :type: :class:`int`
    iterations = variable(int, value=0)

    #: Bytes to pass at each size, in MiB (2^20 B), which bounds the repetitions of large messages;
    #: 0: 20, of streams 2.
    #:
    #: :type: :class:`int`
    volume_mib = variable(int, value=0)

    #: The program, built once for each environment.
    build = fixture(ImbBuild, scope="environment")

    @run_after("init")
    def describe(self):
        """Describe the test in the listing, and name the file after the benchmark."""
        self.descr = f"IMB {self.benchmark} on {self.placement}"
        self.curve = f"imb_{self.benchmark.lower()}.out"
        if self.benchmark == "PingPong":
            self.tags |= {"smoke"}

    @property
    def takes_many_ranks(self):
        """Whether more than two ranks take part."""
        return self.benchmark in COLLECTIVES

    @property
    def streams(self):
        """Whether the benchmark has a window of messages in flight."""
        return self.benchmark in STREAMS

    @run_before("run")
    def prepare_run(self):
        """Measure with all ranks, not with fewer."""
        self.executable = shlex.quote(self.build.program)
        iterations = self.iterations or (50 if self.streams else 1000)
        volume_mib = self.volume_mib or (2 if self.streams else 20)
        self.executable_opts = [
            shlex.quote(self.benchmark),
            f"-npmin {self.num_tasks}",
            f"-msglog 0:{self.last_power}",
            f"-iter {iterations},{volume_mib}",
        ]

    @run_before("run")
    def take_library_of_the_same_interface(self):
        """Make a program that was built with Intel MPI find the environment's MPICH."""
        library = self.current_environ.extras.get("imb_mpi_library")
        if library and not self.build.by_spack:
            folder = Path(self.stagedir, "lib")
            folder.mkdir(exist_ok=True)
            (folder / MPICH_ABI).symlink_to(library)
            self.env_vars["LD_LIBRARY_PATH"] = f"{folder}:$LD_LIBRARY_PATH"

    @sanity_function
    def validate_run(self):
        """Assert the placement, the number of ranks, and every size."""
        sizes = sn.extractall(r"^\s+(\d+)\s+\d+\s+\d\S*", self.curve, 1, int)
        ranks = sn.extractall(r"^# #processes = (\d+)", self.curve, 1, int)
        expected = [0, *(1 << power for power in range(self.last_power + 1))]
        return self.assert_curve(
            [
                sn.assert_eq(sizes, expected, "IMB printed sizes {0}, not {1}"),
                sn.assert_eq(ranks, [self.num_tasks], "IMB measured with {0} processes, not {1}"),
            ]
        )

    @run_before("performance")
    def name_performance_variable(self):
        """Latency, or the bandwidth of streams."""
        self.perf_variables = (
            {"bandwidth": self.bandwidth()} if self.streams else {"latency": self.latency()}
        )

    def value_at(self, size_bytes):
        """Number in the benchmark's column for a size: us or MB/s (10^6 B/s)."""
        before = COLUMNS[self.benchmark] - 1
        return sn.extractsingle(rf"^\s+{size_bytes}(?:\s+(\S+)){{{before}}}", self.curve, 1, float)

    @performance_function("us")
    def latency(self):
        """Time of a message, or average over ranks of a call, at 8 B."""
        return self.value_at(LATENCY_BYTES)

    @performance_function("MB/s")
    def bandwidth(self):
        """Bandwidth of the largest message."""
        return self.value_at(1 << self.last_power)
