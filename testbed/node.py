"""A node: its own network, mounts, host name and processes, with a slurmd in it.

The node's pid 1 is a fork of the supervisor. When it dies, all processes of the node end.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from testbed import fabric, locks, namespaces
from testbed.errors import TestbedError

PRIVATE_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108  a leftover in a shared one breaks PMIx


class Node:
    """A node of the testbed in `folder`. It starts at once, and sees the folders `shared`.

    It waits for `network_is_plugged`, then for `controller_listens`. Each of its folders in memory
    has `size_bytes`.
    """

    def __init__(
        self, name: str, address: str, folder: Path, shared: tuple[Path, ...], size_bytes: int
    ) -> None:
        self.name = name
        self._log = folder / "logs" / f"slurmd-{name}.log"
        #: Percentage of the time that its processes run, or None.
        self.throttle_percent: int | None = None
        self._throttle: subprocess.Popen[bytes] | None = None
        self._slurmd_runs = False
        self._signals, theirs = socket.socketpair()
        #: Its pid 1 as a file: the number may belong to another process once that has ended.
        self._process: int | None = None
        self._child = os.fork()
        if self._child == 0:
            _leave_supervisor(theirs.fileno())
            places = folder, shared, size_bytes
            _die_after(_make_namespaces, name, address, places, self._log, theirs)
        theirs.close()

    @cached_property
    def pid(self) -> int:
        """The node's pid 1 as the supervisor sees it, after it has its namespaces."""
        pid = int.from_bytes(self._signals.recv(4), "little")
        os.waitpid(self._child, 0)
        if pid == 0:
            raise TestbedError(f"node {self.name} cannot start: see {self._log}")
        self._process = os.pidfd_open(pid)
        return pid

    @property
    def is_alive(self) -> bool:
        """Whether its pid 1 has not ended, and with it all of the node."""
        return self._process is not None and not _has_ended(self._process, 0)

    def network_is_plugged(self) -> None:
        """Tell the node to configure its eth0."""
        self._signals.send(b"n")

    def controller_listens(self) -> None:
        """Tell the node to start its slurmd."""
        self._signals.send(b"s")
        self._slurmd_runs = True

    @property
    def slurmd_runs(self) -> bool:
        """Whether the node's slurmd was started and has not ended since."""
        try:
            while self._signals.recv(64, socket.MSG_DONTWAIT):
                self._slurmd_runs = False
        except BlockingIOError:  # there is nothing more to receive
            return self._slurmd_runs
        except ConnectionResetError:
            pass
        return False  # the node's pid 1 has ended

    def restart_slurmd(self) -> None:
        """End the node's slurmd if it runs, and start it. Jobs on the node continue."""
        self.slurmd_runs  # noqa: B018  receives the report on the one before
        self._send(signal.SIGUSR2)
        self._slurmd_runs = True

    def kill_slurmd(self) -> None:
        """Kill the node's slurmd at once. Jobs on the node continue."""
        self._send(signal.SIGUSR1)

    def report(self) -> None:
        """Make slurmd report to the controller now, before the controller asks."""
        self._send(signal.SIGHUP)

    def throttle(self, percent: int) -> None:
        """Let the node's processes run only for `percent` of the time, until it starts again."""
        self._end_throttle()
        with self._log.open("ab") as log:
            self._throttle = subprocess.Popen(
                [sys.executable, "-m", "testbed.throttle", str(self.pid), str(percent)],
                stdout=log,
                stderr=log,
                preexec_fn=namespaces.drop_capabilities,
            )
        self.throttle_percent = percent

    def _end_throttle(self) -> None:
        if self._throttle is not None:
            self._throttle.terminate()
            self._throttle.wait()
            self._throttle = self.throttle_percent = None

    def power_off(self) -> None:
        """Kill all processes of the node at once, as a power failure does."""
        self._end_throttle()
        if self._process is not None:
            with suppress(ProcessLookupError):  # it may have died before
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            _has_ended(self._process, None)
            os.close(self._process)
        self._signals.close()

    def dead(self) -> TestbedError:
        """Return the error of a request to a node whose pid 1 has ended."""
        restore = f"testbed node {self.name} --restore"
        return TestbedError(f"node {self.name} died: `{restore}` starts it")

    def _send(self, number: signal.Signals) -> None:
        """Send a signal to the node's pid 1."""
        if self._process is None:
            raise self.dead()
        try:
            signal.pidfd_send_signal(self._process, number)
        except ProcessLookupError:
            raise self.dead() from None


def _has_ended(process: int, timeout_ms: int | None) -> bool:
    """Wait until a process ends; return whether it has."""
    ended = select.poll()
    ended.register(process, select.POLLIN)
    return bool(ended.poll(timeout_ms))


def lock_file(folder: Path, name: str) -> Path:
    """The file that the node's pid 1 holds locked."""
    return folder / "nodes" / name


def _leave_supervisor(kept: int) -> None:
    """Release the signals and open files of the supervisor in a fork."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _die_after(work: object, *arguments: object) -> None:
    """Run `work` and always end this process: a fork never returns to the caller."""
    try:
        work(*arguments)  # type: ignore[operator]
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


#: The testbed's folder, the shared folders, and the bytes of each folder in memory.
_Places = tuple[Path, tuple[Path, ...], int]


def _make_namespaces(
    name: str, address: str, places: _Places, log_file: Path, signals: socket.socket
) -> None:
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    namespaces.unshare_node()
    init = os.fork()
    if init == 0:
        _die_after(_run, name, address, places, signals)
    signals.send(init.to_bytes(4, "little"))
    os._exit(0)


def _run(name: str, address: str, places: _Places, signals: socket.socket) -> None:
    folder, shared, size_bytes = places
    socket.sethostname(name)
    namespaces.mount_proc()
    namespaces.mount_sys()
    for private in PRIVATE_FOLDERS:
        namespaces.mount_tmpfs(private, shared, size_bytes)
    locks.hold(lock_file(folder, name))

    if signals.recv(1) != b"n":
        return
    fabric.set_up_node(address)
    if signals.recv(1) != b"s":
        return
    _serve(["slurmd", "-D"], signals)


def _serve(command: list[str], signals: socket.socket) -> None:
    """Run slurmd as the node's pid 1: collect ended processes, and obey the signals of `Node`.

    Tell `Node` once when slurmd has ended.
    """
    awaited = {signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    slurmd, reported = subprocess.Popen(command, preexec_fn=_leave_pid_1), False
    while True:
        caught = signal.sigwait(awaited)
        if caught == signal.SIGUSR1:
            slurmd.kill()
        elif caught == signal.SIGUSR2:
            slurmd.kill()
            slurmd.wait()
            slurmd, reported = subprocess.Popen(command, preexec_fn=_leave_pid_1), False
        elif caught == signal.SIGHUP:
            slurmd.send_signal(signal.SIGHUP)
        if slurmd.poll() is not None and not reported:
            signals.send(b"d")
            reported = True
        collect_dead()


def _leave_pid_1() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    namespaces.drop_capabilities()


def collect_dead() -> None:
    """Collect the exit codes of all ended processes, as a pid 1 must."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass
