"""Imports hostile files beside a good one, uses what was accepted, and says what went wrong.

Nothing may end in a traceback, print a control character, come in with an impossible value, or cost
the good file; see SECURITY.md.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint import Store, import_files
from switchpoint.cli.command import app
from switchpoint.errors import InputError
from switchpoint.printable import printable
from switchpoint.tables.validity import problem_of
from typer.testing import CliRunner, Result

from fuzz.processes import SECONDS, TooLongError, bounded

#: The file that must be stored whatever lies beside it.
_GOOD = b"size_bytes,time_us,site\n8,1.5,the-good-one\n16,1.6,the-good-one\n"

#: What is said of an import or a command that does not end in time.
_TOO_LONG = f"takes longer than {SECONDS} s of a processor"

#: What is done with a store that contains accepted input. Every verb prints text and JSON.
VERBS = [
    ["detect", "--all"], ["detect", "--json"], ["explain", "--all"], ["explain", "--json"],
    ["claims"], ["claims", "--json"], ["tools"], ["tools", "--json"], ["store", "ls"],
    ["store", "ls", "--json"], ["store", "verify"], ["gate"], ["gate", "--json"],
    ["references"], ["references", "--json"], ["ladder"], ["ladder", "--json"], ["reach"],
    ["reach", "--json"], ["algorithms"], ["algorithms", "--json"], ["tune"],
]  # fmt: skip


@dataclass
class Outcome:
    """What became of some inputs.

    Attributes
    ----------
    accepted, refused : int
        Inputs.
    problems : list of str
        What must not happen; empty if everything is as it should be.
    """

    accepted: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str | None:
        """What the problems count as, if there are any."""
        if not self.problems:
            return None
        return "hangs" if all(_TOO_LONG in problem for problem in self.problems) else "problems"


def judge(
    files: Sequence[tuple[str, bytes]], *, verbs: Sequence[list[str]] = VERBS, page: bool = False
) -> Outcome:
    """Import files together with a good one, and use what was accepted.

    Parameters
    ----------
    files
        Names and contents.
    verbs
        Run these, and those that write, on what was accepted; none if there are none.
    page
        Also write the report, folders to reproduce runs, and recommendations.
    """
    folder = Path(tempfile.mkdtemp(prefix="switchpoint-fuzz-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _judged(folder, files, verbs, page)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judged(
    folder: Path, files: Sequence[tuple[str, bytes]], verbs: Sequence[list[str]], page: bool
) -> Outcome:
    inputs, outcome = folder / "inputs", Outcome()
    store = Store(folder / "results")
    inputs.mkdir()
    for number, (name, content) in enumerate([("good.csv", _GOOD), *files]):
        (inputs / f"{number}-{name}").write_bytes(content)
        if name.startswith("labelled-"):
            (inputs / f"{number}-{name}.labels.json").write_bytes(content[:200])
    try:
        imported = bounded(lambda: import_files([inputs], store))
    except TooLongError:
        return Outcome(problems=[f"import: {_TOO_LONG}"])
    outcome.refused = len(imported.failures)
    outcome.accepted = len(files) - outcome.refused
    outcome.problems += _of_failures(imported.failures)
    stored = store.read()
    if "the-good-one" not in set(stored.runs["site"].dropna()):
        outcome.problems.append("the good file beside the hostile ones is lost")
    if problem := problem_of(stored):
        outcome.problems.append(f"stored: {problem}")
    if stored.not_taken and any("damaged" in line.message for line in stored.not_taken):
        outcome.problems.append(f"read back as damaged: {stored.not_taken}")
    if verbs and outcome.accepted:
        outcome.problems += of_store(folder, store, page=page, only=verbs)
        outcome.problems += _of_records(folder / "inputs")
    return outcome


def _of_failures(failures: Iterable[InputError]) -> list[str]:
    problems = []
    for failure in failures:
        if (
            "(" in failure.problem
            and failure.problem.startswith("cannot be read (")
            and ("do not import it" in failure.problem)
        ):
            problems.append(f"no reader foresaw it: {failure.problem}")
        if len(str(failure)) > 2000:
            problems.append(f"a message of {len(str(failure))} characters")
    return problems


def of_store(
    folder: Path, store: Store, *, page: bool = False, only: Sequence[list[str]] = VERBS
) -> list[str]:
    """Run verbs on a store, and return what must not happen.

    Parameters
    ----------
    folder
        Where the verbs may write.
    store
        The store.
    page
        Also write the report, folders to reproduce runs, and recommendations.
    only
        Verbs that only print.
    """
    places = ["--store", store.url]
    problems = [problem for words in only for problem in of_command([*words, *places])]
    try:
        runs = store.runs()["run_id"].tolist()
        findings = store.findings()
    except InputError:
        return problems
    commands = [["store", "show", run, "--json"] for run in runs[:3]]
    commands += [["compare", f"run={run}", f"run={runs[-1]}"] for run in runs[:2]]
    bundle, model = str(folder / "made.bundle"), str(folder / "made.yaml")
    commands.append(["bundle", "-o", bundle])
    commands.append(["model", "fit", "-o", model])
    if len(findings) and "finding_id" in findings:
        commands += [
            ["accept", str(findings["finding_id"].iloc[0]), "--reason", "a test"],
            ["gate", "--json"],
        ]
    if page:  # these take longest
        commands.append(["report", "-o", str(folder / "report")])
        commands += [
            ["reproduce", run, "--write", str(folder / f"again-{run}")] for run in runs[:3]
        ]
    problems += [problem for words in commands for problem in of_command([*words, *places])]
    made = [["compare", bundle, bundle]] if Path(bundle).exists() else []
    if Path(model).exists():
        made.append(["model", "predict", model, "ring", "--placement", "one_node"])
        made += advice(model, store.url) if page else []
    return problems + [problem for words in made for problem in of_command(words)]


def advice(model: str, store: str) -> list[list[str]]:
    """Return the commands that hold a site model beside measurements, or recommend from it."""
    recommend = ["model", "recommend", model, "--placement", "one_node"]
    return [
        ["model", "predict", model, "pingpong", "--against", store],
        ["model", "predict", model, "mergesort", "--against", store, "--json"],
        [*recommend, "--write", f"{model}.advice"],
        [*recommend, "--checked", store, "--json"],
    ]


def _of_records(folder: Path) -> list[str]:
    paths = list(folder.rglob("*.record"))[:3]
    return [problem for path in paths for problem in of_command(["plan", str(path)])]


def of_command(words: list[str], codes: list[int] | None = None) -> list[str]:
    """Run a command, and return what must not happen; add its exit code to a list."""
    shown = " ".join(words[:2])
    try:
        done = bounded(lambda: CliRunner().invoke(app, words))
    except TooLongError:
        return [f"{shown}: {_TOO_LONG}"]
    if codes is not None:
        codes.append(done.exit_code)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return [f"{shown}: {_last_frame(done)}"]
    problems = []
    if done.exit_code not in (0, 1, 2):
        problems.append(f"{shown}: exit code {done.exit_code}")
    text = done.stdout + done.stderr
    if any(line != printable(line) for line in text.split("\n")):
        problems.append(f"{shown}: prints a control character")
    if "--json" in words and done.exit_code in (0, 1) and done.stdout:
        try:
            json.loads(done.stdout, parse_constant=_no_number)
        except ValueError as error:
            problems.append(f"{shown}: prints no JSON ({error})")
    return problems


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _last_frame(done: Result) -> str:
    """Name an exception and the line of the package that raised it."""
    assert done.exc_info is not None
    trace, place = done.exc_info[2], ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if "switchpoint" in path and "fuzz" not in path:
            place = f"{Path(path).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(done.exception).__name__} in {place}: {str(done.exception)[:200]}"
