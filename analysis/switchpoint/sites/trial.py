"""Runs the check `TwoRanks` through a site's own scheduler and launcher, and reports the result.

It shows any problem between a settings file and two ranks that communicate.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from switchpoint.shipped import shipped
from switchpoint.sites.doctor import Fact
from switchpoint.sites.session import reframe

#: Time in addition to the wait in the queue: ReFrame, a small compilation, and a step that hangs.
_RUNNING_S = 120


def try_two_ranks(
    settings: Path, partition: str, environs: list[str], placement: str, wait_s: float
) -> Iterator[tuple[str, Fact]]:
    """Start two ranks in each environment, one environment after another.

    Parameters
    ----------
    settings
        The site's settings.
    partition
        ReFrame's full name of the partition, with its system.
    environs
        Names of the environments.
    placement
        The placement of the ranks.
    wait_s
        How long in seconds a job may wait to start.

    Yields
    ------
    str, Fact
        The environment, and the result of its job.
    """
    # Below the current folder, which the nodes must be able to read anyway.
    folder = Path("build/doctor")
    folder.mkdir(parents=True, exist_ok=True)
    prefix = Path(tempfile.mkdtemp(dir=folder, prefix="trial-")).resolve()
    cases, output = _run(settings, partition, environs, placement, wait_s, prefix)
    results = {environ: _judge(cases.get(environ), output, prefix) for environ in environs}
    if all(fact.state == "ok" for fact in results.values()):
        shutil.rmtree(prefix, ignore_errors=True)
    yield from results.items()


def _run(
    settings: Path, partition: str, environs: list[str], placement: str, wait_s: float, prefix: Path
) -> tuple[dict[str, dict[str, str]], str]:
    """Run ReFrame; return its test case per environment, and its output."""
    report = prefix / "report.json"
    process = subprocess.Popen(
        [
            *(reframe(), "-C", str(settings), "-c", str(shipped("checks") / "two_ranks.py"), "-r"),
            *("-n", f"TwoRanks.*%placement={placement}$", f"--system={partition}"),
            *(word for environ in environs for word in ("-p", f"^{re.escape(environ)}$")),
            *("-S", f"max_pending_time={wait_s:.0f}s", "-S", "step_limit_s=20"),
            *("--prefix", str(prefix), "--report-file", str(report), "--nocolor"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=len(environs) * (wait_s + _RUNNING_S))
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        process.send_signal(2)  # ReFrame then cancels its jobs
        output, _ = process.communicate()
        if isinstance(reason, KeyboardInterrupt):
            raise
    try:
        runs = json.loads(report.read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError):
        return {}, output
    return {
        case["environ"]: case
        for run in runs
        for case in run["testcases"]
        if case["unique_name"].startswith("TwoRanks")
    }, output


def _judge(case: dict[str, str] | None, output: str, prefix: Path) -> Fact:
    if case is None:
        said = re.findall(r"ERROR: (.*)", output) or output.strip().splitlines() or ["nothing"]
        return Fact(
            "trial", "missing", f"ReFrame did not run two ranks: {said[0]}",
            f"see {prefix}",
        )  # fmt: skip
    if case["result"] == "pass":
        return Fact("trial", "ok", "two ranks in one world, started as in all checks")
    reason = " ".join(str(case.get("fail_reason") or case["result"]).split())
    if "did not start" in reason:
        return Fact(
            "trial", "missing", reason.removeprefix("job error: "),
            "wait longer with --wait, or submit nothing with --no-trial",
        )  # fmt: skip
    reason = reason.removeprefix("sanity error: ")
    problem, _, fix = reason.partition("; fix: ")
    return Fact("trial", "missing", _shortened(problem), fix or f"see {prefix}")


def _shortened(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."
