"""Measures again what `switchpoint gate --confirm` suspects, by the plan that it writes.

The plan is the JSON file in the variable ``SWITCHPOINT_PLAN``. Without it there is no check here.
"""

import json
import os
from pathlib import Path

import reframe as rfm
from reframe.core.builtins import fixture, parameter, run_after, run_before, variable
from switchpoint.errors import InputError
from switchpoint.spack.lock import NAME as LOCK

from .mixins.build import KernelBuild, quoted
from .mixins.kernel import KernelMixin
from .mixins.shell_words import plain_name, variable_name

_FILE = os.environ.get("SWITCHPOINT_PLAN")
_NOTHING = {"label": "", "locks": {}, "trials": []}
PLAN = json.loads(Path(_FILE).read_text()) if _FILE else _NOTHING
TRIALS = {trial["name"]: trial for trial in PLAN["trials"]}


class TrialMixin(rfm.RegressionTestPlugin):
    """Which launch of the plan a check is; listed first, so that ReFrame keeps the plan's order."""

    #: Name of the launch in the plan.
    #:
    #: :type: :class:`str`
    trial = parameter(list(TRIALS), loggable=True)


class PlannedBuild(KernelBuild):
    """The kernels, from the plan's lock for an environment; with CMake if it has none."""

    #: Which of the environment's locks: ``now`` or ``before``.
    #:
    #: :type: :class:`str`
    lock_of = variable(str, value="now")

    @run_after("setup")
    def take_lock(self):
        """Let Spack build from the lock, if there is one."""
        if lock := PLAN["locks"].get(self.current_environ.name, {}).get(self.lock_of):
            self.builder, self.spack_lock = "spack", lock

    def spec_words(self, mpi):
        """Refuse a lock that this site has not built from before.

        It comes from a record, and anybody can write a record that names this site. Nobody reads it
        before Spack builds from it.
        """
        if self.spack_lock and not self.has_built_from(Path(self.spack_lock).read_bytes()):
            raise InputError(
                self.spack_lock,
                f"is of no environment below {self.environments}; if you trust it, build from it"
                f" once with -S builder=spack -S spack_lock={quoted(self.spack_lock)}",
            )
        return super().spec_words(mpi)

    def has_built_from(self, text):
        """Whether an environment of this site's has this lock."""
        return any(own.read_bytes() == text for own in self.environments.glob(f"*/{LOCK}"))


class Confirm(rfm.RunOnlyRegressionTest, TrialMixin, KernelMixin):
    """One launch of the plan: the options of the run that it repeats, but of many sizes some."""

    tags = {"confirm"}
    step_limit_s = 120

    build = fixture(PlannedBuild, scope="environment")
    if any("before" in locks for locks in PLAN["locks"].values()):
        build_before = fixture(PlannedBuild, scope="environment", variables={"lock_of": "before"})

    @run_after("init")
    def describe(self):
        """Take what is measured from the plan; of the placements, only the planned one."""
        self.planned = TRIALS[self.trial]
        self.skip_if(self.placement != self.planned["placement"], "another placement is planned")
        self.kernel = plain_name(_FILE, self.planned["kernel"])
        self.modes = self.planned["modes"]
        self.sizes_bytes = self.planned["sizes_bytes"]
        self.num_tasks = self.planned["ranks"]
        self.nodes = len({*self.planned["nodes"], *self.planned["avoided"]})
        super().describe()

    @run_after("init")
    def select_environment(self):
        """Run in the planned partition and environment."""
        self.valid_systems = [f"*:{self.planned['partition']}"]
        self.valid_prog_environs = [self.planned["environ"]]

    @run_after("setup")
    def choose_nodes(self):
        """Run on the planned nodes, or on none that the plan avoids."""
        if self.current_partition.scheduler.is_local:
            self.skip_if(self.planned["avoided"], "this machine is the only node")
            return
        avoided, nodes = (
            [plain_name(_FILE, node) for node in self.planned[which]]
            for which in ("avoided", "nodes")
        )
        # Slurm refuses named nodes together with counts of features. The record proves the
        # placement, and on which nodes it was.
        wanted = self.requested_placement.scheduler_options
        if avoided:
            self.job.options.append(f"--exclude={','.join(avoided)}")
            if any("[" in option for option in wanted):
                return
        else:
            self.job.options = [option for option in self.job.options if option not in wanted]
        if nodes:
            self.job.options.append(f"--nodelist={','.join(nodes)}")

    @run_before("run")
    def change_settings(self):
        """Set or remove the planned variables, after all others are set."""
        settings = self.planned["environment"]
        self.set_variables(
            _FILE, {name: value for name, value in settings.items() if value is not None}
        )
        for name in (name for name, value in settings.items() if value is None):
            self.env_vars.pop(variable_name(_FILE, name), None)
            self.prerun_cmds.append(f"unset {name}")

    @run_before("run")
    def take_options(self):
        """Give the kernel the options of the run that is repeated."""
        ours = ("--mode=", "--sizes=", "--record=", "--label=", "--time-budget=")
        self.executable_opts = [
            *(option for option in self.executable_opts if option.startswith(ours)),
            *self.planned["options"],
        ]
        if self.planned["built_before"]:
            self.executable = self.started(self.build_before)

    @property
    def run_labels(self):
        """The identity of the curves, and the launch's name in the plan."""
        return {**super().run_labels, **self.planned["labels"], PLAN["label"]: self.trial}


if TRIALS:
    rfm.simple_test(Confirm)
