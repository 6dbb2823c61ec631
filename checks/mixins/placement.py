"""Requests a placement by name for a check's ranks.

Only the site's partition defines what a name means (``extras['placements']``).
"""

import functools
import re
from pathlib import Path

import reframe.core.runtime as rt
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import deferrable, parameter, run_after, run_before, variable
from reframe.core.exceptions import ReframeError, SanityError
from reframe.core.logging import getlogger
from switchpoint.records.run_facts import LINK
from switchpoint.sites.placement_proof import contradictions
from switchpoint.sites.placements import BUILT_IN, Placement
from switchpoint.sites.requests import lack_of_nodes
from switchpoint.sites.slurm import ask_slurm

from .session import OwnStageMixin, session_name, would_take
from .shell_words import quoted_variables

#: The exit code of ``timeout`` if it ended the step, and if only SIGKILL ended it. A launcher also
#: ends with the second one if something else killed one of its ranks.
TIMED_OUT = 124
KILLED = 137

#: Asked once, by the first test that needs it: later, ranks are timed on the nodes.
slurm_here = functools.cache(ask_slurm)


def offered_placements():
    """Return the names of the built-in placements and of those that the current system adds.

    Assumes a configured runtime, which ReFrame has when it loads checks.
    """
    return list(dict.fromkeys([*BUILT_IN, *site_placements()]))


def site_placements():
    """Return the names of the placements that some partition of the current system offers."""
    partitions = rt.runtime().system.partitions
    return list(dict.fromkeys(name for p in partitions for name in p.extras.get("placements", {})))


class PlacementMixin(OwnStageMixin):
    """Requests the nodes, the switches and the path of one placement.

    A child sets ``num_tasks`` by the end of its init phase. The ranks are divided evenly over the
    nodes, unless it overrides ``deal_ranks``.
    """

    #: The requested placement.
    #:
    #: :type: :class:`str`
    placement = parameter(offered_placements(), loggable=True)

    #: Measure only these placements; empty for all. ``-S placements=one_node,two_nodes_two_hosts``
    #: selects them for every check.
    #:
    #: :type: :class:`List[str]`
    placements = variable(typ.List[str], value=[])

    #: Number of nodes, over the placement's kind of path; 0: the placement's own number. Placements
    #: that cannot have so many nodes are skipped.
    #:
    #: :type: :class:`int`
    nodes = variable(int, value=0)

    #: Time limit of the parallel step in seconds. Slurm's own limit is in minutes and acts late.
    #: If a node or link is lost, ranks wait for ever.
    #:
    #: :type: :class:`int`
    step_limit_s = variable(int, value=45)

    #: More environment variables for the ranks, with priority over those of the placement.
    #:
    #: :type: :class:`Dict[str, str]`
    rank_environment = variable(typ.Dict[str, str], value={})

    @run_after("init")
    def select_partitions(self):
        """Run on partitions that offer the placement, with every MPI of the site.

        An unknown name ends ReFrame, which would otherwise run nothing and succeed.
        """
        unknown = [name for name in self.placements if name not in site_placements()]
        if unknown:
            known = ", ".join(site_placements())
            getlogger().error(f"placement '{unknown[0]}' does not exist; this site has: {known}")
            raise SystemExit(2)
        wanted = not self.placements or self.placement in self.placements
        self.valid_systems = [f"+{self.placement}"] if wanted else []
        self.valid_prog_environs = ["+mpi"]

    @run_after("setup")
    def request_placement(self):
        """Convert the name to nodes, scheduler options and environment variables."""
        if self.nodes not in (0, self.own_placement.nodes):
            lack = self.lack_of_nodes()
            self.skip_if(lack, f"nodes={self.nodes}: {lack}")
        wanted = self.requested_placement
        self.deal_ranks()
        self.exclusive_access = True
        self.time_limit = f"{self.step_limit_s + 60}s"
        self.job.options += list(wanted.scheduler_options)
        if wanted.nodes > 1 or not self.current_partition.scheduler.is_local:
            self.job.options.append(f"--nodes={wanted.nodes}")
        family = self.current_environ.extras.get("mpi", "any")
        self.env_vars.update({**self.patience(family), **wanted.variables(family)})
        self.set_variables("rank_environment", self.rank_environment)

    def lack_of_nodes(self):
        """Why the placement cannot have the chosen number of nodes; empty if it can."""
        try:
            wanted = self.own_placement.on_nodes(self.nodes)
        except ValueError as error:
            return str(error)
        partition = self.current_partition
        if partition.scheduler.is_local:
            return ""
        pattern = partition.extras.get("switch_from_node_name")
        return lack_of_nodes(wanted, partition.access, pattern, slurm_here())

    def set_variables(self, source, settings):
        """Set variables of the ranks that the named source gives, after they were checked."""
        self.env_vars.update(quoted_variables(source, settings))

    @property
    def oversubscribed(self):
        """Whether there are more ranks than cores, according to the partition's ``most_ranks``.

        The times then show the scheduler, so few samples are enough to show that it works.
        """
        return self.num_tasks > self.current_partition.extras.get("most_ranks", self.num_tasks)

    def patience(self, family):
        """Make waiting ranks give up their core if there are more ranks than cores.

        Open MPI does this itself only under its own launcher. MPICH has no such setting.
        """
        yields = self.oversubscribed and family == "openmpi"
        return {"OMPI_MCA_mpi_yield_when_idle": "1"} if yields else {}

    def deal_ranks(self):
        """Put the same number of ranks on each node."""
        wanted = self.requested_placement
        if self.num_tasks % wanted.nodes:
            raise ReframeError(
                f"{self.num_tasks} ranks cannot be divided evenly over the {wanted.nodes} nodes "
                f"of placement '{self.placement}'"
            )
        # One rank per node needs no option, and Slurm 21.08 refuses it with counts of features.
        if self.num_tasks > wanted.nodes:
            self.num_tasks_per_node = self.num_tasks // wanted.nodes

    @run_before("run")
    def take_launcher(self):
        """Use the environment's launcher if the partition's launcher cannot start its MPI."""
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

    @run_before("run")
    def count_what_a_dry_run_would_take(self):
        """Add this job to the sum that a dry run prints."""
        if self.is_dry_run():
            would_take(self.requested_placement.nodes, self.step_limit_s + 60)

    @property
    def ended_by(self):
        """Who ended the step, as a clause; empty if it ended by itself."""
        in_words = {
            TIMED_OUT: f"the step was ended after {self.step_limit_s} s",
            KILLED: f"the step was ended after {self.step_limit_s} s with SIGKILL, or something "
            f"else killed a process of it",
        }
        return in_words.get(self.job.exitcode, "")

    @run_before("sanity")
    def require_output(self):
        """Say why there is no output, which no assertion on it could."""
        if self.is_dry_run() or Path(self.stagedir, sn.evaluate(self.stdout)).exists():
            return
        if "CANCEL" in str(self.job.state):
            raise SanityError("the job did not start: it was cancelled before")
        raise SanityError(
            f"the job left no output in {self.stagedir}, which its nodes may not see; choose a "
            "stage folder on a file system that they share (--prefix)"
        )

    @deferrable
    def assert_ended_in_time(self):
        """Fail with a message if the step was ended."""
        if self.ended_by:
            reasons = (
                "a rank, a node or a link is lost, or step_limit_s is too short for this sweep"
            )
            if self.job.exitcode == KILLED:
                reasons = f"{reasons}, or memory ran out; {self.complaint}"
            raise SanityError(f"{self.ended_by}: {reasons}")
        return True

    @property
    def complaint(self):
        """The line on standard error that most likely says why a step failed.

        It is the first line of the program itself. Before the program starts, srun prints harmless
        warnings, for example about binding that is not configured.
        """
        stderr = Path(sn.evaluate(self.stderr)).read_text(errors="replace")
        lines = [line.strip() for line in stderr.splitlines() if re.search(r"\w", line)]
        own = (line for line in lines if not line.startswith(("srun: ", "slurmstepd")))
        return next(own, lines[0] if lines else "no message")

    def refutations(self, header, footer):
        """Contradictions between a record and the placement, as sentences."""
        switch_pattern = self.current_partition.extras.get("switch_from_node_name")
        return contradictions(self.requested_placement, header, footer, switch_pattern)

    @property
    def run_labels(self):
        """Labels that name the run in its record: claims, which the record proves or refutes."""
        wanted = self.requested_placement
        link = wanted.link_Gbps
        return {
            "site": self.current_system.name,
            "partition": self.current_partition.name,
            "environ": self.current_environ.name,
            "placement": self.placement,
            "check": type(self).__name__,
            "session": session_name(),
            # Part of the curves' identity: those of other numbers of nodes are other curves.
            **({} if wanted.nodes == self.own_placement.nodes else {"nodes": f"{wanted.nodes}"}),
        } | ({} if link is None else {LINK: f"{link:g}"})

    @property
    def requested_placement(self):
        """The placement with the chosen number of nodes."""
        own = self.own_placement
        return own.on_nodes(self.nodes) if self.nodes else own

    @property
    def own_placement(self):
        """The site's definition of the placement."""
        return Placement.model_validate(self.current_partition.extras["placements"][self.placement])
