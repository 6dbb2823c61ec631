"""Gives hostile records, locks, catalogues and rules to every verb that writes or runs a script.

Nothing of them may run: the verbs start only programs that they know, write only where they were
told to, and the script starts one launcher with words, variables and a kernel's options of the
lists in SECURITY.md.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from switchpoint.errors import InputError
from switchpoint.models.rules_files import read_rules

from fuzz.inputs import SEEDS, TESTS
from fuzz.judgement import of_command
from fuzz.processes import Counts
from fuzz.traps import (
    LAUNCHERS,
    Started,
    Trap,
    catalogues,
    environment_of_commands,
    headers,
    lay,
    locks,
    models,
    record_of,
    rules_files,
)
from fuzz.watching import contents, outside, watching

ROOT = TESTS.parent

#: Records of a round.
INPUTS = 20

#: Nights of the store whose last one the gate measures again, and launches of each.
_NIGHTS, _LAUNCHES = 6, 2

#: Programs that verbs ask about this machine, by name.
_KNOWN = re.compile(r"(git|gcc|spack|mpicc[\w.-]*|mpichversion)")

#: What they ask others.
_QUESTIONS = frozenset(["--version", "-dumpfullversion", "--showme:version", "-show"])

#: A value of a setting: no shell, no variable, no folder; networks have a number of bits.
_VALUE = re.compile(r"[A-Za-z0-9_.,:;@=^+-]*(/[0-9]{1,3}[A-Za-z0-9_.,:/]*)?", re.ASCII)

#: A word of a launcher: what Slurm's constraints and bindings need, and no name of a file.
_WORD = re.compile(r"[A-Za-z0-9_.,:;@=^+|&*()\[\]-]+(/[0-9]{1,3}[A-Za-z0-9_.,:/]*)?", re.ASCII)

#: Options of launchers that start or read something else, or write a file.
_NO_OPTION = re.compile(
    r"-+(gtool|output\S*|error|report-uri|report-pid|hostfile|app|host|configfile|f|xterm|debug\w*"
    r"|wdir|wd|prolog|epilog|task-prolog|task-epilog|multi-prog|bcast|D|chdir|preload\S*|launcher"
    r"|launcher-exec|tune|am|personality|o|e|i|input|path|prefix|stdin)(=.*)?"
)

#: An option of a kernel as the script gives it.
_OPTION = re.compile(r"--[a-z][a-z-]*=.+|--quiet|--ucx-protocols")

#: Variables that a shell sets itself.
_OF_THE_SHELL = frozenset(["PWD", "OLDPWD", "SHLVL", "_"])

Problems = list[str]


@cache
def _known_settings() -> frozenset[str]:
    lists = ROOT / "analysis/switchpoint/untrusted/known_settings.txt"
    lines = lists.read_text().splitlines()
    return frozenset(line.split()[1] for line in lines if line and not line.startswith("#"))


@cache
def _kernel_options() -> frozenset[str]:
    """Return the options in the sources of the kernels: what they print as help."""
    texts = (path.read_text() for path in (ROOT / "src").rglob("*.c"))
    return frozenset(option for text in texts for option in re.findall(r"--[a-z][a-z-]+", text))


@contextmanager
def _in(folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Work in a folder with only these variables."""
    before, there = dict(os.environ), Path.cwd()
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(there)
        os.environ.clear()
        os.environ.update(before)


def judge_files(
    trap: Trap,
    header: dict[str, Any],
    lock: bytes | None = None,
    catalogue: str | None = None,
    rules: Mapping[str, str] | None = None,
    *,
    also_report: bool = False,
) -> tuple[Problems, list[Started]]:
    """Run the verbs and the script on hostile files. Return what went wrong, and what started."""
    here = Path(tempfile.mkdtemp(prefix="case-", dir=trap.folder))
    out, inputs = here / "out", here / "inputs"
    out.mkdir()
    record = lay(inputs, header, lock)
    own = here / "catalogue.yaml"
    own.write_text(catalogue or "settings: []\n")
    (here / "osu.out").write_bytes(_labelled_output(header))
    before = contents(trap.folder, without=[out])
    store, again, bundle = out / "results", out / "again", out / "all.bundle"
    commands = [
        ["import", str(inputs), str(here / "osu.out"), "--store", str(store)],
        ["reproduce", str(record), "--write", str(again)],
        ["plan", str(record)],
        ["plan", str(record), "--json"],
        ["catalogue", "list", str(record)],
        ["catalogue", "export"],
        ["explain", str(record), "--json"],
        ["bundle", str(record), "-o", str(bundle)],
        ["import", str(bundle), "--store", str(out / "from-bundle")],
    ]
    run = str(header.get("run_id"))
    if run and not run.startswith("-"):
        commands.append(["reproduce", run, "--store", str(store), "--json"])
    if also_report:
        commands.append(["report", str(record), "-o", str(out / "report")])
    problems: Problems = []
    with _in(here, environment_of_commands(trap, own)):
        for words in commands:
            problems += watched(words, [out])
        problems += _of_rules(here, rules or {})
    problems += _asked(trap.started())
    started: list[Started] = []
    if (again / "run.sh").exists():
        problems += _of_folder(again)
        for variables in ({}, {"SLURM_JOB_ID": "7"}):
            found, ran = judge_script(trap, again, variables)
            problems += found
            started += ran
    problems += _touched(trap, before, [out, here / "rules"])
    shutil.rmtree(here)
    return problems, started


def watched(words: list[str], outputs: Sequence[Path]) -> Problems:
    """Run a verb in this process, and say what it may not start or write."""
    with watching() as seen:
        problems = of_command(words)
    shown = " ".join(words[:1])
    problems += [f"{shown}: starts {asked}" for asked in seen.started if not _may_be_asked(asked)]
    return problems + [f"{shown}: writes {name}" for name in outside(seen.changed, outputs)]


def _may_be_asked(words: Sequence[str]) -> bool:
    program, *rest = words
    if _KNOWN.fullmatch(Path(program).name) and (os.sep not in program or _is_installed(program)):
        return True
    return _is_installed(program) and len(rest) == 1 and rest[0] in _QUESTIONS


def _is_installed(program: str) -> bool:
    return Path(program).parent == Path(os.environ["PATH"]) or Path(
        program
    ).resolve().is_relative_to("/usr")


def _asked(started: Sequence[Started]) -> Problems:
    """Return which programs of PATH a verb ran, except Spack, which it asks two things."""
    return [
        f"a verb ran {one.name} {one.arguments}"
        for one in started
        if one.name != "spack"
        or not (
            one.arguments == ["--version"]
            or (
                one.arguments[:2] == ["location", "--install-dir"]
                and re.fullmatch(r"/[a-z0-9]{1,64}", one.arguments[-1])
            )
        )
    ]


def _touched(trap: Trap, before: Mapping[str, str], without: Sequence[Path]) -> Problems:
    """Return which files are not as they were."""
    after = contents(trap.folder, without=without)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return [f"touched: {name}" for name in sorted(changed)]


def _labelled_output(header: Mapping[str, Any]) -> bytes:
    """Return the output of another tool with the labels of a record."""
    labels = json.dumps(header.get("labels"))
    table = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8 1.5\n16 1.6\n"
    return f"# switchpoint: {labels}\n{table}".encode(errors="replace")


def _of_rules(here: Path, rules: Mapping[str, str]) -> Problems:
    """Read a folder of rules as the check does that sets them."""
    folder = here / "rules"
    folder.mkdir()
    for name, text in rules.items():
        (folder / name).write_text(text)
    try:
        variables = read_rules(folder).variables
    except InputError:
        return []
    return _of_variables("rules", {
        name: value for name, value in variables.items()
        if Path(value).parent.resolve() != folder.resolve()
    })  # fmt: skip


def _of_variables(what: str, variables: Mapping[str, str]) -> Problems:
    return [
        f"{what}: sets {name}={value!r}"
        for name, value in variables.items()
        if name not in _known_settings() or not _VALUE.fullmatch(value)
    ]


def _of_folder(again: Path) -> Problems:
    """Return what is wrong with the files beside the script."""
    expected = {"README.md", "header.json", "run.sh", "site", "spack.lock", "spack.yaml",
                "switchpoint"}  # fmt: skip
    problems = [f"folder: {path.name}" for path in again.iterdir() if path.name not in expected]
    if (again / "site/packages.yaml").exists():
        packages = yaml.safe_load((again / "site/packages.yaml").read_text())["packages"]
        for name, entry in packages.items():
            for external in entry["externals"]:
                compilers = external.get("extra_attributes", {}).get("compilers", {})
                problems += [
                    f"packages.yaml: {name} is in {path}"
                    for path in (external["prefix"], *compilers.values())
                    if not Path(path).resolve().is_relative_to("/usr") and Path(path).exists()
                ]
    return problems


def judge_script(
    trap: Trap, folder: Path, variables: Mapping[str, str] | None = None
) -> tuple[Problems, list[Started]]:
    """Run a script with launchers that only log. Return what went wrong, and what started."""
    trap.started()
    base = trap.environment | dict(variables or {})
    before = contents(folder)
    done = subprocess.run(
        ["./run.sh"], cwd=folder, env=base, capture_output=True, text=True, timeout=60, check=False
    )
    started = trap.started()
    problems = [f"run.sh: changed {name}" for name in _differences(before, contents(folder))]
    if done.returncode not in (0, 2) or len(started) != (done.returncode == 0):
        names = [one.name for one in started]
        problems.append(f"run.sh: {done.returncode}, started {names}: {done.stderr[:200]}")
    for one in started:
        problems += _of_launch(one, folder) + _of_environment(one, base)
    return problems, started


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _of_launch(one: Started, folder: Path) -> Problems:
    """Return what of a launcher's words is not of the lists."""
    if one.name not in LAUNCHERS:
        return [f"run.sh: starts {one.name} {one.arguments}"]
    kernels = [place for place, word in enumerate(one.arguments) if word in ("pingpong", "zoom")]
    if not kernels:
        return [f"run.sh: starts no kernel: {one.arguments}"]
    words, kernel = one.arguments[: kernels[0]], one.arguments[kernels[0]]
    options = one.arguments[kernels[0] + 1 :]
    problems = [
        f"run.sh: the launcher has {word!r}"
        for word in words
        if not _WORD.fullmatch(word) or word in (":", "--", "-") or _NO_OPTION.fullmatch(word)
    ]
    problems += [
        f"run.sh: the kernel has {word!r}"
        for word in options
        if not _OPTION.fullmatch(word) or word.split("=")[0] not in _kernel_options()
    ]
    records = [word for word in options if word.startswith("--record")]
    if records != [f"--record={kernel}.record"]:
        problems.append(f"run.sh: writes {records}")
    return problems + [f"run.sh: runs in {one.folder}"] * (one.folder != str(folder.resolve()))


def _of_environment(one: Started, base: Mapping[str, str]) -> Problems:
    """Return which variables of a launcher are not of the list."""
    added = {
        name: value
        for name, value in one.environment.items()
        if base.get(name) != value and name not in _OF_THE_SHELL
    }
    return _of_variables("run.sh", added)


def judge_launch(trap: Trap, one: Started) -> tuple[Problems, bool]:
    """Let a real launcher read the words: what it starts must be the kernel.

    Return what went wrong, and whether it started the kernel. Launchers that are not installed
    here, and those that need Slurm, are not asked.
    """
    real = shutil.which(one.name, path="/usr/bin")
    if real is None or one.name not in LAUNCHERS[:8]:
        return [], False
    trap.started()
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    place = Path(tempfile.mkdtemp(prefix="launch-", dir=trap.folder))
    before = contents(trap.folder, without=[place])
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [real, *one.arguments], cwd=place, stdin=subprocess.DEVNULL, stdout=output,
            stderr=output, start_new_session=True,
            env={**one.environment, **as_root, "PATH": f"{trap.bin}:{os.defpath}"},
        )  # fmt: skip
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
    names = {started.name for started in trap.started()}
    others = sorted(names - {"pingpong", "zoom"})
    problems = [f"{one.name} starts {name}: {one.arguments}" for name in others]
    problems += _touched(trap, before, [place, trap.log])
    problems += [f"{one.name} writes {path.name}: {one.arguments}" for path in place.iterdir()]
    shutil.rmtree(place)
    return problems, names != {*others}


