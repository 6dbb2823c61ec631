"""Runs a ReFrame session of our checks on a site, and ends it when its time is over."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import in_checkout, shipped

#: ReFrame cancels its jobs when it is interrupted, which takes Slurm this long at most.
_CANCEL_S = 60.0


@dataclass(frozen=True)
class Session:
    """A ReFrame session that has ended.

    Attributes
    ----------
    prefix : Path
        Its folder, with `output/` and the log `reframe.log`.
    failures : list of str
        Why checks failed, each reason once.
    ended : bool
        Whether it ended by itself.
    """

    prefix: Path
    failures: list[str]
    ended: bool

    @property
    def records(self) -> list[Path]:
        """Records of the checks that passed."""
        return sorted(self.prefix.joinpath("output").rglob("*.record"))


def run_checks(
    settings: Path,
    check: str,
    prefix: Path,
    variables: Mapping[str, str],
    options: Sequence[str] = (),
    limit_s: float | None = None,
) -> Session:
    """Run the checks of one file.

    Parameters
    ----------
    settings
        The site's ``settings.py``.
    check
        Name of a file in the folder of checks.
    prefix
        A folder that the nodes can read, for what ReFrame writes.
    variables
        Environment variables for the session.
    options
        More of ReFrame's options.
    limit_s
        After so many seconds its jobs are cancelled and the session ends.

    Raises
    ------
    InputError
        If ReFrame does not start, with its complaint.
    """
    prefix = prefix.resolve()
    log = prefix / "reframe.log"
    build = [] if in_checkout() else ["-S", f"build_root={Path('build').resolve()}"]
    command = [
        *(reframe(), "-C", str(settings), "-c", str(shipped("checks") / check), "-r", "--nocolor"),
        *("--prefix", str(prefix), "--report-file", str(prefix / "report.json")),
        *build,
        *options,
    ]
    try:
        prefix.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        with log.open("x") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **variables}
            )
    except FileNotFoundError:
        raise InputError(
            "reframe", "is not installed; install it with `pip install 'switchpoint[checks]'`"
        ) from None
    ended = _wait(process, limit_s)
    said = log.read_text(errors="replace")
    if "[==========] Running" not in said:
        errors = re.findall(r"ERROR: (.*)", said) or said.strip().splitlines()[-1:]
        raise InputError("reframe", f"runs no check: {(errors or ['no message'])[0]}; see {log}")
    return Session(
        prefix, list(dict.fromkeys(re.findall(r"^ +\* Reason: (.*)", said, re.M))), ended
    )


def _wait(process: subprocess.Popen[bytes], limit_s: float | None) -> bool:
    """Wait for a session; interrupt it if it takes too long, or if this program is interrupted."""
    try:
        process.wait(limit_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_CANCEL_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if isinstance(reason, KeyboardInterrupt):
            raise
        return False
    return True


def reframe() -> str:
    """Return ReFrame's command beside this Python, otherwise on the path."""
    beside = Path(sys.executable).with_name("reframe")
    return str(beside) if beside.exists() else "reframe"
