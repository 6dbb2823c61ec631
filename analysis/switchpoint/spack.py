"""Spack here: whether it will do, and which compilers, tools and MPIs it may take from the machine.

A site's packages.yaml is completed with what is found. See docs/how-to/spack.md.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from switchpoint.diagnosis import Fact, program_output
from switchpoint.errors import InputError
from switchpoint.sites.marks import marked_places
from switchpoint.spack_lock import Node
from switchpoint.spack_versions import satisfies

#: `path_override_env_var` and the commit of a branch in the concrete spec came with this one.
OLDEST_SPACK = (1, 1)

#: Macros of mpi.h that tell an MPI and its version, the most specific first: others than MPICH
#: define MPICH_VERSION too.
MPI_MACROS = {
    "openmpi": ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"),
    "intel-oneapi-mpi": ("I_MPI_VERSION",),
    "mvapich": ("MVAPICH_VERSION",),
    "cray-mpich": ("CRAY_MPICH_VERSION",),
    "mpich": ("MPICH_VERSION",),
}

#: A program that includes MPI, and a wrapper's options that show what it then knows.
INCLUDE_MPI = "#include <mpi.h>\n"
PREPROCESS = ("-E", "-dD", "-x", "c", "-")

#: What the checks' specs need besides an MPI.
TOOLS = ("gcc", "cmake", "gmake")

_WRITTEN = "# Written by `switchpoint doctor --spack` for this machine.\n"


class SpackError(InputError):
    """Something that Spack lacks or refuses, with the fix."""

    def __init__(self, problem: str) -> None:
        super().__init__("spack", problem)


@dataclass
class External:
    """Something that is already installed, as Spack's packages.yaml names it.

    Attributes
    ----------
    package, version : str
        Spack's name of it, and its version.
    prefix : Path
        Spack runs ``<prefix>/bin/<program>``.
    origin : Path
        The program that it was found by.
    shims : dict of str to Path
        Programs to put into ``<prefix>/bin``: name to the program that it has to run.
    include : Path or None
        Folder that ``<prefix>/include`` has to lead to, where the prefix is ours.
    options : str
        Further words of the spec.
    compilers : dict of str to str
        Language to compiler, for a compiler.
    """

    package: str
    version: str
    prefix: Path
    origin: Path
    shims: dict[str, Path] = field(default_factory=dict)
    include: Path | None = None
    options: str = ""
    compilers: dict[str, str] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """Item of Spack's ``externals`` list."""
        entry: dict[str, Any] = {
            "spec": f"{self.package}@{self.version} {self.options}".strip(),
            "prefix": str(self.prefix),
        }
        if self.compilers:
            entry["extra_attributes"] = {"compilers": self.compilers}
        return entry


@dataclass
class Survey:
    """What Spack may take from this machine.

    Attributes
    ----------
    packages : dict
        The ``packages`` of a packages.yaml, completed.
    found : list of External
        All that was found, whether the site asks for it or not.
    facts : list of Fact
        What there is to say of it.
    """

    packages: dict[str, Any]
    found: list[External]
    facts: list[Fact]


@dataclass(frozen=True)
class Mpi:
    """What a compiler wrapper compiles for: Spack's name of the MPI, its version, its mpi.h."""

    name: str
    version: str
    header: Path


def find_spack() -> tuple[str, str]:
    """Path of ``spack`` and what it says of its version, if it is there and new enough."""
    path = shutil.which("spack")
    if path is None:
        raise SpackError(
            "there is no `spack` in PATH; run Spack's share/spack/setup-env.sh, or build with "
            "the system's MPI: -S builder=cmake"
        )
    completed = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"(\d+)\.(\d+)", completed.stdout)
    if version is None:
        said = completed.stderr.strip().splitlines()
        raise SpackError(
            f"`{path} --version` fails: {said[-1] if said else 'no message'}; repair it"
        )
    if tuple(map(int, version.groups())) < OLDEST_SPACK:
        oldest = ".".join(map(str, OLDEST_SPACK))
        raise SpackError(f"{path} is Spack {version.group()}; {oldest} or newer is needed")
    return path, completed.stdout


def examine_spack() -> Iterator[Fact]:
    """Say which Spack is here, and whether it can concretize without a network."""
    try:
        path, version = find_spack()
    except SpackError as error:
        found, _, fix = error.problem.partition("; ")
        yield Fact("Spack", "missing", found, fix)
        return
    yield Fact("Spack", "ok", f"{version.split()[0]}, {path}")
    own = program_output(path, "python", "-c", "import clingo; print(clingo.__version__)")
    if version_line := re.search(r"^\d+\.\d+\S*$", own, re.MULTILINE):
        yield Fact("clingo", "ok", f"{version_line[0]}, in Spack's Python")
    else:
        yield Fact(
            "clingo", "poor", "not in Spack's Python, so Spack fetches it when first needed",
            "where there is no network: pip install clingo for the Python in SPACK_PYTHON",
        )  # fmt: skip


