"""What Slurm says that it has: partitions, nodes with their features, switches, ways to launch.

Only questions are asked; nothing is submitted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from switchpoint.sites.doctor import program_output

#: States in which a node runs no jobs until somebody repairs it.
_UNUSABLE = re.compile(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|UNKNOWN|POWERED_DOWN|\*")


@dataclass(frozen=True)
class Node:
    """A node and what may be asked of it."""

    name: str
    features: frozenset[str]
    partitions: frozenset[str]
    usable: bool


@dataclass(frozen=True)
class Slurm:
    """What one Slurm has.

    Attributes
    ----------
    nodes : list of Node
        All nodes; empty where Slurm cannot be asked.
    default_partition : str or None
        The partition that jobs go to which name none.
    switches : dict of str to set of str
        Leaf switches and the nodes directly under them; empty without a topology of switches.
    launch_types : frozenset of str
        What ``srun --mpi=`` knows.
    """

    nodes: list[Node]
    default_partition: str | None
    switches: dict[str, set[str]]
    launch_types: frozenset[str]

    @property
    def partitions(self) -> list[str]:
        """Names of all partitions that have nodes."""
        return sorted({name for node in self.nodes for name in node.partitions})


def ask_slurm() -> Slurm:
    """Ask `scontrol` and `srun` on the path."""
    nodes = _nodes()
    if not nodes:
        return Slurm([], None, {}, frozenset())
    return Slurm(nodes, _default_partition(), _leaf_switches(), _launch_types())


def expand(listed: str) -> list[str]:
    """Names of nodes behind Slurm's short form, such as ``r1n[1-4]``."""
    return program_output("scontrol", "show", "hostnames", listed).split()


def _nodes() -> list[Node]:
    return [
        Node(
            fields["NodeName"],
            _names(fields.get("ActiveFeatures", "")),
            _names(fields.get("Partitions", "")),
            not _UNUSABLE.search(fields.get("State", "UNKNOWN")),
        )
        for fields in _entries("nodes")
        if "NodeName" in fields
    ]


def _default_partition() -> str | None:
    for fields in _entries("partitions"):
        if fields.get("Default") == "YES":
            return fields.get("PartitionName")
    return None


def _leaf_switches() -> dict[str, set[str]]:
    switches = {}
    for fields in _entries("topology"):
        if fields.get("Level") == "0" and "Nodes" in fields:
            switches[fields["SwitchName"]] = set(expand(fields["Nodes"]))
    return switches


def _launch_types() -> frozenset[str]:
    """Names in `srun --mpi=list`, with those of further versions, such as ``pmix_v4``."""
    told = program_output("srun", "--mpi=list")
    return frozenset(re.findall(r"\b(pmix\w*|pmi2|pmi1|cray_shasta|openmpi|none)\b", told))


def _entries(kind: str) -> list[dict[str, str]]:
    """Each line that `scontrol show KIND` prints, as its fields."""
    told = program_output("scontrol", "show", kind, "--oneliner")
    return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in told.splitlines()]


def _names(listed: str) -> frozenset[str]:
    return frozenset(name for name in listed.split(",") if name and name != "(null)")
