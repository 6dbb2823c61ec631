"""Which programs may run because a lock names them: those of this machine. Anybody writes locks.

Spack runs the compilers and the MPI of a lock, and builds with its flags. Nobody reads a lock
before, so what it may name is on a list.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from switchpoint.spack.externals import prefixes
from switchpoint.spack.lock import Lock, Node
from switchpoint.untrusted.modules import module_words

#: Where only administrators install programs.
_OF_THE_SYSTEM = (Path("/usr"), Path("/opt"))

#: Compiler flags that neither load, run nor write anything, and name no file. Of those with -f the
#: ones that change code: others dump what the compiler does, or let programs write profiles.
_FLAG = re.compile(
    r"-(O[0-3sgz]?|Ofast|g[0-3]?|pipe|pthread|m(?!llvm)[a-z0-9.-]+(=[\w.+-]+)?"
    r"|f(no-)?(pic|PIC|pie|PIE|openmp(-simd)?|fast-math|lto|ipa-[a-z-]+|inline[a-z-]*|unroll-[a-z-]+"
    r"|tree-(vectorize|[a-z]+-vectorize)|vectorize|omit-frame-pointer|strict-(aliasing|overflow)"
    r"|wrapv|common|exceptions|math-errno|trapping-math|signed-zeros|associative-math"
    r"|reciprocal-math|finite-math-only|unsafe-math-optimizations|stack-(protector[a-z-]*"
    r"|clash-protection|arrays)|allow-argument-mismatch|permissive|plt|semantic-interposition"
    r"|asynchronous-unwind-tables|function-sections|data-sections|ident|builtin|visibility-[a-z-]+)"
    r"|W[a-z0-9-]*|D\w+(=\w+)?|std=[a-z0-9+]+|l[a-z]\w*)",
    re.ASCII,
)

#: The parts of a lock that are looked through here. Spack reads others too, such as those that
#: another environment was included with.
_PARTS = frozenset(["_meta", "spack", "roots", "concrete_specs"])

#: Variants that Spack gives to git, or takes for files with patches: hashes.
_HASHES = frozenset(["commit", "patches"])
_HASH = re.compile(r"[0-9a-f]{40,64}(,[0-9a-f]{40,64})*")

#: The values of any other variant: no options and no places outside the prefix.
_VARIANT = re.compile(r"(?!(.*[,:;=@ ])?[-/])[\w.,:;=+@%~ /-]*", re.ASCII)

#: How compilers are called. Spack runs what a lock gives as one, and any program may lie in /usr.
_COMPILER = re.compile(
    r"([\w.]+-)*(cc|CC|c\+\+|c89|c99|gcc|g\+\+|gfortran|f77|f90|f95|clang|clang\+\+|flang(-new)?|icc"
    r"|icpc|ifort|icx|icpx|ifx|dpcpp|nvc|nvc\+\+|nvfortran|pgcc|pgc\+\+|pgfortran|amdclang"
    r"|amdclang\+\+|amdflang|hipcc|armclang|armclang\+\+|armflang|fcc|FCC|frt|xlc(_r)?"
    r"|xlC(_r)?|xlf(90)?(_r)?|craycc|crayCC|crayftn|ftn|nagfor)(-[0-9.]+)?",
    re.ASCII,
)

#: What a spec may contain: no folder.
_SPEC = re.compile(r"[\w@.:=+~^%,\"' -]*", re.ASCII)

#: A package and its version, perhaps of a commit.
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_.-]*@(git\.[0-9a-f]{40}=)?\w[\w.+-]*", re.ASCII)

#: What a lock may say of an external.
_ATTRIBUTES = frozenset(["compilers"])


def unsafe_part(lock: Lock) -> str | None:
    """Say what of a lock could run something else than builds of its packages; None if nothing.

    The programs that it names are left to `foreign_programs`, since they depend on the machine.
    """
    return next(_unsafe_parts(lock), None)


def _unsafe_parts(lock: Lock) -> Iterator[str]:
    if unknown := {*lock.content} - _PARTS:
        yield f"it has the part '{min(unknown)}'"
    if not _SPEC.fullmatch(lock.requested) or "dev_path" in lock.requested:
        yield f"its spec '{lock.requested}' names a folder"
    for node in lock.nodes():
        yield from _unsafe_words(node)
        yield from _unsafe_external(node)


def _unsafe_words(node: Node) -> Iterator[str]:
    """Name, version, variants and flags that may be more than that."""
    if not _PLAIN.fullmatch(f"{node.name}@{node.version}"):
        yield f"'{node.name}@{node.version}' is no package and version"
    if "dev_path" in node.variants:
        yield f"{node.name} is built from the folder {node.variants['dev_path']}"
    for name, text in node.variants.items():
        if not (_HASH if name in _HASHES else _VARIANT).fullmatch(text) or "/.." in f"/{text}":
            yield f"{node.name} has {name}='{text}', which may be an option or a file"
    for name, text in node.flags.items():
        if not all(map(_FLAG.fullmatch, text.split())):
            yield f"{node.name} has {name}='{text}', which may run, load or write something"


def _unsafe_external(node: Node) -> Iterator[str]:
    """What an external may contain besides places of this machine."""
    external = node.content.get("external") or {}
    if unknown := {*(external.get("extra_attributes") or {})} - _ATTRIBUTES:
        yield f"{node.name} has the attribute '{min(unknown)}'"
    for compiler in node.compilers.values():
        if not _COMPILER.fullmatch(compiler.name):
            yield f"{node.name} has the compiler {compiler}, which is not called as one"
    modules = external.get("module")
    if not all(map(module_words, [modules] if isinstance(modules, str) else modules or [])):
        yield f"{node.name} loads a module from a file"


def foreign_programs(node: Node, site_prefixes: Collection[Path] = ()) -> list[Path]:
    """Return the places that a lock's external names and that are not of this machine.

    Places of this machine are those in /usr and /opt, in PATH, in the prefixes that Switchpoint
    made, and those that the site's packages.yaml names.
    """
    own = [prefixes(), *site_prefixes]
    places = [*([] if node.external is None else [node.external]), *node.compilers.values()]
    return [place for place in places if not _is_of_this_machine(place, own)]


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


def may_be_made(place: Path) -> bool:
    """Return whether a place exists, or anybody but the administrator can make it."""
    if not place.is_absolute() or os.path.lexists(place):
        return True
    parent = next(folder for folder in place.parents if os.path.lexists(folder))
    try:
        status = parent.stat()
    except OSError:
        return True
    return status.st_uid != 0 or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def prefixes_of_site(packages: dict[str, Any]) -> set[Path]:
    """Return the prefixes and compilers' folders that the ``packages`` of a site name."""
    prefixes: set[Path] = set()
    for entry in packages.values():
        for external in (entry or {}).get("externals") or []:
            compilers = (external.get("extra_attributes") or {}).get("compilers") or {}
            prefixes |= {Path(external["prefix"])} if external.get("prefix") else set()
            prefixes |= {Path(path) for path in compilers.values()}
    return prefixes
