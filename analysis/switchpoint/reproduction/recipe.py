"""Says what is needed to run a run again elsewhere.

Everything comes from the run's record, and from the Spack lock that was imported with it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import InputError
from switchpoint.importing import lock as locks
from switchpoint.printable import printable
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.spack.lock import NAME as LOCK
from switchpoint.spack.lock import Lock, parse_lock
from switchpoint.spack.lock_programs import foreign_programs, may_be_made, unsafe_part
from switchpoint.tables.columns import PASSING_LABELS, REPRODUCES
from switchpoint.untrusted.kernel_options import KernelArguments, kernel_arguments
from switchpoint.untrusted.launchers import launch_words, scheduler_words
from switchpoint.untrusted.modules import module_words
from switchpoint.untrusted.settings import may_be_set

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.records.header import Header

_COMMIT = re.compile(r"[0-9a-f]{40}")

#: Labels that say where the old run was made and from which build. For a new run the program itself
#: names its build and its MPI, and the lock beside its record gives the spec. ReFrame's partition
#: and environment are not involved.
_OLD_LABELS = frozenset({"site", "partition", "environ", REPRODUCES} | PASSING_LABELS)

#: Labels that are words of a command, and what splits each into words that may be used.
_COMMANDS = {
    "launch": launch_words, "scheduler_options": scheduler_words, "modules": module_words
}  # fmt: skip

_PROGRAM = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)


@dataclass
class Recipe:
    """What is needed to run a run again.

    Attributes
    ----------
    header : dict
        Of the run record.
    source : str
        The file that the record came from.
    lock_text : str or None
        The Spack environment's lock; None if it has an `unsafe_part`.
    """

    header: Header
    source: str
    lock_text: str | None
    _unsafe: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Leave out a lock with which Spack could run anything."""
        if self.lock is not None and (unsafe := unsafe_part(self.lock)):
            self._leave_out_lock(unsafe)

    def leave_out_foreign_lock(self) -> None:
        """Leave out a lock that names programs which are here, but are not of this machine.

        Spack would run them, also those that somebody lays there later. What only the
        administrator can lay there is reported as a difference of the machines.
        """
        for node in self.lock.nodes() if self.lock is not None else ():
            for foreign in foreign_programs(node):
                if may_be_made(foreign):
                    self._leave_out_lock(f"{node.name} uses {foreign}, not in /usr, /opt or PATH")
                    return

    def _leave_out_lock(self, why: str) -> None:
        self._unsafe.append(f"Spack's lock ({why})")
        self.lock_text = self.lock = None

    @functools.cached_property
    def lock(self) -> Lock | None:
        """The parsed lock, or None."""
        return None if self.lock_text is None else parse_lock(self.lock_text, LOCK)

    @property
    def run_id(self) -> str:
        """Identity of the run."""
        return str(self.header["run_id"])

    @property
    def kernel(self) -> str:
        """Name of the kernel's program; ``kernel`` if the record has no plain name."""
        name = self.header["kernel"].get("name")
        return name if isinstance(name, str) and _PROGRAM.fullmatch(name) else "kernel"

    @functools.cached_property
    def _given(self) -> KernelArguments:
        """The arguments of the run that may be given again."""
        return kernel_arguments(self.header.get("arguments", [])[1:])

    @property
    def arguments(self) -> list[str]:
        """Arguments without program and site, with the seed and a record in this folder."""
        labels = [
            f"--label={name}={value}"
            for name, value in self._given.labels.items()
            if name not in _OLD_LABELS
        ]
        seed = self.header["plan"].get("seed")
        fixed = [f"--seed={seed}"] if isinstance(seed, int) else []
        given = self._given.words(without=["--seed"])
        return [*given, *labels, *fixed, f"--record={self.kernel}.record"]

    @property
    def environment(self) -> dict[str, str]:
        """MPI settings of the run that may be set again."""
        settings = mpi_settings(self.header["mpi"].get("environment", {}))
        return {name: value for name, value in settings.items() if may_be_set(name, value)}

    @property
    def left_out(self) -> list[str]:
        """Settings, labels and arguments that are not on the lists of what a record may have."""
        settings = mpi_settings(self.header["mpi"].get("environment", {}))
        labels = self.header.get("labels", {})
        unused = [
            f"label {name}" for name in _COMMANDS if labels.get(name) and not self.words(name)
        ]
        return sorted(
            {*settings} - {*self.environment} | {*unused, *self._unsafe, *self._given.left_out}
        )

    @property
    def commit(self) -> str:
        """Commit of the sources that were built; empty if it is not known."""
        commit = self.header["kernel"].get("git_commit") or ""
        return commit.rstrip("+") if _COMMIT.fullmatch(commit.rstrip("+")) else ""

    def words(self, label: str) -> list[str]:
        """Split a label that is part of a command, such as ``launch``, into words."""
        return _COMMANDS[label](str(self.header["labels"].get(label) or ""))

    @property
    def hosts(self) -> dict[str, list[int]]:
        """Ranks of each host."""
        hosts: dict[str, list[int]] = {}
        for rank in self.header["ranks"]:
            hosts.setdefault(str(rank.get("host")), []).append(int(rank["rank"]))
        return hosts

    def facts(self) -> list[tuple[str, str]]:
        """What was run, where and how, as pairs of term and text."""
        kernel, labels = self.header["kernel"], self.header["labels"]
        where = "; ".join(
            f"{host}: rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
            for host, ranks in self.hosts.items()
        )
        settings = " ".join(f"{k}={shlex.quote(v)}" for k, v in self.environment.items())
        facts = [
            ("run", self.run_id),
            ("started", self.header["start_utc"]),
            ("site", labels.get("site")),
            ("placement", labels.get("placement")),
            ("ranks", where),
            ("MPI", self.header["mpi"].get("library")),
            ("MPI settings", settings or "none set"),
            ("kernel", f"{self.kernel} {kernel.get('version')}, commit {kernel.get('git_commit')}"),
            ("compiler", f"{kernel.get('compiler')} {kernel.get('flags') or ''}".strip()),
            ("builder", kernel.get("builder")),
            ("Spack's spec", self.lock and self.lock.spec),
            ("Spack's hash", kernel.get("spec_hash")),
            ("Spack's lock", self.lock_text and f"SHA-256 {locks.lock_hash(self.lock_text)}"),
            ("seed", str(self.header["plan"].get("seed"))),
            ("arguments", shlex.join(self.arguments)),
            ("launcher", shlex.join(self.words("launch"))),
            ("container image", labels.get("container_image")),
            ("scheduler options", shlex.join(self.words("scheduler_options"))),
            ("modules", shlex.join(self.words("modules"))),
            ("not used", ", ".join(self.left_out)),
        ]
        return [(term, one_line(text)) for term, text in facts if text]


