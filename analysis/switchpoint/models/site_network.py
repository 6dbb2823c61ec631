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

    All messages that leave a node share its link, and so do all that reach it; a rank's arriving
    messages share the rank.

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

    def path(self, sender: int, receiver: int) -> tuple[Hashable, ...]:
        """Return the links that the message shares with other messages."""
        source, target = self.layout.nodes[sender], self.layout.nodes[receiver]
        if source == target:
            return (("to rank", receiver),)
        return ("from node", source), ("to node", target), ("to rank", receiver)

    def cores(self, rank: int) -> tuple[Hashable, float]:
        """Return the machine of a rank, and how many cores the ranks of the machine share."""
        machine = self.layout.machines[rank]
        cores = self.layout.cores
        return ("cores", machine), float("inf") if cores is None else float(cores)

    def _link(self, sender: int, receiver: int) -> Link:
        nodes = self.layout.nodes
        return self.within if nodes[sender] == nodes[receiver] else self.between
