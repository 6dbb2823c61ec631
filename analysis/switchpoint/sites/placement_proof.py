"""Compares the requested placement with where the ranks ran according to the run record."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from switchpoint.records.run_facts import carried_bytes, path_taken, socket_bytes, switch_of
from switchpoint.sites.placements import Placement

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header, Rank


def contradictions(
    placement: Placement,
    header: Header,
    footer: Footer,
    switch_from_node_name: str | None = None,
) -> list[str]:
    """Compare the requested placement with where the ranks really ran.

    Parameters
    ----------
    placement
        The requested placement.
    header, footer
        The two objects of a run record (``docs/reference/run-record.md``).
    switch_from_node_name
        The site's pattern, which is used if a rank has no topology address.

    Returns
    -------
    list of str
        One sentence per contradiction; empty if the record proves the placement. A missing fact
        is also a contradiction: a placement is proved or it is not.
    """
    ranks = header["ranks"]
    sentences = []

    nodes = {str(rank["host"]) for rank in ranks}
    if len(nodes) != placement.nodes:
        sentences.append(f"asked for {placement.nodes} node(s), but ran on {_listing(nodes)}")

    if placement.nodes > 1:
        switches = {switch_of(rank, switch_from_node_name) for rank in ranks}
        if None in switches:
            sentences.append(
                "the ranks' switches are not known: Slurm gave no topology address; "
                "set switch_from_node_name in the site's placements.yaml"
            )
        elif len(switches) != placement.switches:
            sentences.append(
                f"asked for {placement.switches} switch(es), but ran under {_listing(switches)}"
            )

    sentences += _shared_cores(ranks)

    path, evidence = path_taken(header, footer)
    if path != placement.path:
        sentences.append(
            f"asked for the path '{placement.path}', but bytes went by '{path}' ({evidence})"
        )
    return [*sentences, *_fabric_not_used(header, footer)]


def _fabric_not_used(header: Header, footer: Footer) -> list[str]:
    """Return the complaint that nodes with InfiniBand sent by TCP although nobody chose TCP."""
    sockets = socket_bytes(header, footer)
    ports = sorted(
        {
            f"{entry['name']} at {speed / 1000:g} Gbit/s"
            for rank in header["ranks"]
            for entry in rank["before"]["interfaces"]
            if "/" in entry["name"] and (speed := entry.get("speed_Mbps"))
        }
    )
    if not ports or sockets is None or len(sockets) < 2:
        return []
    by_ports = carried_bytes(header, footer, "/")
    chosen = header["mpi"].get("environment", {}).values()
    if min(sockets.values()) <= max(by_ports.values()) or any("tcp" in value for value in chosen):
        return []
    return [
        f"the nodes have {ports[0]}, but the bytes went by TCP (sockets carried"
        f" {min(sockets.values()):,} B or more on each node): use an MPI that takes the fabric, or"
        " choose TCP in the placement's environment, such as UCX_TLS: tcp,self"
    ]


def map_contradictions(process_map: str, header: Header) -> list[str]:
    """Compare a process map with where a record's ranks really ran, as `contradictions` does."""
    hosts = [str(rank["host"]) for rank in header["ranks"]]
    places = dict(zip(dict.fromkeys(hosts), string.ascii_uppercase, strict=False))
    ran = "".join(places.get(host, "?") for host in hosts)
    if ran == process_map:
        return []
    names = ", ".join(f"{letter} is {host}" for host, letter in places.items())
    return [f"asked for the process map {process_map}, but ranks ran on {ran} ({names})"]


def _shared_cores(ranks: Sequence[Rank]) -> list[str]:
    """Return ranks of one operating system that are bound to the same core."""
    bound: dict[tuple[str, int], list[int]] = {}
    for rank in ranks:
        if len(rank["cpus_allowed"]) == 1:
            machine = rank["boot_id"] or rank["host"]
            bound.setdefault((machine, rank["cpus_allowed"][0]), []).append(rank["rank"])
    # More ranks than cores must share cores; the record shows this oversubscription.
    if any(len(ranks) > (rank["cores_online"] or 0) for rank in ranks):
        return []
    return [
        f"ranks {' and '.join(map(str, sharing))} share core {core}"
        for (_, core), sharing in bound.items()
        if len(sharing) > 1
    ]


def _listing(names: set[Any]) -> str:
    return f"{len(names)} ({', '.join(sorted(map(str, names)))})"
