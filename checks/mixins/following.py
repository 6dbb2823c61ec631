"""Searches for switches where the sweep of another check has steps."""

import json
import sys
from functools import partial
from operator import eq
from pathlib import Path

import reframe as rfm
import reframe.utility.osext as osext
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.exceptions import ReframeError
from reframe.core.logging import getlogger


class SearchMixin(rfm.RegressionTestPlugin):
    """Gives the kernel ``brackets`` to bisect. A child may set them in its setup phase."""

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


class FollowingMixin(rfm.RegressionTestPlugin):
    """Depends on the check ``follows`` at the same place, and plans brackets from its record.

    A child has the parameters in ``shared``, as ``follows`` has, and ``planned_modes``.
    """

    #: Parameters in which the two checks agree.
    shared = ("placement",)

    @run_after("init")
    def follow(self):
        """Depend on the other check at the same placement, partition and environment."""
        alike = {name: partial(eq, getattr(self, name)) for name in self.shared}
        (variant,) = self.follows.get_variant_nums(**alike)
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
        planned = osext.run_command(
            [
                *(sys.executable, "-m", "switchpoint", "plan", str(self.record_before), "--json"),
                f"--mode={','.join(self.planned_modes)}",
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
        ends = plan["sizes_bytes"] if self.brackets else self.sizes_bytes
        self.sizes_bytes = [min(*self.sizes_bytes, *ends), max(*self.sizes_bytes, *ends)]
        for note in plan["notes"]:
            getlogger().warning(f"{self.display_name}: {note}")
