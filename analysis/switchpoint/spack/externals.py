"""Spack here: whether it will do, and which compilers, tools and MPIs it may take from the machine.

A site's packages.yaml is completed with what is found. See docs/how-to/spack.md.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from switchpoint.errors import InputError, SpackError
from switchpoint.sites.doctor import Fact, program_output
from switchpoint.sites.marks import marked_places
from switchpoint.sites.mpis import MPI_MACROS, mpi_of
from switchpoint.spack.lock import Node
from switchpoint.spack.specs import parse
from switchpoint.spack.versions import satisfies

#: `path_override_env_var` and the commit of a branch in the concrete spec came with this one.
OLDEST_SPACK = (1, 1)


#: What the checks' specs need besides an MPI.
TOOLS = ("gcc", "cmake", "gmake")

#: Package of the kernels.
KERNELS = "switchpoint-kernels"

#: Libraries of the kernels' applications: what pkg-config calls each, and the spec's options.
LIBRARIES = {
    "fftw": ("fftw3", "~mpi~openmp precision=double"),
    "libjpeg-turbo": ("libturbojpeg", ""),
    "openblas": ("openblas", "threads=none"),
}

#: The kernels' variants that need them.
LIBRARY_VARIANTS = {"fftw": "fft", "libjpeg-turbo": "jpeg", "openblas": "linear"}

#: Files of Spack's configuration that a site may have beside its packages.yaml.
SITE_FILES = (
    "bootstrap.yaml", "compilers.yaml", "concretizer.yaml", "config.yaml", "mirrors.yaml",
    "modules.yaml", "repos.yaml", "toolchains.yaml", "upstreams.yaml",
)  # fmt: skip

_IN_SPACK = Path(__file__).with_name("in_spack.py")

_WRITTEN = "# Written by `switchpoint doctor --spack` for this machine.\n"


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
    site : Path or None
        Folder of the site.
    """

    packages: dict[str, Any]
    found: list[External]
    facts: list[Fact]
    site: Path | None = None


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


def ask_spack(*words: str, options: Sequence[str] = (), seconds: float = 120) -> Any:
    """Let Spack's own Python answer, see `in_spack`; None where it does not."""
    answer = re.search(r"^told: (.*)$", _said_by_spack(words, options, seconds), re.MULTILINE)
    return json.loads(answer[1]) if answer else None


def _said_by_spack(words: Sequence[str], options: Sequence[str], seconds: float) -> str:
    spack = shutil.which("spack") or "spack"
    return program_output(spack, *options, "python", str(_IN_SPACK), *words, seconds=seconds)


def examine_spack(site: Path | None = None) -> Iterator[Fact]:
    """Say which Spack is here, and whether it can concretize and install for a site."""
    try:
        path, version = find_spack()
    except SpackError as error:
        found, _, fix = error.problem.partition("; ")
        yield Fact("Spack", "missing", found, fix)
        return
    yield Fact("Spack", "ok", f"{version.split()[0]}, {path}")
    options = [] if site is None else ["-C", str(site)]
    facts = ask_spack("facts", options=options)
    if facts is None:
        reason = re.search(r"Error: (.*)", _said_by_spack(["facts"], options, seconds=120))
        yield Fact(
            "Spack's setup", "missing" if reason else "poor",
            reason[1] if reason else "Spack does not tell its configuration",
            f"see what `{shlex.join(['spack', *options, 'python', str(_IN_SPACK), 'facts'])}` says",
        )  # fmt: skip
        return
    if facts["clingo"]:
        yield Fact("clingo", "ok", "in Spack's Python")
    else:
        yield Fact(
            "clingo", "poor", "not in Spack's Python, so Spack fetches it when first needed",
            "where there is no network: pip install clingo for the Python in SPACK_PYTHON",
        )  # fmt: skip
    if "builtin" in facts["repositories"]:
        yield Fact("repository builtin", "ok", "Spack has its recipes")
    else:
        yield Fact(
            "repository builtin", "missing", "Spack has no recipes",
            "spack repo update, or without a network: spack repo add --scope=user"
            " .../spack-packages/repos/spack_repo/builtin",
        )  # fmt: skip
    yield _install_tree(Path(facts["install_tree"]))
    if facts["binary_mirrors"] and not facts["padded"]:
        yield Fact(
            "padding", "poor",
            "a build cache, but an install tree without padding: what is pushed from here needs"
            " patchelf and Spack's bootstrapping where it is installed in a longer path",
            "config:install_tree:padded_length: 128 in the config.yaml beside the site's"
            " packages.yaml, before the first build",
        )  # fmt: skip
        if shutil.which("patchelf") is None:
            yield Fact(
                "patchelf", "poor", "not in PATH; Spack fetches it to relocate binaries",
                "apt install patchelf, or pad the install tree",
            )  # fmt: skip


