"""The number of ranks of a kernel's check, if it is part of the curves' identity."""

import reframe as rfm
from reframe.core.builtins import run_after, run_before


class RanksMixin(rfm.RegressionTestPlugin):
    """Runs ``ranks`` ranks, and writes the number as a label.

    A child defines ``ranks`` in its class body, as a parameter or as a variable, and lists this
    mixin before the one whose options it adds to, `KernelMixin`.
    """

    @run_after("init")
    def set_ranks(self):
        """Start the chosen number of ranks."""
        self.num_tasks = self.ranks

    @run_before("run")
    def label_ranks(self):
        """Distinguish the curves from those with other numbers of ranks."""
        self.executable_opts.append(f"--label=ranks={self.ranks}")