def judge_recommendation(trap: Trap, model: bytes) -> Problems:
    """Recommend from a hostile site model, and write files for MPI libraries."""
    here = Path(tempfile.mkdtemp(prefix="model-", dir=trap.folder))
    path, out = here / "model.yaml", here / "out"
    path.write_bytes(model)
    out.mkdir()
    before = contents(trap.folder, without=[out])
    try:
        curves = yaml.safe_load(model)["curves"]
        placements = [curve["placement"] for curve in curves if curve["placement"] != "one_node"]
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        placements = []
    problems: Problems = []
    with _in(here, trap.environment | {"SWITCHPOINT_EXECUTOR": "serial"}):
        for name in ["one_node", *map(str, placements[:1])]:
            words = ["model", "recommend", str(path), f"--placement={name}"]
            problems += watched([*words, "--write", str(out / "advice")], [out])
            export = ["model", "export", str(path), f"--placement={name}", "--simgrid"]
            problems += watched([*export, str(out / "platform.xml")], [out])
        for file in out.rglob("*.env"):
            problems += _of_rules(file.parent, {}) if file.is_symlink() else []
            variables = read_rules(file.parent).variables
            problems += _of_variables("recommend", {
                name: value for name, value in variables.items()
                if Path(value).parent.resolve() != file.parent.resolve()
            })  # fmt: skip
    problems += _asked(trap.started()) + _touched(trap, before, [out])
    shutil.rmtree(here)
    return problems


