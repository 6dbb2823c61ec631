"""Writes the settings of a new site: the template, completed from Slurm and the MPIs.

Lines that it cannot complete keep their mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import shipped
from switchpoint.sites.marks import marked_places
from switchpoint.sites.proposals import (
    launcher_options,
    modules_system,
    propose_environments,
    propose_placements,
)
from switchpoint.sites.settings_path import OWN_SITES
from switchpoint.sites.slurm import NodesSeen, Slurm, ask_nodes, ask_slurm
from switchpoint.sites.template import fill, split_placement, with_options, without_placement
from switchpoint.whole_files import hidden_beside

_TEMPLATE = "template-slurm"
_FILES = ("settings.py", "placements.yaml", "packages.yaml")

_TCP = """\
    # These nodes share a kernel, as containers do: otherwise MPICH would use shared memory.
    environment:
      mpich: {UCX_TLS: "tcp,self"}
      intelmpi: {FI_PROVIDER: tcp}
"""


def init_site(
    name: str, folder: Path | None = None, partition: str | None = None, *, ask: bool = True
) -> Iterator[str]:
    """Write a site's folder, and report what was found and what must be edited.

    Parameters
    ----------
    name
        The system's name.
    folder
        A new or empty folder; by default ``site-configs/NAME``.
    partition
        Slurm's partition; by default Slurm's default.
    ask
        Whether to ask Slurm, modules and compilers.

    Yields
    ------
    str
        Lines to print.

    Raises
    ------
    InputError
        If the name is not valid, there is no such partition, or the folder cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise InputError(name, "cannot be the name of a system: use letters, digits, - and _")
    folder = OWN_SITES / name if folder is None else folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(folder, "exists and is not changed; name another folder")
    texts = {
        file: (shipped("site-configs") / _TEMPLATE / file).read_text("utf-8") for file in _FILES
    }
    settings = fill(texts["settings.py"], "name", json.dumps(name))
    placements = texts["placements.yaml"]
    said: list[str] = []
    if ask:
        slurm = ask_slurm()
        settings, placements = _with_slurm(settings, placements, slurm, partition, said)
        settings = _with_environments(settings, slurm, said)
    texts |= {"settings.py": settings, "placements.yaml": placements}
    _write(folder, texts)
    yield from said
    yield f"written: {', '.join(str(folder / file) for file in _FILES)}"
    places = [place for file in _FILES[:2] for place in marked_places(folder / file)]
    for place in places:
        yield f"{place}: to be edited: {place.wanted}"
    if not places:
        both = " and ".join(_FILES[:2])
        yield f"No line in {both} is marked for editing: read them before you continue."
    site = name if folder == OWN_SITES / name else folder
    yield f"next: switchpoint doctor --site {site}"


def _with_slurm(
    settings: str, placements: str, slurm: Slurm, partition: str | None, said: list[str]
) -> tuple[str, str]:
    """Fill in the partition and the nodes of each placement from Slurm."""
    if not slurm.nodes:
        if partition is not None:
            raise InputError(
                "--partition", "Slurm does not answer here; run this on a machine where it does"
            )
        said.append("Slurm does not answer here: edit partition and placements yourself")
        return settings, placements
    chosen = partition or slurm.default_partition or slurm.partitions[0]
    if chosen not in slurm.partitions:
        raise InputError(
            "--partition",
            f"partition '{chosen}' does not exist; this cluster has: {', '.join(slurm.partitions)}",
        )
    nodes = [node for node in slurm.nodes if chosen in node.partitions]
    others = [other for other in slurm.partitions if other != chosen]
    also = f"; others are {', '.join(others)}: --partition" if others else ""
    said.append(f"partition: {chosen}, {len(nodes)} nodes{also}")
    head, name_of_partition, tail = settings.partition('"partitions": [')
    tail = fill(tail, "name", json.dumps(re.sub(r"[^\w-]", "-", chosen)))
    tail = fill(tail, "access", json.dumps([f"--partition={chosen}"]))
    settings = head + name_of_partition + tail
    # ReFrame also runs on compute nodes, in jobs of scrontab and of Jacamar.
    settings = fill(settings, "hostnames", '[r".*"]')
    settings = fill(settings, "modules_system", json.dumps(modules_system()))

    proposal = propose_placements(nodes, slurm)
    for name, why in proposal.dropped.items():
        placements = without_placement(placements, name)
        said.append(f"placement {name}: skipped, {why}")
    if proposal.unknown:
        said.append(f"placements on two nodes: {proposal.unknown}; edit them yourself")
    placements = with_options(placements, "two_nodes_one_host", proposal.near)
    placements = with_options(placements, "two_nodes_two_hosts", proposal.far)
    nodes_seen = ask_nodes(chosen, min(2, sum(node.usable for node in nodes)))
    return settings, _with_fabric(placements, nodes_seen, said)


