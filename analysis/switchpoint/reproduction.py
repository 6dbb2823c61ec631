"""Says what is needed to run a run again elsewhere, lays it out, and what differs on this machine.

Everything comes from the run's record and from the Spack lock that was imported with it.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.diagnosis import mpi_libraries
from switchpoint.errors import InputError
from switchpoint.importing import lock as locks
from switchpoint.measurements import Measurements, mpi_name
from switchpoint.settings import mpi_settings

_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_STEERING = re.compile(r"(OMPI_MCA|PRTE_MCA|MPICH|MPIR|UCX|FI|I_MPI|PSM\w*|HCOLL)_\w+")


@dataclass
class Recipe:
    """What it takes to run a run again.

    Attributes
    ----------
    header : dict
        Of the run record.
    source : str
        The file that the record came from.
    lock : str or None
        The Spack environment's lock, as text.
    """

    header: dict[str, Any]
    source: str
    lock: str | None

    @property
    def run_id(self) -> str:
        """Identity of the run."""
        return str(self.header["run_id"])

    @property
    def kernel(self) -> str:
        """Name of the kernel's program."""
        return str(self.header["kernel"].get("name") or "kernel")

    @property
    def arguments(self) -> list[str]:
        """Arguments without the program and the place; the seed fixed, the record right here."""
        elsewhere = ("--record=", "--seed=", "--label=site=", "--label=partition=")
        given = [
            str(word)
            for word in self.header.get("arguments", [])[1:]
            if not str(word).startswith(elsewhere)
        ]
        seed = self.header["plan"].get("seed")
        fixed = [] if seed is None else [f"--seed={seed}"]
        return [*given, *fixed, f"--record={self.kernel}.record"]

    @property
    def environment(self) -> dict[str, str]:
        """MPI settings that were set."""
        found = mpi_settings(self.header["mpi"].get("environment", {}))
        return {name: value for name, value in found.items() if _VARIABLE.fullmatch(name)}

    @property
    def hosts(self) -> dict[str, list[int]]:
        """Ranks of each host."""
        hosts: dict[str, list[int]] = {}
        for rank in self.header["ranks"]:
            hosts.setdefault(str(rank.get("host")), []).append(int(rank["rank"]))
        return hosts

    def facts(self) -> list[tuple[str, str]]:
        """What was run, where and how, as terms and texts."""
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
            ("Spack's spec", labels.get("spack_spec")),
            ("Spack's hash", kernel.get("spec_hash") or labels.get("spack_hash")),
            ("Spack's lock", self.lock and f"SHA-256 {locks.lock_hash(self.lock)}"),
            ("seed", str(self.header["plan"].get("seed"))),
            ("arguments", shlex.join(self.arguments)),
        ]
        return [(term, _one_line(text)) for term, text in facts if text]


@dataclass(frozen=True)
class Difference:
    """Something that is not here as it was there."""

    topic: str
    there: str
    here: str


def reproduce(run: str, store: str | os.PathLike[str] = "results") -> Recipe:
    """Find a run.

    Parameters
    ----------
    run
        The file of a run record, or the first digits of a run's identity in the store.
    store
        The store that is searched.

    Raises
    ------
    InputError
        If there is no such run, more than one, or one that another tool measured.
    """
    from switchpoint.importing import read
    from switchpoint.store import Store

    if Path(run).is_file():
        return _recipe(run, read(run))
    runs = Store(store).runs()
    found = runs[runs["run_id"].str.startswith(run)].reset_index(drop=True)
    if not run or found.empty:
        raise InputError(
            run or "''", f"is no file, and no run of the store {os.fspath(store)} begins so"
        )
    if len(found) > 1:
        names = ", ".join(found["run_id"].str[: len(run) + 8].head(5))
        raise InputError(run, f"begins {len(found)} runs ({names}); give more digits")
    return _recipe(run, Measurements(pd.DataFrame({"run_id": []}), found))


def _recipe(run: str, measurements: Measurements) -> Recipe:
    facts = measurements.runs.iloc[0]
    header = measurements.facts(facts["run_id"])[0]
    if facts["format"] != "record" or not header:
        raise InputError(
            run, "was measured by another tool, which keeps no arguments; give one of our records"
        )
    lock = locks.unpack(facts["lock"]) if isinstance(facts["lock"], str) else None
    return Recipe(header, str(facts["source"]), lock)


def differences(recipe: Recipe) -> list[Difference]:
    """Tell what of this machine differs from where the run was measured."""
    return [found for found in _compared(recipe) if found.there != found.here]


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
        yield Difference(topic, _one_line(", ".join(there)), value)
    yield Difference("compiler", str(header["kernel"].get("compiler")), _compiler())
    yield Difference("hosts", str(len(recipe.hosts)), "1")
    for name in sorted({*filter(_STEERING.fullmatch, os.environ)} - {*recipe.environment}):
        yield Difference(f"setting {name}", "not set", _one_line(os.environ[name]))
    if recipe.lock is not None:
        yield Difference("Spack", "used", "used" if shutil.which("spack") else "not in PATH")


