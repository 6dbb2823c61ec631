"""Reads Spack's spack.lock: what was concretized, in words that Spack itself understands.

Nothing here needs Spack; see https://spack.readthedocs.io/en/latest/environments.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchpoint.errors import InputError
from switchpoint.limits import JSON_BYTES
from switchpoint.regular_files import read_limited
from switchpoint.strict_json import parse_json

#: Name of the file in a Spack environment.
NAME = "spack.lock"

#: Formats whose nodes are read here: Spack 0.20 to 1.2.
KNOWN_FORMATS = range(5, 8)

#: Parameters of a node that are compiler flags, not variants.
FLAGS = ("cflags", "cppflags", "cxxflags", "fflags", "ldflags", "ldlibs")

_PLAIN = re.compile(r"[\w.:/+=@,-]+")


@dataclass(frozen=True)
class Node:
    """One concrete spec.

    Attributes
    ----------
    content : dict
        As the lock has it.
    virtuals : tuple of str
        What it provides to the root: ``c``, ``mpi``; empty for others.
    """

    content: dict[str, Any]
    virtuals: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Package."""
        return str(self.content["name"])

    @property
    def version(self) -> str:
        """Version, without what a git version was resolved to."""
        return str(self.content["version"])

    @property
    def hash(self) -> str:
        """Spack's hash of it and of all below it."""
        return str(self.content["hash"])

    @property
    def target(self) -> str:
        """Name of the microarchitecture."""
        target = self.content["arch"]["target"]
        return str(target["name"] if isinstance(target, dict) else target)

    @property
    def platform_os(self) -> str:
        """Spack's name of the operating system, such as ``debian12``."""
        return str(self.content["arch"]["platform_os"])

    @property
    def external(self) -> Path | None:
        """Prefix, where the machine had it already."""
        path = (self.content.get("external") or {}).get("path")
        return Path(path) if path else None

    @property
    def compilers(self) -> dict[str, Path]:
        """Compilers of an external by language."""
        attributes = (self.content.get("external") or {}).get("extra_attributes") or {}
        compilers = attributes.get("compilers") or {}
        return {language: Path(path) for language, path in compilers.items() if path}

    @property
    def variants(self) -> dict[str, str]:
        """Variants as texts: ``True``, ``False``, or the values joined by commas."""
        parameters = self.content.get("parameters") or {}
        return {name: _text(value) for name, value in parameters.items() if name not in FLAGS}

    @property
    def flags(self) -> dict[str, str]:
        """Compiler flags that were asked for, by their kind."""
        parameters = self.content.get("parameters") or {}
        return {name: " ".join(parameters[name]) for name in FLAGS if parameters.get(name)}

    def words(self) -> list[str]:
        """Name and version, variants and flags, in Spack's own syntax."""
        switches = "".join(
            ("+" if value == "True" else "~") + name
            for name, value in sorted(self.variants.items())
            if value in ("True", "False")
        )
        values = [
            f"{name}={_quoted(value)}"
            for name, value in [*sorted(self.variants.items()), *self.flags.items()]
            if value not in ("True", "False", "none", "")
        ]
        return [f"{self.name}@{self.version}", *([switches] if switches else []), *values]


@dataclass(frozen=True)
class Lock:
    """A spack.lock with one root.

    Attributes
    ----------
    content : dict
        As it was read.
    """

    content: dict[str, Any]

    @property
    def root(self) -> Node:
        """What was asked for."""
        return Node(self.content["concrete_specs"][self.content["roots"][0]["hash"]])

    @property
    def requested(self) -> str:
        """The spec that was concretized."""
        return str(self.content["roots"][0]["spec"])

    @property
    def spack_version(self) -> str:
        """Version of the Spack that wrote it, or empty."""
        return str((self.content.get("spack") or {}).get("version", ""))

    def nodes(self) -> Iterator[Node]:
        """All concrete specs."""
        yield from map(Node, self.content["concrete_specs"].values())

    def dependencies(self) -> Iterator[Node]:
        """What the root depends on itself."""
        for edge in self.root.content.get("dependencies") or []:
            virtuals = (edge.get("parameters") or {}).get("virtuals") or ()
            yield Node(self.content["concrete_specs"][edge["hash"]], tuple(virtuals))

    def provider(self, virtual: str) -> Node | None:
        """The root's own provider of a virtual package, such as ``c`` or ``mpi``."""
        return next((node for node in self.dependencies() if virtual in node.virtuals), None)

    @property
    def spec(self) -> str:
        """The root with variants, flags, commit, target, C compiler and MPI."""
        words = [*self.root.words(), f"target={self.root.target}"]
        compiler, mpi = self.provider("c"), self.provider("mpi")
        if compiler is not None:
            words.append(f"%{compiler.name}@{compiler.version}")
        if mpi is not None:
            # A variant of what was installed already is a guess of Spack's.
            words.append("^" + " ".join(mpi.words() if mpi.external is None else mpi.words()[:1]))
        return " ".join(words)


def read_lock(path: Path) -> Lock:
    """Read a lock with one root; raises InputError."""
    try:
        text = read_limited(path, JSON_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(path, f"cannot be read ({reason}); name a spack.lock") from None
    return parse_lock(text, path)


def parse_lock(text: str, path: Path | str) -> Lock:
    """Take a lock's text for a lock with one root; raises InputError, which names `path`."""
    try:
        content = parse_json(text)
        version = content["_meta"]["lockfile-version"]
        if version not in KNOWN_FORMATS:
            known = f"{KNOWN_FORMATS[0]} to {KNOWN_FORMATS[-1]}"
            raise InputError(
                path,
                f"has the lockfile-version {version}, and {known} can be read; use the Spack"
                " that wrote it, or concretize again",
            )
        lock = Lock(content)
        count = len(content["roots"])
        if count == 1:
            for node in (lock.root, *lock.nodes()):  # all that is read of it is there
                node.words(), node.target, node.platform_os, node.external, node.compilers
            lock.spec, lock.requested, lock.spack_version  # noqa: B018
            return lock
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise InputError(
            path, "is no lock of Spack's; copy the environment's spack.lock again"
        ) from None
    raise InputError(path, f"has {count} root specs; only locks with one can be used")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else '"' + value.replace('"', r"\"") + '"'