def judge_gate(trap: Trap, header: dict[str, Any]) -> tuple[Problems, list[Started]]:
    """Let the gate measure again what hostile records show, with launchers that only log."""
    here = Path(tempfile.mkdtemp(prefix="gate-", dir=trap.folder))
    store, inputs = here / "results", here / "inputs"
    inputs.mkdir()
    labels = header["labels"] if isinstance(header.get("labels"), dict) else {}
    session = str(labels.get("session", "night-9"))
    for number, content in enumerate(nights(header | {"labels": labels}, session)):
        (inputs / f"{number}.record").write_bytes(content)
    before = contents(trap.folder, without=[here / "results", here / "build"])
    path = f"{trap.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = os.environ | trap.environment | {"PATH": path}
    python = [sys.executable, "-m", "switchpoint"]
    site = ROOT / "site-configs/local/settings.py"
    problems: Problems = []
    for words in (
        ["import", str(inputs)],
        ["gate", f"--session={session}", "--confirm", f"--settings={site}", "--budget=3m"],
    ):
        done = subprocess.run(
            [*python, *words, "--store", str(store)], cwd=here, env=variables, text=True,
            capture_output=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
            problems.append(f"{words[0]}: {done.returncode}: {done.stderr[-400:]}")
    started = [one for one in trap.started() if one.name != "spack"]
    for one in started:
        if one.name in LAUNCHERS and one.arguments[:1] != ["--version"]:
            problems += _of_job(one)
        elif one.name not in LAUNCHERS:
            problems.append(f"gate --confirm: starts {one.name} {one.arguments}")
    problems += _touched(trap, before, [here / "results", here / "build"])
    kept = {path.name for path in here.iterdir()} - {"results", "inputs", "build"}
    problems += [f"gate --confirm: writes {name}" for name in kept]
    if (here / "build").exists():
        beside = {path.name for path in (here / "build").iterdir()} - {"confirm"}
        problems += [f"gate --confirm: writes build/{name}" for name in beside]
    shutil.rmtree(here)
    return problems, started


def _of_job(one: Started) -> Problems:
    """Return what of a job of the gate is not of the lists."""
    programs = [place for place, word in enumerate(one.arguments) if word.startswith("/")]
    if not programs or not one.arguments[programs[0]].startswith(str(ROOT / "build/local")):
        return [f"gate --confirm: starts no kernel: {one.arguments}"]
    options = one.arguments[programs[0] + 1 :]
    problems = [
        f"gate --confirm: the kernel has {word!r}"
        for word in options
        if not _OPTION.fullmatch(word.replace("\n", " "))
        or word.split("=")[0] not in _kernel_options()
    ]
    records = [word for word in options if word.startswith("--record")]
    if len(records) != 1 or os.sep in records[0]:
        problems.append(f"gate --confirm: writes {records}")
    hostile = [name for name in ("LD_PRELOAD", "IFS", "BASH_ENV", "ENV", "KERNEL", "LAUNCHER")
               if one.environment.get(name, "") != os.environ.get(name, "")]  # fmt: skip
    return problems + [f"gate --confirm: sets {name}" for name in hostile]


def nights(header: dict[str, Any], session: str) -> Iterator[bytes]:
    """Yield records of some nights; the last one is slower, and is of the hostile header."""
    sound = json.loads(SEEDS["mpich-memory.record"].split(b"\n", 1)[0])
    footer = json.loads(SEEDS["mpich-memory.record"].splitlines()[-1])
    draw = random.Random(1)
    labels = {"site": "local", "placement": "one_node", "environ": "mpich", "partition": "mpich"}
    for night in range(_NIGHTS):
        last = night == _NIGHTS - 1
        for launch in range(_LAUNCHES):
            facts = dict(header if last else sound)
            named = {**header["labels"], **labels} if last else labels
            facts |= {
                "run_id": f"{night}{launch}".ljust(32, "0"),
                "start_utc": f"2026-11-{night + 1:02}T01:00:0{launch}.000000Z",
                "labels": named | {"session": session if last else f"night-{night}"},
            }
            rows = [
                f"{mode},{size},{turn},0,10,{_time_us(size, last=last) * draw.gauss(1, 0.01):.6f}"
                for mode in ("send", "ssend")
                for turn in range(3)
                for size in (2**octave for octave in range(3, 21))
            ]
            columns = "mode,size_bytes,pass,sample,iterations,time_us"
            end = json.dumps(footer | {"samples": len(rows)})
            yield "\n".join([json.dumps(facts), columns, *rows, end, ""]).encode()


def _time_us(size: int, *, last: bool) -> float:
    return (2.0 + size * 1e-3 + 15.0 * (size >= 8192)) * (1.5 if last else 1.0)


def _sound_model(trap: Trap) -> dict[str, Any]:
    """Fit a model to a real record."""
    record, path = trap.folder / "sound.record", trap.folder / "sound.yaml"
    labels = {"site": "local", "placement": "one_node", "environ": "mpich"}
    header = json.loads(SEEDS["mpich-memory.record"].split(b"\n", 1)[0]) | {"labels": labels}
    record.write_bytes(record_of(header))
    of_command(["model", "fit", str(record), "-o", str(path)])
    return dict(yaml.safe_load(path.read_text())) if path.exists() else {}


def one_round(number: int, failures: Path) -> Counts:
    """Judge some files, one gate and some models. Write what went wrong to a folder."""
    counts = dict.fromkeys(("inputs", "scripts", "launched", "gates", "jobs", "problems"), 0)
    draw = random.Random(number)

    def told(problems: Problems, content: str) -> None:
        counts["problems"] += bool(problems)
        if problems:
            failures.mkdir(parents=True, exist_ok=True)
            name = f"nothing-runs-{number}-{counts['inputs']}"
            (failures / f"{name}.json").write_text(content)
            (failures / f"{name}.why").write_text("\n".join(problems) + "\n")
            print("nothing runs:", *problems, sep="\n  ", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="switchpoint-fuzz-") as folder:
        trap = Trap(Path(folder).resolve())

        for _ in range(INPUTS):
            counts["inputs"] += 1
            drawn = (
                headers(draw, trap),
                locks(draw, trap) if draw.random() < 0.3 else None,
                catalogues(draw, trap),
                rules_files(draw, trap),
            )
            report = draw.randrange(20) == 0
            problems, started = judge_files(trap, *drawn, also_report=report)
            counts["scripts"] += bool(started)
            for one in started[:1]:
                found, began = judge_launch(trap, one)
                problems += found
                counts["launched"] += began
            told(problems, repr(drawn))
        sound = _sound_model(trap)
        for _ in range(INPUTS // 5):
            counts["inputs"] += 1
            content = models(draw, trap, sound)
            told(judge_recommendation(trap, content), content.decode())
        header = headers(draw, trap)
        if isinstance(header.get("labels"), dict) and draw.random() < 0.5:
            header["labels"]["session"] = draw.choice(trap.commands)
        problems, started = judge_gate(trap, header)
        counts["gates"] += 1
        counts["jobs"] += len(started)
        told(problems, repr(header))
    return counts, set()