def lay_out(recipe: Recipe, folder: str | os.PathLike[str]) -> Path:
    """Write README.md, run.sh, header.json and, where it is known, spack.lock; all or nothing.

    Raises
    ------
    InputError
        If the folder is there and not empty, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(folder, "is there already and not empty; name a new folder")
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".") as hidden:
            whole = Path(hidden, "whole")
            whole.mkdir()
            (whole / "README.md").write_text(_readme(recipe), encoding="utf-8")
            (whole / "header.json").write_text(json.dumps(recipe.header, indent=1) + "\n")
            script = whole / "run.sh"
            script.write_text(_script(recipe), encoding="utf-8")
            script.chmod(0o755)
            if recipe.lock is not None:
                (whole / locks.NAME).write_text(recipe.lock, encoding="utf-8")
            whole.replace(target)
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror}); name another") from None
    return target


def _script(recipe: Recipe) -> str:
    count, nodes = len(recipe.header["ranks"]), len(recipe.hosts)
    program = shlex.quote(recipe.kernel)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in recipe.environment.items()]
    words = " \\\n  ".join(shlex.quote(word) for word in recipe.arguments)
    return "\n".join(
        [
            "#!/bin/sh",
            f"# Measures again what run {_one_line(recipe.run_id)} measured; see README.md.",
            "# KERNEL: the program (else in PATH). LAUNCHER: the command that starts the ranks.",
            "# SITE: what the new record calls this place.",
            "set -eu",
            f'if [ -z "${{KERNEL-}}" ]; then KERNEL={program}; fi',
            'if [ -z "${LAUNCHER-}" ]; then',
            f'  LAUNCHER="mpiexec -n {count}"',
            '  if [ -n "${SLURM_JOB_ID-}" ]; then',
            f'    LAUNCHER="srun --nodes={nodes} --ntasks={count}"',
            "  fi",
            "fi",
            'if ! command -v "$KERNEL" >/dev/null; then',
            '  echo "run.sh: no program $KERNEL; build it as README.md says, or set KERNEL" >&2',
            "  exit 2",
            "fi",
            *exports,
            "# shellcheck disable=SC2086 # the launcher is several words",
            f'exec $LAUNCHER "$KERNEL" "--label=site=${{SITE:-$(uname -n)}}" \\\n  {words}',
            "",
        ]
    )


def _readme(recipe: Recipe) -> str:
    commit = _one_line(recipe.header["kernel"].get("git_commit") or "")
    program = shlex.quote(_one_line(recipe.kernel))
    changed = " (its sources had been changed since)" if commit.endswith("+") else ""
    lock_note = (
        "\nThe lock names its machine: elsewhere Spack may have to concretize the spec anew.\n"
    )
    build = (
        "spack env create again spack.lock\nspack -e again install\n"
        "export KERNEL=$(spack -e again location -i switchpoint-kernels)/bin/" + program
        if recipe.lock is not None
        else f"git checkout {shlex.quote(commit.rstrip('+') or 'COMMIT')}\n"
        "cmake -S src -B build/again -DMPI_C_COMPILER=mpicc -DBUILD_TESTING=OFF\n"
        f"cmake --build build/again\nexport KERNEL=$PWD/build/again/bin/{program}"
    )
    facts = "\n".join(f"- **{term}**: {_plain(text)}" for term, text in recipe.facts())
    found = differences(recipe)
    rows = "\n".join(f"| {d.topic} | {_plain(d.there)} | {_plain(d.here)} |" for d in found)
    table = (
        f"| | there | here |\n|---|---|---|\n{rows}" if found else "Nothing that is known differs."
    )
    return f"""# Run {_plain(_one_line(recipe.run_id)[:8])} again

{facts}

## Build the kernel

Commit {_plain(commit) or "unknown"}{changed}, from a checkout of Switchpoint:

```sh
{build}
```
{lock_note if recipe.lock is not None else ""}
## Run it

`./run.sh` runs it in the current folder. `LAUNCHER` says how ranks are started and where; the ranks
have to be placed as listed above, which the record then proves. Open MPI hands on `OMPI_MCA_*` to
other hosts by itself, other variables need `mpiexec -x NAME`.

```sh
SITE=here LAUNCHER="mpiexec -n {len(recipe.header["ranks"])}" ./run.sh
switchpoint import {program}.record
```

## What differed where this folder was written

{table}
"""


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


def _compiler() -> str:
    try:
        done = subprocess.run(
            ["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return "no gcc in PATH"
    return f"GNU {done.stdout.strip()}"


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def _plain(text: str) -> str:
    """Keep a text from being read as Markdown's table or code."""
    return re.sub(r"([|`<*_\[\]])", r"\\\1", text)