def _with_environments(settings: str, slurm: Slurm, said: list[str]) -> str:
    """Replace the template's MPIs by those of this machine."""
    environments = list(propose_environments())
    if not environments:
        said.append(
            "no MPI compiler wrapper on the path or in a module: edit the environments yourself"
        )
        return settings
    head, start, rest = settings.partition('    "environments": [\n')
    blocks, end, tail = rest.partition('    ],\n    "general"')
    by_family = {
        re.search(r'"mpi": "(\w+)"', block)[1]: block  # type: ignore[index]
        for block in re.findall(r"        \{\n.*?\n        \},\n", blocks, re.DOTALL)
    }
    written = []
    for environment in environments:
        family = environment.family
        block = by_family.get(family) or by_family["mpich"].replace('"mpich"', f'"{family}"')
        block = fill(block, "modules", json.dumps(environment.modules))
        block = fill(block, "cc", json.dumps(environment.cc))
        options = launcher_options(environment, slurm)
        block = fill(block, "launcher_options", json.dumps(options)) if options else block
        written.append(block)
        loads = f", modules {' '.join(environment.modules)}" if environment.modules else ""
        said.append(
            f"environment: {family}, {environment.mpi.name} {environment.mpi.version} by "
            f"{environment.cc}{loads}"
        )
    families = json.dumps([environment.family for environment in environments])
    return fill(head, "environs", families) + start + "".join(written) + end + tail


def _with_fabric(placements: str, seen: NodesSeen | str, said: list[str]) -> str:
    """Force TCP on one node if the nodes have no faster adapter; otherwise keep the mark.

    Between nodes nothing is forced, so that MPI takes the network that it would take for users;
    unless nodes share a kernel.
    """
    if isinstance(seen, str):
        said.append(f"network: the nodes do not say what they have ({seen}); edit it yourself")
        return placements
    if seen.adapters:
        said.append(
            f"network: the nodes have {', '.join(seen.adapters)}; write in placements.yaml how to"
            " force it on one node"
        )
        return placements
    said.append("network: the nodes have no InfiniBand, Omni-Path or Slingshot, so TCP is forced")
    head, body, tail = split_placement(placements, "one_node_network")
    placements = head + fill(body, "environment", "") + tail
    for name in ("two_nodes_one_host", "two_nodes_two_hosts") if seen.shared_kernel else ():
        head, body, tail = split_placement(placements, name)
        if body:
            stripped = body.rstrip("\n")
            placements = f"{head}{stripped}\n{_TCP}{body[len(stripped) + 1 :]}{tail}"
    return placements


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write all files or none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            hidden = [stack.enter_context(hidden_beside(folder / file)) for file in texts]
            for path, text in zip(hidden, texts.values(), strict=True):
                path.write_text(text, encoding="utf-8")
            for path, file in zip(hidden, texts, strict=True):
                path.replace(folder / file)
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); name another folder"
        ) from None
