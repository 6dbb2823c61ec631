"""A site's packages.yaml: read, checked, and completed with what this machine has."""

from __future__ import annotations

import os
import platform
import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from switchpoint.errors import InputError
from switchpoint.sites.doctor import Fact, program_output
from switchpoint.sites.marks import marked_places
from switchpoint.sites.mpis import MPI_MACROS, mpi_of
from switchpoint.spack.externals import LIBRARIES, External
from switchpoint.spack.lock import Node
from switchpoint.spack.lock_programs import foreign_programs
from switchpoint.spack.specs import parse
from switchpoint.spack.versions import satisfies
from switchpoint.strict_yaml import NotYamlError, read_yaml

#: Package of the kernels.
KERNELS = "switchpoint-kernels"

#: The kernels' variants that need them.
LIBRARY_VARIANTS = {"fftw": "fft", "libjpeg-turbo": "jpeg", "openblas": "linear", "hwloc": "hwloc"}


def read_packages(site: Path) -> dict[str, Any]:
    """The ``packages`` of a site's packages.yaml; raises InputError."""
    path = site / "packages.yaml"
    for place in marked_places(path):
        raise InputError(str(place), f"still to be edited: {place.wanted}; then delete the mark")
    compare = "compare with that of a `switchpoint init site`"
    try:
        content = read_yaml(path)
    except OSError as error:
        raise InputError(
            path, f"cannot be read ({error.strerror}); copy that of a `switchpoint init site`"
        ) from None
    except NotYamlError as error:
        raise InputError(path, f"is no YAML ({error.problem}); {compare}", error.line) from None
    if not isinstance(content, dict) or not isinstance(content.get("packages"), dict):
        raise InputError(path, f"has no mapping `packages:`; {compare}")
    packages: dict[str, Any] = content["packages"]
    for name, entry in packages.items():
        _check_entry(path, str(name), entry)
    return packages


def _check_entry(path: Path, name: str, entry: object) -> None:
    """Raise InputError unless one entry of ``packages`` has the form of Spack's."""
    if entry is None:
        return
    if not isinstance(entry, dict):
        raise InputError(
            path, f"packages:{name} is {_kind(entry)}, not a mapping; write `{name}: {{...}}`"
        )
    externals = entry.get("externals") or []
    if not isinstance(externals, list):
        raise InputError(
            path, f"packages:{name}:externals is {_kind(externals)}, not a list; begin each with -"
        )
    for external in externals:
        if not isinstance(external, dict) or not isinstance(external.get("spec"), str):
            raise InputError(
                path,
                f"packages:{name}:externals has an entry without a spec; write `- spec:"
                f" {name}@VERSION` and its prefix",
            )
        if not external.get("prefix") and not external.get("modules"):
            raise InputError(
                path,
                f"packages:{name}:externals: {external['spec']} has neither prefix nor modules;"
                " add one",
            )
        attributes = external.get("extra_attributes") or {}
        if not isinstance(attributes, dict) or not isinstance(
            attributes.get("compilers") or {}, dict
        ):
            raise InputError(
                path,
                f"packages:{name}:externals: {external['spec']}: compilers are no mapping; write"
                " `compilers: {c: PATH}`",
            )


def _kind(value: object) -> str:
    """What YAML calls a value that stands in the wrong place."""
    return "a list" if isinstance(value, list) else f"`{value}`"


def lacks(packages: dict[str, Any], package: str) -> bool:
    """Whether a package may neither be built nor is there."""
    entry = packages.get(package) or {}
    return not entry.get("buildable", True) and not entry.get("externals")


def complete(packages: dict[str, Any], externals: list[External]) -> dict[str, Any]:
    """Add what was found for each package that is neither built nor named by the site itself."""
    completed = dict(packages)
    # One target for all builds of a site; the plainest is what a build without Spack has.
    completed.setdefault("all", {"require": [f"target={platform.machine()}"]})
    without = [
        f"~{LIBRARY_VARIANTS[package]}"
        for package in LIBRARIES
        if lacks(packages, package) and package not in {external.package for external in externals}
    ]
    if without:
        # Spack would search for a build that nothing here provides.
        own = completed.get(KERNELS) or {}
        completed[KERNELS] = {"variants": " ".join(without), **own}
    for package in packages:
        entries = [external.entry() for external in externals if external.package == package]
        if lacks(packages, package) and entries:
            completed[package] = {**packages[package], "externals": entries}
    return completed


