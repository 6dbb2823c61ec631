"""Writes the settings of a new site: the template, filled with what Slurm and the MPIs here tell.

What cannot be asked keeps its mark.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import shipped
from switchpoint.sites.environments import FAMILIES, ask_compiler, module_names
from switchpoint.sites.finding import OWN_SITES
from switchpoint.sites.launching import interface_of
from switchpoint.sites.marks import MARK, marked_places
from switchpoint.sites.mpis import Mpi, mpi_of
from switchpoint.sites.slurm import Node, Slurm, ask_slurm

_TEMPLATE = "template-slurm"
_FILES = ("settings.py", "placements.yaml", "packages.yaml")

#: Compiler wrappers by the names that vendors give them; those that name their MPI come first.
_WRAPPERS = ("mpicc.openmpi", "mpicc.mpich", "mpiicx", "mpiicc", "mpicc")

#: Modules of an MPI, such as ``openmpi/5.0.3`` or ``mpi/openmpi-x86_64``.
_MPI_MODULE = re.compile(r"(?:^|/)(openmpi|mpich|mvapich2?|impi|intel-?mpi|cray-mpich)\b")

#: Where Linux lists network adapters that MPI drives without TCP.
_FABRICS = ("/sys/class/infiniband", "/sys/class/cxi")

_TCP = """\
    # Nodes that share a kernel, as containers do, would else use shared memory.
    environment:
      mpich: {UCX_TLS: "tcp,self"}
      intelmpi: {FI_PROVIDER: tcp}
"""


@dataclass
class _Environment:
    """A programming environment to propose."""

    family: str
    mpi: Mpi
    cc: str
    modules: list[str] = field(default_factory=list)


@dataclass
class _Placements:
    """What to write of each placement; None leaves the template's place marked."""

    near: list[str] | None = None
    far: list[str] | None = None
    dropped: dict[str, str] = field(default_factory=dict)
    unknown: str = ""


