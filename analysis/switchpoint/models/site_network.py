"""A network of a site: where the ranks of a run are, and the links between them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from switchpoint.models.links import Link
from switchpoint.models.network import Cost
from switchpoint.records.rank_layout import RankLayout


@dataclass(frozen=True)
class SiteNetwork:
    """Ranks on nodes, with one kind of link within nodes and one between them.

    All messages that leave a node share its link, and so do all that reach it. Both directions
    together carry what the ping-pong's mode `bistream` shows. A rank's arriving messages share the
    rank.

    Attributes
    ----------
    layout : RankLayout
        Where the ranks are.
    within, between : Link
        Links within a node and between nodes.
    """

    layout: RankLayout
    within: Link
    between: Link

    def cost(self, sender: int, receiver: int, size_bytes: int) -> Cost:
        """Return the cost of a message."""
        return self._link(sender, receiver).cost(size_bytes)

    def path(self, sender: int, receiver: int) -> dict[Hashable, float]:
        """Return what the message shares with others, and how many each serves at full speed."""
        source, target = self.layout.nodes[sender], self.layout.nodes[receiver]
        if source == target:
            return {("to rank", receiver): 1.0}
        both_ways = self.between.both_ways()
        return {
            ("from node", source): 1.0, ("to node", target): 1.0, ("to rank", receiver): 1.0,
            ("both ways", source): both_ways, ("both ways", target): both_ways,
        }  # fmt: skip

    def way(self, sender: int, receiver: int) -> Hashable:
        """Return whether the message stays in its node: memory does not wait for the network."""
        return self.layout.nodes[sender] == self.layout.nodes[receiver]

    def cores(self, rank: int) -> tuple[Hashable, float]:
        """Return the machine of a rank, and how many cores the ranks of the machine share."""
        machine = self.layout.machines[rank]
        cores = self.layout.cores
        return ("cores", machine), float("inf") if cores is None else float(cores)

    def _link(self, sender: int, receiver: int) -> Link:
        nodes = self.layout.nodes
        return self.within if nodes[sender] == nodes[receiver] else self.between
