"""The controller's daemons, and what they answer: munge, and Slurm's controller."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from testbed import namespaces, slurm_conf

#: How long Slurm may take to answer a question.
_ANSWER_TIMEOUT_S = 15.0
_POLL_S = 0.01


class Daemons:
    """The daemons by name; each writes into its own log in the folder `logs`."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *options: str) -> None:
        """Start one as a process of the supervisor."""
        with (self._logs / f"{name}.log").open("ab") as log:
            self._started[name] = subprocess.Popen(
                [name, *_FOREGROUND[name], *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=namespaces.drop_capabilities,
            )

    def kill(self, name: str) -> None:
        """Kill one."""
        self._started[name].kill()
        self._started[name].wait()

    def alive(self) -> dict[str, bool]:
        """Return for each that was started whether it runs."""
        return {name: daemon.poll() is None for name, daemon in self._started.items()}

    def dead(self) -> list[str]:
        """Return those that have ended."""
        return [name for name, runs in self.alive().items() if not runs]


def write_munge_key() -> None:
    """Make the key of this testbed's munge."""
    key = slurm_conf.RUN_MUNGE / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(64))


def _munged_options() -> list[str]:
    """Give munged its own key. All its files are in the testbed's own /run."""
    run = slurm_conf.RUN_MUNGE
    places = [f"--{what}-file={run}/munged.{what}" for what in ("pid", "seed", "log")]
    return ["--foreground", "--force", f"--key-file={run}/munge.key", *places]


#: The controller's daemons, with the options by which they stay processes of the supervisor.
_FOREGROUND = {"munged": _munged_options(), "slurmctld": ["-D"]}


def listens(port: int) -> bool:
    """Return whether a process listens in this network namespace, without connecting to it."""
    listening = "0A"  # TCP_LISTEN of the kernel's tcp_states.h
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == listening and local.endswith(f":{port:04X}"):
                return True
    return False


class NodeState(NamedTuple):
    """What Slurm says of a node: its state, such as ``idle``, and why it is not usable."""

    state: str = "unknown"
    reason: str | None = None

    @property
    def is_drained(self) -> bool:
        """Whether Slurm gives it no more jobs, until somebody says otherwise."""
        return self.state.startswith("drain")


def node_states() -> dict[str, NodeState]:
    """Return the state of each node; empty without an answer."""
    command = ["sinfo", "-hN", "-o", "%N|%T|%E"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_ANSWER_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {}
    states = {}
    for line in answer.stdout.splitlines():
        name, state, reason = line.split("|", 2)
        states[name] = NodeState(state, None if reason == "none" else reason)
    return states


def answered_states(timeout_s: float) -> dict[str, NodeState]:
    """Return the state of each node, once the controller answers."""
    deadline = time.monotonic() + timeout_s
    while not (states := node_states()) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return states


def take_down(node: str) -> None:
    """Tell Slurm that a node starts again: it has lost its jobs, and is back when it reports.

    What Slurm drained it for may be gone, too.
    """
    for state in ("undrain", "down"):
        subprocess.run(["scontrol", "update", f"nodename={node}", f"state={state}", "reason=new"])


def last_error(log: Path) -> str:
    """Return the last line of a daemon's log that says what is wrong, or its last line."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    fatal = [line for line in lines if "fatal" in line]
    wrong = [line for line in lines if "error" in line.lower()]
    return (fatal or wrong or lines or ["it printed nothing"])[-1]
