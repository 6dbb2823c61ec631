"""The MPI library's own broadcast and exchange, with recommended rules and without, in turn.

``switchpoint model recommend --write FOLDER`` writes the rules, and ``--checked results`` says
afterwards which of them won.
"""

from pathlib import Path

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before, variable

from .mixins.kernel import KernelMixin
from .mixins.launches import LaunchesMixin
from .mixins.ranks import RanksMixin

#: The label of both sides, and its values, as ``switchpoint.models.checked`` knows them.
RULES, WITH, WITHOUT = "rules", "recommended", "default"


@rfm.simple_test
class Recommended(rfm.RunOnlyRegressionTest, LaunchesMixin, RanksMixin, KernelMixin):
    """``MPI_Bcast`` and ``MPI_Alltoall`` with the settings of a folder, and without.

    The sides are variants of one check, because ReFrame runs all variants of a check before those
    of the next, and their launches should alternate.
    """

    tags = {"recommend"}
    modes = ["library"]
    sizes_bytes = [1 << bit for bit in range(6, 21, 2)]
    step_limit_s = 120

    #: Ranks; any number that the placement's nodes divide.
    #:
    #: :type: :class:`int`
    ranks = variable(int, value=4)

    #: The folder that ``model recommend --write`` wrote.
    #:
    #: :type: :class:`str`
    rules_folder = variable(str, value="")

    #: The kernel to run.
    #:
    #: :type: :class:`str`
    measures = parameter(["broadcast", "alltoall"], loggable=True)

    #: With the settings, or without.
    #:
    #: :type: :class:`str`
    rules = parameter([WITHOUT, WITH], loggable=True)

    @run_after("init")
    def describe(self):
        """Take the kernel's name, then describe the test in the listing."""
        self.kernel = self.measures
        super().describe()

    @run_after("setup")
    def read_rules(self):
        """Read the settings; skip both sides if there are none."""
        self.skip_if(
            not self.rules_folder,
            "name the folder that `switchpoint model recommend --write` wrote with -S rules_folder",
        )
        settings = {}
        for file in sorted(Path(self.rules_folder).glob("*.env")):
            lines = file.read_text(encoding="utf-8").splitlines()
            settings |= dict(line.split("=", 1) for line in lines if "=" in line)
        self.skip_if(not settings, f"{self.rules_folder} has no settings file such as openmpi.env")
        if self.rules == WITH:
            self.set_variables(self.rules_folder, settings)

    @run_before("run")
    def label_rules(self):
        """Tell both sides apart."""
        self.executable_opts.append(f"--label={RULES}={self.rules}")

    @run_before("performance")
    def name_performance_variables(self):
        """The time at the smallest and at the largest message."""
        self.perf_variables = {
            f"{size}B": self.slowest_rank_us(size)
            for size in (min(self.sizes_bytes), max(self.sizes_bytes))
        }

    @performance_function("us")
    def slowest_rank_us(self, size_bytes=64):
        """Median time until the last rank has ended."""
        return self.median_us("library", size_bytes)
