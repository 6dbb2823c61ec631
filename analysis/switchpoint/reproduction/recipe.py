"""Says what is needed to run a run again elsewhere, lays it out, and what differs on this machine.

Everything comes from the run's record, from the Spack lock that was imported with it, and from the
commit of this checkout that the record names.
"""

from __future__ import annotations

import functools
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
import yaml

from switchpoint.errors import InputError
from switchpoint.importing import lock as locks
from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.shipped import in_checkout, shipped
from switchpoint.sites.doctor import mpi_libraries, program_output
from switchpoint.spack.externals import problem_of_external
from switchpoint.spack.lock import NAME as LOCK
from switchpoint.spack.lock import Lock, parse_lock
from switchpoint.tables.columns import PASSING_LABELS, REPRODUCES
from switchpoint.tables.measurements import Measurements, mpi_name

#: Folder of the sources in what is laid out.
_SOURCES = "switchpoint"

_COMMIT = re.compile(r"[0-9a-f]{40}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
#: Labels that say where and from what the old run was made. Of a new one the program itself says
#: which build and which MPI it is, and the lock beside its record of what spec; ReFrame's partition
#: and environment have no part in it.
_OLD_LABELS = frozenset({"site", "partition", "environ", REPRODUCES} | PASSING_LABELS)

#: Those that say how it was started, which the script does again.
_LAUNCH_LABELS = ("launch", "scheduler_options")

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
    lock_text : str or None
        The Spack environment's lock.
    """

    header: dict[str, Any]
    source: str
    lock_text: str | None

    @functools.cached_property
    def lock(self) -> Lock | None:
        """The lock as it is read; None without one."""
        return None if self.lock_text is None else parse_lock(self.lock_text, LOCK)

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
        elsewhere = ("--record=", "--seed=", *(f"--label={name}=" for name in _OLD_LABELS))
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
    def commit(self) -> str:
        """Commit of the sources that were built; empty where it is not known."""
        commit = self.header["kernel"].get("git_commit") or ""
        return commit.rstrip("+") if _COMMIT.fullmatch(commit.rstrip("+")) else ""

    def words(self, label: str) -> list[str]:
        """Words of a label that is part of a command, such as ``launch``; none without it."""
        try:
            return shlex.split(self.header["labels"].get(label) or "")
        except ValueError:  # a quote that does not end
            return []

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
            ("Spack's spec", self.lock and self.lock.spec),
            ("Spack's hash", kernel.get("spec_hash")),
            ("Spack's lock", self.lock_text and f"SHA-256 {locks.lock_hash(self.lock_text)}"),
            ("seed", str(self.header["plan"].get("seed"))),
            ("arguments", shlex.join(self.arguments)),
            ("launcher", shlex.join(self.words("launch"))),
            ("scheduler options", shlex.join(self.words("scheduler_options"))),
            ("modules", shlex.join(self.words("modules"))),
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
    from switchpoint.importing.reading import read
    from switchpoint.store.store import Store

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
    if recipe.lock is None:
        yield Difference("compiler", str(header["kernel"].get("compiler")), _compiler())
    yield Difference("hosts", str(len(recipe.hosts)), "1")
    for name in sorted({*filter(_STEERING.fullmatch, os.environ)} - {*recipe.environment}):
        yield Difference(f"setting {name}", "not set", _one_line(os.environ[name]))
    if str(header["kernel"].get("git_commit") or "").endswith("+"):
        yield Difference("sources", f"changed since commit {recipe.commit[:12]}", "that commit")
    if recipe.commit and not _has_commit(recipe.commit):
        yield Difference("commit", recipe.commit[:12], "not in this checkout")
    if recipe.lock is not None:
        yield from _compared_lock(recipe.lock)


def _compared_lock(lock: Lock) -> Iterator[Difference]:
    """Tell what of a lock is not on this machine: the system, externals, Spack and its store."""
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
    found = program_output(spack, "location", "--install-dir", f"/{lock.root.hash}", seconds=60)
    if not found.startswith("/"):
        yield Difference(
            f"Spack's store: /{lock.root.hash[:7]}", "installed", "not installed: build it"
        )


def _has_commit(commit: str) -> bool:
    """Whether this checkout, if it is one, has a commit."""
    return in_checkout() and _git(shipped("."), "cat-file", "-e", f"{commit}^{{commit}}")


def _git(folder: Path, *words: str) -> bool:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    return done.returncode == 0


def lay_out(
    recipe: Recipe, folder: str | os.PathLike[str], found: list[Difference] | None = None
) -> Path:
    """Write a folder that builds and runs the run again; all or nothing.

    `found` are the `differences`, where they are known already.

    It holds README.md, run.sh and header.json; ``switchpoint/``, the sources and Spack's recipe at
    the commit that was built, where this checkout has it; and where there is a lock, a whole Spack
    environment: spack.yaml, spack.lock, and in ``site/`` the externals that the lock names.

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
            if _has_commit(recipe.commit):
                _check_out(recipe.commit, whole / _SOURCES)
            if recipe.lock_text is not None and recipe.lock is not None:
                (whole / LOCK).write_text(recipe.lock_text, encoding="utf-8")
                (whole / "spack.yaml").write_text(_manifest(recipe.lock), encoding="utf-8")
                (whole / "site").mkdir()
                externals = yaml.safe_dump(_externals(recipe.lock), sort_keys=False)
                (whole / "site/packages.yaml").write_text(externals, encoding="utf-8")
            (whole / "README.md").write_text(_readme(recipe, found), encoding="utf-8")
            (whole / "header.json").write_text(json.dumps(recipe.header, indent=1) + "\n")
            script = whole / "run.sh"
            script.write_text(_script(recipe), encoding="utf-8")
            script.chmod(0o755)
            whole.replace(target)
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror}); name another") from None
    return target


