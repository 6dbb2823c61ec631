"""The ReFrame session that runs: its name in the records, and what became of its test cases."""

import atexit
import fcntl
import gc
import os
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import reframe as rfm
import reframe.core.runtime as rt
from reframe.core.builtins import run_before
from reframe.core.exceptions import ReframeError
from reframe.frontend.executors import RegressionTask
from reframe.frontend.executors.policies import SerialExecutionPolicy

#: The variable that names a session, for a caller that must know the name beforehand.
VARIABLE = "SWITCHPOINT_SESSION"

#: What tests wait for, each in a slot of its own.
WAITS = ("the builds", "the session's end")


def session_name():
    """Name of this session: the same in all its records, and in no other session's.

    Names sort by time. The variable keeps the name even if ReFrame loads this file twice.
    """
    now = datetime.now(timezone.utc)
    return os.environ.setdefault(VARIABLE, f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}")


class OwnStageMixin(rfm.RegressionTestPlugin):
    """Has ReFrame's stage folder to its session alone."""

    @run_before("setup")
    def claim_stage(self):
        """Fail before anything of another session is deleted."""
        claim_stage()


def claim_stage():
    """Refuse a stage folder that another session uses, or in which ReFrame starts nothing.

    ReFrame 4.10 does not quote the path of a script. Two sessions would delete each other's files.
    The claim lasts as long as this process. Where files cannot be locked nobody is refused.
    """
    runtime = rt.runtime()
    if hasattr(runtime, "claimed_stage"):  # ReFrame may load this file twice
        return
    folder = Path(runtime.stage_prefix)
    if re.search(r"[\s'\"\\]", str(folder)):
        raise ReframeError(
            "ReFrame starts no script in a folder whose path has a space, a quote or a backslash: "
            f"{folder}; fix: choose another folder (--prefix)"
        )
    folder.mkdir(parents=True, exist_ok=True)
    claim = os.open(folder / ".session", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(claim)
        raise ReframeError(
            f"another session uses {folder}: wait for its end, or choose another folder (--prefix)"
        ) from None
    except OSError:
        pass
    runtime.claimed_stage = claim


def would_take(nodes, seconds):
    """Add a job of a dry run to those that are summed up in one line when ReFrame ends."""
    runtime = rt.runtime()
    if not hasattr(runtime, "jobs_of_dry_run"):  # ReFrame may load this file twice
        runtime.jobs_of_dry_run = []
        atexit.register(tell_what_jobs_would_take, runtime.jobs_of_dry_run)
    runtime.jobs_of_dry_run.append((nodes, seconds))


def tell_what_jobs_would_take(jobs):
    """Print the most time and node hours that jobs could take: their limits, not a forecast."""
    minutes = sum(seconds for _, seconds in jobs) / 60
    node_hours = sum(nodes * seconds for nodes, seconds in jobs) / 3600
    print(
        f"{len(jobs)} job{'' if len(jobs) == 1 else 's'} of ranks: at most {minutes:.0f} min one "
        f"after another and {node_hours:.2g} node hours, if each takes its time limit"
    )


@dataclass(frozen=True)
class Outcome:
    """What became of one test case.

    Attributes
    ----------
    name : str
        The test, partition and environment, as ReFrame prints them.
    result : str
        ``pass``, ``fail``, ``skip``, ``fail_deps`` (a test that it needs failed) or ``abort``.
    reason : str
        Why, in one line; empty if it passed.
    folder : str
        Where it keeps its files.
    """

    name: str
    result: str
    reason: str
    folder: str


class SessionEnd:
    """Lets a check wait until all others of its session have ended, well or not.

    A dependency would not do: ReFrame skips a test if one that it depends on fails or is skipped,
    and then nothing compares the rest of the session. ReFrame 4.10 has no other way for a test to
    learn of the others, so they are looked up among the objects of this process.
    """

    def __init__(self, check):
        objects = gc.get_objects()
        if any(type(thing) is SerialExecutionPolicy for thing in objects):
            raise ReframeError(
                "waits for the other checks, which --exec-policy=serial would run after it: leave "
                "this option out"
            )
        self._tasks = [
            thing for thing in objects if type(thing) is RegressionTask and thing.check is not check
        ]

    def has_come(self):
        """Return whether all other test cases have ended."""
        return all(map(has_ended, self._tasks))

    def outcomes(self):
        """What became of each test case. One that was run again counts as its best run."""
        best = {}
        for task in self._tasks:
            known = best.get(task.testcase)
            if known is None or not known.succeeded:
                best[task.testcase] = task
        return [outcome_of(task) for task in best.values()]


def has_ended(task):
    """Return whether nothing more will become of a task."""
    return task.completed or task.skipped or task.aborted or task.xpassed


def outcome_of(task):
    """Describe a task that has ended."""
    check = task.check
    reason = "" if task.succeeded else " ".join(str(task.exc_info[1] or "").split())
    folder = check.outputdir if task.succeeded and not check.is_fixture() else ""
    case = task.testcase
    name = f"{check.display_name} @{case.partition.fullname}+{case.environ.name}"
    return Outcome(name, task.result, reason, folder or "")


def leave_slots(waiting):
    """Refuse a site where tests that wait would take all slots of local jobs."""
    slots = rt.runtime().get_option("systems/0/max_local_jobs")
    if slots <= waiting:
        raise ReframeError(
            f"max_local_jobs of system '{rt.runtime().system.name}' is {slots}; {waiting + 1} are "
            f"needed, since the wait for {' and for '.join(WAITS[:waiting])} takes "
            f"{'one' if waiting == 1 else waiting}"
        )
