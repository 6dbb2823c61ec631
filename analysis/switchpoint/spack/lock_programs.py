"""Which programs may run because a lock names them: those of this machine. Anybody writes locks.

Spack runs the compilers and the MPI of a lock, and builds with its flags. Nobody reads a lock
before, so what it may name is on a list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from switchpoint.spack.externals import prefixes
from switchpoint.spack.lock import Lock, Node
from switchpoint.untrusted.modules import module_words

#: Where only administrators install programs.
_OF_THE_SYSTEM = (Path("/usr"), Path("/opt"))

#: Compiler flags that neither load nor run anything, and name no file.
_FLAG = re.compile(
    r"-(O[0-3sgz]?|Ofast|g[0-3]?|pipe|pthread|m[a-z0-9.-]+(=[\w.+-]+)?|f(?!plugin)[a-z0-9-]+"
    r"|W[a-z0-9-]*|D\w+(=\w+)?|std=[a-z0-9+]+|l[a-z]\w*)",
    re.ASCII,
)

#: What a spec may contain: no folder.
_SPEC = re.compile(r"[\w@.:=+~^%,\"' -]*", re.ASCII)

#: A package and its version, perhaps of a commit.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_.-]*@[\w.=+-]+", re.ASCII)

#: What Spack may be told of an external.
_ATTRIBUTES = frozenset(["compilers"])


def unsafe_part(lock: Lock) -> str | None:
    """Say what of a lock could run something else than builds of its packages; None if nothing.

    The programs that it names are left to `foreign_program`, since they depend on the machine.
    """
    return next(_unsafe_parts(lock), None)


def _unsafe_parts(lock: Lock) -> Iterator[str]:
    if not _SPEC.fullmatch(lock.requested) or "dev_path" in lock.requested:
        yield f"its spec '{lock.requested}' names a folder"
    for node in lock.nodes():
        if not _PLAIN.fullmatch(f"{node.name}@{node.version}"):
            yield f"'{node.name}@{node.version}' is no package and version"
        if "dev_path" in node.variants:
            yield f"{node.name} is built from the folder {node.variants['dev_path']}"
        for name, text in node.flags.items():
            if not all(map(_FLAG.fullmatch, text.split())):
                yield f"{node.name} has {name}='{text}', which may run or load something"
        external = node.content.get("external") or {}
        if unknown := {*(external.get("extra_attributes") or {})} - _ATTRIBUTES:
            yield f"{node.name} has the attribute '{min(unknown)}'"
        modules = external.get("module")
        if not all(map(module_words, [modules] if isinstance(modules, str) else modules or [])):
            yield f"{node.name} loads a module from a file"


def foreign_program(node: Node, site_prefixes: Collection[Path] = ()) -> Path | None:
    """Return a place that a lock's external names and that is not of this machine; None if all are.

    Places of this machine are those in /usr and /opt, in PATH, in the prefixes that Switchpoint
    made, and those that the site's packages.yaml names.
    """
    if node.external is None:
        return None
    own = [prefixes(), *site_prefixes]
    places = [node.external, *node.compilers.values()]
    return next((place for place in places if not _is_of_this_machine(place, own)), None)


def _is_of_this_machine(place: Path, own: Collection[Path]) -> bool:
    if not place.is_absolute():
        return False
    real = place.resolve()
    named = [Path(os.path.normpath(place)), real]
    if any(one.is_relative_to(folder) for one in named for folder in own):
        return True
    path = [Path(folder) for folder in os.get_exec_path() if folder.startswith("/")]
    in_path = {folder.resolve() for folder in path}
    return (
        any(real.is_relative_to(folder) for folder in _OF_THE_SYSTEM)
        or real.parent in in_path
        or real / "bin" in in_path
    )


def prefixes_of_site(packages: dict[str, Any]) -> set[Path]:
    """Return the prefixes and compilers' folders that the ``packages`` of a site name."""
    found: set[Path] = set()
    for entry in packages.values():
        for external in (entry or {}).get("externals") or []:
            compilers = (external.get("extra_attributes") or {}).get("compilers") or {}
            found |= {Path(external["prefix"])} if external.get("prefix") else set()
            found |= {Path(path) for path in compilers.values()}
    return found
