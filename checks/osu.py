"""OSU Micro-Benchmarks: a baseline on the same placements and MPIs."""

import re
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import (
    fixture,
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import ReframeError

from .mixins.baseline import BuiltBaselineMixin, CrowdMixin
from .mixins.build import OsuBuild
from .mixins.sizes import LATENCY_BYTES, WINDOW

#: Up to this size OSU repeats often, above it rarely. It is OSU's LARGE_MESSAGE_SIZE.
SMALL_BYTES = 8192

#: Output of the run that verifies payloads.
VERIFICATION = "verification.txt"


#: Programs that print MB/s of streams; all others print us.
STREAMS = ("osu_bw", "osu_bibw", "osu_mbw_mr")

#: Programs with exactly two ranks. All others can use more.
PAIRS = ("osu_latency", "osu_bw", "osu_bibw")


@rfm.simple_test
class Osu(rfm.RunOnlyRegressionTest, CrowdMixin, BuiltBaselineMixin):
    """One OSU program: its complete table, after a run that verifies payloads of all sizes.

    OSU's default repetitions would take minutes on a slow link, so they are limited here,
    separately for small and large messages. Payloads are verified in a separate run, because OSU
    verifies between its timings, which disturbs caches and connections.
    """

    tags = {"baseline"}
    num_tasks = 2
    sourcesdir = None

    #: Program with its folder; ``-P program=collective/osu_allreduce`` runs any other.
    #:
    #: :type: :class:`str`
    program = parameter(
        [
            "pt2pt/osu_latency",
            "pt2pt/osu_bw",
            "pt2pt/osu_bibw",
            "pt2pt/osu_multi_lat",
            "pt2pt/osu_mbw_mr",
            "collective/osu_alltoall",
            "collective/osu_bcast",
        ],
        fmt=lambda program: program.rpartition("/")[2],
        type=str,
        loggable=True,
    )

    #: Smallest message in bytes; a power of two.
    #:
    #: :type: :class:`int`
    first_bytes = variable(int, value=1)

    #: Largest message in bytes; a power of two.
    #:
    #: :type: :class:`int`
    last_bytes = variable(int, value=1 << 20)

    #: Repetitions for messages of up to 8 KiB; 0: 1000, of streams 50.
    #:
    #: :type: :class:`int`
    iterations = variable(int, value=0)

    #: Repetitions for larger messages; 0: 20, of streams 4.
    #:
    #: :type: :class:`int`
    large_iterations = variable(int, value=0)

    #: Messages in flight in streams; a label of the curve, because OSU does not print it.
    #:
    #: :type: :class:`int`
    window = variable(int, value=WINDOW)

    #: Options that make OSU verify payloads; empty for programs before 5.7, which cannot.
    #:
    #: :type: :class:`List[str]`
    validation_options = variable(typ.List[str], value=["-c", "-i 1", "-x 0"])

    #: The programs, built once for each environment.
    build = fixture(OsuBuild, scope="environment")

    @run_after("init")
    def describe(self):
        """Describe the test in the listing, and name the file after the program."""
        if not re.fullmatch(r"\w+/\w+", self.program, re.ASCII):  # it is a part of a command
            raise ReframeError(f"program={self.program}: name it as pt2pt/osu_latency")
        self.benchmark = self.program.rpartition("/")[2]
        self.descr = f"{self.benchmark} on {self.placement}"
        self.curve = f"{self.benchmark}.out"
        if self.benchmark == "osu_latency":
            self.tags |= {"smoke"}

    @property
    def takes_many_ranks(self):
        """Whether more than two ranks may take part."""
        return self.benchmark not in PAIRS

    @property
    def streams(self):
        """Whether the program has a window of messages in flight and prints MB/s."""
        return self.benchmark in STREAMS

    @run_before("run")
    def prepare_run(self):
        """Verify, then measure small messages, then large ones."""
        self.executable = self.build.program(self.program)
        if self.validation_options:
            window = ["-W 8"] if self.streams else []
            sizes = f"-m {self.first_bytes}:{self.last_bytes}"
            asked = shlex.join(shlex.split(" ".join(self.validation_options)))
            step = self.step(sizes, asked, *window)
            self.prerun_cmds.append(f"{step} > {VERIFICATION}")
        small = min(self.last_bytes, SMALL_BYTES)
        iterations = self.iterations or (50 if self.streams else 1000)
        self.executable_opts = self.options(self.first_bytes, small, iterations)
        if self.last_bytes > small:
            iterations = self.large_iterations or (4 if self.streams else 20)
            self.postrun_cmds = [self.step(*self.options(2 * small, self.last_bytes, iterations))]

    def step(self, *options):
        """Command line that runs the program on all ranks."""
        return " ".join([self.launch, self.executable, *options])

    def options(self, first_bytes, last_bytes, iterations):
        """Options that measure a range of sizes, with a tenth of the repetitions as warm-up."""
        return [
            f"-m {first_bytes}:{last_bytes}",
            f"-i {iterations}",
            f"-x {max(1, iterations // 10)}",
            *([f"-W {self.window}"] if self.streams else []),
        ]

    def build_labels(self):
        """Builder, spec and hash, and the window of a stream."""
        return super().build_labels() | ({"window_size": str(self.window)} if self.streams else {})

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
        claims = [
            sn.assert_eq(
                sizes, self.sizes_bytes, f"{self.benchmark} printed sizes {{0}}, not {{1}}"
            )
        ]
        if self.validation_options:
            passes = sn.count(sn.extractall(r"^\d+\s.*\sPass$", VERIFICATION))
            whole = "OSU found correct payloads at {0} sizes, not at {1}"
            claims.append(sn.assert_eq(passes, len(self.sizes_bytes), whole))
        return self.assert_curve(claims)

    @run_before("performance")
    def name_performance_variable(self):
        """Latency, or the bandwidth of streams."""
        self.perf_variables = (
            {"bandwidth": self.bandwidth()} if self.streams else {"latency": self.latency()}
        )

    def value_at(self, size_bytes):
        """Value that the table has for a size: us or MB/s (10^6 B/s)."""
        return sn.extractsingle(rf"^{size_bytes}\s+(\S+)", self.curve, 1, float)

    @performance_function("us")
    def latency(self):
        """Average time of a message, or of a collective call, at 8 B."""
        return self.value_at(max(LATENCY_BYTES, self.first_bytes))

    @performance_function("MB/s")
    def bandwidth(self):
        """Bandwidth of the largest message."""
        return self.value_at(self.last_bytes)
