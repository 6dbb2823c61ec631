"""How many ranks a kernel's check runs, where that is chosen and tells curves apart."""

import reframe as rfm
from reframe.core.builtins import run_after, run_before


class RanksMixin(rfm.RegressionTestPlugin):
    """Runs as many ranks as ``ranks`` says, and says it in the record.

    A child defines ``ranks`` in its class body, as a parameter or as a variable, and lists this
    mixin before the one whose options it adds to, `KernelMixin`.
    """

    @run_after("init")
    def set_ranks(self):
        """Start as many ranks as were chosen."""
        self.num_tasks = self.ranks

    @run_before("run")
    def label_ranks(self):
        """Tell the curves from those of other numbers of ranks."""
        self.executable_opts.append(f"--label=ranks={self.ranks}")
