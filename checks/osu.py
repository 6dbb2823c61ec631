"""OSU Micro-Benchmarks: a baseline by other hands, on the same placements and MPIs."""

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import (
    fixture,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from .mixins.baseline import BuiltBaselineMixin, Crowd
from .mixins.build import OsuBuild
from .mixins.sizes import LATENCY_BYTES

#: Up to this size OSU repeats often, above it seldom; its own LARGE_MESSAGE_SIZE.
SMALL_BYTES = 8192


class Osu(rfm.RunOnlyRegressionTest, BuiltBaselineMixin):
    """One OSU program: its whole table, after a run that verifies payloads of all its sizes.

    OSU's own repetitions would take minutes on a slow link, so they are bounded here, apart for
    small and for large messages. Payloads are verified in a run of their own, since OSU does that
    between its timings, which then hold caches and connections that it has disturbed.

    A child defines ``program``.
    """

    tags = {"baseline"}
    num_tasks = 2
    sourcesdir = None

    #: Program and its folder, such as ``pt2pt/osu_latency``.
    #:
    #: :type: :class:`str`
    program = variable(str)

    #: Smallest message in bytes; a power of two.
    #:
    #: :type: :class:`int`
    first_bytes = variable(int, value=1)

    #: Largest message in bytes; a power of two.
    #:
    #: :type: :class:`int`
    last_bytes = variable(int, value=1 << 20)

    #: Repetitions for messages of up to 8 KiB.
    #:
    #: :type: :class:`int`
    iterations = variable(int, value=1000)

    #: Repetitions for larger messages.
    #:
    #: :type: :class:`int`
    large_iterations = variable(int, value=20)

    #: What makes OSU verify payloads; empty for programs too old to know how (before 5.7).
    #:
    #: :type: :class:`List[str]`
    validation_options = variable(typ.List[str], value=["-c", "-i 1", "-x 0"])

    #: The programs, built once for each environment.
    build = fixture(OsuBuild, scope="environment")

    @run_after("init")
    def describe(self):
        """Say in the listing what is measured, and name the file after the program."""
        self.benchmark = self.program.rpartition("/")[2]
        self.descr = f"{self.benchmark} on {self.placement}"
        self.curve = f"{self.benchmark}.out"

    @run_before("run")
    def prepare_run(self):
        """Verify, then measure small messages, then large ones."""
        self.executable = self.build.program(self.program)
        if self.validation_options:
            sizes = f"-m {self.first_bytes}:{self.last_bytes}"
            self.prerun_cmds.append(self.step(sizes, *self.validation_options))
        small = min(self.last_bytes, SMALL_BYTES)
        self.executable_opts = self.options(self.first_bytes, small, self.iterations)
        if self.last_bytes > small:
            options = self.options(2 * small, self.last_bytes, self.large_iterations)
            self.postrun_cmds = [self.step(*options)]

    def step(self, *options):
        """Command line that runs the program on all ranks."""
        return " ".join([self.launch, self.executable, *options])

    def options(self, first_bytes, last_bytes, iterations):
        """Words that measure a range of sizes, with a tenth of the repetitions as warm-up."""
        return [
            f"-m {first_bytes}:{last_bytes}",
            f"-i {iterations}",
            f"-x {max(1, iterations // 10)}",
            f">> {self.curve}",
        ]

    @property
    def sizes_bytes(self):
        """Sizes that the table must have: powers of two."""
        sizes = [self.first_bytes]
        while sizes[-1] < self.last_bytes:
            sizes.append(2 * sizes[-1])
        return sizes

    @sanity_function
    def validate_run(self):
        """Assert the placement, every size, and every payload."""
        sizes = sn.extractall(r"^(\d+)\s+\S+", self.curve, 1, int)
        passes = sn.count(sn.extractall(r"^\d+\s.*\sPass$", self.stdout))
        verified = self.sizes_bytes if self.validation_options else []
        return self.assert_curve(
            [
                sn.assert_eq(
                    sizes, self.sizes_bytes, f"{self.benchmark} printed sizes {{0}}, not {{1}}"
                ),
                sn.assert_eq(
                    passes, len(verified), "OSU found payloads whole at {0} sizes, not at {1}"
                ),
            ]
        )

    def value_at(self, size_bytes):
        """Value that the table has for a size: us or MB/s (10^6 B/s)."""
        return sn.extractsingle(rf"^{size_bytes}\s+(\S+)", self.curve, 1, float)


class OsuLatencies(Osu):
    """Prints us."""

    @performance_function("us")
    def latency(self):
        """Average time of a message, or of a collective call, at 8 B."""
        return self.value_at(LATENCY_BYTES)


class OsuBandwidths(Osu):
    """Prints MB/s, with 64 messages in flight."""

    iterations = 50
    large_iterations = 4
    validation_options = ["-c", "-i 1", "-x 0", "-W 8"]

    @performance_function("MB/s")
    def bandwidth(self):
        """Bandwidth of the largest message."""
        return self.value_at(self.last_bytes)


@rfm.simple_test
class OsuLatency(OsuLatencies):
    """Ping-pong."""

    program = "pt2pt/osu_latency"
    tags = {"baseline", "smoke"}


@rfm.simple_test
class OsuBandwidth(OsuBandwidths):
    """A stream from one rank to the other."""

    program = "pt2pt/osu_bw"


@rfm.simple_test
class OsuBidirectionalBandwidth(OsuBandwidths):
    """Streams both ways at once."""

    program = "pt2pt/osu_bibw"


@rfm.simple_test
class OsuMultiLatency(OsuLatencies, Crowd):
    """Ping-pongs of all pairs at once."""

    program = "pt2pt/osu_multi_lat"


@rfm.simple_test
class OsuMultiBandwidth(OsuBandwidths, Crowd):
    """Streams of all pairs at once."""

    program = "pt2pt/osu_mbw_mr"


@rfm.simple_test
class OsuAlltoall(OsuLatencies, Crowd):
    """MPI_Alltoall."""

    program = "collective/osu_alltoall"


@rfm.simple_test
class OsuBcast(OsuLatencies, Crowd):
    """MPI_Bcast."""

    program = "collective/osu_bcast"