def init_site(
    name: str, folder: Path | None = None, partition: str | None = None, *, ask: bool = True
) -> Iterator[str]:
    """Write a site's folder; say what was found and what is left to edit.

    Parameters
    ----------
    name
        The system's name.
    folder
        Where to, new or empty; by default ``site-configs/NAME``.
    partition
        Slurm's partition; by default Slurm's own default.
    ask
        Whether to ask Slurm, modules and compilers.

    Yields
    ------
    str
        Lines for people.

    Raises
    ------
    InputError
        If the name will not do, there is no such partition, or the folder cannot be written.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise InputError(name, "cannot be the name of a system: use letters, digits, - and _")
    folder = OWN_SITES / name if folder is None else folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(folder, "is there already and stays as it is; name another folder")
    texts = {
        file: (shipped("site-configs") / _TEMPLATE / file).read_text("utf-8") for file in _FILES
    }
    settings = _fill(texts["settings.py"], "name", json.dumps(name))
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
        yield f"No place in {both} is marked for editing: look through them before you go on."
    site = name if folder == OWN_SITES / name else folder
    yield f"next: switchpoint doctor --site {site}"


def _with_slurm(
    settings: str, placements: str, slurm: Slurm, partition: str | None, said: list[str]
) -> tuple[str, str]:
    """Fill in what Slurm tells: the partition, and the nodes of each placement."""
    if not slurm.nodes:
        if partition is not None:
            raise InputError("--partition", "Slurm does not answer here; run this where it does")
        said.append("Slurm does not answer here: partition and placements are left to you")
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
    tail = _fill(tail, "name", json.dumps(re.sub(r"[^\w-]", "-", chosen)))
    tail = _fill(tail, "access", json.dumps([f"--partition={chosen}"]))
    settings = head + name_of_partition + tail
    host = re.sub(r"\d+", r"\\d+", re.escape(socket.gethostname()))
    settings = _fill(settings, "hostnames", f'[r"{host}$"]')
    settings = _fill(settings, "modules_system", json.dumps(_modules_system()))

    proposal = _propose(nodes, slurm)
    for name, why in proposal.dropped.items():
        placements = _without(placements, name)
        said.append(f"placement {name}: left out, {why}")
    if proposal.unknown:
        said.append(f"placements on two nodes: {proposal.unknown}, so they are left to you")
    placements = _with_options(placements, "two_nodes_one_host", proposal.near)
    placements = _with_options(placements, "two_nodes_two_hosts", proposal.far)
    return settings, _with_fabric(placements, said)


def _propose(nodes: list[Node], slurm: Slurm) -> _Placements:
    """Which placements on two nodes a partition offers, and how to ask for them."""
    names = {node.name for node in nodes}
    switches = {name: under & names for name, under in slurm.switches.items() if under & names}
    if len(nodes) < 2:
        why = "the partition has one node"
        return _Placements(dropped={"two_nodes_one_host": why, "two_nodes_two_hosts": why})
    if not switches:
        return _Placements(unknown="Slurm names no switches")
    proposal = _Placements()
    if max(map(len, switches.values())) >= 2:
        proposal.near = ["--switches=1"]
    else:
        proposal.dropped["two_nodes_one_host"] = "no switch has two nodes of the partition"
    if len(switches) >= 2:
        proposal.far = [_on_two_switches(nodes, switches)]
    else:
        proposal.dropped["two_nodes_two_hosts"] = "all nodes hang on one switch"
    return proposal


def _on_two_switches(nodes: list[Node], switches: dict[str, set[str]]) -> str:
    """Ask for nodes under two switches: by features that follow them, or else by name."""
    features = []
    for under in switches.values():
        inside = [node.features for node in nodes if node.name in under]
        outside = [node.features for node in nodes if node.name not in under]
        own = frozenset.intersection(*inside) - frozenset().union(*outside)
        features += sorted(own)[:1]
    if len(features) >= 2:
        return f"--constraint=[{features[0]}*1&{features[1]}*1]"
    usable = {node.name for node in nodes if node.usable}
    one, other = [min(under & usable or under) for under in switches.values()][:2]
    return f"--nodelist={one},{other}"


def _with_environments(settings: str, slurm: Slurm, said: list[str]) -> str:
    """Put the MPIs that are here in the place of the template's."""
    found = list(_environments())
    if not found:
        said.append("no MPI compiler wrapper on the path, nor a module of one: left to you")
        return settings
    head, start, rest = settings.partition('    "environments": [\n')
    blocks, end, tail = rest.partition('    ],\n    "general"')
    by_family = {
        re.search(r'"mpi": "(\w+)"', block)[1]: block  # type: ignore[index]
        for block in re.findall(r"        \{\n.*?\n        \},\n", blocks, re.DOTALL)
    }
    written = []
    for environment in found:
        family = environment.family
        block = by_family.get(family) or by_family["mpich"].replace('"mpich"', f'"{family}"')
        block = _fill(block, "modules", json.dumps(environment.modules))
        block = _fill(block, "cc", json.dumps(environment.cc))
        options = _launcher_options(environment, slurm)
        block = _fill(block, "launcher_options", json.dumps(options)) if options else block
        written.append(block)
        loads = f", modules {' '.join(environment.modules)}" if environment.modules else ""
        said.append(
            f"environment: {family}, {environment.mpi.name} {environment.mpi.version} by "
            f"{environment.cc}{loads}"
        )
    families = json.dumps([environment.family for environment in found])
    return _fill(head, "environs", families) + start + "".join(written) + end + tail


def _launcher_options(environment: _Environment, slurm: Slurm) -> list[str]:
    """How srun starts an MPI; nothing where this Slurm cannot.

    Where the library is not found, Open MPI is taken to speak PMIx and others PMI-2; the doctor's
    trial shows where that is wrong.
    """
    usual = "pmix" if environment.family == "openmpi" else "pmi2"
    kind = interface_of(environment.cc) or usual
    return [f"--mpi={kind}", "--cpu-bind=cores"] if kind in slurm.launch_types else []


