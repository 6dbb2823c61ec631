"""The kernels at hundreds of ranks, simulated on a network with the links of a site model."""

import shlex
import shutil
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
from reframe.core.exceptions import ReframeError, SanityError
from switchpoint.errors import InputError
from switchpoint.models.links import Place
from switchpoint.models.simgrid import TOPOLOGIES, platform
from switchpoint.models.site_model import load_model
from switchpoint.records.record import read_facts

from .mixins.build import BuildsEnded, KernelBuild
from .mixins.session import session_name

#: Modes of each kernel, and the most ranks at which it takes minutes and not hours.
KERNELS = {
    "broadcast": (["repeated", "binary", "two_level", "binomial", "pipelined"], 1024),
    "alltoall": (["shift", "pairwise"], 64),
}


@rfm.simple_test
class Scale(rfm.RunOnlyRegressionTest):
    """Broadcasts and exchanges by 64 to 1,024 ranks, one on each host."""

    tags = {"scale"}
    valid_systems = ["*"]
    valid_prog_environs = ["+simulated"]
    sourcesdir = None
    time_limit = "10m"

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

    #: A file that ``switchpoint model fit`` wrote.
    #:
    #: :type: :class:`str`
    site_model = variable(str, value="")

    #: The placement of the model whose links the hosts have, and that of ranks of the same host.
    #:
    #: :type: :class:`str`
    link_placement = variable(str, value="two_nodes_two_hosts")
    within = variable(str, value="one_node")

    #: The MPI of the model's curves, if it has several.
    #:
    #: :type: :class:`str`
    link_mpi = variable(str, value="")

    #: Message sizes in bytes.
    #:
    #: :type: :class:`str`
    sizes = variable(str, value="1K,64K")

    build = fixture(KernelBuild, scope="environment")
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_after("init")
    def describe(self):
        """Describe the test in the listing, and start one rank on each host."""
        self.descr = f"{self.kernel} by {self.ranks} simulated ranks on a {self.topology}"
        self.num_tasks = self.ranks

    @run_after("setup")
    def skip_what_cannot_run(self):
        """Skip without a model or SimGrid, and where a simulation would take hours."""
        self.skip_if(not self.site_model, "name a site model with -S site_model=$PWD/model.yaml")
        self.skip_if(shutil.which("smpirun") is None, "no smpirun here (Debian: libsimgrid-dev)")
        most = KERNELS[self.kernel][1]
        self.skip_if(self.ranks > most, f"{self.kernel} is simulated by up to {most} ranks")

    @run_before("run")
    def write_platform(self):
        """Write the platform, the hosts and the kernel's options."""
        place = Place(self.link_placement, self.link_mpi or None)
        try:
            model = load_model(self.site_model)
            text = platform(model, place, self.ranks, self.within, self.topology)
        except InputError as error:
            raise ReframeError(error) from None
        Path(self.stagedir, "platform.xml").write_text(text, encoding="utf-8")
        hosts = "".join(f"host{number}\n" for number in range(self.ranks))
        Path(self.stagedir, "hosts").write_text(hosts, encoding="utf-8")
        self.executable = shlex.quote(self.build.program(self.kernel))
        self.keep_files = ["simulated.record", "platform.xml"]
        # smpirun divides words that contain spaces.
        labels = {
            "site": f"{model.site or 'model'}-simulated",
            "placement": self.link_placement, "topology": self.topology, "ranks": self.ranks,
            "session": session_name(), "test": self.unique_name,
        }  # fmt: skip
        self.executable_opts = [
            f"--mode={','.join(KERNELS[self.kernel][0])}",
            f"--sizes={self.sizes}",
            *("--passes=1", "--samples=1", "--warmup=0", "--pass-time=1"),
            "--record=simulated.record",
            *(shlex.quote(f"--label={name}={value}") for name, value in labels.items()),
        ]

    @sanity_function
    def validate_run(self):
        """Assert that the record is complete and no payload was damaged."""
        record = Path(self.stagedir, "simulated.record")
        if not record.exists():
            said = Path(self.stagedir, sn.evaluate(self.stderr)).read_text(errors="replace").strip()
            raise SanityError(said.splitlines()[-1] if said else "smpirun wrote no record")
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
        """The simulated time of each mode at the largest message."""
        largest = max(point["size_bytes"] for point in self.facts.footer["points"])
        self.perf_variables = {
            point["mode"]: self.simulated_us(point["median_us"])
            for point in self.facts.footer["points"]
            if point["size_bytes"] == largest
        }

    @performance_function("us")
    def simulated_us(self, time_us=0.0):
        """Simulated time until the last rank has ended."""
        return time_us
