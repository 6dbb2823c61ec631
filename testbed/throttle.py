"""Slows the processes of one node down, as a processor that is too hot does.

The supervisor starts it as a program, `python -m testbed.throttle PID PERCENT`. It stops and
continues the node's processes so often that each timed block of a kernel is slower, and not every
tenth. Control groups would do the same, but need root.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from testbed.errors import TestbedError

#: One stop and one run. A kernel's shortest blocks take 0.2 ms.
PERIOD_S = 0.0005
#: How often to look for processes that started or ended.
_LOOK_S = 0.05

#: Slurm's daemons must answer the controller in time.
_NOT_SLOWED = frozenset({"slurmd", "slurmstepd"})

_PR_SET_TIMERSLACK = 29  # prctl(2): by default a sleep is up to 50 us too long


def check_percent(percent: int) -> None:
    """Raise TestbedError unless a node can be slowed to `percent` of its speed."""
    if not 1 <= percent <= 99:
        raise TestbedError(
            f"throttle: {percent} is not between 1 and 99: the percentage of the time that the"
            " node's processes run"
        )


def main() -> None:
    """Slow the node whose pid 1 is argv[1] down to argv[2] percent, until SIGTERM."""
    node, percent = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    # Where ranks poll on every core, an ordinary process would wait for milliseconds for its turn,
    # and the node would run in the meantime. Only root may ask for this.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    run_s = PERIOD_S * percent / 100
    stopped: list[int] = []
    try:
        while Path("/proc", str(node)).exists():
            stopped = processes_of(node)
            end = time.monotonic() + _LOOK_S
            while stopped and time.monotonic() < end:
                _send(stopped, signal.SIGSTOP)
                time.sleep(PERIOD_S - run_s)
                _send(stopped, signal.SIGCONT)
                time.sleep(run_s)
            if not stopped:
                time.sleep(_LOOK_S)
    finally:
        _send(stopped, signal.SIGCONT)


def processes_of(node: int) -> list[int]:
    """Return the processes of a node that can be slowed: all but its pid 1 and Slurm's daemons."""
    namespace = _pid_namespace(node)
    return [
        pid
        for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*"))
        if pid != node and _pid_namespace(pid) == namespace and _name(pid) not in _NOT_SLOWED
    ]


def _pid_namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:  # it has ended
        return None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "slurmd"  # it has ended: leave it alone


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


if __name__ == "__main__":
    main()