def _environments() -> Iterator[_Environment]:
    """One environment for each MPI family here: from the path, or else from the newest module."""
    seen = set()
    for wrapper in _WRAPPERS:
        path = shutil.which(wrapper)
        mpi = mpi_of(Path(path)) if path else None
        family = _family(mpi)
        if mpi and family and family not in seen:
            seen.add(family)
            yield _Environment(family, mpi, wrapper)
    system = _modules_system()
    modules = [] if system == "nomod" else [m for m in module_names() if _MPI_MODULE.search(m)]
    for module in sorted(modules, key=_version_key, reverse=True):
        mpi = ask_compiler(system, {"modules": [module], "cc": "mpicc"}).mpi
        family = _family(mpi)
        if mpi and family and family not in seen:
            seen.add(family)
            yield _Environment(family, mpi, "mpicc", [module])


def _family(mpi: Mpi | None) -> str | None:
    if mpi is None:
        return None
    return next((family for family, names in FAMILIES.items() if mpi.name in names), None)


def _version_key(module: str) -> list[tuple[int, str]]:
    return [(int(part or 0), text) for text, part in re.findall(r"([^\d]+)(\d*)", module)]


def _modules_system() -> str:
    if os.environ.get("LMOD_CMD"):
        return "lmod"
    return "tmod4" if os.environ.get("MODULES_CMD") else "nomod"


def _with_options(placements: str, name: str, options: list[str] | None) -> str:
    if options is None:
        return placements
    head, body, tail = _split(placements, name)
    return head + _fill(body, "scheduler_options", json.dumps(options)) + tail


def _with_fabric(placements: str, said: list[str]) -> str:
    """Force TCP where no faster adapter is here; else say which, and leave it marked."""
    adapters = [adapter.name for fabric in _FABRICS for adapter in _entries(Path(fabric))]
    if adapters:
        said.append(f"network: {', '.join(adapters)} here; say in placements.yaml how to force it")
        return placements
    said.append("network: no InfiniBand, Omni-Path or Slingshot here, so TCP is what is forced")
    head, body, tail = _split(placements, "one_node_network")
    placements = head + _fill(body, "environment", "") + tail
    for name in ("two_nodes_one_host", "two_nodes_two_hosts"):
        head, body, tail = _split(placements, name)
        if body:
            stripped = body.rstrip("\n")
            placements = f"{head}{stripped}\n{_TCP}{body[len(stripped) + 1 :]}{tail}"
    return placements


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _without(placements: str, name: str) -> str:
    head, _, tail = _split(placements, name)
    return head + tail if tail else head.rstrip() + "\n"


def _split(placements: str, name: str) -> tuple[str, str, str]:
    """The text before a placement, the placement itself, and the text after it."""
    found = re.search(rf"^  {name}:\n(?:(?:    .*)?\n)*", placements, re.MULTILINE)
    if found is None:
        return placements, "", ""
    return placements[: found.start()], found[0], placements[found.end() :]


def _fill(text: str, key: str, value: str) -> str:
    """Give the first marked place of a key its value, without the mark."""
    marked = re.compile(rf'^( *"?{key}"?:).*?(,?) *{re.escape(MARK)}.*$', re.MULTILINE)
    filled, places = marked.subn(lambda place: f"{place[1]} {value}".rstrip() + place[2], text, 1)
    assert places, f"the template has no marked place of {key}"
    return filled


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write all files, or none."""
    partial = {folder / file: folder / f".{file}.{os.getpid()}.partial" for file in texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(partial.values(), texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        for whole, path in partial.items():
            path.replace(whole)
    except OSError as error:
        for path in partial.values():
            with suppress(OSError):
                path.unlink()
        raise InputError(folder, f"cannot be written ({error.strerror}); name another") from None
