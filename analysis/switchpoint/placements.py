"""Placements: what a site offers, what to ask the scheduler for, and the proof from a run record.

A placement is declared once in a site's ``placements.yaml``; the checks ask for it by name.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from switchpoint.errors import InputError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: The placements that every comparison between sites can rely on.
BUILT_IN = ("one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts")

#: Share of the payload that the interfaces of a node must have carried to call the path a network.
#: With two ranks every byte is sent or received on either node, so an honest network path carries
#: all of it; half leaves room for counters that are read a moment apart.
NETWORK_SHARE = 0.5


class PlacementError(InputError):
    """A placements file that cannot be used: names the file, the line and the field.

    Parameters
    ----------
    file
        The file.
    problem
        What is wrong and how to fix it.
    line
        Line of the first problem, from 1.
    each
        Every problem with its line, where there is more than one.
    """

    def __init__(
        self,
        file: Path,
        problem: str,
        line: int | None = None,
        each: Sequence[tuple[int | None, str]] = (),
    ) -> None:
        super().__init__(file if line is None else f"{file}:{line}", problem)
        self.file = file
        self.each = list(each) or [(line, problem)]


class Placement(BaseModel):
    """Where the ranks of a job are to be, how to ask for it, and what must be proved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: One line for people.
    summary: str
    #: Number of nodes; the ranks are dealt evenly over them.
    nodes: int = Field(ge=1)
    #: How many different switches (or hosts, chassis, hypervisors) the nodes hang on.
    switches: int = Field(default=1, ge=1)
    #: The path that the bytes must take.
    path: Literal["shared_memory", "network"]
    #: Options for the scheduler, such as ``--switches=1``.
    scheduler_options: tuple[str, ...] = ()
    #: Options for the launcher, such as ``--distribution=cyclic``.
    launcher_options: tuple[str, ...] = ()
    #: Environment variables that force the path, by MPI family (``extras['mpi']`` of the
    #: programming environment); ``any`` holds for all of them.
    environment: dict[str, dict[str, str]] = {}

    @field_validator("switches")
    @classmethod
    def _no_more_switches_than_nodes(cls, switches: int, info: Any) -> int:
        if "nodes" in info.data and switches > info.data["nodes"]:
            raise ValueError(f"{switches} switches cannot hold {info.data['nodes']} node(s)")
        return switches

    def variables(self, mpi_family: str) -> dict[str, str]:
        """Environment variables that force this placement's path under ``mpi_family``."""
        return {**self.environment.get("any", {}), **self.environment.get(mpi_family, {})}


class Placements(BaseModel):
    """A site's ``placements.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Regular expression with one group that takes the switch (host, chassis) from a node's
    #: name, for sites whose Slurm has no topology plugin.
    switch_from_node_name: str | None = None
    placements: dict[str, Placement]

    @field_validator("placements")
    @classmethod
    def _names_are_identifiers(cls, placements: dict[str, Placement]) -> dict[str, Placement]:
        for name in placements:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ValueError(f"'{name}': use lower-case letters, digits and underscores")
        return placements

    @field_validator("switch_from_node_name")
    @classmethod
    def _one_group(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        if groups != 1:
            raise ValueError("needs exactly one group, such as '^(rack[0-9]+)'")
        return pattern


def load_placements(path: str | Path) -> Placements:
    """Read and check a site's placements.

    Parameters
    ----------
    path
        The site's ``placements.yaml``.

    Raises
    ------
    PlacementError
        Names the file, each wrong field and what is wrong with it.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlacementError(path, f"cannot be read: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise PlacementError(path, "not text in UTF-8; write it anew") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = f"not YAML: {error.problem or error.context}; correct it here or just above"
        raise PlacementError(path, reason, mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise PlacementError(path, f"not YAML: {' '.join(str(error).split())}") from error
    try:
        return Placements.model_validate(content)
    except ValidationError as error:
        lines = FieldLines(path)
        each = [
            (
                lines.of(*problem["loc"]),
                f"{'.'.join(map(str, problem['loc'])) or 'top level'}: {_complaint(problem)}",
            )
            for problem in error.errors()
        ]
        first, rest = each[0], each[1:]
        later = [f"line {line}: {problem}" if line else problem for line, problem in rest]
        raise PlacementError(path, "; ".join([first[1], *later]), first[0], each) from error


#: Pydantic's kinds of problems in words that a YAML file's author uses.
_PLAIN = {
    "dict_type": "must be a mapping: lines of `name: value`, indented below it",
    "model_type": "must be a mapping: lines of `name: value`, indented below it",
    "list_type": "must be a list: [a, b]",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "missing": "is missing",
}


def _complaint(problem: ErrorDetails) -> str:
    """What pydantic says of a field, with the fields that there are where it is none of them."""
    if problem["type"] == "extra_forbidden":
        fields = Placement.model_fields if len(problem["loc"]) > 1 else Placements.model_fields
        return f"not permitted; the fields are {', '.join(fields)}"
    if not problem["loc"]:
        return "holds no placements; begin it with `placements:`"
    return _PLAIN.get(problem["type"], problem["msg"].removeprefix("Value error, "))


class FieldLines:
    """On which line each field of a YAML file is.

    Parameters
    ----------
    path
        The file; a file that cannot be read has no lines.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._top = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            self._top = None

    def of(self, *field: str | int) -> int | None:
        """Line, from 1, of a field by its path, or of what holds it where it is not there."""
        node, line = self._top, None
        for part in field:
            if not isinstance(node, yaml.MappingNode):
                break
            found = [pair for pair in node.value if pair[0].value == str(part)]
            if not found:
                break
            key, node = found[0]
            line = key.start_mark.line + 1
        return line


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

    nodes = {_node(rank) for rank in ranks}
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
    hosts = [_node(rank) for rank in header["ranks"]]
    places = dict(zip(dict.fromkeys(hosts), string.ascii_uppercase, strict=False))
    ran = "".join(places.get(host, "?") for host in hosts)
    if ran == process_map:
        return []
    names = ", ".join(f"{letter} is {host}" for host, letter in places.items())
    return [f"asked for the process map {process_map}, ranks ran on {ran} ({names})"]


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