def survey(site: Path | None, folder: Path) -> Survey:
    """Look for what a site neither builds nor names, or without a site for all that is known here.

    Parameters
    ----------
    site
        Folder with the packages.yaml to complete.
    folder
        Where `write` will put the prefixes of MPIs that have none of their own.

    Raises
    ------
    InputError
        If the site's packages.yaml cannot be used.
    """
    packages = {} if site is None else read_packages(site)
    facts: list[Fact] = []
    found: list[External] = []
    if site is None or any(lacks(packages, package) for package in packages):
        found = [*find_tools(), *find_mpis(folder, facts)]
    if site is None:
        packages = {"c": {"require": ["gcc"]}, "cxx": {"require": ["gcc"]}}
        names = [*TOOLS, *(external.package for external in found)]
        packages |= {name: {"buildable": False} for name in dict.fromkeys(names)}
    for external in found:
        own = f"; prefix of its own: {external.prefix}" if external.shims else ""
        facts.append(Fact(external.package, "ok", f"{external.version}, by {external.origin}{own}"))
    packages = complete(packages, found)
    fix = "install it, or put its folder into PATH"
    facts += [
        Fact(package, "missing", "not found", fix)
        for package in packages
        if lacks(packages, package)
    ]
    return Survey(packages, found, facts)


def find_tools() -> Iterator[External]:
    """The C compiler, CMake and make in PATH."""
    gcc = shutil.which("gcc")
    if gcc:
        compilers = {
            language: path
            for language, program in (("c", "gcc"), ("cxx", "g++"), ("fortran", "gfortran"))
            if (path := shutil.which(program))
        }
        names = {"c": "c", "cxx": "c++", "fortran": "fortran"}
        languages = ",".join(names[language] for language in compilers)
        yield External(
            "gcc",
            program_output(gcc, "-dumpfullversion").strip(),
            Path(gcc).parent.parent,
            Path(gcc),
            options=f"languages:='{languages}'",
            compilers=compilers,
        )
    for package, program in (("cmake", "cmake"), ("gmake", "make")):
        path = shutil.which(program)
        if path:
            version = re.search(r"\d+(\.\d+)+", program_output(path, "--version"))
            if version:
                yield External(package, version.group(), Path(path).parent.parent, Path(path))


def find_mpis(folder: Path, facts: list[Fact]) -> list[External]:
    """MPIs whose compiler wrappers are in PATH; what is not taken is added to `facts`.

    Debian keeps several in one prefix and tells them apart by suffix, ``mpicc.openmpi``. Spack
    would run plain ``mpicc`` there, a link that may name any of them, so each of these gets a
    prefix of its own under `folder`, with programs that run the suffixed ones.
    """
    found: dict[tuple[str, str], External] = {}
    for mpicc in _in_path("mpicc") + _in_path("mpicc.*"):
        if "alternatives" in str(mpicc.readlink() if mpicc.is_symlink() else ""):
            facts.append(
                Fact(
                    mpicc.name, "ok",
                    f"{mpicc} is one of Debian's alternatives: not taken for a prefix",
                )
            )  # fmt: skip
            continue
        mpi = mpi_of(mpicc)
        prefix = mpicc.parent.parent
        if mpi is None:
            known = "does not compile, or for no MPI that is known here"
            facts.append(Fact(mpicc.name, "ok", f"{mpicc} {known}: not taken"))
            continue
        if mpi.name == "intel-oneapi-mpi":
            # Spack's recipe looks for <prefix>/mpi/<version>/bin.
            if prefix.parent.name != "mpi":
                layout = "is Intel MPI, but not in oneAPI's folders, which Spack needs"
                facts.append(Fact(mpicc.name, "ok", f"{mpicc} {layout}: not taken"))
                continue
            prefix = prefix.parent.parent
        external = External(mpi.name, mpi.version, prefix, mpicc)
        if mpicc.suffix:
            external.prefix = folder / mpicc.suffix.lstrip(".")
            external.include = mpi.header.parent
            external.shims = {
                program.stem: program for program in mpicc.parent.glob(f"mpi*{mpicc.suffix}")
            }
        found.setdefault((mpi.name, mpi.version), external)
    return list(found.values())


def mpi_of(mpicc: Path) -> Mpi | None:
    """Ask a compiler wrapper which mpi.h it includes, and that which MPI it is of.

    None where it does not compile, or where its MPI is not one of `MPI_MACROS`.
    """
    try:
        completed = subprocess.run(
            [str(mpicc), *PREPROCESS],
            input=INCLUDE_MPI,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return mpi_in(completed.stdout)


def mpi_in(preprocessed: str) -> Mpi | None:
    """Tell the MPI from what a compiler wrapper makes of `INCLUDE_MPI` with `PREPROCESS`."""
    header = re.search(r'^# 1 "(/.*/mpi\.h)"', preprocessed, re.MULTILINE)
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]+)"?$', preprocessed, re.MULTILINE))
    for name, parts in MPI_MACROS.items():
        if header and all(part in macros for part in parts):
            version = ".".join(macros[part].strip() for part in parts)
            return Mpi(name, version, Path(header.group(1)))
    return None


