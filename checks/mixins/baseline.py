"""Common parts of other benchmarks: their complete output is kept with labels."""

import json
import re
import shlex
import sys
from datetime import datetime, timezone
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import deferrable, fixture, run_after, run_before, variable
from reframe.core.exceptions import SanityError
from switchpoint.records.run_facts import switch_of

from . import mpi_library
from .build import BuildsEnded
from .image import image_of
from .placement import PlacementMixin

#: The file with the labels that are written above a curve.
LABELS = "labels.txt"


class BaselineMixin(PlacementMixin):
    """A program that prints a table. The complete output of the job is kept.

    It begins with comments, which readers of such tables skip. Lines ``# switchpoint: {...}``
    contain labels as JSON, one of them the MPI library's version string. A separate step just
    before the measurement prints one line for each rank that says where it runs.

    A child defines ``curve`` and sets ``executable`` before the run phase ends.
    """

    #: Name of the file that is kept.
    #:
    #: :type: :class:`str`
    curve = variable(str)

    #: Name of the file that the program writes its table to; empty if it prints the table.
    #:
    #: :type: :class:`str`
    table = variable(str, value="")

    #: Nothing is measured beside a build.
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_after("setup")
    def need_programs_outside_of_images(self):
        """Skip an environment whose MPI is in an image: only the kernels are built in it."""
        self.skip_if(image_of(self), f"only the kernels run in the image {image_of(self)}")

    @run_before("run")
    def begin_curve(self):
        """Print the labels, and let each rank print where it runs."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        labels = {**self.run_labels, "start_utc": now, **self.build_labels()}
        Path(self.stagedir, LABELS).write_text(f"# switchpoint: {json.dumps(labels)}\n")
        self.keep_files = [self.curve]
        place = 'echo "# rank on $(hostname) under ${SLURM_TOPOLOGY_ADDR:-unknown}"'
        self.prerun_cmds = [f"cat {LABELS}", f"{self.launch} sh -c '{place}'"]

    @run_before("run", always_last=True)
    def name_mpi_library(self):
        """Let the job ask the library that the program loads, so that runs of one library pair."""
        asked = [sys.executable, mpi_library.__file__, *shlex.split(self.executable)]
        self.prerun_cmds.append(shlex.join(asked))

    @run_after("run")
    def write_curve(self):
        """Write the job's output, or its comments and the table that the program wrote."""
        printed = Path(self.stagedir, sn.evaluate(self.stdout))
        table = Path(self.stagedir, self.table)
        if not printed.exists():  # the job never started
            return
        text = printed.read_text(errors="replace")
        if self.table:
            comments = [line for line in text.splitlines(keepends=True) if line.startswith("# ")]
            text = "".join(comments) + (table.read_text() if table.exists() else "")
        Path(self.stagedir, self.curve).write_text(text)

    def build_labels(self):
        """Labels that say how the program was built; none for an installed program."""
        return {}

    @property
    def launch(self):
        """The command that starts a program on all ranks. It is complete before the run phase."""
        # ReFrame sets this in the job only when it runs, but mpirun's command line needs it before.
        self.job.num_tasks = self.num_tasks
        self.job.num_tasks_per_node = self.num_tasks_per_node
        return self.job.launcher.run_command(self.job)

    @deferrable
    def assert_curve(self, claims):
        """Assert where the ranks ran, and what the child asserts about its curve.

        If a step was ended and its curve is complete, it hung in ``MPI_Finalize``, as MPICH
        sometimes does over UCX's TCP (openucx issue 8738). Its measurements count. If the curve is
        not complete, the end of the step is the first reason.
        """
        try:
            return sn.evaluate(sn.all([self.assert_places(), *claims]))
        except SanityError:
            sn.evaluate(self.assert_ended_in_time())
            raise

    @deferrable
    def assert_places(self):
        """Compare the ranks' nodes and switches with the requested ones."""
        wanted = self.requested_placement
        pattern = self.current_partition.extras.get("switch_from_node_name")
        ranks = re.findall(
            r"^# rank on (\S+) under (\S+)$", Path(self.curve).read_text(), re.MULTILINE
        )
        nodes = {host for host, _ in ranks}
        switches = {
            switch_of({"host": host, "topology_address": address}, pattern)
            for host, address in ranks
        }
        refuted = f"placement '{self.placement}' is refuted: "
        claims = [
            sn.assert_eq(len(ranks), self.num_tasks, "{0} ranks named their node, not {1}"),
            sn.assert_eq(
                len(nodes), wanted.nodes, refuted + "ran on {0} node(s), but asked for {1}"
            ),
        ]
        if wanted.nodes > 1:
            claims.append(
                sn.assert_eq(
                    len(switches), wanted.switches, refuted + "ran under {0} switch(es), not {1}"
                )
            )
        return sn.evaluate(sn.all(claims))


class BuiltBaselineMixin(BaselineMixin):
    """A baseline whose program a fixture builds or finds.

    A child defines that fixture, ``build``, as a `PeerBuild`.
    """

    def build_labels(self):
        """Builder, spec and hash."""
        return self.build.labels

    @run_before("run")
    def keep_what_was_built_from(self):
        """Copy the build's files to the folder of the curve."""
        self.keep_files += self.build.files_to_keep


class CrowdMixin(rfm.RegressionTestPlugin):
    """Four ranks, or two if the partition has no core for each of four.

    A partition says so with ``extras['most_ranks']``. Ranks that share a core and poll would
    measure the scheduler of the operating system. If only some cases of a child use four ranks, it
    overrides ``takes_many_ranks``. It lists this mixin before `PlacementMixin` and its children.
    """

    #: Whether more than two ranks take part.
    takes_many_ranks = True

    def deal_ranks(self):
        """Use as many ranks as the partition has cores for, and distribute them."""
        if self.takes_many_ranks:
            self.num_tasks = 4 if self.current_partition.extras.get("most_ranks", 4) >= 4 else 2
        super().deal_ranks()
