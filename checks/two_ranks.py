"""Two ranks in one world. `switchpoint doctor --site` runs this before any measurement."""

import re
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import deferrable, sanity_function
from reframe.core.exceptions import SanityError

from .mixins.placement import PlacementMixin


@rfm.simple_test
class TwoRanks(rfm.RegressionTest, PlacementMixin):
    """Compiles and starts a small program. Each rank prints how many ranks there are."""

    descr = "two ranks find each other"
    tags = {"trial"}
    num_tasks = 2
    build_system = "SingleSource"
    sourcesdir = "trial"
    sourcepath = "two_ranks.c"

    @sanity_function
    def validate_run(self):
        """Assert that both ranks are in one world, on the placement's number of nodes."""
        return sn.all([self.assert_one_world()])

    @deferrable
    def assert_one_world(self):
        """Distinguish ranks that do not find each other from ranks that did not start."""
        sn.evaluate(self.assert_ended_in_time())
        stdout = Path(sn.evaluate(self.stdout)).read_text(errors="replace")
        said = re.findall(r"rank (\d+) of (\d+) on (\S+)", stdout)
        worlds = [int(ranks) for _, ranks, _ in said]
        if worlds == [1, 1]:
            raise SanityError(
                "two ranks started alone, each in an MPI_COMM_WORLD of its own: launcher and MPI "
                "do not use the same PMI; fix: choose another --mpi in launcher_options "
                "(`srun --mpi=list` lists them), or the MPI's own mpirun as launcher"
            )
        if worlds != [2, 2]:
            raise SanityError(
                f"{len(said)} of two ranks started; exit code {self.job.exitcode}; {self.complaint}"
            )
        wanted = self.requested_placement.nodes
        nodes = {node for _, _, node in said}
        if len(nodes) != wanted:
            raise SanityError(f"asked for {wanted} node(s), but ran on {', '.join(sorted(nodes))}")
        return True
