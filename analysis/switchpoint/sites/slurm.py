"""Asks Slurm for its partitions, nodes with their features, switches and launch types.

`ask_slurm` only asks questions. `ask_nodes` runs a job of a few seconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from switchpoint.sites.doctor import program_output

#: States in which a node runs no jobs until somebody repairs it.
_UNUSABLE = re.compile(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|UNKNOWN|POWERED_DOWN|\*")


@dataclass(frozen=True)
class Node:
    """A node, its properties, and its state as `scontrol` writes it."""

    name: str
    features: frozenset[str]
    partitions: frozenset[str]
    usable: bool
    state: str = ""

    @property
    def trouble(self) -> str:
        """Why the node runs no jobs, in Slurm's word for people; empty if it runs them."""
        if self.usable:
            return ""
        return "drained" if "DRAIN" in self.state else self.state.partition("+")[0].lower()


@dataclass(frozen=True)
class Slurm:
    """What one Slurm has.

    Attributes
    ----------
    nodes : list of Node
        All nodes; empty if Slurm does not answer.
    default_partition : str or None
        The partition of jobs that do not name one.
    switches : dict of str to set of str
        Leaf switches and the nodes directly under them; empty without a topology of switches.
    launch_types : frozenset of str
        The values of ``srun --mpi=``.
    """

    nodes: list[Node]
    default_partition: str | None
    switches: dict[str, set[str]]
    launch_types: frozenset[str]

    @property
    def partitions(self) -> list[str]:
        """Names of all partitions that have nodes."""
        return sorted({name for node in self.nodes for name in node.partitions})


@dataclass(frozen=True)
class NodesSeen:
    """What a job saw on the nodes of a partition.

    Attributes
    ----------
    adapters : list of str
        Network adapters that MPI uses without TCP, such as `mlx5_0`.
    shared_kernel : bool
        Whether two nodes run in one operating system, as containers do.
    """

    adapters: list[str]
    shared_kernel: bool


#: Where Linux lists network adapters that MPI uses without TCP.
_FABRICS = ("/sys/class/infiniband", "/sys/class/cxi")

#: As Linux writes the identity of a running operating system.
_BOOT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: How long a job may wait for nodes, in seconds.
_PATIENCE_S = 30


def ask_nodes(partition: str, count: int) -> NodesSeen | str:
    """Ask nodes of a partition for their adapters, in a job; or say why they do not answer.

    Login nodes often lack the network of the nodes, so that they do not know.
    """
    script = f"cat /proc/sys/kernel/random/boot_id; ls {' '.join(_FABRICS)} 2>/dev/null; true"
    said = program_output(
        "srun", f"--partition={partition}", f"--nodes={count}", f"--ntasks={count}",
        "--ntasks-per-node=1", "--time=1", f"--immediate={_PATIENCE_S}", "--mpi=none",
        "sh", "-c", script, seconds=2 * _PATIENCE_S,
    )  # fmt: skip
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    kernels = [line for line in lines if _BOOT_ID.fullmatch(line)]
    if len(kernels) != count:
        return next(iter(lines), f"no answer in {2 * _PATIENCE_S} s")
    adapters = {line for line in lines if re.fullmatch(r"[a-z]+\w*", line) and line not in kernels}
    return NodesSeen(sorted(adapters), shared_kernel=len(set(kernels)) < count)


def ask_slurm() -> Slurm:
    """Ask `scontrol` and `srun` on the path."""
    nodes = _nodes()
    if not nodes:
        return Slurm([], None, {}, frozenset())
    return Slurm(nodes, _default_partition(), _leaf_switches(), _launch_types())


def expand(listed: str) -> list[str]:
    """Return the names in Slurm's short form, such as ``r1n[1-4]``."""
    return program_output("scontrol", "show", "hostnames", listed).split()


def _nodes() -> list[Node]:
    return [
        Node(
            fields["NodeName"],
            _names(fields.get("ActiveFeatures", "")),
            _names(fields.get("Partitions", "")),
            not _UNUSABLE.search(fields.get("State", "UNKNOWN")),
            fields.get("State", "UNKNOWN"),
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
    """Return the names in `srun --mpi=list`, with those of versions, such as ``pmix_v4``."""
    output = program_output("srun", "--mpi=list")
    return frozenset(re.findall(r"\b(pmix\w*|pmi2|pmi1|cray_shasta|openmpi|none)\b", output))


def _entries(kind: str) -> list[dict[str, str]]:
    """Yield each line of `scontrol show KIND` as a dictionary of its fields."""
    output = program_output("scontrol", "show", kind, "--oneliner")
    return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in output.splitlines()]


def _names(listed: str) -> frozenset[str]:
    return frozenset(name for name in listed.split(",") if name and name != "(null)")