def check_packages(
    named: dict[str, Any], packages: dict[str, Any], mpi: str | None, place: str
) -> Iterator[Fact]:
    """Find what a completed packages.yaml lacks, and externals that are not what they say.

    Parameters
    ----------
    named, packages
        What the site names itself, and all packages.
    mpi
        Spec of the MPI that is needed; problems of others are then no hindrance.
    place
        The site's packages.yaml, for messages.
    """
    wanted = None if mpi is None else parse(mpi, "spack_mpi")
    for package in packages:
        needed = wanted is None or package == wanted.package or package not in MPI_MACROS
        state = "missing" if needed else "poor"
        if lacks(packages, package) and package not in LIBRARIES:
            fix = "install it, put its folder into PATH, or add its external"
            yield Fact(
                package, state, "not to be built, names no external, and was not found", fix, place
            )
        for external in (named.get(package) or {}).get("externals", []):
            if problem := problem_of_named(package, external):
                what, _, fix = problem.partition("; ")
                yield Fact(package, state, f"{external['spec']}: {what}", fix, place)
    if wanted is None:
        return
    entry = packages.get(wanted.package) or {}
    if entry.get("buildable", True) or not entry.get("externals"):
        return
    there = [parse(external["spec"], "externals") for external in entry["externals"]]
    constraint = wanted.version
    if constraint and not any(satisfies(one.version or "", constraint) for one in there):
        has = ", ".join(f"{one.package}@{one.version}" for one in there)
        yield Fact(
            wanted.package, "missing", f"{mpi} is asked for, and there is only {has}",
            "correct extras['spack_mpi'] of the environment, or add the external", place,
        )  # fmt: skip


def problem_of_named(package: str, external: dict[str, Any]) -> str | None:
    """Say what is wrong with an external that a site names, and after ``; `` the fix."""
    compilers = (external.get("extra_attributes") or {}).get("compilers") or {}
    for path in compilers.values():
        if not os.access(path, os.X_OK):
            return f"there is no compiler {path}; correct its extra_attributes"
    prefix = external.get("prefix")
    if prefix and not Path(prefix).is_dir():
        return f"there is no {prefix}; correct its prefix"
    if package not in MPI_MACROS or package == "intel-oneapi-mpi":
        return None  # of Intel's, folders by version: only Spack knows
    mpicc = Path(prefix, "bin/mpicc") if prefix else _mpicc_of_modules(external.get("modules", []))
    if mpicc is None or not mpicc.exists():
        return (
            f"there is no {mpicc}; correct its prefix"
            if mpicc
            else f"no mpicc after `module load {' '.join(external.get('modules', []))}`; correct"
            " its modules"
        )
    is_of = mpi_of(mpicc)
    if is_of is None:
        return f"{mpicc} compiles for no MPI that is known here; see what `{mpicc} -show` says"
    if is_of.name != package:
        return (
            f"{mpicc} compiles for {is_of.name}@{is_of.version}; give {package} a prefix whose"
            " bin/mpicc is its own"
        )
    version = parse(external["spec"], "externals").version
    if version and not satisfies(is_of.version, version.lstrip("=")):
        return f"{mpicc} is of version {is_of.version}; correct the spec"
    return None


def _mpicc_of_modules(modules: list[str]) -> Path | None:
    """The mpicc that modules put into PATH, in a login shell, which knows `module`."""
    load = f"module load {shlex.join(modules)} >/dev/null 2>&1 && command -v mpicc"
    lines = program_output("bash", "-lc", load, seconds=30).strip().splitlines()
    return Path(lines[-1]) if lines and lines[-1].startswith("/") else None


def problem_of_external(node: Node, site_prefixes: Collection[Path] = ()) -> str | None:
    """Say what of a lock's external is not on this machine as the lock has it, or nothing.

    Only programs of this machine are asked, see `foreign_programs`.
    """
    spec = f"{node.name}@{node.version}"
    if node.external is not None and not node.external.is_dir():
        return f"{spec} should be in {node.external}, which does not exist"
    if foreign := foreign_programs(node, site_prefixes):
        return (
            f"{spec} uses {foreign[0]}, which is not run: it is neither in /usr, /opt or PATH, nor"
            " in the site's packages.yaml"
        )
    for path in node.compilers.values():
        if not os.access(path, os.X_OK):
            return f"{spec} should have the compiler {path}, which does not exist"
    if "c" in node.compilers:
        version = program_output(str(node.compilers["c"]), "-dumpfullversion").strip()
        if re.fullmatch(r"\d+(\.\d+)+", version) and not satisfies(node.version, version):
            return f"{spec} should be {node.compilers['c']}, which is version {version}"
    has_mpicc = node.name in MPI_MACROS and node.name != "intel-oneapi-mpi"
    if node.external is not None and has_mpicc:
        mpicc = node.external / "bin/mpicc"
        is_of = mpi_of(mpicc)
        if is_of is None or (is_of.name, is_of.version) != (node.name, node.version):
            known = f"is {is_of.name}@{is_of.version}" if is_of else "compiles for no MPI"
            return f"{spec} should be in {node.external}, whose bin/mpicc {known}"
    return None
