"""What a run record proves, in one flat shape for reports: where the ranks were, what carried them.

Labels are claims; `sites.placement_proof` compares a claim with these facts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Share of the payload that the interfaces of a node must have carried to call the path a network.
#: With two ranks every byte is sent or received on either node, so an honest network path carries
#: all of it; half leaves room for counters that are read a moment apart.
NETWORK_SHARE = 0.5

#: Largest IP packet, and what IP, TCP and its timestamps take of each, in bytes (RFC 791, RFC 9293,
#: RFC 7323).
_LARGEST_PACKET = 65535
_SEGMENT_HEADERS = 20 + 20 + 12

#: What Linux hands to an interface at once for it to cut into segments (GSO_LEGACY_MAX_SIZE).
_LARGEST_BUNDLE = 65536


@dataclass
class Proof:
    """Facts of one run, derived from its record.

    Attributes
    ----------
    hosts : list of str
        Host name of each rank, in rank order.
    switches : list of str or None
        Switch above each rank's node, where Slurm's topology tells it.
    cpus_allowed : list of list of int
        CPUs that each rank was allowed to run on.
    path, evidence : str
        `network`, `shared_memory`, or `unknown` for a truncated record; the figures behind it.
    interface, mtu : str or None, int or None
        The interface that carried most, and its largest packet in bytes.
    involuntary_switches, steal_ticks : int or None
        Growth during the run: of all ranks together, and of the worst machine.
    """

    hosts: list[str]
    switches: list[str | None]
    cpus_allowed: list[list[int]]
    path: str = "unknown"
    evidence: str = "truncated record"
    interface: str | None = None
    mtu: int | None = None
    involuntary_switches: int | None = None
    steal_ticks: int | None = None

    @property
    def tcp_segment(self) -> int | None:
        """Most bytes of a stream that one TCP segment on `interface` carries."""
        return min(self.mtu, _LARGEST_PACKET) - _SEGMENT_HEADERS if self.mtu else None

    @property
    def tcp_bundle(self) -> int | None:
        """Most bytes of a stream in whole segments that the kernel hands to `interface` at once."""
        segment = self.tcp_segment
        return _LARGEST_BUNDLE // segment * segment if segment else None


def prove(header: dict[str, Any], footer: dict[str, Any] | None) -> Proof:
    """Derive the proof from a record's header and footer (None when truncated)."""
    ranks = header["ranks"]
    proof = Proof(
        hosts=[rank["host"] for rank in ranks],
        switches=[switch_of(rank) for rank in ranks],
        cpus_allowed=[rank["cpus_allowed"] for rank in ranks],
    )
    if footer is None:
        return proof
    after = {rank["rank"]: rank["after"] for rank in footer["ranks"]}
    changes = [(rank["before"], after[rank["rank"]]) for rank in ranks]
    proof.path, proof.evidence = path_taken(header, footer)
    if proof.path == "network":
        proof.interface, proof.mtu = _busiest_interface(changes)
    proof.involuntary_switches = sum(_growth(*change, "involuntary_switches") for change in changes)
    proof.steal_ticks = max(_growth(*change, "steal_ticks") for change in changes)
    return proof


def _growth(before: dict[str, Any], after: dict[str, Any], counter: str) -> int:
    return int(after[counter] - before[counter])


def _busiest_interface(
    changes: list[tuple[dict[str, Any], dict[str, Any]]],
) -> tuple[str | None, int | None]:
    """Name and MTU of the interface that sent most between two readings."""
    sent = [
        (_growth(early, late, "tx_bytes"), late["name"], late["mtu"])
        for before, after in changes
        for early in before["interfaces"]
        for late in after["interfaces"]
        if early["name"] == late["name"]
    ]
    _, name, mtu = max(sent, default=(0, None, None))
    return name, mtu


def conditions(header: dict[str, Any], footer: dict[str, Any] | None) -> dict[str, Any]:
    """What else the machine did during a run, as far as its record says: evidence of interference.

    `involuntary_switches` and `steal_ticks` as in `Proof`, `load_before` of the machine's cores.
    """
    if not header or footer is None:
        return {}
    proof = prove(header, footer)
    return {
        "involuntary_switches": proof.involuntary_switches,
        "steal_ticks": proof.steal_ticks,
        "load_before": max(rank["before"]["load1"] for rank in header["ranks"]),
    }


def switch_of(rank: Mapping[str, Any], switch_from_node_name: str | None = None) -> str | None:
    """Name of the switch above a rank's node, or None where nothing tells it.

    Slurm's address reads ``core.host_a.a1`` with the pattern ``switch.switch.node``.
    """
    address = rank.get("topology_address")
    if address and "." in address:
        return str(address).rpartition(".")[0]
    if switch_from_node_name:
        match = re.search(switch_from_node_name, rank["host"])
        return match.group(1) if match else None
    return None


def path_taken(header: Mapping[str, Any], footer: Mapping[str, Any]) -> tuple[str, str]:
    """Which path the payload took, by the nodes' own interface counters.

    Returns
    -------
    path : str
        ``network`` when the interfaces of every node sent and received together at least
        `NETWORK_SHARE` of a node's part in the payload; else ``shared_memory``.
    evidence : str
        The figures, for people.
    """
    verification = footer["verification"]
    # Where the kernel counted what left its node, the rest had no business on a network.
    payload = verification.get("bytes_between_nodes") or verification["bytes_moved"]
    carried = carried_bytes(header, footer)
    least = min(carried.values())
    nodes_per_message = min(len(carried), 2)
    on_network = payload > 0 and least >= NETWORK_SHARE * payload * nodes_per_message / len(carried)
    evidence = f"interfaces carried {least:,} B or more on each node, payload {payload:,} B"
    return ("network" if on_network else "shared_memory"), evidence


def carried_bytes(header: Mapping[str, Any], footer: Mapping[str, Any]) -> dict[str, int]:
    """Bytes that each node's interfaces sent and received during the run, by host name."""
    after = {rank["rank"]: rank["after"] for rank in footer["ranks"]}
    return {
        _node(rank): _interface_bytes(after[rank["rank"]]) - _interface_bytes(rank["before"])
        for rank in header["ranks"]
    }


def _node(rank: Mapping[str, Any]) -> str:
    return str(rank["host"])


def _interface_bytes(conditions: Mapping[str, Any]) -> int:
    return sum(entry["tx_bytes"] + entry["rx_bytes"] for entry in conditions["interfaces"])
