"""What a run record proves: where the ranks were, and which path the payload took.

Labels are claims; `sites.placement_proof` compares a claim with these facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Conditions, Header, Rank

#: Share of the payload that a node must send and receive if the path is a network. With two ranks
#: every byte is sent or received on each node, so a real network path carries all of it. A half
#: allows for counters that are not read at the same moment.
NETWORK_SHARE = 0.5

#: How records write a time.
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"

#: Label with the rate of the link, in Gbit/s, that the site's file declares for a placement.
LINK = "link_Gbps"

#: Largest IP packet, and the part of it that IP, TCP and its timestamps use, in bytes (RFC 791,
#: RFC 9293, RFC 7323).
_LARGEST_PACKET = 65535
_SEGMENT_HEADERS = 20 + 20 + 12

#: Bytes that Linux passes to an interface at once, which cuts them into segments
#: (GSO_LEGACY_MAX_SIZE).
_LARGEST_BUNDLE = 65536


@dataclass
class Proof:
    """Facts of one run, derived from its record.

    Attributes
    ----------
    hosts : list of str
        Host name of each rank, in rank order.
    switches : list of str or None
        Switch above each rank's node, if Slurm's topology shows it.
    cpus_allowed : list of list of int
        CPUs that each rank was allowed to run on.
    path, evidence : str
        `network`, `shared_memory`, or `unknown` for a truncated record; and the numbers behind it.
    interface, mtu, speed_mbps : str or None, int or None, float or None
        The interface that carried most bytes, its largest packet in bytes, and its speed in Mbit/s.
    involuntary_switches, steal_ticks : int or None
        Growth during the run: the sum over all ranks, and the largest of all machines.
    tcp_retransmissions : int or None
        Growth during the run, over all network namespaces; None in old records.
    """

    hosts: list[str]
    switches: list[str | None]
    cpus_allowed: list[list[int]]
    path: str = "unknown"
    evidence: str = "truncated record"
    interface: str | None = None
    mtu: int | None = None
    speed_mbps: float | None = None
    involuntary_switches: int | None = None
    steal_ticks: int | None = None
    tcp_retransmissions: int | None = None

    @property
    def tcp_segment(self) -> int | None:
        """Return how many bytes of a stream one TCP segment on `interface` carries at most."""
        return min(self.mtu, _LARGEST_PACKET) - _SEGMENT_HEADERS if self.mtu else None

    @property
    def tcp_bundle(self) -> int | None:
        """Return how many bytes in whole segments the kernel passes to `interface` at once."""
        segment = self.tcp_segment
        return _LARGEST_BUNDLE // segment * segment if segment else None


def prove(header: Header, footer: Footer | None) -> Proof:
    """Derive the proof from a record's header and footer (None if truncated)."""
    ranks = header["ranks"]
    proof = Proof(
        hosts=[rank["host"] for rank in ranks],
        switches=[switch_of(rank) for rank in ranks],
        cpus_allowed=[rank["cpus_allowed"] for rank in ranks],
    )
    if footer is None:
        return proof
    changes = [(before, after) for _, before, after in _conditions(header, footer)]
    proof.path, proof.evidence = path_taken(header, footer)
    if carried_by_network(header, footer):
        proof.interface, proof.mtu, proof.speed_mbps = _busiest_interface(changes)
    proof.involuntary_switches = sum(_growth(*change, "involuntary_switches") for change in changes)
    proof.steal_ticks = max(_growth(*change, "steal_ticks") for change in changes)
    proof.tcp_retransmissions = _retransmissions(ranks, changes)
    return proof


def _retransmissions(ranks: list[Rank], changes: list[tuple[Conditions, Conditions]]) -> int | None:
    """Return the TCP segments that were sent again; ranks of one network namespace share them."""
    by_namespace: dict[tuple[str, int | None], int] = {}
    for rank, (before, after) in zip(ranks, changes, strict=True):
        if before.get("tcp_retransmissions") is None or after.get("tcp_retransmissions") is None:
            return None
        place = (rank["host"], rank.get("net_namespace"))
        grown = _growth(before, after, "tcp_retransmissions")
        by_namespace[place] = max(grown, by_namespace.get(place, 0))
    return sum(by_namespace.values())


def _growth(before: Mapping[str, Any], after: Mapping[str, Any], counter: str) -> int:
    return int(after[counter] - before[counter])


def _busiest_interface(
    changes: list[tuple[Conditions, Conditions]],
) -> tuple[str | None, int | None, float | None]:
    """Return name, MTU and speed of the interface that sent most between two readings."""
    sent = [
        (_growth(early, late, "tx_bytes"), late["name"], late["mtu"], late.get("speed_Mbps"))
        for before, after in changes
        for early in before["interfaces"]
        for late in after["interfaces"]
        if early["name"] == late["name"]
    ]
    _, name, mtu, speed_mbps = max(sent, key=lambda entry: entry[:2], default=(0, None, None, None))
    return name, mtu, speed_mbps


class During(TypedDict, total=False):
    """What else a machine did during a run."""

    involuntary_switches: int | None
    steal_ticks: int | None
    load_before: float


