"""Holds a site's placements against what Slurm says it has: nodes, features, switches.

Only `scontrol show` is asked; nothing is submitted.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from switchpoint.diagnosis import Fact, program_output
from switchpoint.errors import InputError
from switchpoint.placements import Placement

#: States in which a node runs no jobs until somebody mends it.
_UNUSABLE = re.compile(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|UNKNOWN|POWERED_DOWN|\*")


@dataclass(frozen=True)
class _Node:
    name: str
    features: frozenset[str]
    partitions: frozenset[str]
    usable: bool


def examine_site(settings: Path) -> Iterator[Fact]:
    """Check each placement of each partition of a site's ReFrame settings.

    Raises
    ------
    InputError
        If the settings cannot be used.
    """
    systems = _load(settings)
    nodes = _nodes()
    if not nodes:
        yield Fact(
            "Slurm", "missing", "scontrol shows no nodes",
            "run this where the site's scontrol answers (testbed exec -- ... in a testbed)",
        )  # fmt: skip
        return
    switches = _leaf_switches()
    for system in systems:
        for partition in system.get("partitions", []):
            yield from _examine_partition(settings, partition, nodes, switches)


def _load(settings: Path) -> list[dict[str, Any]]:
    try:
        systems = runpy.run_path(str(settings))["site_configuration"]["systems"]
    except OSError as error:
        raise InputError(settings, f"{error.strerror}; check the path") from None
    except InputError:
        raise
    except Exception as error:  # whatever a site's own Python raises
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise InputError(settings, f"is no ReFrame settings file that loads ({reason})") from None
    return list(systems)


def _examine_partition(
    settings: Path,
    partition: dict[str, Any],
    nodes: list[_Node],
    switches: dict[str, set[str]],
) -> Iterator[Fact]:
    extras = partition.get("extras", {})
    access = _option(partition.get("access", []), "--partition", "-p")
    if access:
        known = {name for node in nodes for name in node.partitions}
        if access not in known:
            yield Fact(
                f"{partition['name']}: partition", "missing", f"Slurm has no partition {access}",
                f"name one of {', '.join(sorted(known))} in `access`",
            )  # fmt: skip
            return
        nodes = [node for node in nodes if access in node.partitions]
    pattern = extras.get("switch_from_node_name")
    if not switches and pattern:
        for node in nodes:
            if switch := re.search(pattern, node.name):
                switches.setdefault(switch[1], set()).add(node.name)
    for name, content in extras.get("placements", {}).items():
        try:
            placement = Placement.model_validate(content)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise InputError(settings, f"placement {name}: {problem}") from None
        topic = f"{partition['name']}: {name}"
        problems = list(_problems(placement, nodes, switches))
        if not problems:
            yield Fact(topic, "ok", f"{_count(placement.nodes, 'node')}, {placement.path}")
        for found, mend in problems:
            yield Fact(topic, "missing", found, mend)


def _problems(
    placement: Placement, nodes: list[_Node], switches: dict[str, set[str]]
) -> Iterator[tuple[str, str]]:
    """Yield what Slurm lacks for a placement, each with its mend."""
    usable = {node.name: node for node in nodes if node.usable}
    if len(usable) < placement.nodes:
        yield (
            f"needs {_count(placement.nodes, 'node')}, Slurm has {len(usable)} that can be used",
            "see `sinfo -R` for why nodes are down, or ask for fewer",
        )
        return
    options = placement.scheduler_options
    constraint = _option(options, "--constraint", "-C") or ""
    for feature, count in re.findall(r"([A-Za-z_][\w.:-]*)(?:\*(\d+))?", constraint):
        having = sum(feature in node.features for node in usable.values())
        if having < int(count or 1):
            known = sorted({name for node in nodes for name in node.features})
            yield (
                f"needs {_count(int(count or 1), 'node')} with feature {feature}, {having} have it",
                f"use a feature of this Slurm: {', '.join(known) or 'it has none'}",
            )
    wanted = _option(options, "--nodelist", "-w")
    if wanted:
        hosts = program_output("scontrol", "show", "hostnames", wanted).split()
        lacking = [host for host in hosts if host not in usable]
        if lacking:
            yield f"node {', '.join(lacking)} is not there or not usable", "name other nodes"
    if placement.nodes > 1:
        yield from _switch_problems(placement, set(usable), switches)


def _switch_problems(
    placement: Placement, usable: set[str], switches: dict[str, set[str]]
) -> Iterator[tuple[str, str]]:
    under = {name: members & usable for name, members in switches.items() if members & usable}
    if not under:
        yield (
            "Slurm names no switches, so the placement can be neither asked for nor proved",
            "configure topology/tree, or set switch_from_node_name in placements.yaml",
        )
    elif len(under) < placement.switches:
        yield (
            f"needs {placement.switches} switches, usable nodes hang on {len(under)}",
            "see `scontrol show topology`",
        )
    elif placement.switches == 1 and max(map(len, under.values())) < placement.nodes:
        yield (
            f"no switch has {placement.nodes} usable nodes under it",
            "see `scontrol show topology` and `sinfo -R`",
        )


def _nodes() -> list[_Node]:
    nodes = []
    for line in program_output("scontrol", "show", "nodes", "--oneliner").splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if "NodeName" in fields:
            nodes.append(
                _Node(
                    fields["NodeName"],
                    _names(fields.get("ActiveFeatures", "")),
                    _names(fields.get("Partitions", "")),
                    not _UNUSABLE.search(fields.get("State", "UNKNOWN")),
                )
            )
    return nodes


def _leaf_switches() -> dict[str, set[str]]:
    """Switches with nodes directly under them, and those nodes."""
    switches = {}
    for line in program_output("scontrol", "show", "topology").splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if fields.get("Level") == "0" and "Nodes" in fields:
            names = program_output("scontrol", "show", "hostnames", fields["Nodes"]).split()
            switches[fields["SwitchName"]] = set(names)
    return switches


def _names(listed: str) -> frozenset[str]:
    return frozenset(name for name in listed.split(",") if name and name != "(null)")


def _option(options: Any, long: str, short: str) -> str | None:
    """Value of a scheduler's option in any of its spellings."""
    words = " ".join(options)
    found = re.search(rf"(?:^|\s)(?:{long}(?:=|\s+)|{short}\s*)(\S+)", words)
    return found[1].strip("'\"") if found else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
