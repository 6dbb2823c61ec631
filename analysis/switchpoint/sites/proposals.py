"""What to propose for a new site: its MPIs, and the placements that Slurm's nodes allow."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.sites.environments import FAMILIES, ask_compiler, module_names
from switchpoint.sites.launching import interface_of
from switchpoint.sites.mpis import Mpi, mpi_of
from switchpoint.sites.slurm import Node, Slurm

#: Compiler wrappers by the names that vendors give them; those that name their MPI come first.
_WRAPPERS = ("mpicc.openmpi", "mpicc.mpich", "mpiicx", "mpiicc", "mpicc")

#: Modules of an MPI, such as ``openmpi/5.0.3`` or ``mpi/openmpi-x86_64``.
_MPI_MODULE = re.compile(r"(?:^|/)(openmpi|mpich|mvapich2?|impi|intel-?mpi|cray-mpich)\b")


@dataclass
class Environment:
    """A programming environment to propose."""

    family: str
    mpi: Mpi
    cc: str
    modules: list[str] = field(default_factory=list)


@dataclass
class Placements:
    """What to write of each placement; None leaves the template's place marked."""

    near: list[str] | None = None
    far: list[str] | None = None
    dropped: dict[str, str] = field(default_factory=dict)
    unknown: str = ""


def propose_placements(nodes: list[Node], slurm: Slurm) -> Placements:
    """Which placements on two nodes a partition offers, and how to ask for them."""
    names = {node.name for node in nodes}
    switches = {name: under & names for name, under in slurm.switches.items() if under & names}
    if len(nodes) < 2:
        why = "the partition has one node"
        return Placements(dropped={"two_nodes_one_host": why, "two_nodes_two_hosts": why})
    if not switches:
        return Placements(unknown="Slurm names no switches")
    proposal = Placements()
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


def launcher_options(environment: Environment, slurm: Slurm) -> list[str]:
    """How srun starts an MPI; nothing where this Slurm cannot.

    Where the library is not found, Open MPI is taken to speak PMIx and others PMI-2; the doctor's
    trial shows where that is wrong.
    """
    usual = "pmix" if environment.family == "openmpi" else "pmi2"
    kind = interface_of(environment.cc) or usual
    return [f"--mpi={kind}", "--cpu-bind=cores"] if kind in slurm.launch_types else []


def propose_environments() -> Iterator[Environment]:
    """One environment for each MPI family here: from the path, or else from the newest module."""
    seen = set()
    for wrapper in _WRAPPERS:
        path = shutil.which(wrapper)
        mpi = mpi_of(Path(path)) if path else None
        family = _family(mpi)
        if mpi and family and family not in seen:
            seen.add(family)
            yield Environment(family, mpi, wrapper)
    system = modules_system()
    modules = [] if system == "nomod" else [m for m in module_names() if _MPI_MODULE.search(m)]
    for module in sorted(modules, key=_version_key, reverse=True):
        mpi = ask_compiler(system, {"modules": [module], "cc": "mpicc"}).mpi
        family = _family(mpi)
        if mpi and family and family not in seen:
            seen.add(family)
            yield Environment(family, mpi, "mpicc", [module])


def _family(mpi: Mpi | None) -> str | None:
    if mpi is None:
        return None
    return next((family for family, names in FAMILIES.items() if mpi.name in names), None)


def _version_key(module: str) -> list[tuple[int, str]]:
    return [(int(part or 0), text) for text, part in re.findall(r"([^\d]+)(\d*)", module)]


def modules_system() -> str:
    """Name, as ReFrame does, the system of environment modules here."""
    if os.environ.get("LMOD_CMD"):
        return "lmod"
    return "tmod4" if os.environ.get("MODULES_CMD") else "nomod"
