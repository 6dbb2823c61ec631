"""The kernels at hundreds of ranks, simulated on a network with the links of a site model."""

import shlex
import shutil
from pathlib import Path

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
from reframe.core.exceptions import ReframeError, SanityError
from reframe.core.logging import getlogger
from switchpoint.errors import InputError
from switchpoint.models.links import Place, curve_of
from switchpoint.models.simgrid import (
    LINKS_OF,
    TOPOLOGIES,
    links_of,
    one_word,
    platform,
    platform_notes,
    simulated_name,
)
from switchpoint.models.site_model import load_model
from switchpoint.printable import printable
from switchpoint.records.record import read_facts

from .mixins.build import BuildsEnded, KernelBuild
from .mixins.session import session_name

#: Modes of each kernel, and the most ranks at which it takes minutes and not hours.
KERNELS = {
    "broadcast": (["repeated", "binary", "two_level", "binomial", "pipelined"], 1024),
    "alltoall": (["shift", "pairwise"], 256),
}

#: With more ranks an exchange takes a minute for each algorithm, so that one is simulated.
FEW_RANKS = 64

#: Simulated ranks share this machine's memory: the most that the buffers of a message may take.
MOST_BUFFER_BYTES = 1 << 30

#: What an exchange moves in weak scaling (from each rank) and in strong scaling (altogether).
WEAK_BYTES, STRONG_BYTES = 64 << 10, 4 << 20

#: What was said of the links: the same for every test of a session.
TOLD = set()


class SimulatedMixin(rfm.RegressionTestPlugin):
    """One run of a kernel on a network with the links of a site model.

    A child defines ``kernel``, ``modes``, ``ranks`` and ``topology`` by the end of its init phase,
    and ``hosts_of`` and ``sizes_of``.
    """

    #: A file that ``switchpoint model fit`` wrote.
    #:
    #: :type: :class:`str`
    site_model = variable(str, value="")

    #: The placement of the model whose links the hosts have.
    #:
    #: :type: :class:`str`
    link_placement = variable(str, value="two_nodes_two_hosts")

    #: The placement of the model whose links ranks of the same host have.
    #:
    #: :type: :class:`str`
    within = variable(str, value="one_node")

    #: The MPI of the model's curves, if it has several.
    #:
    #: :type: :class:`str`
    link_mpi = variable(str, value="")

    #: The environment of the model's curves, if it has several.
    #:
    #: :type: :class:`str`
    link_environ = variable(str, value="")

    #: Message sizes in bytes. None: those that suit the number of ranks.
    #:
    #: :type: :class:`List[int]`
    sizes_bytes = variable(typ.List[int], value=[])

    build = fixture(KernelBuild, scope="environment")
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_after("init")
    def prepare_simulation(self):
        """Run where ranks are simulated, as many as were chosen."""
        self.valid_systems = ["*"]
        self.valid_prog_environs = ["+simulated"]
        self.sourcesdir = None
        self.time_limit = "30m"  # of an idle core minutes, beside other work more
        self.num_tasks = self.ranks

    @run_after("setup")
    def skip_what_cannot_run(self):
        """Skip without a model or SimGrid."""
        self.skip_if(not self.site_model, "name a site model with -S site_model=$PWD/model.yaml")
        self.skip_if(shutil.which("smpirun") is None, "no smpirun here (Debian: libsimgrid-dev)")

    @run_before("run")
    def write_platform(self):
        """Write the platform, the hosts and the kernel's options."""
        place = Place(self.link_placement, self.link_mpi or None, self.link_environ or None)
        try:
            model = load_model(self.site_model)
        except InputError as error:
            raise ReframeError(printable(str(error))) from None
        sizes = self.sizes_bytes or self.sizes_of()
        try:
            curve = curve_of(model, place, "send")
            hosts = self.hosts_of(curve)
            text = platform(model, place, hosts, self.within, self.topology)
            within = self.within if hosts < self.ranks else None
            self.tell(platform_notes(model, place, within, sizes))
        except InputError as error:
            options = "-S link_placement, link_mpi, link_environ and within"
            problem = printable(str(error))
            raise ReframeError(f"{problem} (here {options} choose the curves)") from None
        Path(self.stagedir, "platform.xml").write_text(text, encoding="utf-8")
        lines = [f"host{rank * hosts // self.ranks}\n" for rank in range(self.ranks)]
        Path(self.stagedir, "hosts").write_text("".join(lines), encoding="utf-8")
        self.executable = shlex.quote(self.build.program(self.kernel))
        self.keep_files = ["simulated.record", "platform.xml"]
        self.executable_opts = [
            f"--mode={','.join(self.modes)}",
            f"--sizes={','.join(map(str, sizes))}",
            *("--passes=1", "--samples=1", "--warmup=0", "--pass-time=1", "--block-time=0"),
            "--record=simulated.record",
            *(
                shlex.quote(f"--label={name}={one_word(str(value))}")
                for name, value in self.labels(model, curve).items()
            ),
        ]

    def tell(self, notes):
        """Warn of what limits the simulations, once in a session."""
        for note in notes:
            if note not in TOLD:
                TOLD.add(note)
                getlogger().warning(printable(f"{self.site_model}: {note}"))

    def labels(self, model, curve):
        """Labels of the record. No other site has its name, so nothing takes it for measured.

        Each becomes one word, since smpirun divides others into several options of the kernel.
        """
        return {
            "site": simulated_name(model.site), "partition": self.current_partition.name,
            "environ": self.current_environ.name, "placement": self.link_placement,
            "check": type(self).__name__, "session": session_name(),
            "topology": self.topology, "ranks": self.ranks,
            LINKS_OF: links_of(curve.environ, curve.mpi),
        }  # fmt: skip

    @sanity_function
    def validate_run(self):
        """Assert that the record is complete and no payload was damaged."""
        record = Path(self.stagedir, "simulated.record")
        if not record.exists():
            said = Path(self.stagedir, sn.evaluate(self.stderr)).read_text(errors="replace").strip()
            raise SanityError(printable((said or "smpirun wrote no record").splitlines()[-1]))
        self.facts = read_facts(record)
        verification = self.facts.footer["verification"] if self.facts.footer else {}
        return sn.all(
            [
                sn.assert_true(self.facts.complete, "the simulation did not end"),
                sn.assert_eq(verification.get("errors"), 0, "{0} payloads arrived damaged"),
            ]
        )

    @run_before("performance")
    def name_performance_variables(self):
        """The simulated time of each mode at each size."""
        self.perf_variables = {
            f"{point['mode']}_{point['size_bytes']}B": self.simulated_us(point["median_us"])
            for point in self.facts.footer["points"]
        }

    @performance_function("us")
    def simulated_us(self, time_us=0.0):
        """Simulated time until the last rank has ended."""
        return round(time_us, 3)