def reproduce(run: str, store: str | os.PathLike[str] = "results") -> Recipe:
    """Find a run.

    Parameters
    ----------
    run
        The file of a run record, or the first digits of a run ID in the store.
    store
        The store that is searched.

    Raises
    ------
    InputError
        If there is no such run or more than one, or if another tool measured it.
    """
    from switchpoint.importing.reading import read
    from switchpoint.store.contents import find_run
    from switchpoint.store.store import Store

    if Path(run).is_file():
        return _recipe(run, read(run).runs)
    kept = Store(store)
    return _recipe(run, kept.facts(run_id=find_run(kept, run, "is not a file, and ")))


def _recipe(run: str, runs: pd.DataFrame) -> Recipe:
    facts = runs.iloc[0]
    if facts["format"] != "record" or not isinstance(facts["header"], str):
        raise InputError(
            run, "was measured by another tool, which stores no arguments; give one of our records"
        )
    lock = locks.unpack(facts["lock"]) if isinstance(facts["lock"], str) else None
    recipe = Recipe(json.loads(facts["header"]), str(facts["source"]), lock)
    recipe.leave_out_foreign_lock()
    return recipe


def one_line(text: object) -> str:
    """Write anything as text without line ends and control characters."""
    return printable(" ".join(str(text).split()))
