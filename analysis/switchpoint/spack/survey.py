"""What Spack may use on this machine, for one site: found, checked and written.

See docs/how-to/spack.md.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from switchpoint.errors import InputError
from switchpoint.limits import YAML_BYTES
from switchpoint.regular_files import read_limited
from switchpoint.sites.doctor import Fact
from switchpoint.spack.externals import (
    External,
    find_libraries,
    find_mpis,
    find_process_managers,
    find_tools,
)
from switchpoint.spack.packages import check_packages, complete, lacks, read_packages
from switchpoint.whole_files import hidden_beside

#: What the checks' specs need besides an MPI.
TOOLS = ("gcc", "cmake", "gmake")

#: Files of Spack's configuration that a site may have beside its packages.yaml.
SITE_FILES = (
    "bootstrap.yaml", "compilers.yaml", "concretizer.yaml", "config.yaml", "mirrors.yaml",
    "modules.yaml", "repos.yaml", "toolchains.yaml", "upstreams.yaml",
)  # fmt: skip

_WRITTEN = "# Written by `switchpoint doctor --spack` for this machine.\n"


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
    externals: list[External] = []
    if site is None or any(lacks(packages, package) for package in packages):
        externals = [
            *find_tools(), *find_libraries(), *find_process_managers(), *find_mpis(facts)
        ]  # fmt: skip
    if site is None:
        packages = {"c": {"require": ["gcc"]}, "cxx": {"require": ["gcc"]}}
        names = [*TOOLS, *(external.package for external in externals)]
        packages |= {name: {"buildable": False} for name in dict.fromkeys(names)}
    for external in externals:
        own = f"; prefix of its own: {external.prefix}" if external.shims else ""
        facts.append(Fact(external.package, "ok", f"{external.version}, by {external.origin}{own}"))
    named = {name: entry for name, entry in packages.items() if (entry or {}).get("externals")}
    packages = complete(packages, externals)
    place = "" if site is None else str(site / "packages.yaml")
    # The prefixes of what was found here are only made when they are written.
    facts += check_packages(named, packages, mpi, place)
    return Survey(packages, externals, facts, site)


def write(surveyed: Survey, folder: Path) -> Path:
    """Write packages.yaml into `folder` and the programs of the prefixes that are ours.

    What else of Spack's configuration the site has is copied beside it.

    Raises
    ------
    InputError
        If one of these files is there and somebody else wrote it, or the folder cannot be written.
    """
    path, site = folder / "packages.yaml", surveyed.site
    packages = yaml.safe_dump({"packages": surveyed.packages}, sort_keys=False)
    try:
        texts = {} if site is None else _files_of(site)
        for name in (path.name, *SITE_FILES):
            _refuse_to_lose(folder / name, texts.get(name))
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
            if name in texts:
                _write_whole(folder / name, _WRITTEN + texts[name])
            else:
                (folder / name).unlink(missing_ok=True)
        _write_whole(path, _WRITTEN + packages)
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); choose another folder"
        ) from None
    return path


def _files_of(site: Path) -> dict[str, str]:
    """Return what of Spack's configuration a site has beside its packages.yaml, by name."""
    return {
        name: (site / name).read_text(encoding="utf-8").removeprefix(_WRITTEN)
        for name in SITE_FILES
        if (site / name).exists()
    }


def _refuse_to_lose(path: Path, copied: str | None) -> None:
    """Raise InputError if a file is there that somebody else wrote, unless it is what is copied."""
    if not os.path.lexists(path):
        return
    try:
        text = read_limited(path, YAML_BYTES).decode("utf-8", errors="replace")
    except OSError:
        text = ""
    if path.is_symlink() or not (text.startswith(_WRITTEN) or text == copied):
        raise InputError(
            path, "is there already and stays as it is; --write another folder, and name this one "
            "with --site to complete it there",
        )  # fmt: skip


def _write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    with hidden_beside(path) as hidden:
        hidden.write_text(text, encoding="utf-8")
        hidden.chmod(mode)
        hidden.replace(path)
