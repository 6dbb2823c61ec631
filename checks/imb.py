"""Intel MPI Benchmarks: a baseline by other hands, on the same placements and MPIs."""

from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    fixture,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from .mixins.baseline import BuiltBaselineMixin, Crowd
from .mixins.build import ImbBuild
from .mixins.sizes import LATENCY_BYTES

#: Soname of every MPI with MPICH's binary interface, Intel MPI among them
#: (https://www.mpich.org/abi/); distributions may name MPICH's own library otherwise.
MPICH_ABI = "libmpi.so.12"


class Imb(rfm.RunOnlyRegressionTest, BuiltBaselineMixin):
    """One benchmark of IMB-MPI1: its whole table at powers of two.

    The program is built by Spack for each MPI, or the site's own. One that was built with Intel MPI
    runs on any library with MPICH's binary interface: the environment names that library in
    ``extras['imb_mpi_library']``, and the program is made to load it under the name it looks for.

    A child defines ``benchmark``.
    """

    tags = {"baseline"}
    num_tasks = 2
    sourcesdir = None

    #: Name of the benchmark, such as ``PingPong``.
    #:
    #: :type: :class:`str`
    benchmark = variable(str)

    #: Largest message in bytes, as a power of two; the smallest is empty.
    #:
    #: :type: :class:`int`
    last_power = variable(int, value=20)

    #: Most repetitions of a size.
    #:
    #: :type: :class:`int`
    iterations = variable(int, value=1000)

    #: Bytes to pass at each size, in MiB (2^20 B), which bounds the repetitions of large messages.
    #:
    #: :type: :class:`int`
    volume_mib = variable(int, value=20)

    #: The program, built once for each environment.
    build = fixture(ImbBuild, scope="environment")

    @run_after("init")
    def describe(self):
        """Say in the listing what is measured, and name the file after the benchmark."""
        self.descr = f"IMB {self.benchmark} on {self.placement}"
        self.curve = f"imb_{self.benchmark.lower()}.out"

    @run_before("run")
    def prepare_run(self):
        """Measure with all ranks and no fewer."""
        self.executable = self.build.program
        self.executable_opts = [
            self.benchmark,
            f"-npmin {self.num_tasks}",
            f"-msglog 0:{self.last_power}",
            f"-iter {self.iterations},{self.volume_mib}",
            f">> {self.curve}",
        ]

    @run_before("run")
    def take_library_of_the_same_interface(self):
        """Let a program that was built with Intel MPI find the environment's MPICH."""
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

    def value_at(self, size_bytes, column):
        """Number in a column of the table, counted from 1: us, MB/s (10^6 B/s) or messages/s."""
        return sn.extractsingle(
            rf"^\s+{size_bytes}(?:\s+(\S+)){{{column - 1}}}", self.curve, 1, float
        )


class ImbLatencies(Imb):
    """Prints us."""

    #: Column of the time: the last but the bandwidth, where there is one.
    time_column = 3

    @performance_function("us")
    def latency(self):
        """Time of a message, or average over ranks of a call, at 8 B."""
        return self.value_at(LATENCY_BYTES, self.time_column)


class ImbBandwidths(Imb):
    """Prints MB/s, with 64 messages in flight."""

    iterations = 50
    volume_mib = 2

    @performance_function("MB/s")
    def bandwidth(self):
        """Bandwidth of the largest message."""
        return self.value_at(1 << self.last_power, 3)


@rfm.simple_test
class ImbPingPong(ImbLatencies):
    """Ping-pong."""

    benchmark = "PingPong"
    tags = {"baseline", "smoke"}


@rfm.simple_test
class ImbSendrecv(ImbLatencies):
    """Both ranks send and receive at once."""

    benchmark = "Sendrecv"
    time_column = 5


@rfm.simple_test
class ImbUniband(ImbBandwidths):
    """A stream from one rank to the other."""

    benchmark = "Uniband"


@rfm.simple_test
class ImbBiband(ImbBandwidths):
    """Streams both ways at once."""

    benchmark = "Biband"


@rfm.simple_test
class ImbAlltoall(ImbLatencies, Crowd):
    """MPI_Alltoall."""

    benchmark = "Alltoall"
    time_column = 5


@rfm.simple_test
class ImbBcast(ImbLatencies, Crowd):
    """MPI_Bcast."""

    benchmark = "Bcast"
    time_column = 5
