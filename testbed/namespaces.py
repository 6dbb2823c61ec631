"""Linux namespaces: how the testbed makes its own, and how a command enters them.

Works as root, or as an ordinary user inside a user namespace that maps only that user.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from testbed.errors import TestbedError
from testbed.memory import files_of

# <sched.h>, <sys/mount.h>, <sys/prctl.h>: constants of the kernel's interface
_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWPID, _CLONE_NEWNET = 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC = 2, 4, 8, 4096, 16384
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

_libc = ctypes.CDLL(None, use_errno=True)


def unshare_command() -> list[str]:
    """Return the start of a command that runs the rest as pid 1 of new namespaces."""
    user = [] if os.geteuid() == 0 else ["-U", "--map-current-user", "--keep-caps"]
    return ["unshare", *user, "-nmuip", "--fork", "--kill-child", "--mount-proc"]


def check_allowed() -> None:
    """Raise TestbedError, naming the setting, if this machine refuses to make namespaces."""
    trial = subprocess.run([*unshare_command(), "true"], capture_output=True, text=True)
    if trial.returncode == 0:
        return
    said = trial.stderr.strip().removeprefix("unshare: ")
    raise TestbedError(f"this machine refuses namespaces ({said}); {_fix()}")


def _fix() -> str:
    if not _root_is_mounted():
        return (
            "the root of this chroot is not a mount point: before you enter it, mount it on itself "
            "(mount --bind DIR DIR)"
        )
    if os.geteuid() == 0:
        return (
            "root has no CAP_SYS_ADMIN, as in a container: grant it (docker run --privileged) "
            "or run on the machine itself"
        )
    for setting, bad, good in (
        ("user.max_user_namespaces", "0", "10000"),
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ):
        file = Path("/proc/sys", *setting.split("."))
        if file.exists() and file.read_text().strip() == bad:
            return f"{setting} is {bad}: use root, or `sudo sysctl -w {setting}={good}`"
    return "no known setting forbids it: use root, or leave the container"


def _root_is_mounted() -> bool:
    """Return whether / is a mount point, which it is not in a chroot (proc(5), mountinfo)."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == "/" for line in lines)


def enter_command(pid: int, cwd: str) -> list[str]:
    """Return the start of a command that runs the rest in the namespaces of `pid` and in `cwd`.

    The command gets SIGTERM when its caller is killed, so that it does not remain.
    """
    user = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
    # --root: in a chroot, a mount namespace alone would show the system outside of it. Its own
    # --wdns is younger than util-linux 2.38, which Ubuntu 22.04 and RHEL 9 do not have.
    enter = ["nsenter", "-t", str(pid), *user, "-n", "-m", "-u", "-i", "-p", "--root", "--"]
    return [*enter, "env", f"--chdir={cwd}", "setpriv", "--pdeathsig", "TERM", "--"]


def unshare_node() -> None:
    """Give this process its own network, mounts, host name and IPC, and its children pids."""
    flags = _CLONE_NEWNET | _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID
    _check(_libc.unshare(flags), "unshare")


def mount_proc() -> None:
    """Show the processes of this pid namespace in /proc."""
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def mount_sys() -> None:
    """Show the devices of this network namespace in /sys, and keep the control groups there.

    Containers may forbid it. Then /sys shows the machine's devices, which only confuses readers.
    """
    groups = os.open("/sys/fs/cgroup", os.O_PATH)
    try:
        _mount("sysfs", "/sys", "sysfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        bind(f"/proc/self/fd/{groups}", "/sys/fs/cgroup")
    except PermissionError:
        print("note: /sys shows the machine's devices, not the node's", flush=True)
    finally:
        os.close(groups)


def mount_tmpfs(target: str, shared: Iterable[Path], size_bytes: int) -> None:
    """Make `target` an empty folder in memory, but keep what is shared visible if it is inside.

    It has so many bytes; without a limit each would have half of the machine's memory.
    """
    options = f"mode=1777,size={size_bytes},nr_inodes={files_of(size_bytes)}"
    kept = {
        folder: os.open(folder, os.O_PATH) for folder in shared if folder.is_relative_to(target)
    }
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, options)
    for folder, file in kept.items():
        folder.mkdir(parents=True)
        bind(f"/proc/self/fd/{file}", str(folder))
        os.close(file)


def bind(source: str, target: str) -> None:
    """Show `source` at `target`, too."""
    _mount(source, target, None, _MS_BIND | _MS_REC)


def drop_capabilities() -> None:
    """Prevent programs of this process from getting more rights than the user has."""
    _check(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _check(result, f"mount {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
