"""Decides what of a record may go into a script: whoever runs it may not know who wrote the record.

A script exports settings of MPI libraries, and starts a known launcher with plain options. What
could start another program is left out, and the folder's README.md says so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from switchpoint.records.mpi_environment import is_setting, mpi_settings, runs_code

#: Programs that start the ranks of a job.
_LAUNCHERS = frozenset(
    """
    aprun ibrun jsrun lrun mpiexec mpiexec.hydra mpiexec.mpich mpiexec.openmpi mpirun mpirun.mpich
    mpirun.openmpi orterun palsrun prterun prun srun
    """.split()  # noqa: SIM905, a list of so many words
)

_MODULE = re.compile(r"[A-Za-z0-9][\w.+-]*(/[\w.+-]+)*", re.ASCII)
_PROGRAM = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)=")


def program_name(name: object) -> str:
    """Return the name of a kernel's program; of anything else ``kernel``."""
    return name if isinstance(name, str) and _PROGRAM.fullmatch(name) else "kernel"


def settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's environment that a script may export."""
    return {name: value for name, value in mpi_settings(environment).items() if not runs_code(name)}


def words_of(label: str, text: str) -> list[str]:
    """Split a label such as ``launch`` into words; none if one of them cannot be trusted."""
    try:
        words = shlex.split(text)
    except ValueError:  # an unclosed quote
        return []
    return words if _are_trusted(label, words) else []


def left_out(environment: Mapping[str, Any], labels: Mapping[str, Any]) -> list[str]:
    """Return the names of settings and labels that a script does not use."""
    unused = {*mpi_settings(environment)} - {*settings(environment)}
    for label in ("launch", "scheduler_options", "modules"):
        text = labels.get(label)
        if text and not words_of(label, text):
            unused.add(f"label {label}")
    return sorted(unused)


def _are_trusted(label: str, words: list[str]) -> bool:
    if label == "modules":
        return all(_MODULE.fullmatch(word) for word in words)
    if label == "launch":
        return words[:1] == [] or (words[0] in _LAUNCHERS and all(map(_is_option, words[1:])))
    return all(map(_is_option, words))


def _is_option(word: str) -> bool:
    """Return whether a launcher's option, or its value, starts no other program."""
    if not word.isprintable() or "/" in word:
        return False
    assigned = _ASSIGNMENT.match(word)
    if assigned is not None:  # such as `-x UCX_TLS=tcp`
        return is_setting(assigned["name"]) and not runs_code(assigned["name"])
    return not runs_code(word.partition("=")[0])