def read_packages(site: Path) -> dict[str, Any]:
    """The ``packages`` of a site's packages.yaml; raises InputError."""
    path = site / "packages.yaml"
    for place in marked_places(path):
        raise InputError(str(place), f"still to be edited: {place.wanted}; then delete the mark")
    try:
        packages = yaml.safe_load(path.read_text(encoding="utf-8"))["packages"]
        return dict(packages)
    except OSError as error:
        raise InputError(
            path, f"cannot be read ({error.strerror}); copy that of a `switchpoint init site`"
        ) from None
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            path,
            f"no packages.yaml of Spack's ({' '.join(str(error).split())}); compare with that "
            "of a `switchpoint init site`",
        ) from None


def problem_of_external(node: Node) -> str | None:
    """Say what of a lock's external is not on this machine as the lock has it, or nothing."""
    spec = f"{node.name}@{node.version}"
    if node.external is None:
        return None
    if not node.external.is_dir():
        return f"{spec} is to be in {node.external}, which is not there"
    for path in node.compilers.values():
        if not os.access(path, os.X_OK):
            return f"{spec} is to have the compiler {path}, which is not there"
    if "c" in node.compilers:
        told = program_output(str(node.compilers["c"]), "-dumpfullversion").strip()
        if re.fullmatch(r"\d+(\.\d+)+", told) and not satisfies(node.version, told):
            return f"{spec} is to be {node.compilers['c']}, which is version {told}"
    if node.name in MPI_MACROS and node.name != "intel-oneapi-mpi":
        mpicc = node.external / "bin/mpicc"
        is_of = mpi_of(mpicc)
        if is_of is None or (is_of.name, is_of.version) != (node.name, node.version):
            known = f"is {is_of.name}@{is_of.version}" if is_of else "compiles for no MPI"
            return f"{spec} is to be in {node.external}, whose bin/mpicc {known}"
    return None


def lacks(packages: dict[str, Any], package: str) -> bool:
    """Whether a package may neither be built nor is there."""
    entry = packages.get(package) or {}
    return not entry.get("buildable", True) and not entry.get("externals")


def complete(packages: dict[str, Any], found: list[External]) -> dict[str, Any]:
    """Add what was found for each package that is neither built nor named by the site itself."""
    completed = dict(packages)
    # One target for all builds of a site; the plainest is what a build without Spack has.
    completed.setdefault("all", {"require": [f"target={platform.machine()}"]})
    for package in packages:
        entries = [external.entry() for external in found if external.package == package]
        if lacks(packages, package) and entries:
            completed[package] = {**packages[package], "externals": entries}
    return completed


def write(surveyed: Survey, folder: Path) -> Path:
    """Write packages.yaml into `folder` and the programs of the prefixes that are ours.

    Raises
    ------
    InputError
        If there is a packages.yaml that somebody else wrote, or the folder cannot be written.
    """
    path = folder / "packages.yaml"
    if path.exists() and not path.read_text(encoding="utf-8").startswith(_WRITTEN):
        raise InputError(
            path, "is there already and stays as it is; --write another folder, and name this one "
            "with --site to complete it there",
        )  # fmt: skip
    try:
        for external in surveyed.found:
            for name, program in external.shims.items():
                shim = external.prefix / "bin" / name
                shim.parent.mkdir(parents=True, exist_ok=True)
                _write_whole(shim, f'#!/bin/sh\nexec {program} "$@"\n', mode=0o755)
            if external.include:
                partial = external.prefix / f"include.{os.getpid()}.partial"
                partial.symlink_to(external.include)
                partial.replace(external.prefix / "include")
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(
            path, _WRITTEN + yaml.safe_dump({"packages": surveyed.packages}, sort_keys=False)
        )
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror}); choose another") from None
    return path


def check_mpi(path: Path, packages: dict[str, Any], mpi: str) -> None:
    """Raise InputError unless Spack can take the MPI `mpi` (a spec) for what it is.

    `path` is the file that names it.
    """
    package = re.match(r"[\w-]+", mpi)
    name = package.group() if package else mpi
    if lacks(packages, name):
        raise InputError(
            path,
            f"{name} is not to be built, names no external, and no mpicc in PATH is of it; "
            "install it, or add its external",
        )
    for external in (packages.get(name) or {}).get("externals", []):
        if "prefix" not in external or name == "intel-oneapi-mpi":
            continue  # a module alone, or folders by version: only Spack can tell
        mpicc = Path(external["prefix"], "bin", "mpicc")
        if not mpicc.exists():
            raise InputError(path, f"{external['spec']}: there is no {mpicc}; correct its prefix")
        is_of = mpi_of(mpicc)
        if is_of and is_of.name != name:
            raise InputError(
                path,
                f"{external['spec']}: {mpicc} compiles for {is_of.name}@{is_of.version}; give "
                f"{name} a prefix whose bin/mpicc is its own",
            )


def _write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.chmod(mode)
    partial.replace(path)


def _in_path(pattern: str) -> list[Path]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [
        program
        for folder in dict.fromkeys(Path(folder).resolve() for folder in folders if folder)
        for program in sorted(folder.glob(pattern))
        if os.access(program, os.X_OK)
    ]
