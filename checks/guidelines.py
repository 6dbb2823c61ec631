"""Collectives beside what other calls of the MPI library do in their place."""

import reframe as rfm
from reframe.core.builtins import parameter, run_after
from switchpoint.records.replacements import REPLACEMENTS

from .collectives import Collective


@rfm.simple_test
class Guideline(Collective):
    """One operation, its replacement and all its algorithms at sizes from 8 B to 1 MiB.

    ``switchpoint detect`` needs three launches to find that the replacement is faster:
    ``--repeat=3``.
    """

    tags = {"guidelines"}
    algorithms = "all"

    #: The operation, which is the name of its kernel. A barrier sends too little to prove where its
    #: ranks ran; ``bench/guidelines.py`` measures it.
    #:
    #: :type: :class:`str`
    operation = parameter([name for name in REPLACEMENTS if name != "barrier"], loggable=True)

    @run_after("init")
    def add_replacement(self):
        """Measure the replacement beside the operation."""
        self.modes = ["library", *REPLACEMENTS[self.operation]]
