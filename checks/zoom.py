"""Switches to the byte (study 001): where the sweep saw a step, the probe, the proof of a cause.

A zoom searches where the sweep of the same placement found steps. An intervention changes the
setting that is suspected to cause the zoom's switch.
"""

import json
import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.osext as osext
import reframe.utility.typecheck as typ
from reframe.core.builtins import performance_function, run_after, run_before, variable
from reframe.core.exceptions import ReframeError
from reframe.core.logging import getlogger
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

    #: Time limit of one bisection in milliseconds.
    #:
    #: :type: :class:`int`
    search_time_ms = variable(int, value=800)

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

    def follow_plan(self, *options):
        """Let the analysis read the other check's record; take its brackets, return its setting.

        The sizes are widened where a bracket lies outside. The plan stays in the stage folder as
        ``plan.json``.
        """
        modes = [mode for mode in self.modes if mode != "late"]
        planned = osext.run_command(
            [
                *(sys.executable, "-m", "switchpoint", "plan", str(self.record_before), "--json"),
                *(f"--mode={','.join(modes)}", *options),
            ]
        )
        # A setting that somebody names for all placements plays no part in some of them.
        refusal = planned.stderr.strip().removeprefix("switchpoint: ")
        self.skip_if(refusal.startswith("--setting:"), refusal)
        if planned.returncode:
            raise ReframeError(refusal)
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
        return plan["intervention"]

    @run_before("run")
    def pass_brackets_on(self):
        """Pass the brackets to the kernel, if there are any, and their time."""
        self.executable_opts.append(f"--search-time={self.search_time_ms}")
        words = [f"{mode}:{last}-{first}" for mode, last, first in self.brackets]
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

    @run_after("setup")
    def take_candidates(self):
        """Search where the sweep's record has steps."""
        self.follow_plan()


@rfm.simple_test
class PingPongIntervention(Zoom):
    """Changes the setting that is suspected to cause the switch, and searches again."""

    tags = {"explain", "study-001"}
    follows = PingPongZoom

    #: The placement at which every sweep proves its cause: study 001 saw the switch there.
    always = "one_node_network"

    #: The setting to change; by default the first suspect of the catalogue.
    #:
    #: :type: :class:`str`
    setting = variable(str, value="")

    #: Its new value in bytes; 0 chooses one.
    #:
    #: :type: :class:`int`
    value = variable(int, value=0)

    @run_after("init")
    def join_the_sweep(self):
        """Add the tag of the sweep at the placement with the best-known switch."""
        if self.placement == self.always:
            self.tags |= {"sweep"}

    @run_after("setup")
    def move_the_setting(self):
        """Change the setting, and search where switches were."""
        options = [f"--setting={self.setting}"] if self.setting else []
        options += [f"--value={self.value}"] if self.value else []
        self.moved = self.follow_plan(*options)
        self.skip_if(self.moved is None, "nothing was found that a known setting could move")
        self.set_variables("plan.json", {self.moved["environment"]: str(self.moved["value"])})

    @property
    def run_labels(self):
        """Name the intervention and the run that it is compared with."""
        return {
            **super().run_labels,
            "intervention": self.moved["label"],
            "base_run": read_facts(self.record_before).run_id,
        }
