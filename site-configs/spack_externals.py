"""Completes a site's packages.yaml with what this machine has: compilers, CMake, make and MPIs.

Writes nothing into the site's folder; Spack is not needed. See docs/how-to/spack.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]

#: Macros of mpi.h that tell an MPI and its version, the most specific first: others than MPICH
#: define MPICH_VERSION too.
MPI_MACROS = {
    "openmpi": ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"),
    "intel-oneapi-mpi": ("I_MPI_VERSION",),
    "mvapich": ("MVAPICH_VERSION",),
    "cray-mpich": ("CRAY_MPICH_VERSION",),
    "mpich": ("MPICH_VERSION",),
}


class SiteError(Exception):
    """A site's packages.yaml that cannot be used: names the file, what is wrong and the mend."""


@dataclass
class External:
    """Something that is already installed, as Spack's packages.yaml names it.

    Attributes
    ----------
    package, version : str
        Spack's name of it, and its version.
    prefix : Path
        Spack runs ``<prefix>/bin/<program>``.
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


@dataclass(frozen=True)
class Mpi:
    """What a compiler wrapper compiles for: Spack's name of the MPI, its version, its mpi.h."""

    name: str
    version: str
    header: Path


def mpi_of(mpicc: Path) -> Mpi | None:
    """Ask a compiler wrapper which mpi.h it includes, and that which MPI it is of.

    None where it does not compile, or where its MPI is not one of `MPI_MACROS`.
    """
    try:
        completed = subprocess.run(
            [str(mpicc), "-E", "-dD", "-x", "c", "-"],
            input="#include <mpi.h>\n",
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    header = re.search(r'^# 1 "(/.*/mpi\.h)"', completed.stdout, re.MULTILINE)
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]+)"?$', completed.stdout, re.MULTILINE))
    for name, parts in MPI_MACROS.items():
        if header and all(part in macros for part in parts):
            version = ".".join(macros[part].strip() for part in parts)
            return Mpi(name, version, Path(header.group(1)))
    return None


def find_mpis(folder: Path) -> list[External]:
    """MPIs whose compiler wrappers are in PATH.

    Debian keeps several in one prefix and tells them apart by suffix, ``mpicc.openmpi``. Spack
    would run plain ``mpicc`` there, a link that may name any of them, so each of these gets a
    prefix of its own under `folder`, with programs that run the suffixed ones.
    """
    found: dict[tuple[str, str], External] = {}
    for mpicc in _in_path("mpicc") + _in_path("mpicc.*"):
        if "alternatives" in str(mpicc.readlink() if mpicc.is_symlink() else ""):
            print(f"  {mpicc} is one of Debian's alternatives: not taken for a prefix")
            continue
        mpi = mpi_of(mpicc)
        if mpi is None:
            print(f"  {mpicc} does not compile, or for no MPI that is known here: not taken")
            continue
        external = External(mpi.name, mpi.version, mpicc.parent.parent)
        if mpicc.suffix:
            external.prefix = folder / mpicc.suffix.lstrip(".")
            external.include = mpi.header.parent
            external.shims = {
                program.stem: program for program in mpicc.parent.glob(f"mpi*{mpicc.suffix}")
            }
        found.setdefault((mpi.name, mpi.version), external)
    return list(found.values())


def find_tools() -> list[External]:
    """The C compiler, CMake and make in PATH."""
    found = []
    gcc = shutil.which("gcc")
    if gcc:
        compilers = {
            language: path
            for language, program in (("c", "gcc"), ("cxx", "g++"), ("fortran", "gfortran"))
            if (path := shutil.which(program))
        }
        names = {"c": "c", "cxx": "c++", "fortran": "fortran"}
        languages = ",".join(names[language] for language in compilers)
        found.append(
            External(
                "gcc",
                _output(gcc, "-dumpfullversion"),
                Path(gcc).parent.parent,
                options=f"languages:='{languages}'",
                compilers=compilers,
            )
        )
    for package, program in (("cmake", "cmake"), ("gmake", "make")):
        path = shutil.which(program)
        if path:
            version = re.search(r"\d+(\.\d+)+", _output(path, "--version"))
            if version:
                found.append(External(package, version.group(), Path(path).parent.parent))
    return found


