"""Checks with process maps that nobody can or does follow: each has to fail in words."""

import sys
from pathlib import Path

import reframe as rfm
from reframe.core.builtins import parameter, run_before

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checks.studies.mergesort import ARRAY_BYTES, MergeSort


class OnTwoNodes(MergeSort):
    """As few runs as can be."""

    placement = parameter(["two_nodes_one_host"], loggable=True)
    sizes_bytes = [ARRAY_BYTES]
    passes = 1
    samples = 1


@rfm.simple_test
class Followed(OnTwoNodes):
    """A map that is neither in blocks nor in turns."""

    process_map = parameter(["ABB"], loggable=True)


@rfm.simple_test
class Disobeyed(OnTwoNodes):
    """Asks for one map and is launched on another."""

    process_map = parameter(["ABA"], loggable=True)

    @run_before("run")
    def launch_elsewhere(self):
        """Take two nodes for one another."""
        self.prerun_cmds = [c.replace("in 0 1 0;", "in 0 0 1;") for c in self.prerun_cmds]


@rfm.simple_test
class Impossible(OnTwoNodes):
    """Asks for one node more than the placement has, and with text that is not a map."""

    process_map = parameter(["ABC", "ACB"], loggable=True)
