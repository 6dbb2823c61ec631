"""Switches to the byte (study 001): where the sweep saw a step, the probe, the proof of a cause.

A zoom searches where the sweep of the same placement found steps. A proof changes settings, one at
a time and in groups, and searches again, until one of them is proved to cause the switch.
"""

import json
import shlex
import shutil
import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.osext as osext
import reframe.utility.typecheck as typ
from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_after, run_before, variable
from reframe.core.exceptions import ReframeError
from reframe.core.logging import getlogger

from .mixins.kernel import KernelMixin
from .pingpong import PingPongSweep

#: The folder of the records of an experiment, in the stage and the output folder.
PROOF = "proof"


class Zoom(rfm.RunOnlyRegressionTest, KernelMixin):
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

    #: Where to bisect: mode, last size before a step, first size past it.
    #:
    #: :type: :class:`List[Tuple[str, int, int]]`
    brackets = variable(typ.List[typ.Tuple[str, int, int]], value=[])

    #: More brackets, as MODE:LAST-FIRST.
    #:
    #: :type: :class:`List[str]`
    also_search = variable(typ.List[str], value=[])

    #: Time limit of one bisection in milliseconds.
    #:
    #: :type: :class:`int`
    search_time_ms = variable(int, value=800)

    @run_before("run")
    def pass_brackets_on(self):
        """Pass the brackets to the kernel, if there are any, and their time."""
        self.executable_opts.append(f"--search-time={self.search_time_ms}")
        words = [f"{mode}:{last}-{first}" for mode, last, first in self.brackets]
        words += self.also_search
        if words:
            self.executable_opts.append(f"--brackets={','.join(words)}")

    def missing_points(self):
        """Names of requested searches that were not made."""
        made = [
            (search["mode"], search["low_bytes"], search["high_bytes"])
            for search in self.facts.footer["switches"]
        ]
        return [
            f"{mode} {last} to {first} B"
            for mode, last, first in self.brackets
            if (mode, last, first) not in made
        ]

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
class PingPongZoom(Zoom):
    """Locates the sweep's steps to the byte, and finds the end of the eager protocol."""

    tags = {"sweep", "explain", "study-001"}
    follows = PingPongSweep

    @run_after("init")
    def follow(self):
        """Depend on the other check at the same placement, partition and environment."""
        (variant,) = self.follows.get_variant_nums(placement=lambda name: name == self.placement)
        self.followed = self.follows.variant_name(variant)
        self.depends_on(self.followed)

    @run_after("setup")
    def need_a_measurement(self):
        """Skip in a dry run, because the other check has measured nothing."""
        self.skip_if(self.is_dry_run(), "needs a measurement, and a dry run makes none")

    @property
    def record_before(self):
        """Path of the record of the other check, from the setup phase on."""
        before = self.getdep(self.followed)
        return Path(before.stagedir, before.record)

    @run_after("setup")
    def take_candidates(self):
        """Search where the sweep's record has steps.

        The sizes are widened where a bracket lies outside. The plan stays in the stage folder as
        ``plan.json``.
        """
        modes = [mode for mode in self.modes if mode != "late"]
        planned = osext.run_command(
            [
                *(sys.executable, "-m", "switchpoint", "plan", str(self.record_before), "--json"),
                f"--mode={','.join(modes)}",
            ]
        )
        if planned.returncode:
            raise ReframeError(planned.stderr.strip().removeprefix("switchpoint: "))
        Path(self.stagedir, "plan.json").write_text(planned.stdout)
        plan = json.loads(planned.stdout)
        self.brackets = [
            (bracket["mode"], bracket["last_size_before"], bracket["size_bytes"])
            for bracket in plan["brackets"]
        ]
        self.sizes_bytes = [
            min([*self.sizes_bytes, plan["sizes_bytes"][0]]),
            max([*self.sizes_bytes, plan["sizes_bytes"][1]]),
        ]
        for note in plan["notes"]:
            getlogger().warning(f"{self.display_name}: {note}")


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