def read_packages(site: Path) -> dict[str, Any]:
    """The ``packages`` of a site's packages.yaml; raises SiteError."""
    path = site / "packages.yaml"
    try:
        packages = yaml.safe_load(path.read_text(encoding="utf-8"))["packages"]
    except OSError as error:
        raise SiteError(
            f"{path}: cannot be read ({error.strerror}); copy the one of template-slurm"
        ) from None
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise SiteError(
            f"{path}: no packages.yaml of Spack's ({' '.join(str(error).split())}); compare "
            "with the one of template-slurm"
        ) from None
    return dict(packages)


def lacks(packages: dict[str, Any], package: str) -> bool:
    """Whether a package may neither be built nor is there."""
    entry = packages.get(package, {})
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


def write(folder: Path, packages: dict[str, Any], found: list[External]) -> Path:
    """Write the completed packages.yaml and the programs of the prefixes that are ours."""
    for external in found:
        for name, program in external.shims.items():
            shim = external.prefix / "bin" / name
            shim.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(shim, f'#!/bin/sh\nexec {program} "$@"\n')
            shim.chmod(0o755)
        if external.include:
            partial = external.prefix / f"include.{os.getpid()}.partial"
            partial.symlink_to(external.include)
            partial.replace(external.prefix / "include")
    path = folder / "packages.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump({"packages": packages}, sort_keys=False)
    _write_whole(path, f"# Written by site-configs/spack_externals.py for this machine.\n{text}")
    return path


def generate(site: Path, folder: Path) -> dict[str, Any]:
    """Complete the packages.yaml of the folder `site` and write it to `folder`, with the prefixes.

    Says on standard output what was found. Returns the packages; raises SiteError.
    """
    packages = read_packages(site)
    found: list[External] = []
    if any(lacks(packages, package) for package in packages):
        found = find_tools() + find_mpis(folder)
    for external in found:
        origin = external.shims.get("mpicc", external.prefix)
        print(f"  {external.package}@{external.version} from {origin}")
    packages = complete(packages, found)
    for package in packages:
        if lacks(packages, package):
            print(f"  {package}: not found; install it, or put its folder into PATH")
    write(folder, packages, found)
    return packages


def check_mpi(site: Path, packages: dict[str, Any], mpi: str) -> None:
    """Raise SiteError unless Spack can take the MPI `mpi` (a spec) for what it is."""
    path = site / "packages.yaml"
    package = re.match(r"[\w-]+", mpi)
    name = package.group() if package else mpi
    if lacks(packages, name):
        raise SiteError(
            f"{path}: {name} is not to be built, names no external, and no mpicc in PATH is of "
            f"it; install it, or add its external"
        )
    for external in packages.get(name, {}).get("externals", []):
        if "prefix" not in external:
            continue  # a module alone: only Spack can tell
        mpicc = Path(external["prefix"], "bin", "mpicc")
        if not mpicc.exists():
            raise SiteError(f"{path}: {external['spec']}: there is no {mpicc}; correct its prefix")
        is_of = mpi_of(mpicc)
        if is_of and is_of.name != name:
            raise SiteError(
                f"{path}: {external['spec']}: {mpicc} compiles for {is_of.name}@{is_of.version}; "
                f"give {name} a prefix whose bin/mpicc is its own"
            )


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _in_path(pattern: str) -> list[Path]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [
        program
        for folder in dict.fromkeys(Path(folder).resolve() for folder in folders if folder)
        for program in sorted(folder.glob(pattern))
        if os.access(program, os.X_OK)
    ]


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def main() -> int:
    """Command line: ``spack_externals.py SITE [--output DIR] [--mpi SPEC]``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", help="folder under site-configs, or an absolute path")
    parser.add_argument(
        "--output", type=Path, help="where to write; build/spack/SITE/externals by default"
    )
    parser.add_argument("--mpi", help="fail unless this MPI is there and is what its name says")
    arguments = parser.parse_args()
    site = ROOT / "site-configs" / arguments.site
    folder = (arguments.output or ROOT / "build/spack" / site.name / "externals").resolve()
    try:
        packages = generate(site, folder)
        if arguments.mpi:
            check_mpi(site, packages, arguments.mpi)
    except SiteError as error:
        print(f"spack_externals: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