def _check_out(commit: str, folder: Path) -> None:
    """Copy the kernels and Spack's recipe at a commit, as a repository with that commit alone."""
    folder.mkdir()
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("fetch", "--quiet", "--depth=1", shipped(".").resolve().as_uri(), commit),
        ("sparse-checkout", "set", "src", "spack_repo"),
        ("reset", "--quiet", "--hard", commit),
    ):
        if not _git(folder, *words):
            raise InputError(folder.name, f"cannot be made (git {words[0]}); see `git --version`")


def _manifest(lock: Lock) -> str:
    """An environment of the one spec that the lock concretized."""
    mpi = lock.provider("mpi")
    packages = {} if mpi is None else {"mpi": {"require": [f"{mpi.name}@{mpi.version}"]}}
    content = {
        "include": [{"path": "site", "path_override_env_var": "SWITCHPOINT_SITE"}],
        "repos": {"switchpoint": f"{_SOURCES}/spack_repo/switchpoint"},
        "concretizer": {"unify": True, "reuse": "dependencies"},
        "packages": packages,
        "specs": [lock.requested],
        "view": "view",
    }
    return "# Installs what spack.lock holds; site/ names what it took from its machine.\n" + str(
        yaml.safe_dump({"spack": content}, sort_keys=False)
    )


def _externals(lock: Lock) -> dict[str, Any]:
    """The packages.yaml that follows from a lock's externals."""
    packages: dict[str, Any] = {}
    for node in lock.nodes():
        if node.external is None or node.name in ("glibc", "musl"):  # which Spack finds itself
            continue
        entry: dict[str, Any] = {
            "spec": f"{node.name}@{node.version}", "prefix": str(node.external)
        }  # fmt: skip
        if node.compilers:
            languages = ",".join("c++" if name == "cxx" else name for name in node.compilers)
            entry["spec"] += f" languages:='{languages}'"
            named = {language: str(path) for language, path in node.compilers.items()}
            entry["extra_attributes"] = {"compilers": named}
        packages[node.name] = {"externals": [entry], "buildable": False}
    return {"packages": packages}


def _script(recipe: Recipe) -> str:
    program = shlex.quote(recipe.kernel)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in recipe.environment.items()]
    given = [f"--label={REPRODUCES}={recipe.run_id}", *recipe.arguments]
    words = " \\\n  ".join(shlex.quote(word) for word in given)
    modules = shlex.join(recipe.words("modules"))
    load = [f"if command -v module >/dev/null; then module load {modules}; fi"] if modules else []
    return "\n".join(
        [
            "#!/bin/sh",
            f"# Measures again what run {_one_line(recipe.run_id)} measured; see README.md.",
            "# KERNEL: the program, else the one that was built here, else the one in PATH.",
            "# LAUNCHER: the command that starts the ranks, else the one of that run.",
            "# SITE: what the new record calls this place.",
            "set -eu",
            'cd "$(dirname "$0")"',
            f"name={program}",
            'for program in "./view/bin/$name" "./build/bin/$name" "$name"; do',
            '  if command -v "$program" >/dev/null; then KERNEL="${KERNEL:-$program}"; fi',
            "done",
            'if [ -z "${KERNEL-}" ] || ! command -v "$KERNEL" >/dev/null; then',
            '  echo "run.sh: no program $name; build it as README.md says, or set KERNEL" >&2',
            "  exit 2",
            "fi",
            *load,
            *exports,
            f'set -- "$KERNEL" "--label=site=${{SITE:-$(uname -n)}}" \\\n  {words}',
            'if [ -n "${LAUNCHER-}" ]; then',
            "  # shellcheck disable=SC2086 # the launcher is several words",
            '  exec $LAUNCHER "$@" "--label=launch=$LAUNCHER"',
            "fi",
            *_launch_labels(recipe),
            *_launch(recipe),
            "",
        ]
    )


