"""What a spec asks for, read without Spack, and whether what was concretized is that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from switchpoint.errors import SpackError
from switchpoint.spack.lock import Lock
from switchpoint.spack.versions import satisfies

_PACKAGE = re.compile(r"\s*(?:[a-z_]\w*\.)*([a-z0-9_][a-z0-9_-]*)(?=[\s@%^+~]|$)")
_VERSION = r"@(?P<version>(?:[\w:=.][\w.:,=/-]*))"
_VALUE = r"(?P<key>[a-zA-Z_][\w-]*)={1,2}(?P<value>\"[^\"]*\"|'[^']*'|[\w.:,/+@*-]+)"
_SWITCH = r"(?P<sign>[+~]{1,2}|(?<=\s)-{1,2})\s*(?P<switch>[a-zA-Z_][\w-]*)"
_TOKEN = re.compile(rf"\s+|{_VERSION}|{_SWITCH}|{_VALUE}")

#: ``%gcc``, ``%gcc@12``, ``%c,cxx=gcc@12``, ``%[virtuals=c] gcc@12``.
_COMPILER = re.compile(
    r"%\s*(?:\[[^\]]*\]\s*)?(?:[a-z,]+={1,2})?(?P<name>[a-z_][\w-]*)(?:@(?P<version>[\w.:,=-]+))?"
)

#: Keys that are no variants.
_ARCHITECTURE = ("target", "arch", "os", "platform")


@dataclass
class Request:
    """A spec in its parts.

    Attributes
    ----------
    package : str
        Without a namespace.
    own, dependencies : str
        The text up to the first ``%`` or ``^``, which concerns the package alone, and the rest.
    version : str or None
        Constraint, without the ``@``.
    variants : dict of str to str
        Values; of switches ``True`` and ``False``. Flags such as ``cflags`` too.
    architecture : dict of str to str
        ``target`` and the like.
    """

    package: str
    own: str
    dependencies: str
    version: str | None = None
    variants: dict[str, str] = field(default_factory=dict)
    architecture: dict[str, str] = field(default_factory=dict)

    @property
    def compilers(self) -> list[tuple[str, str | None]]:
        """Packages that the root is to use directly, with the constraint on each version."""
        direct = self.dependencies.partition("^")[0]
        return [(match["name"], match["version"]) for match in _COMPILER.finditer(direct)]

    def with_commit(self, commit: str) -> str:
        """The same spec, of that commit of the branch main."""
        own = self.own.strip()
        if self.version is None:
            place = own.index(self.package) + len(self.package)
            own = f"{own[:place]}@main{own[place:]}"
        return f"{own} commit={commit} {self.dependencies}".strip()


def parse(spec: str, option: str) -> Request:
    """Read a spec; raises SpackError, which names the option that gave it."""
    package = _PACKAGE.match(spec)
    if package is None:
        raise SpackError(
            f"-S {option}='{spec}' names no package; write PACKAGE, or PACKAGE@VERSION"
        )
    request = Request(package[1], spec, "")
    place = package.end()
    while place < len(spec):
        if spec[place] in "%^":
            request.own, request.dependencies = spec[:place], spec[place:]
            break
        token = _TOKEN.match(spec, place)
        if token is None:
            raise SpackError(
                f"-S {option}='{spec}' cannot be read from '{spec[place:]}' on; see "
                "`spack help --spec`"
            )
        if token["version"]:
            request.version = token["version"]
        elif token["switch"]:
            request.variants[token["switch"]] = str(token["sign"].startswith("+"))
        elif token["key"]:
            values = request.architecture if token["key"] in _ARCHITECTURE else request.variants
            values[token["key"]] = token["value"].strip("\"'")
        place = token.end()
    return request


def contradictions(request: Request, lock: Lock) -> Iterator[str]:
    """What of the lock's root is not as the request says, as ``asked, but concretized``."""
    root = lock.root
    if root.name != request.package:
        yield f"{request.package}, but {root.name}"
        return
    if request.version and not satisfies(root.version, request.version):
        yield f"@{request.version}, but @{root.version}"
    actual = root.variants | {"cflags": "", **root.flags}
    for name, value in request.variants.items():
        here = actual.get(name, "no such variant")
        if not set(value.split(",")) <= {"*", *here.split(",")} and value != here:
            yield f"{name}={value}, but {name}={here}"
    target = request.architecture.get("target", "")
    if target and ":" not in target and root.target not in target.split(","):
        yield f"target={target}, but target={root.target}"
    direct = {node.name: node for node in lock.dependencies()}
    for name, version in request.compilers:
        node = direct.get(name)
        if node is None:
            used = lock.provider("c")
            yield f"%{name}, but " + (f"%{used.name}" if used else "no compiler")
        elif version and not satisfies(node.version, version):
            yield f"%{name}@{version}, but %{name}@{node.version}"


def not_default(request: Request, lock: Lock, defaults: Mapping[str, str]) -> Iterator[str]:
    """Variants that are neither asked for nor the recipe's default, in Spack's words."""
    for name, value in lock.root.variants.items():
        default = defaults.get(name)
        if default is not None and name not in request.variants and value != default:
            yield f"{name}={value} (default {default})"
    for name, value in lock.root.flags.items():
        if name not in request.variants:
            yield f'{name}="{value}" (default none)'
