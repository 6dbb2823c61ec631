"""Finds what differs between this machine and the machine of a run."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.reproduction.checkout import has_commit
from switchpoint.reproduction.recipe import Recipe, one_line
from switchpoint.sites.doctor import mpi_libraries, program_output
from switchpoint.spack.lock import Lock
from switchpoint.spack.packages import problem_of_external
from switchpoint.tables.mpi_names import mpi_name


@dataclass(frozen=True)
class Difference:
    """Something that differs between the run's machine and this machine."""

    topic: str
    there: str
    here: str


def differences(recipe: Recipe) -> list[Difference]:
    """Compare this machine with the machine of the run."""
    return [difference for difference in _compared(recipe) if difference.there != difference.here]


def _compared(recipe: Recipe) -> Iterator[Difference]:
    header = recipe.header
    library = mpi_name(header["mpi"].get("library", ""))
    here = list(dict.fromkeys(name for name in mpi_libraries().values() if name))
    if library not in here:
        yield Difference("MPI library", library, ", ".join(here) or "no mpicc in PATH")
    ranks = header["ranks"]
    for topic, name, value in (
        ("CPU model", "cpu_model", _cpu_model()),
        ("cores online", "cores_online", str(os.cpu_count())),
        ("kernel release", "kernel_release", platform.release()),
    ):
        there = sorted({str(rank.get(name)) for rank in ranks})
        yield Difference(topic, one_line(", ".join(there)), value)
    if recipe.lock is None:
        yield Difference("compiler", str(header["kernel"].get("compiler")), _compiler())
    yield Difference("hosts", str(len(recipe.hosts)), "1")
    for name in recipe.left_out:
        yield Difference(one_line(name), "set", "not used, because it is not known to be harmless")
    for name in sorted({*mpi_settings(os.environ)} - {*recipe.environment}):
        yield Difference(f"setting {name}", "not set", one_line(os.environ[name]))
    if str(header["kernel"].get("git_commit") or "").endswith("+"):
        yield Difference("sources", f"changed since commit {recipe.commit[:12]}", "that commit")
    if recipe.commit and not has_commit(recipe.commit):
        yield Difference("commit", recipe.commit[:12], "not in this checkout")
    if recipe.lock is not None:
        yield from _compared_lock(recipe.lock)


def _compared_lock(lock: Lock) -> Iterator[Difference]:
    """Compare a lock with this machine: the system, externals, Spack and its store."""
    system = platform.freedesktop_os_release() if Path("/etc/os-release").exists() else {}
    here = f"{system.get('ID', 'unknown')}{system.get('VERSION_ID', '')}"
    yield Difference("operating system", lock.root.platform_os, here)
    for node in lock.nodes():
        if problem := problem_of_external(node):
            there = f"{node.name}@{node.version} in {node.external}"
            yield Difference(f"external {node.name}", there, problem)
    spack = shutil.which("spack")
    if spack is None:
        yield Difference("Spack", lock.spack_version or "used", "not in PATH")
        return
    version = program_output(spack, "--version", seconds=60).split()[:1]
    yield Difference("Spack", lock.spack_version, "".join(version))
    prefix = program_output(spack, "location", "--install-dir", f"/{lock.root.hash}", seconds=60)
    if not prefix.startswith("/"):
        yield Difference(
            f"Spack's store: /{lock.root.hash[:7]}", "installed", "not installed: build it"
        )


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else "unknown"


def _compiler() -> str:
    try:
        done = subprocess.run(
            ["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return "no gcc in PATH"
    return f"GNU {done.stdout.strip()}"