def _launch_labels(recipe: Recipe) -> list[str]:
    """Line that lets the new record keep how it is started, as the old one does."""
    labels = [
        f"--label={name}={recipe.header['labels'][name]}"
        for name in _LAUNCH_LABELS
        if recipe.words(name)
    ]
    return [f'set -- "$@" {shlex.join(labels)}'] if labels else []


def _launch(recipe: Recipe) -> list[str]:
    """Lines that start the ranks as the run's own launcher did."""
    ranks, nodes = len(recipe.header["ranks"]), len(recipe.hosts)
    program, *options = recipe.words("launch") or ["srun"]
    srun = [
        "srun", f"--nodes={nodes}", f"--ntasks={ranks}",
        *([f"--ntasks-per-node={ranks // nodes}"] if ranks > nodes and ranks % nodes == 0 else []),
    ]  # fmt: skip
    if recipe.words("launch") and program != "srun":
        return [f'exec {shlex.join([program, *options])} "$@"']
    asked = [word for word in recipe.words("scheduler_options") if word not in srun]
    allocate = shlex.join([*srun, *asked, *options])
    return [
        'if [ -n "${SLURM_JOB_ID-}" ]; then',
        f'  exec {shlex.join([*srun, *options])} "$@"',
        *([f'fi\nexec {allocate} "$@"'] if recipe.words("launch") else
          [f'fi\nexec mpiexec -n {ranks} "$@"']),
    ]  # fmt: skip


def _readme(recipe: Recipe, found: list[Difference] | None) -> str:
    commit = _one_line(recipe.header["kernel"].get("git_commit") or "")
    program = shlex.quote(_one_line(recipe.kernel))
    changed = " (its sources had been changed since)" if commit.endswith("+") else ""
    sources = (
        f"`{_SOURCES}/` holds the sources at that commit."
        if _has_commit(recipe.commit)
        else f"The checkout that wrote this folder does not have it: clone Switchpoint to "
        f"`{_SOURCES}/`, and check it out there."
    )
    lock_note = (
        "\nThe lock names its machine, and `site/packages.yaml` what it took from there. Elsewhere"
        "\nset `SWITCHPOINT_SITE` to the folder of another packages.yaml, and let Spack concretize"
        "\nanew: `spack -e . concretize --force`.\n"
    )
    build = (
        "spack -e . install"
        if recipe.lock is not None
        else f"cmake -S {_SOURCES}/src -B build -DMPI_C_COMPILER={_wrapper(recipe)}"
        " -DBUILD_TESTING=OFF\ncmake --build build"
    )
    facts = "\n".join(f"- **{term}**: {_plain(text)}" for term, text in recipe.facts())
    found = differences(recipe) if found is None else found
    rows = "\n".join(f"| {d.topic} | {_plain(d.there)} | {_plain(d.here)} |" for d in found)
    table = (
        f"| | there | here |\n|---|---|---|\n{rows}" if found else "Nothing that is known differs."
    )
    return f"""# Run {_plain(_one_line(recipe.run_id)[:8])} again

{facts}

## Build the kernel

Commit {_plain(commit) or "unknown"}{changed}. {sources}

```sh
{build}
```
{lock_note if recipe.lock is not None else ""}
## Run it

`./run.sh` starts the ranks as that run did. Elsewhere `LAUNCHER` says how they are started and
where; they have to be placed as listed above, which the record then proves. Open MPI hands on
`OMPI_MCA_*` to other hosts by itself, other variables need `mpiexec -x NAME`.

```sh
SITE=here ./run.sh
switchpoint import {program}.record
```

## What differed where this folder was written

{table}
"""


def _wrapper(recipe: Recipe) -> str:
    """Compiler wrapper in PATH of the run's MPI library, or ``mpicc``."""
    library = mpi_name(recipe.header["mpi"].get("library", ""))
    for path, name in mpi_libraries().items():
        if name == library:
            return Path(path).name
    return "mpicc"


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
