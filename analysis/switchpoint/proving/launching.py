"""Starts the kernel `zoom` with changed settings, and reads its record."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.errors import InputError, RecordError
from switchpoint.explanation.trials import REFUSED_LABEL
from switchpoint.records.mpi_environment import variables_for
from switchpoint.records.record import Facts, read_facts

#: A launch that takes longer hangs: a zoom without brackets takes a second.
_LIMIT_S = 60

#: Sizes that the probe tries, unless the command says others.
_SIZES = "--sizes=1,4M"


class NotStartedError(Exception):
    """A launch without a complete record; the text says why, in one line."""


@dataclass
class Launcher:
    """A command that starts `zoom` on the ranks.

    Attributes
    ----------
    command : list of str
        Launcher, its options, the kernel `zoom` and its options.
    folder : Path
        Where the records are written.
    options : list of str
        Options of `zoom` that each launch gets.
    """

    command: Sequence[str]
    folder: Path
    options: Sequence[str] = ()
    refused: dict[str, int] = field(default_factory=dict)
    records: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Check that the command can be started at all."""
        if not self.command or shutil.which(self.command[0]) is None:
            raise InputError(
                "COMMAND",
                f"'{self.command[0] if self.command else ''}' is no program; write the command that"
                " starts zoom after `--`: switchpoint prove -- mpirun -n 2 build/mine/bin/zoom",
            )
        if any(self.folder.glob("zoom-*.record")):
            raise InputError(
                "--output",
                f"{self.folder} contains the records of an experiment; choose another folder",
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            says = f"{self.folder} cannot be made: {error.strerror}; choose another folder"
            raise InputError("--output", says) from None

    def launch(
        self, searches: Sequence[str], changed: Mapping[str, str], labels: Mapping[str, str]
    ) -> Facts:
        """Run once with options that say what to search, and settings by what sets them.

        Raises
        ------
        NotStartedError
            If there is no complete record.
        """
        record = self.folder / f"zoom-{len(self.records):03}.record"
        record.unlink(missing_ok=True)
        if self.refused:
            refused = " ".join(f"{name}={value}" for name, value in self.refused.items())
            labels = {**labels, REFUSED_LABEL: refused}
        sizes = [] if any(word.startswith("--sizes") for word in self.command) else [_SIZES]
        words = [
            *self.command,
            *searches,
            *sizes,
            *self.options,
            *(f"--label={name}={value}" for name, value in labels.items()),
            f"--record={record}",
            "--quiet",
        ]
        said = _run(words, {**os.environ, **variables_for(changed, os.environ)})
        try:
            facts = read_facts(record)
        except (RecordError, OSError):
            raise NotStartedError(first_complaint(said, self.command)) from None
        if not facts.complete:
            raise NotStartedError(first_complaint(said, self.command))
        self.records.append(record)
        return facts


def _run(words: list[str], environment: dict[str, str]) -> str:
    """Run a command to its end, or for `_LIMIT_S`; return what it printed."""
    process: subprocess.Popen[str] | None = None
    try:
        with _interrupts_wait():
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment,
                start_new_session=True,  # so that its ranks can be ended with it
            )
        return process.communicate(timeout=_LIMIT_S)[0]
    except BaseException as error:
        if process is not None:
            _end(process)
        if isinstance(error, subprocess.TimeoutExpired):
            raise NotStartedError(f"no end after {_LIMIT_S} s") from None
        raise


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Let an interrupt raise at the end: half-way `Popen` would leave what it started behind."""
    came: list[int] = []
    raising = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()  # others get no signal
    ]
    for number in raising:
        signal.signal(number, lambda caught, _: came.append(caught))
    try:
        yield
    finally:
        for number in raising:
            signal.signal(number, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def _end(process: subprocess.Popen[str]) -> None:
    """End a command and the ranks that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(timeout=5)


def first_complaint(text: str, command: Sequence[str]) -> str:
    """Return the line of a command's output that best explains why it failed.

    That is what a program of the command says under its name, such as `zoom: --mode: ...`.
    """
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalpha, line))]
    programs = tuple(f"{Path(word).name}: " for word in ["switchpoint", *command])
    own = next((line for line in lines if line.startswith(programs)), None)
    if own is not None:
        return own  # whole: the fix is at its end
    words = ("error", "abort", "fail", "needs", "not ")
    telling = [line for line in lines if any(word in line.lower() for word in words)]
    return (telling or lines or ["no message"])[0][:160]
