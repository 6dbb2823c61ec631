"""Asks a programming environment's compiler wrapper for its MPI, in the environment of a job."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from switchpoint.sites.mpis import INCLUDE_MPI, PREPROCESS, Mpi, mpi_in

#: MPI families in `extras['mpi']`, with Spack's names of the MPIs that belong to them.
FAMILIES = {
    "openmpi": {"openmpi"},
    "mpich": {"mpich", "mvapich", "cray-mpich"},
    "intelmpi": {"intel-oneapi-mpi"},
}

_TIME_LIMIT_S = 60


@dataclass(frozen=True)
class Compiler:
    """The answer of a compiler wrapper.

    Attributes
    ----------
    path : str
        The wrapper; empty if it was not found.
    mpi : Mpi or None
        Its MPI, if it is known.
    problem, fix : str
        Why there is no answer, and what to do; otherwise empty.
    culprit : str
        The module that causes the problem, if any.
    """

    path: str = ""
    mpi: Mpi | None = None
    problem: str = ""
    fix: str = ""
    culprit: str = ""


def ask_compiler(modules_system: str, *layers: Mapping[str, Any]) -> Compiler:
    """Load modules and variables in ReFrame's order, and then ask the wrapper.

    Parameters
    ----------
    modules_system
        ReFrame's name of it.
    *layers
        Settings of the system, the partition and the environment, whose ``cc`` is asked.
    """
    from reframe.core.exceptions import ReframeError
    from reframe.core.modules import ModulesSystem

    try:
        loader = ModulesSystem.create(modules_system)
    except (ReframeError, OSError) as error:
        return Compiler(
            problem=f"the modules system '{modules_system}' does not work here: {error}",
            fix="correct modules_system: lmod, tmod4 or nomod",
            culprit=modules_system,
        )
    modules = [_module(module) for layer in layers for module in layer.get("modules", [])]
    if modules and modules_system == "nomod":
        return Compiler(
            problem=f"module {modules[0]['name']} cannot be loaded: modules_system is 'nomod'",
            fix="set modules_system to lmod or tmod4",
            culprit=modules[0]["name"],
        )
    lines = []
    for number, module in enumerate(modules):
        failed = f"{{ echo @module {number} >&2; exit 3; }}"
        lines += [f"{command} || {failed}" for command in loader.emit_load_commands(**module)]
    for layer in layers:
        for variable, value in layer.get("env_vars", []):
            lines.append(f'export {variable}="{value}"')
    return _ask(lines, str(layers[-1].get("cc", "cc")), [module["name"] for module in modules])


def module_names() -> list[str]:
    """Return all modules that `module avail` lists; empty without environment modules."""
    done = _bash(["module -t avail 2>&1"])
    names = (line.strip().removesuffix("(default)") for line in done.stdout.splitlines())
    return [name for name in names if "/" in name and not name.endswith((":", "/"))]


def _ask(lines: Iterable[str], cc: str, modules: list[str]) -> Compiler:
    wrapper = shlex.quote(cc)
    command = f'echo "@path $(command -v {wrapper})"'
    done = _bash([*lines, command, f"{wrapper} {' '.join(PREPROCESS)}"])
    if done.returncode == 3 and "@module " in done.stderr:
        said, _, number = done.stderr.rpartition("@module ")
        module = modules[int(number)]
        return Compiler(
            problem=f"module '{module}' cannot be loaded: {_last_line(said)}",
            fix="use one that `module avail` lists",
            culprit=module,
        )
    path = next(
        (line[6:].strip() for line in done.stdout.splitlines() if line.startswith("@path ")), ""
    )
    if not path:
        after = f" after loading {', '.join(modules)}" if modules else ""
        return Compiler(
            problem=f"there is no compiler wrapper '{cc}' on the path{after}",
            fix="name its module in `modules`, or give its full path",
        )
    if done.returncode != 0:
        return Compiler(
            path,
            problem=f"'{cc}' does not compile MPI: {_error_line(done.stderr)}",
            fix="name the MPI's own compiler wrapper",
        )
    return Compiler(path, mpi_in(done.stdout))


def _bash(lines: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run lines as a job script does: bash, without a login shell's files."""
    try:
        return subprocess.run(
            ["bash", "-c", "\n".join(lines)],
            input=INCLUDE_MPI,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], 1, "", f"no answer within {_TIME_LIMIT_S} s")


def _module(named: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": named} if isinstance(named, str) else dict(named)


def _error_line(text: str) -> str:
    """Return the first line with the word "error"; what comes after it says only that it ends."""
    return next((line.strip() for line in text.splitlines() if "error" in line), _last_line(text))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it prints nothing"
