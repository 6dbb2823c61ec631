"""What is installed on this machine that Spack can use: compilers, tools, libraries, MPIs."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from switchpoint.sites.doctor import Fact, program_output
from switchpoint.sites.mpis import mpi_of

#: Libraries of the kernels: what pkg-config calls each, and the spec's options.
LIBRARIES = {
    "fftw": ("fftw3", "~mpi~openmp precision=double"),
    "libjpeg-turbo": ("libturbojpeg", ""),
    "openblas": ("openblas", "threads=none"),
    "hwloc": ("hwloc", ""),
}


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


def find_process_managers() -> Iterator[External]:
    """Slurm and PMIx, for an MPI that Spack builds; where headers lack, none can be built."""
    srun = Path(shutil.which("srun") or "/")
    header = srun.parent.parent / "include/slurm/slurm_version.h"
    if header.is_file():  # `srun --version` ends in an error where there is no slurm.conf
        number = re.search(r"SLURM_VERSION_NUMBER\s+0x(\w\w)(\w\w)(\w\w)", header.read_text())
        if number:
            major, minor, micro = (int(digits, 16) for digits in number.groups())
            yield External("slurm", f"{major}.{minor:02}.{micro}", srun.parent.parent, srun)
    program = shutil.which("pkg-config")
    if program is not None:
        version = re.match(r"\d+(\.\d+)+(rc\d+)?$", program_output(program, "--modversion", "pmix"))
        prefix = Path(program_output(program, "--variable=prefix", "pmix").strip() or "/")
        # The library that Slurm's plugin is of, so that srun and the MPI speak one version.
        if version and (prefix / "include/pmix.h").exists():
            yield External("pmix", version[0], prefix, prefix)


def find_libraries() -> Iterator[External]:
    """Libraries of the applications that pkg-config knows, and pkg-config itself."""
    program = shutil.which("pkg-config")
    if program is None:
        return
    is_pkgconf = "pkgconf" in program_output(program, "--about")
    version = program_output(program, "--version").strip()
    package = "pkgconf" if is_pkgconf else "pkg-config"
    yield External(package, version, Path(program).parent.parent, Path(program))
    for package, (module, options) in LIBRARIES.items():
        version = program_output(program, "--modversion", module).strip()
        folder = program_output(program, "--variable=libdir", module).strip()
        # Under Debian's prefix OpenBLAS may be any of three builds; its folder says which.
        threaded = package == "openblas" and "serial" not in folder
        if re.fullmatch(r"\d+(\.\d+)+", version) and folder.startswith("/usr/lib") and not threaded:
            yield External(package, version, Path("/usr"), Path(folder), options=options)


def prefixes() -> Path:
    """Folder of the prefixes that are made here, for MPIs that have none of their own.

    It stays where it is whatever becomes of checkouts and build trees: prefixes go into Spack's
    hashes and locks.
    """
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "switchpoint" / "prefixes"


def find_mpis(facts: list[Fact]) -> list[External]:
    """MPIs whose compiler wrappers are in PATH; what is skipped is added to `facts`.

    Debian keeps several in one prefix and distinguishes them by suffix, ``mpicc.openmpi``. Spack
    would run plain ``mpicc`` there, a link that may name any of them, so each of these gets a
    prefix of its own in `prefixes`, with programs that run the suffixed ones.
    """
    by_prefix: dict[tuple[str, str], External] = {}
    for mpicc in _in_path("mpicc") + _in_path("mpicc.*"):
        if "alternatives" in str(mpicc.readlink() if mpicc.is_symlink() else ""):
            facts.append(
                Fact(
                    mpicc.name, "ok",
                    f"{mpicc} is one of Debian's alternatives: skipped, it names no prefix",
                )
            )  # fmt: skip
            continue
        mpi = mpi_of(mpicc)
        prefix = mpicc.parent.parent
        if mpi is None:
            known = "does not compile, or for no MPI that is known here"
            facts.append(Fact(mpicc.name, "ok", f"{mpicc} {known}: skipped"))
            continue
        if mpi.name == "intel-oneapi-mpi":
            # Spack's recipe looks for <prefix>/mpi/<version>/bin.
            if prefix.parent.name != "mpi":
                layout = "is Intel MPI, but not in oneAPI's folders, which Spack needs"
                facts.append(Fact(mpicc.name, "ok", f"{mpicc} {layout}: skipped"))
                continue
            prefix = prefix.parent.parent
        external = External(mpi.name, mpi.version, prefix, mpicc)
        if mpicc.suffix:
            own = f"{mpi.name}-{mpi.version}-{platform.machine()}"
            external.prefix = prefixes() / own
            external.include = mpi.header.parent
            external.shims = {
                program.stem: program for program in mpicc.parent.glob(f"mpi*{mpicc.suffix}")
            }
        by_prefix.setdefault((mpi.name, mpi.version), external)
    return list(by_prefix.values())


def _in_path(pattern: str) -> list[Path]:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [
        program
        for folder in dict.fromkeys(Path(folder).resolve() for folder in folders if folder)
        for program in sorted(folder.glob(pattern))
        if os.access(program, os.X_OK)
    ]
