"""Compares the placement that was asked for with where a run record shows that the ranks ran."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from switchpoint.records.run_facts import path_taken, switch_of
from switchpoint.sites.placements import Placement


def contradictions(
    placement: Placement,
    header: Mapping[str, Any],
    footer: Mapping[str, Any],
    switch_from_node_name: str | None = None,
) -> list[str]:
    """Compare the placement that was asked for with where the ranks really ran.

    Parameters
    ----------
    placement
        What was asked for.
    header, footer
        The two objects of a run record (``docs/reference/run-record.md``).
    switch_from_node_name
        The site's pattern, used where a rank carries no topology address.

    Returns
    -------
    list of str
        One sentence per contradiction; empty when the record proves the placement. What cannot
        be seen counts as a contradiction: a placement is proved or it is not.
    """
    ranks = header["ranks"]
    found = []

    nodes = {str(rank["host"]) for rank in ranks}
    if len(nodes) != placement.nodes:
        found.append(f"asked for {placement.nodes} node(s), ran on {_listing(nodes)}")

    if placement.nodes > 1:
        switches = {switch_of(rank, switch_from_node_name) for rank in ranks}
        if None in switches:
            found.append(
                "cannot tell the ranks' switches: Slurm gave no topology address; "
                "set switch_from_node_name in the site's placements.yaml"
            )
        elif len(switches) != placement.switches:
            found.append(
                f"asked for {placement.switches} switch(es), ran under {_listing(switches)}"
            )

    found += _shared_cores(ranks)

    path, evidence = path_taken(header, footer)
    if path != placement.path:
        found.append(f"asked for the path '{placement.path}', bytes went by '{path}' ({evidence})")
    return found


def nodes_of_map(process_map: str) -> int:
    """Count the nodes of a process map: a letter for each rank, its node's.

    Rank 0 is on ``A``; each further node has the next letter, in the order of its lowest rank.

    Raises
    ------
    ValueError
        If the text is no such map.
    """
    letters = "".join(dict.fromkeys(process_map))
    if not letters or letters != string.ascii_uppercase[: len(letters)]:
        raise ValueError(
            f"'{process_map}' is no process map: give each rank a letter, A to rank 0's node and "
            "the next letter to each further node, such as AABAABB"
        )
    return len(letters)


def map_contradictions(process_map: str, header: Mapping[str, Any]) -> list[str]:
    """Compare a process map with where a record's ranks really ran, as `contradictions` does."""
    hosts = [str(rank["host"]) for rank in header["ranks"]]
    places = dict(zip(dict.fromkeys(hosts), string.ascii_uppercase, strict=False))
    ran = "".join(places.get(host, "?") for host in hosts)
    if ran == process_map:
        return []
    names = ", ".join(f"{letter} is {host}" for host, letter in places.items())
    return [f"asked for the process map {process_map}, ranks ran on {ran} ({names})"]


def _shared_cores(ranks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ranks of one operating system that are bound to one and the same core."""
    bound: dict[tuple[str, int], list[int]] = {}
    for rank in ranks:
        if len(rank["cpus_allowed"]) == 1:
            machine = rank["boot_id"] or rank["host"]
            bound.setdefault((machine, rank["cpus_allowed"][0]), []).append(rank["rank"])
    # More ranks than cores have to share: then it is oversubscription, which the record shows.
    if any(len(ranks) > rank["cores_online"] for rank in ranks):
        return []
    return [
        f"ranks {' and '.join(map(str, sharing))} share core {core}"
        for (_, core), sharing in bound.items()
        if len(sharing) > 1
    ]


def _listing(names: set[Any]) -> str:
    return f"{len(names)} ({', '.join(sorted(map(str, names)))})"
