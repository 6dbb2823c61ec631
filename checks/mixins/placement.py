"""Where a check's ranks are to run: asks for a placement by name.

The site's partition says what a name means (``extras['placements']``); nothing here does.
"""

import re
from pathlib import Path

import reframe as rfm
import reframe.core.runtime as rt
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import deferrable, parameter, run_after, run_before, variable
from reframe.core.exceptions import SanityError
from switchpoint.sites.placement_proof import contradictions
from switchpoint.sites.placements import BUILT_IN, Placement

#: What ``timeout`` returns when it had to end the step.
TIMED_OUT = 124


def offered_placements():
    """Names of the built-in placements and of those that the current system adds.

    Assumes a configured runtime, which ReFrame has when it loads checks.
    """
    offered = dict.fromkeys(BUILT_IN)
    for partition in rt.runtime().system.partitions:
        offered.update(dict.fromkeys(partition.extras.get("placements", {})))
    return list(offered)


class PlacementMixin(rfm.RegressionTestPlugin):
    """Requests the nodes, the switches and the path of one placement.

    A child sets ``num_tasks`` by the end of its init phase; the ranks are dealt evenly, unless it
    says otherwise in ``deal_ranks``.
    """

    #: The placement that is asked for.
    #:
    #: :type: :class:`str`
    placement = parameter(offered_placements(), loggable=True)

    #: Longest time that the parallel step may take, in seconds. Slurm's own limit is counted in
    #: minutes and comes late; a lost node or link shows as ranks that wait for ever.
    #:
    #: :type: :class:`int`
    step_limit_s = variable(int, value=45)

    #: Further environment variables for the ranks, over those of the placement.
    #:
    #: :type: :class:`Dict[str, str]`
    rank_environment = variable(typ.Dict[str, str], value={})

    @run_after("init")
    def select_partitions(self):
        """Run where the site offers the placement, with every MPI that it has."""
        self.valid_systems = [f"+{self.placement}"]
        self.valid_prog_environs = ["+mpi"]

    @run_after("setup")
    def request_placement(self):
        """Turn the name into nodes, scheduler options and environment variables."""
        wanted = self.requested_placement
        self.deal_ranks()
        self.exclusive_access = True
        self.time_limit = f"{self.step_limit_s + 60}s"
        self.job.options += list(wanted.scheduler_options)
        if wanted.nodes > 1 or not self.current_partition.scheduler.is_local:
            self.job.options.append(f"--nodes={wanted.nodes}")
        family = self.current_environ.extras.get("mpi", "any")
        self.env_vars.update(
            {**self.patience(family), **wanted.variables(family), **self.rank_environment}
        )

    @property
    def crowded(self):
        """Whether ranks outnumber cores, as far as the partition says in ``most_ranks``.

        What is then measured is how ranks take turns; that it works is shown by few samples.
        """
        return self.num_tasks > self.current_partition.extras.get("most_ranks", self.num_tasks)

    def patience(self, family):
        """Where ranks outnumber cores, let those that wait give the core to those that work.

        Open MPI does so by itself only under its own launcher; MPICH has no such setting.
        """
        yields = self.crowded and family == "openmpi"
        return {"OMPI_MCA_mpi_yield_when_idle": "1"} if yields else {}

    def deal_ranks(self):
        """As many ranks on each node as on the others."""
        wanted = self.requested_placement
        if self.num_tasks % wanted.nodes:
            raise ValueError(
                f"{self.num_tasks} ranks cannot be dealt evenly over the {wanted.nodes} nodes "
                f"of placement '{self.placement}'"
            )
        # One a node needs no words, and Slurm 21.08 refuses them beside counts of features.
        if self.num_tasks > wanted.nodes:
            self.num_tasks_per_node = self.num_tasks // wanted.nodes

    @run_before("run")
    def take_launcher(self):
        """Start ranks as the environment says, where the partition's way does not suit its MPI."""
        if name := self.current_environ.extras.get("launcher"):
            self.job.launcher = getlauncher(name)()

    @run_before("run")
    def launch_with_a_limit(self):
        """Add the site's launcher options, and end a step that hangs."""
        launcher = self.job.launcher
        launcher.options += self.current_environ.extras.get("launcher_options", [])
        launcher.options += list(self.requested_placement.launcher_options)
        launcher.modifier = "timeout"
        launcher.modifier_options = ["--kill-after=5", str(self.step_limit_s)]

    @deferrable
    def assert_ended_in_time(self):
        """Say so where the step had to be ended."""
        if self.job.exitcode == TIMED_OUT:
            raise SanityError(
                f"the step was ended after {self.step_limit_s} s: a rank, a node or a link is "
                f"lost, or step_limit_s is too short for this sweep"
            )
        return True

    @property
    def complaint(self):
        """The line on standard error that is likeliest to say why a step failed.

        The first of the program's own words: srun complains of things that do no harm, such as
        binding that is not configured, before it starts anything.
        """
        stderr = Path(sn.evaluate(self.stderr)).read_text(errors="replace")
        lines = [line.strip() for line in stderr.splitlines() if re.search(r"\w", line)]
        own = (line for line in lines if not line.startswith(("srun: ", "slurmstepd")))
        return next(own, lines[0] if lines else "no message")

    def refutations(self, header, footer):
        """What a record's header and footer hold against the placement, in sentences."""
        switch_pattern = self.current_partition.extras.get("switch_from_node_name")
        return contradictions(self.requested_placement, header, footer, switch_pattern)

    @property
    def run_labels(self):
        """What names the run in its record: claims, which the record proves or refutes."""
        return {
            "site": self.current_system.name,
            "partition": self.current_partition.name,
            "environ": self.current_environ.name,
            "placement": self.placement,
            "check": type(self).__name__,
        }

    @property
    def requested_placement(self):
        """The site's definition of the placement."""
        return Placement.model_validate(self.current_partition.extras["placements"][self.placement])
