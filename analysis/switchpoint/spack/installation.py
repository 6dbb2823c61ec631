"""Which Spack is here, and whether it can concretize and install."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from switchpoint.errors import SpackError
from switchpoint.sites.doctor import Fact, program_output

#: `path_override_env_var` and the commit of a branch in the concrete spec came with this one.
OLDEST_SPACK = (1, 1)

_IN_SPACK = Path(__file__).with_name("in_spack.py")


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
    answer = re.search(r"^answer: (.*)$", _said_by_spack(words, options, seconds), re.MULTILINE)
    return json.loads(answer[1]) if answer else None


def _said_by_spack(words: Sequence[str], options: Sequence[str], seconds: float) -> str:
    spack = shutil.which("spack") or "spack"
    return program_output(spack, *options, "python", str(_IN_SPACK), *words, seconds=seconds)


def examine_spack(site: Path | None = None) -> Iterator[Fact]:
    """Say which Spack is here, and whether it can concretize and install for a site."""
    try:
        path, version = find_spack()
    except SpackError as error:
        problem, _, fix = error.problem.partition("; ")
        yield Fact("Spack", "missing", problem, fix)
        return
    yield Fact("Spack", "ok", f"{version.split()[0]}, {path}")
    options = [] if site is None else ["-C", str(site)]
    facts = ask_spack("facts", options=options)
    if facts is None:
        reason = re.search(r"Error: (.*)", _said_by_spack(["facts"], options, seconds=120))
        yield Fact(
            "Spack's setup", "missing" if reason else "poor",
            reason[1] if reason else "Spack does not print its configuration",
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
