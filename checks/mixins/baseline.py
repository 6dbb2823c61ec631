"""What baselines by other hands have in common: a curve in one file that says whence it comes."""

import json
import re
import shlex
import sys
from datetime import datetime, timezone
from pathlib import Path

import reframe as rfm
import reframe.core.runtime as rt
import reframe.utility.sanity as sn
from reframe.core.builtins import deferrable, fixture, run_after, run_before, variable
from reframe.core.exceptions import SanityError
from switchpoint.records.run_facts import switch_of

from . import mpi_library
from .build import BuildsEnded
from .placement import PlacementMixin


class BaselineMixin(PlacementMixin):
    """A program that writes a table, which is kept whole.

    The file begins with comments, which readers of such tables pass over: lines
    ``# switchpoint: {...}`` with labels as JSON, one of them the MPI library in its own words, and
    for each rank one line that says where it was, written by a step of its own just before the
    measurement.

    A child defines ``curve``, appends its program's table to that file, and sets ``executable``
    before the run phase ends.
    """

    #: Name of the file that is kept.
    #:
    #: :type: :class:`str`
    curve = variable(str)

    #: Nothing is measured beside a build.
    builds_ended = fixture(BuildsEnded, scope="session")

    @run_before("run")
    def begin_curve(self):
        """Write the labels, then let each rank add its place."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        labels = {**self.run_labels, "start_utc": now, **self.build_labels()}
        Path(self.stagedir, self.curve).write_text(f"# switchpoint: {json.dumps(labels)}\n")
        self.keep_files = [self.curve]
        place = 'echo "# rank on $(hostname) under ${SLURM_TOPOLOGY_ADDR:-unknown}"'
        self.prerun_cmds = [f"{self.launch} sh -c '{place}' >> {self.curve}"]

    @run_before("run", always_last=True)
    def name_mpi_library(self):
        """Let the job ask the library that the program loads there: runs of one library pair."""
        asked = [sys.executable, mpi_library.__file__, self.executable]
        self.prerun_cmds.append(f"{shlex.join(asked)} >> {self.curve}")

    def build_labels(self):
        """Labels that tell how the program was built; none for one that was there."""
        return {}

    @property
    def launch(self):
        """The command that starts a program on all ranks; complete before the run phase."""
        # ReFrame tells the job only as it runs, and mpirun's command line has the number in it.
        self.job.num_tasks = self.num_tasks
        self.job.num_tasks_per_node = self.num_tasks_per_node
        return self.job.launcher.run_command(self.job)

    @deferrable
    def assert_curve(self, claims):
        """Assert the places of the ranks and what the child claims of its curve.

        A step that was ended with its curve whole hung in ``MPI_Finalize``, as MPICH does now and
        then over UCX's TCP (openucx issue 8738): what it measured counts. A curve that is not whole
        is explained by the end of its step first.
        """
        try:
            return sn.evaluate(sn.all([self.assert_places(), *claims]))
        except SanityError:
            sn.evaluate(self.assert_ended_in_time())
            raise

    @deferrable
    def assert_places(self):
        """Hold nodes and switches that the ranks named against those that were asked for."""
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
            sn.assert_eq(len(nodes), wanted.nodes, refuted + "ran on {0} node(s), asked for {1}"),
        ]
        if wanted.nodes > 1:
            claims.append(
                sn.assert_eq(
                    len(switches), wanted.switches, refuted + "ran under {0} switch(es), not {1}"
                )
            )
        return sn.evaluate(sn.all(claims))


class BuiltBaselineMixin(BaselineMixin):
    """A baseline whose program is built, or found, by a fixture.

    A child defines that fixture, ``build``, as a `PeerBuild`.
    """

    def build_labels(self):
        """Builder, spec and hash."""
        return self.build.labels

    @run_before("run")
    def keep_what_was_built_from(self):
        """Keep the build's own files beside the curve."""
        self.keep_files += self.build.files_to_keep


class Crowd(rfm.RegressionTestPlugin):
    """Four ranks, or two where the site has no core for each of four.

    A site says so with ``extras['most_ranks']``: ranks that share a core and poll would show the
    scheduler of the operating system.
    """

    @run_after("init")
    def take_ranks(self):
        """Take as many ranks as the site has cores for."""
        partitions = rt.runtime().system.partitions
        most = min(partition.extras.get("most_ranks", 4) for partition in partitions)
        self.num_tasks = 4 if most >= 4 else 2
