"""A check that is always skipped."""

import reframe as rfm
from reframe.core.builtins import run_after


@rfm.simple_test
class Skipped(rfm.RunOnlyRegressionTest):
    """Has a reason."""

    tags = {"nightly"}
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    local = True
    executable = "true"

    @run_after("setup")
    def skip_it(self):
        """Skip it."""
        self.skip("is not for today")