def _install_tree(root: Path) -> Fact:
    """Whether Spack may install."""
    above = next(folder for folder in (root, *root.parents) if folder.exists())
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return Fact("install tree", "ok", str(root))
    return Fact(
        "install tree", "missing", f"{root} cannot be written",
        "config:install_tree:root in the config.yaml beside the site's packages.yaml: a folder of"
        " yours that compute nodes see",
    )  # fmt: skip


def survey(site: Path | None, mpi: str | None = None) -> Survey:
    """Look for what a site neither builds nor names, or without a site for all that is known here.

    Parameters
    ----------
    site
        Folder with the packages.yaml to complete.
    mpi
        Spec of the one MPI that is needed; by default all that are named are.

    Raises
    ------
    InputError
        If the site's packages.yaml cannot be used.
    """
    packages = {} if site is None else read_packages(site)
    facts: list[Fact] = []
    found: list[External] = []
    if site is None or any(lacks(packages, package) for package in packages):
        found = [
            *find_tools(), *find_libraries(), *find_process_managers(), *find_mpis(facts)
        ]  # fmt: skip
    if site is None:
        packages = {"c": {"require": ["gcc"]}, "cxx": {"require": ["gcc"]}}
        names = [*TOOLS, *(external.package for external in found)]
        packages |= {name: {"buildable": False} for name in dict.fromkeys(names)}
    for external in found:
        own = f"; prefix of its own: {external.prefix}" if external.shims else ""
        facts.append(Fact(external.package, "ok", f"{external.version}, by {external.origin}{own}"))
    named = {name: entry for name, entry in packages.items() if (entry or {}).get("externals")}
    packages = complete(packages, found)
    place = "" if site is None else str(site / "packages.yaml")
    # The prefixes of what was found here are only made when they are written.
    facts += check_packages(named, packages, mpi, place)
    return Survey(packages, found, facts, site)


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
    """MPIs whose compiler wrappers are in PATH; what is not taken is added to `facts`.

    Debian keeps several in one prefix and tells them apart by suffix, ``mpicc.openmpi``. Spack
    would run plain ``mpicc`` there, a link that may name any of them, so each of these gets a
    prefix of its own in `prefixes`, with programs that run the suffixed ones.
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
            own = f"{mpi.name}-{mpi.version}-{platform.machine()}"
            external.prefix = prefixes() / own
            external.include = mpi.header.parent
            external.shims = {
                program.stem: program for program in mpicc.parent.glob(f"mpi*{mpicc.suffix}")
            }
        found.setdefault((mpi.name, mpi.version), external)
    return list(found.values())


def read_packages(site: Path) -> dict[str, Any]:
    """The ``packages`` of a site's packages.yaml; raises InputError."""
    path = site / "packages.yaml"
    for place in marked_places(path):
        raise InputError(str(place), f"still to be edited: {place.wanted}; then delete the mark")
    compare = "compare with that of a `switchpoint init site`"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            path, f"cannot be read ({error.strerror}); copy that of a `switchpoint init site`"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InputError(
            path, f"is no YAML ({error.problem}); {compare}", mark.line + 1 if mark else None
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise InputError(path, f"is no YAML; {compare}") from None
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
    without = [
        f"~{LIBRARY_VARIANTS[package]}"
        for package in LIBRARIES
        if lacks(packages, package) and package not in {external.package for external in found}
    ]
    if without:
        # Spack would search for a build that nothing here provides.
        own = completed.get(KERNELS) or {}
        completed[KERNELS] = {"variants": " ".join(without), **own}
    for package in packages:
        entries = [external.entry() for external in found if external.package == package]
        if lacks(packages, package) and entries:
            completed[package] = {**packages[package], "externals": entries}
    return completed


def write(surveyed: Survey, folder: Path) -> Path:
    """Write packages.yaml into `folder` and the programs of the prefixes that are ours.

    What else of Spack's configuration the site has is copied beside it.

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
        for name in SITE_FILES:
            if surveyed.site is not None and (surveyed.site / name).exists():
                _write_whole(folder / name, (surveyed.site / name).read_text(encoding="utf-8"))
            else:
                (folder / name).unlink(missing_ok=True)
        _write_whole(
            path, _WRITTEN + yaml.safe_dump({"packages": surveyed.packages}, sort_keys=False)
        )
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); choose another folder"
        ) from None
    return path


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
                found, _, fix = problem.partition("; ")
                yield Fact(package, state, f"{external['spec']}: {found}", fix, place)
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
        return None  # of Intel's, folders by version: only Spack can tell
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
    found = program_output("bash", "-lc", load, seconds=30).strip().splitlines()
    return Path(found[-1]) if found and found[-1].startswith("/") else None


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
