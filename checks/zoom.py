"""Switches to the byte (study 001): where the sweep saw a step, the probe, the proof of a cause.

A zoom looks where the sweep of the same placement found something; an intervention moves the
setting that is suspected of the zoom's switch.
"""

import json
import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.osext as osext
import reframe.utility.typecheck as typ
from reframe.core.builtins import performance_function, run_after, run_before, variable
from switchpoint.records.record import read_facts

from .mixins.kernel import KernelMixin
from .pingpong import PingPongSweep


class Zoom(rfm.RunOnlyRegressionTest, KernelMixin):
    """The late-receiver probe over all sizes, and a bisection of each of ``brackets``.

    A child defines ``follows``, the check whose record it starts from, and sets ``brackets`` after
    its setup phase.
    """

    kernel = "zoom"
    modes = ["late", "send", "ssend"]
    num_tasks = 2

    #: The probe searches between the smallest and the largest.
    sizes_bytes = [1, 1 << 20]

    # The blocks of one visit; the zoom comes back to a size until it is sure.
    samples = 1
    block_time_us = 100
    pass_time_ms = 1

    #: Where to bisect: mode, last size before a step, first size past it.
    #:
    #: :type: :class:`List[Tuple[str, int, int]]`
    brackets = variable(typ.List[typ.Tuple[str, int, int]], value=[])

    @run_after("init")
    def follow(self):
        """Depend on the other check at the same placement, partition and environment."""
        (variant,) = self.follows.get_variant_nums(placement=lambda name: name == self.placement)
        self.followed = self.follows.variant_name(variant)
        self.depends_on(self.followed)

    @run_after("setup")
    def need_a_measurement(self):
        """Leave a dry run, in which nothing was measured that could be followed."""
        self.skip_if(self.is_dry_run(), "follows a measurement, and a dry run makes none")

    @property
    def record_before(self):
        """Path of the record that the other check left; from the setup phase on."""
        before = self.getdep(self.followed)
        return Path(before.stagedir, before.record)

    def follow_plan(self, *options):
        """Let the analysis read the other check's record; take its brackets, return the rest.

        The plan stays in the stage folder as ``plan.json``.
        """
        modes = [mode for mode in self.modes if mode != "late"]
        planned = osext.run_command(
            [
                *(sys.executable, "-m", "switchpoint", "plan", str(self.record_before), "--json"),
                *(f"--mode={','.join(modes)}", *options),
            ],
            check=True,
        ).stdout
        Path(self.stagedir, "plan.json").write_text(planned)
        plan = json.loads(planned)
        self.brackets = [
            (bracket["mode"], bracket["last_size_before"], bracket["size_bytes"])
            for bracket in plan["brackets"]
        ]
        return plan["intervention"]

    @run_before("run")
    def pass_brackets_on(self):
        """Say where to bisect, if anywhere."""
        words = [f"{mode}:{last}-{first}" for mode, last, first in self.brackets]
        if words:
            self.executable_opts.append(f"--brackets={','.join(words)}")

    def missing_points(self):
        """Searches that were asked for and not made, in words."""
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
        """One number: the last size that is sent eagerly, where the probe found it."""
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
    """Pins the sweep's steps, and finds the end of the eager protocol by itself."""

    tags = {"sweep", "explain", "study-001"}
    follows = PingPongSweep

    @run_after("setup")
    def take_candidates(self):
        """Look where the sweep's record has steps."""
        self.follow_plan()


@rfm.simple_test
class PingPongIntervention(Zoom):
    """Moves the setting that is suspected of the switch: the switch follows it, or does not."""

    tags = {"explain", "study-001"}
    follows = PingPongZoom

    #: Where every sweep proves its cause too: the curve on which study 001 saw the switch.
    always = "one_node_network"

    #: The setting to move; by default the first suspect of the catalogue.
    #:
    #: :type: :class:`str`
    setting = variable(str, value="")

    #: What to set it to in bytes; 0 chooses.
    #:
    #: :type: :class:`int`
    value = variable(int, value=0)

    @run_after("init")
    def join_the_sweep(self):
        """Belong to the sweep as well, where the switch is the one that people ask about."""
        if self.placement == self.always:
            self.tags |= {"sweep"}

    @run_after("setup")
    def move_the_setting(self):
        """Set it anew, and look where switches were."""
        options = [f"--setting={self.setting}"] if self.setting else []
        options += [f"--value={self.value}"] if self.value else []
        self.moved = self.follow_plan(*options)
        self.skip_if(self.moved is None, "nothing was found that a known setting could move")
        self.env_vars[self.moved["environment"]] = str(self.moved["value"])

    @property
    def run_labels(self):
        """Name the intervention and the run that it is held against."""
        return {
            **super().run_labels,
            "intervention": f"{self.moved['variable']}={self.moved['value']}",
            "base_run": read_facts(self.record_before).run_id,
        }
