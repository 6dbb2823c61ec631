"""Compares the requests of a partition and its placements with Slurm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from switchpoint.sites.doctor import Fact
from switchpoint.sites.environments import FAMILIES
from switchpoint.sites.placements import Placement
from switchpoint.sites.settings_file import Site, dicts, problem
from switchpoint.sites.slurm import Node, Slurm, expand

#: Schedulers that use Slurm, ReFrame's and ours.
_SLURM_SCHEDULERS = {"slurm", "squeue", "scontrol"}


def examine_requests(site: Site, partition: Mapping[str, Any], slurm: Slurm) -> Iterator[Fact]:
    """Compare a partition and its placements with the scheduler."""
    access = partition.get("access") or []
    if partition.get("scheduler") in _SLURM_SCHEDULERS:
        if lack := _lack(site, partition, slurm, option(access, "--partition", "-p")):
            yield lack
            return
        if option(access, "--constraint", "-C"):
            yield problem(
                site.line("--constraint", "-C"),
                f"{_topic(partition)}: a constraint in `access` cannot go with those of placements",
                "move it to placements.yaml",
            )
    pattern = partition.get("extras", {}).get("switch_from_node_name")
    here = _of_partition(slurm, access, pattern)
    for name, content in partition.get("extras", {}).get("placements", {}).items():
        yield from _examine_placement(site, partition, here, name, content)


def lack_of_nodes(
    placement: Placement, access: Sequence[str], switch_from_node_name: str | None, slurm: Slurm
) -> str:
    """Return why Slurm cannot give a placement's nodes; empty if it can, or does not answer.

    Parameters
    ----------
    placement
        What is asked for.
    access
        The options of the partition's jobs.
    switch_from_node_name
        The site's pattern, for a Slurm that names no switches.
    slurm
        As it answers now.
    """
    here = _of_partition(slurm, access, switch_from_node_name)
    problems = _placement_problems(placement, here) if here.nodes else iter(())
    return next((f"{found}; {fix}" for _, found, fix in problems), "")


def _of_partition(slurm: Slurm, access: Sequence[str], pattern: str | None) -> Slurm:
    """Return what Slurm has in the partition that the options of its jobs name."""
    wanted = option(access, "--partition", "-p")
    nodes = [node for node in slurm.nodes if not wanted or wanted in node.partitions]
    here = Slurm(nodes, None, dict(slurm.switches), slurm.launch_types)
    if not here.switches and pattern:
        for node in nodes:
            if switch := re.search(pattern, node.name):
                here.switches.setdefault(switch[1], set()).add(node.name)
    return here


def _topic(partition: Mapping[str, Any]) -> str:
    return f"partition '{partition.get('name')}'"


def _lack(
    site: Site, partition: Mapping[str, Any], slurm: Slurm, wanted: str | None
) -> Fact | None:
    """Report that Slurm has no nodes, or not the wanted partition; this ends the check."""
    topic = _topic(partition)
    if not slurm.nodes:
        return Fact(
            "Slurm", "missing", f"{topic}: scontrol shows no nodes",
            "run this on a machine where the site's scontrol answers", str(site.settings),
        )  # fmt: skip
    if wanted and wanted not in slurm.partitions:
        return problem(
            site.line(f"--partition={wanted}", f"-p {wanted}", f"-p{wanted}", wanted),
            f"partition '{wanted}' does not exist",
            f"this cluster has: {', '.join(slurm.partitions)}", topic,
        )  # fmt: skip
    return None


def _examine_placement(
    site: Site, partition: Mapping[str, Any], slurm: Slurm, name: str, content: object
) -> Iterator[Fact]:
    try:
        placement = Placement.model_validate(content)
    except ValidationError as error:
        wrong = error.errors()[0]
        yield problem(
            site.placement(name, str(wrong["loc"][0]) if wrong["loc"] else ""),
            f"placement '{name}': {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}",
            "see docs/reference/placements.md",
        )
        return
    uses_slurm = partition.get("scheduler") in _SLURM_SCHEDULERS
    problems = list(
        _placement_problems(placement, slurm) if uses_slurm else _alone(placement, partition)
    )
    problems += _unknown_families(site, placement)
    if not problems:
        yield Fact(
            f"{partition.get('name')}: {name}", "ok",
            f"{_count(placement.nodes, 'node')}, {placement.path}",
        )  # fmt: skip
    for key, found, fix in problems:
        yield problem(site.placement(name, key), f"placement '{name}' {found}", fix)


def _unknown_families(site: Site, placement: Placement) -> Iterator[tuple[str, str, str]]:
    """MPI families that a placement has settings for and no environment is of."""
    families = {
        str(environment.get("extras", {}).get("mpi"))
        for environment in dicts(site.content.get("environments"))
    }
    for family in placement.environment:
        if family not in {"any", *families, *FAMILIES}:
            yield (
                "environment", f"no environment has the MPI family '{family}'",
                f"write one of any, {', '.join(sorted(families | set(FAMILIES)))}",
            )  # fmt: skip


def _alone(placement: Placement, partition: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    if partition.get("scheduler") == "local" and placement.nodes > 1:
        yield (
            "nodes", f"needs {placement.nodes} nodes, but the scheduler 'local' has one",
            "delete it here, or use a scheduler with more nodes",
        )  # fmt: skip


def _placement_problems(placement: Placement, slurm: Slurm) -> Iterator[tuple[str, str, str]]:
    """Yield what Slurm does not have for a placement: the field, the problem and the fix."""
    usable = {node.name: node for node in slurm.nodes if node.usable}
    if len(usable) < placement.nodes:
        yield (
            "nodes",
            f"needs {_count(placement.nodes, 'node')}, but Slurm has {len(usable)} usable nodes",
            _out_of_use(slurm.nodes) or "request fewer",
        )
        return
    options = placement.scheduler_options
    constraint = option(options, "--constraint", "-C") or ""
    for feature, count in re.findall(r"(?<![\w.:*-])(\w[\w.:-]*)(?:\*(\d+))?", constraint):
        having = sum(feature in node.features for node in usable.values())
        if having < int(count or 1):
            known = sorted({name for node in slurm.nodes for name in node.features})
            out = _out_of_use(node for node in slurm.nodes if feature in node.features)
            yield (
                "scheduler_options",
                f"needs {_count(int(count or 1), 'node')} with feature '{feature}', {having} have "
                "it",
                out or f"this cluster has: {', '.join(known) or 'no features'}",
            )
    wanted = option(options, "--nodelist", "-w")
    if wanted:
        lacking = [host for host in expand(wanted) if host not in usable]
        if lacking:
            out = _out_of_use(node for node in slurm.nodes if node.name in lacking)
            yield (
                "scheduler_options",
                f"names nodes that are missing or not usable: {', '.join(lacking)}",
                "; ".join([*([out] if out else []), f"usable nodes are {_some(usable)}"]),
            )
    if placement.nodes > 1:
        for problem, fix in _switch_problems(placement, set(usable), slurm.switches):
            yield "switches" if placement.switches > 1 else "scheduler_options", problem, fix


def _switch_problems(
    placement: Placement, usable: set[str], switches: dict[str, set[str]]
) -> Iterator[tuple[str, str]]:
    under = {name: members & usable for name, members in switches.items() if members & usable}
    if not under:
        yield (
            "cannot be proved: Slurm names no switches",
            "set switch_from_node_name in this file, or ask for topology/tree in Slurm",
        )
    elif len(under) < placement.switches:
        yield (
            f"needs {placement.switches} switches, but usable nodes are on {len(under)}",
            "see `scontrol show topology`",
        )
    elif placement.switches == 1 and max(map(len, under.values())) < placement.nodes:
        yield (
            f"needs {placement.nodes} nodes under one switch, but no switch has enough",
            "see `scontrol show topology` and `sinfo -R`",
        )


def _out_of_use(nodes: Iterable[Node]) -> str:
    """Return which of some nodes run no jobs and why, such as ``b1 is drained``; or nothing."""
    names: dict[str, list[str]] = {}
    for node in nodes:
        if node.trouble:
            names.setdefault(node.trouble, []).append(node.name)
    troubles = [f"{_some(these)} {'is' if len(these) == 1 else 'are'} {trouble}"
            for trouble, these in names.items()]  # fmt: skip
    return f"{', '.join(troubles)}: `sinfo -R` shows why" if troubles else ""


def option(options: Any, long: str, short: str) -> str | None:
    """Return the value of a scheduler's option in any of its spellings."""
    words = " ".join(map(str, options))
    match = re.search(rf"(?:^|\s)(?:{long}(?:=|\s+)|{short}\s*)(\S+)", words)
    return match[1].strip("'\"") if match else None


def _some(names: Iterable[str], most: int = 6) -> str:
    listed = sorted(names)
    return ", ".join([*listed[:most], *(["..."] if len(listed) > most else [])])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