def conditions(header: Header, footer: Footer | None) -> During:
    """Return what else the machine did during a run according to its record.

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


def run_seconds(header: Header, footer: Footer) -> float:
    """Return how long a run took, from its start to its end, in seconds."""
    start, end = (
        datetime.strptime(text, TIME_FORMAT) for text in (header["start_utc"], footer["end_utc"])
    )
    return (end - start).total_seconds()


def switch_of(rank: Rank, switch_from_node_name: str | None = None) -> str | None:
    """Return the switch above a rank's node, or None if it is not known.

    Slurm's address reads ``core.host_a.a1`` with the pattern ``switch.switch.node``.
    """
    address = rank.get("topology_address")
    if address and "." in address:
        return str(address).rpartition(".")[0]
    if switch_from_node_name:
        match = re.search(switch_from_node_name, rank["host"])
        return match.group(1) if match else None
    return None


def path_taken(header: Header, footer: Footer) -> tuple[str, str]:
    """Decide which path the payload took.

    Returns
    -------
    path : str
        ``network`` if the ranks' sockets or the nodes' interfaces carried the payload, or if each
        node has an operating system of its own and so shares no memory with the others; otherwise
        ``shared_memory``.
    evidence : str
        The numbers, as a sentence.
    """
    payload, carried = _payload_bytes(footer), carried_bytes(header, footer)
    sockets = socket_bytes(header, footer)
    machines = {rank.get("boot_id") for rank in header["ranks"]}
    evidence = (
        f"interfaces carried {min(carried.values()):,} B or more on each node,"
        f" payload {payload:,} B"
    )
    if sockets is not None:
        evidence = f"the ranks' sockets carried {min(sockets.values()):,} B or more, {evidence}"
    on_network = carried_by_network(header, footer)
    if (
        not on_network
        and payload > 0
        and len(machines) == len(carried) > 1
        and None not in machines
    ):
        # Not every network has counters that everybody may read: Slingshot's adapters have none.
        return "network", f"each node has an operating system of its own; {evidence}"
    return ("network" if on_network else "shared_memory"), evidence


def carried_by_network(header: Header, footer: Footer) -> bool:
    """Return whether sockets or interfaces carried `NETWORK_SHARE` of each node's payload.

    A collective may send its payload to a node once and copy it there for all other ranks, so that
    only one of all copies is asked for, unless the kernel counts what left its node.

    If the ranks' sockets report what they carried, the rest of what network devices of the kernel
    carried belongs to other programs. Ports of InfiniBand carry what no socket does.
    """
    payload = _payload_bytes(footer)
    sockets = socket_bytes(header, footer)
    carried = carried_bytes(header, footer, "/" if sockets is not None else "")
    part = NETWORK_SHARE * payload * min(len(carried), 2) / len(carried)
    if len(carried) > 1 and not footer["verification"].get("bytes_between_nodes"):
        part /= max(1, len(header["ranks"]) - 1)
    return payload > 0 and any(
        min(by_node.values()) >= part for by_node in (sockets, carried) if by_node is not None
    )


def socket_bytes(header: Header, footer: Footer) -> dict[str, int] | None:
    """Return the bytes that the ranks' own sockets sent and received during the run, by host.

    None if a rank has sockets without this, such as UDP's or closed ones, or in old records.
    """
    by_node: dict[str, int] = {}
    for rank, before, after in _conditions(header, footer):
        if before.get("tcp_socket_bytes") is None or after.get("tcp_socket_bytes") is None:
            return None
        if before["untold_sockets"] or after["untold_sockets"]:
            return None
        grown = _growth(before, after, "tcp_socket_bytes")
        if grown < 0:  # a socket that was closed took its count with it
            return None
        by_node[_node(rank)] = by_node.get(_node(rank), 0) + grown
    return by_node


def _payload_bytes(footer: Footer) -> int:
    """Return the bytes that may have used a network: what left its node, if that was counted."""
    verification = footer["verification"]
    return int(verification.get("bytes_between_nodes") or verification["bytes_moved"])


def carried_bytes(header: Header, footer: Footer, part_of_name: str = "") -> dict[str, int]:
    """Return the bytes that each node's interfaces sent and received during the run, by host.

    With `part_of_name` only the interfaces with it in their names: ports of InfiniBand have a `/`.
    """
    return {
        _node(rank): _interface_bytes(after, part_of_name) - _interface_bytes(before, part_of_name)
        for rank, before, after in _conditions(header, footer)
    }


def _conditions(header: Header, footer: Footer) -> Iterator[tuple[Rank, Conditions, Conditions]]:
    """Yield each rank with its conditions before and after the run."""
    after = {rank["rank"]: rank["after"] for rank in footer["ranks"]}
    for rank in header["ranks"]:
        yield rank, rank["before"], after[rank["rank"]]


def _node(rank: Rank) -> str:
    return str(rank["host"])


def _interface_bytes(conditions: Conditions, part_of_name: str) -> int:
    return sum(
        entry["tx_bytes"] + entry["rx_bytes"]
        for entry in conditions["interfaces"]
        if part_of_name in entry["name"]
    )


def damaged_payloads(footer: Footer | None) -> int:
    """Return how many payloads arrived damaged, as the whole run or its points count them."""
    if footer is None:
        return 0
    of_points = sum(point.get("payload_errors") or 0 for point in footer.get("points", []))
    return max(footer.get("verification", {}).get("errors", 0), of_points)
