"""Merge sort over a tree of processes (study 000) on different maps of processes to nodes."""

import reframe as rfm
import reframe.core.runtime as rt
from reframe.core.builtins import parameter, performance_function, run_after, run_before
from switchpoint.records.run_facts import carried_bytes

from ..mixins.kernel import KernelMixin
from ..mixins.process_map import ProcessMapMixin

#: The study's array of 50,000 ints, and a sweep beyond it.
ARRAY_BYTES = 200_000
SIZES_BYTES = [ARRAY_BYTES * factor for factor in (1, 2, 4, 8, 16)]

#: The study's text and its captions contradict each other on figure 12. The first of
#: its two maps fits "twice the data" of figure 10, the second is the most that a balanced tree can
#: send; both are our reconstructions.
MAPS_OF_TWO_NODES = [
    "AABAABB",  # figure 10
    "AAAAABB",  # figure 11
    "AAAAAAB",  # one leaf remote
    "AABABBB",  # three leaves remote
    "AABABAB",  # figure 12 by its text
    "AABBBAA",  # figure 12 by its caption
    "ABBAAAA",  # figure 13
]


def placements_with(**wanted):
    """Filter for a placement's parameter: drops placements with another number of nodes.

    ``placements_with(nodes=2)`` drops those that no partition of the system offers with two nodes.
    Placements that no partition offers remain, and select no partition.
    """

    def suits(name):
        offers = [
            partition.extras["placements"][name]
            for partition in rt.runtime().system.partitions
            if name in partition.extras.get("placements", {})
        ]
        return not offers or any(wanted.items() <= offer.items() for offer in offers)

    return lambda names: [name for name in names if suits(name)]


class MergeSort(rfm.RunOnlyRegressionTest, ProcessMapMixin, KernelMixin):
    """Repeated sorts, each with the data on rank 0 before and after."""

    tags = {"study-000"}
    kernel = "mergesort"
    modes = ["tree"]
    sizes_bytes = SIZES_BYTES
    samples = 4
    pass_time_ms = 200
    # If there are more ranks than cores, each hop waits for a time slice of the scheduler.
    step_limit_s = 120

    @run_after("setup")
    def measure_little_if_oversubscribed(self):
        """Skip long sorts if there are more ranks than cores."""
        if self.oversubscribed:
            self.sizes_bytes = [ARRAY_BYTES, 4 * ARRAY_BYTES]

    def refutations(self, header, footer):
        """Also check that the kernel counted the bytes between nodes that the map must send."""
        counted = {p["size_bytes"]: p["traffic"] for p in footer["points"]}
        return super().refutations(header, footer) + [
            f"the map sends {expected:,} B between nodes for {size:,} B, but the kernel counted "
            f"{counted[size]['bytes_between_nodes']:,} B"
            for size in self.sizes_bytes
            if counted[size]["bytes_between_nodes"]
            != (expected := bytes_between_nodes(self.process_map, size))
        ]

    @run_before("performance")
    def name_performance_variables(self):
        """The study's figures for its own array."""
        self.perf_variables = {"sort": self.sort_us(), "between_nodes": self.between_nodes()}
        if self.requested_placement.nodes > 1:
            self.perf_variables["carried"] = self.carried()

    @performance_function("us")
    def sort_us(self):
        """Median time of one sort."""
        return self.median_us("tree", ARRAY_BYTES)

    @performance_function("B")
    def between_nodes(self):
        """Bytes of one sort that leave their node."""
        return self.points["tree", ARRAY_BYTES]["traffic"]["bytes_between_nodes"]

    @performance_function("1")
    def carried(self):
        """Bytes on the interfaces of the least busy node divided by bytes sent between nodes."""
        sent = self.facts.footer["verification"]["bytes_between_nodes"]
        return min(carried_bytes(self.facts.header, self.facts.footer).values()) / sent


def bytes_between_nodes(process_map, size_bytes):
    """Bytes that a sort sends between nodes in both directions; rank r's parent is (r-1)/2."""
    counts = [size_bytes // 4]
    crossing = 0
    for rank in range(1, len(process_map)):
        parent = (rank - 1) // 2
        half = counts[parent] // 2
        counts.append(half if rank % 2 else counts[parent] - half)
        if process_map[rank] != process_map[parent]:
            crossing += 2 * 4 * counts[rank]
    return crossing


@rfm.simple_test
class MergeSortAlone(MergeSort):
    """The single process that the study compares with. It sends nothing, so no path is forced."""

    process_map = parameter(["A"], loggable=True)
    placement = parameter(
        inherit_params=True,
        filter_params=placements_with(nodes=1, path="shared_memory"),
        loggable=True,
    )


@rfm.simple_test
class MergeSortOnOneNode(MergeSort):
    """Seven processes on one node, so that no byte leaves it."""

    process_map = parameter(["AAAAAAA"], loggable=True)
    placement = parameter(
        inherit_params=True, filter_params=placements_with(nodes=1), loggable=True
    )


@rfm.simple_test
class MergeSortOnTwoNodes(MergeSort):
    """The study's maps, with one half to four times the data of its best one on the network."""

    process_map = parameter(MAPS_OF_TWO_NODES, loggable=True)
    placement = parameter(
        inherit_params=True, filter_params=placements_with(nodes=2), loggable=True
    )