@rfm.simple_test
class Scale(rfm.RunOnlyRegressionTest, SimulatedMixin):
    """Broadcasts and exchanges by 64 to 1,024 ranks, one on each host."""

    tags = {"scale"}

    #: Number of ranks and hosts.
    #:
    #: :type: :class:`int`
    ranks = parameter([64, 256, 1024], type=int, loggable=True)

    #: How the hosts are connected.
    #:
    #: :type: :class:`str`
    topology = parameter(list(TOPOLOGIES), loggable=True)

    #: The kernel to run.
    #:
    #: :type: :class:`str`
    kernel = parameter(list(KERNELS), loggable=True)

    @run_after("init")
    def describe(self):
        """Describe the test in the listing."""
        self.descr = f"{self.kernel} by {self.ranks} simulated ranks on a {self.topology}"
        self.modes = KERNELS[self.kernel][0]
        if self.kernel == "alltoall" and self.ranks > FEW_RANKS:
            self.modes = self.modes[:1]

    @run_after("setup")
    def skip_what_takes_hours(self):
        """Skip more ranks than a simulation can have."""
        most = KERNELS[self.kernel][1]
        self.skip_if(self.ranks > most, f"{self.kernel} is simulated by up to {most} ranks")

    def hosts_of(self, _curve):
        """One for each rank."""
        return self.ranks

    def sizes_of(self):
        """A short message and a long one; for exchanges also those of both kinds of scaling."""
        sizes = {1 << 10, 64 << 10}
        if self.kernel == "alltoall":
            sizes |= {WEAK_BYTES // self.ranks, STRONG_BYTES // self.ranks**2}
            fit = MOST_BUFFER_BYTES // (2 * self.ranks**2)
            sizes = {size for size in sizes if size <= fit}
        return sorted(sizes)


@rfm.simple_test
class SimulatedTwin(rfm.RunOnlyRegressionTest, SimulatedMixin):
    """What `Broadcast` and `CompleteExchange` measure with few ranks, simulated.

    The ranks are divided over as many hosts as the model's runs had nodes. The report shows the
    simulated curve beside the measured one.
    """

    tags = {"scale"}
    topology = "star"

    #: Number of ranks.
    #:
    #: :type: :class:`int`
    ranks = parameter([2, 4], type=int, loggable=True)

    #: The kernel to run.
    #:
    #: :type: :class:`str`
    kernel = parameter(list(KERNELS), loggable=True)

    @run_after("init")
    def describe(self):
        """Describe the test in the listing."""
        self.descr = f"{self.kernel} by {self.ranks} simulated ranks, as it is measured"
        self.modes = KERNELS[self.kernel][0]

    def hosts_of(self, curve):
        """As many as the nodes of the model's runs."""
        if self.ranks % curve.nodes:
            raise InputError("ranks", f"{self.ranks} ranks do not divide over {curve.nodes} nodes")
        return curve.nodes

    def sizes_of(self):
        """Those of the measured checks."""
        if self.kernel == "alltoall":
            return [64, 1 << 10, 16 << 10, 128 << 10]
        return [1, 256, *(kib << 10 for kib in (1, 4, 8, 16, 32, 64))]
