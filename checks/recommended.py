"""The MPI library's own collectives, with the rules of a folder and without, in turn.

``switchpoint model recommend --write FOLDER`` writes the rules, and ``--checked results`` says
afterwards which of them won. ``switchpoint tune -o FOLDER`` and ``--check FOLDER`` do the same.
"""

from pathlib import Path

import reframe as rfm
from reframe.core.builtins import parameter, performance_function, run_after, run_before, variable
from reframe.core.exceptions import ReframeError
from switchpoint.errors import InputError
from switchpoint.models.rules_files import (
    DIGEST_LABEL,
    RULES_LABEL,
    WITH,
    WITHOUT,
    read_rules,
)
from switchpoint.printable import printable
from switchpoint.tuning.facts import FILE, read_tuning

from .mixins.kernel import KernelMixin
from .mixins.launches import LaunchesMixin
from .mixins.ranks import RanksMixin

#: The collectives that `model recommend` predicts.
PREDICTED = ("broadcast", "alltoall")


@rfm.simple_test
class Recommended(rfm.RunOnlyRegressionTest, LaunchesMixin, RanksMixin, KernelMixin):
    """A collective with the settings of a folder, and without.

    The sides are variants of one check, because ReFrame runs all variants of a check before those
    of the next, and their launches should alternate.
    """

    tags = {"recommend"}
    modes = ["library"]
    sizes_bytes = [1 << bit for bit in range(6, 21, 2)]
    step_limit_s = 120

    #: Ranks; any number that the nodes divide.
    #:
    #: :type: :class:`int`
    ranks = variable(int, value=4)

    #: The folder that ``model recommend --write`` or ``tune --output`` wrote.
    #:
    #: :type: :class:`str`
    rules_folder = variable(str, value="")

    #: The kernel to run. Of rules that were tuned, those are run that have some, at their sizes.
    #:
    #: :type: :class:`str`
    measures = parameter(
        ["broadcast", "alltoall", "allgather", "allreduce", "reduce", "reduce_scatter"],
        loggable=True,
    )

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
    def use_rules(self):
        """Read the settings; skip both sides if there are none."""
        self.skip_if(
            not self.rules_folder,
            "name the folder that `switchpoint model recommend --write` wrote, or `switchpoint"
            " tune -o`, with -S rules_folder",
        )
        try:
            rules = read_rules(self.rules_folder)
            sizes = self.sizes_of_rules()
        except InputError as error:
            raise ReframeError(printable(str(error))) from None
        missing = f"{self.rules_folder} has no settings file such as openmpi.env"
        self.skip_if(not rules.variables, missing)
        self.skip_if(
            not sizes, f"{self.rules_folder} has no rules for {self.measures} on {self.ranks} ranks"
        )
        self.sizes_bytes = sizes
        self.rules_labels = {RULES_LABEL: self.rules}
        if self.rules == WITH:
            self.rules_labels[DIGEST_LABEL] = rules.digest
            self.set_variables(self.rules_folder, rules.variables)

    def sizes_of_rules(self):
        """The sizes to measure; none if the folder has no rules for this collective."""
        if not Path(self.rules_folder, FILE).exists():  # recommended, not tuned
            return self.sizes_bytes if self.measures in PREDICTED else []
        return [
            size
            for group in read_tuning(self.rules_folder).groups
            if (group.kernel, group.ranks) == (self.measures, self.ranks)
            for size in group.sizes_with_rules()
        ]

    @run_before("run")
    def label_rules(self):
        """Distinguish both sides, and which rules were used."""
        self.executable_opts += [f"--label={key}={name}" for key, name in self.rules_labels.items()]

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
