"""Collectives beside what other calls of the MPI library do in their place."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after

from .collectives import Collective

#: By operation: the mode of its kernel that replaces it by other calls. A barrier sends too little
#: to prove where its ranks ran; ``bench/guidelines.py`` measures it.
REPLACEMENTS = {
    "allgather": "gather_then_bcast",
    "allreduce": "reduce_then_bcast",
    "broadcast": "scatter_then_allgather",
    "gather": "by_allgather",
    "reduce": "by_allreduce",
    "reduce_scatter": "reduce_then_scatter",
    "scatter": "by_bcast",
}


@rfm.simple_test
class Guideline(Collective):
    """One operation, its replacement and all its algorithms at sizes from 8 B to 1 MiB.

    ``switchpoint detect`` needs three launches to find that the replacement is faster:
    ``--repeat=3``.
    """

    tags = {"guidelines"}
    algorithms = "all"

    #: The operation, which is the name of its kernel.
    #:
    #: :type: :class:`str`
    operation = parameter([*REPLACEMENTS], loggable=True)

    @run_after("init")
    def add_replacement(self):
        """Measure the replacement beside the operation."""
        self.modes = ["library", REPLACEMENTS[self.operation]]
