"""Switches to the byte (study 001): where the sweep saw a step, the probe, the proof of a cause.

A zoom searches where the sweep of the same placement found steps. A proof changes settings, one at
a time and in groups, and searches again, until one of them is proved to cause the switch.
"""

import shlex
import shutil
import sys
from pathlib import Path

import reframe as rfm
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_after, run_before, variable

from .mixins.following import FollowingMixin, SearchMixin
from .mixins.kernel import KernelMixin
from .pingpong import PingPongSweep

#: The folder of the records of an experiment, in the stage and the output folder.
PROOF = "proof"


class Zoom(rfm.RunOnlyRegressionTest, SearchMixin, KernelMixin):
    """The late-receiver probe over all sizes, and a bisection of each of ``brackets``.

    A child may set ``brackets`` in its setup phase.
    """

    kernel = "zoom"
    modes = ["late", "send", "ssend"]
    num_tasks = 2

    #: The probe searches between the smallest and the largest. A bracket outside widens them.
    sizes_bytes = [1, 1 << 20]

    # The blocks of one visit. The zoom visits a size again until it is certain.
    samples = 1
    block_time_us = 100
    pass_time_ms = 1

    @run_before("performance")
    def name_performance_variables(self):
        """One number: the last size that is sent eagerly, if the probe found it."""
        self.perf_variables = {"last_eager": self.last_eager()} if self.probed else {}

    @performance_function("B")
    def last_eager(self):
        """Last size that MPI_Send sends without waiting for its receiver."""
        return self.probed[0]["last_size_bytes"]

    @property
    def probed(self):
        """The late-receiver probe's search, if it ended exactly; only after sanity."""
        return [
            search
            for search in self.facts.footer["switches"]
            if search["method"] == "late_receiver" and search["verdict"] == "exact"
        ]


@rfm.simple_test
class PingPongZoom(FollowingMixin, Zoom):
    """Locates the sweep's steps to the byte, and finds the end of the eager protocol."""

    tags = {"sweep", "explain", "study-001"}
    follows = PingPongSweep

    @property
    def planned_modes(self):
        """The modes that are timed."""
        return [mode for mode in self.modes if mode != "late"]


@rfm.simple_test
class PingPongProof(Zoom):
    """Finds the setting that ends the eager protocol, or causes a step, by an experiment.

    The job runs ``switchpoint prove``, which starts zooms with changed settings one after another.
    The analysis must therefore be installed where the job's nodes see it.
    """

    tags = {"explain", "study-001"}
    step_limit_s = 60

    #: The placement at which every sweep proves its cause: study 001 saw the switch there.
    always = "one_node_network"

    #: The setting to change first; by default the likeliest.
    #:
    #: :type: :class:`str`
    setting = variable(str, value="")

    #: A step that timing shows, as MODE:LAST; by default the end of the eager protocol.
    #:
    #: :type: :class:`str`
    step = variable(str, value="")

    #: How long the experiment may take, in seconds.
    #:
    #: :type: :class:`int`
    budget_s = variable(int, value=90)

    @run_after("init")
    def join_the_sweep(self):
        """Add the tag of the sweep at the placement with the best-known switch."""
        if self.placement == self.always:
            self.tags |= {"sweep"}

    @run_after("setup")
    def limit_the_experiment(self):
        """Give the job the time of the experiment and of its last launch."""
        self.time_limit = f"{self.budget_s + self.step_limit_s + 60}s"

    @run_before("run", always_last=True)
    def tell_how_it_is_started(self):
        """Let the experiment start the kernel with the launcher, once for each trial."""
        super().tell_how_it_is_started()
        labels = [word for word in self.executable_opts if "--label=" in word]
        kernel = [*self.job.launcher.run_command(self.job).split(), self.executable]
        setting = [f"--setting={shlex.quote(self.setting)}"] if self.setting else []
        step = [f"--step={shlex.quote(self.step)}"] if self.step else []
        self.executable = shlex.quote(sys.executable)
        self.executable_opts = [
            *("-m", "switchpoint", "prove", f"--output={PROOF}", f"--budget={self.budget_s}s"),
            *(*setting, *step, *labels, "--", *kernel),
        ]
        self.job.launcher = getlauncher("local")()
        self.record = f"{PROOF}/zoom-000.record"
        self.keep_files = [PROOF, *self.build.files_to_keep]

    @run_after("sanity")
    def keep_the_record(self):
        """Copy the records of all trials to the output folder at once."""
        if not self.is_dry_run():
            shutil.copytree(
                Path(self.stagedir, PROOF), Path(self.outputdir, PROOF), dirs_exist_ok=True
            )

    def missing_points(self):
        """Nothing is asked for by size."""
        return []
