"""A testbed by its name: its files, and how to start, query, enter and end it."""

from __future__ import annotations

import json
import os
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from testbed import control, locks, namespaces, programs, slurm_conf, wrappers
from testbed.control import Message
from testbed.errors import TestbedError
from testbed.node import lock_file
from testbed.shape import Shape, from_data

FOLDER_VARIABLE = "SWITCHPOINT_TESTBED_DIR"
INSIDE_VARIABLE = "SWITCHPOINT_TESTBED"
#: The module that a running testbed's command line names, before its folder.
SUPERVISOR = "testbed.supervisor"
_DEFAULT_FOLDER = ".testbed"
_KILL_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Instance:
    """One testbed. `folder` holds all of its files; nodes see `shared`, even below /tmp.

    None of the shared folders lies in another one.
    """

    name: str
    folder: Path
    shared: tuple[Path, ...]

    @property
    def pid(self) -> int | None:
        """The supervisor, or None if the testbed is down."""
        return locks.holder(self.folder / "lock")

    @property
    def binaries(self) -> Path:
        """The folder of wrappers, which must come first in PATH."""
        return self.folder / "bin"

    @property
    def is_ours(self) -> bool:
        """Return whether a testbed made the folder, or it is empty."""
        return (self.folder / "lock").exists() or not any(self.folder.iterdir())


def locate(name: str) -> Instance:
    """Find the testbed `name` of the repository, or otherwise of the current folder."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", name):
        raise TestbedError(f"name {name!r}: use lower-case letters, digits and -, at most 32")
    parent, shared = _parent_and_shared()
    instance = Instance(name, parent / name, shared)
    if os.geteuid() != 0:
        _check_owner(instance)
    return instance


def _check_owner(instance: Instance) -> None:
    """Raise TestbedError if the folder of a testbed belongs to somebody else."""
    try:
        owner = instance.folder.stat().st_uid
    except (FileNotFoundError, NotADirectoryError):
        return
    except PermissionError as error:
        raise TestbedError(f"{instance.folder}: {error.strerror}; set {FOLDER_VARIABLE}") from None
    if owner != os.geteuid():
        raise TestbedError(
            f"testbed {instance.name} belongs to the user {_user_name(owner)}"
            f" ({instance.folder}): choose another --name, or set {FOLDER_VARIABLE}"
        )


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def all_instances() -> Iterator[Instance]:
    """Return every testbed in the same folder that left files."""
    parent, shared = _parent_and_shared()
    for folder in sorted(parent.glob("*/lock")):
        yield Instance(folder.parent.name, folder.parent, shared)


def _parent_and_shared() -> tuple[Path, tuple[Path, ...]]:
    """Return where the testbeds are, and what their nodes see: these and the project's files."""
    here = Path.cwd()
    projects = [root for root in (here, *here.parents) if (root / "pyproject.toml").exists()]
    if chosen := os.environ.get(FOLDER_VARIABLE):
        parent = Path(chosen).resolve()
    else:
        projects = projects or [here]
        parent = projects[0] / _DEFAULT_FOLDER
    folders = {parent, *projects}
    inner = {one for one in folders for other in folders if other in one.parents}
    return parent, tuple(folders - inner)


def up(instance: Instance, shape: Shape) -> bool:
    """Start a testbed; return False if it already runs with this shape.

    Raises
    ------
    TestbedError
        One line says what is missing, what is in the way, or what did not start and its log.
    """
    programs.check_installed()
    _make_parent(instance)
    _check_owner(instance)  # root too: that user could hold its locks
    with locks.alone(instance.folder):
        instance.folder.chmod(locks.ONLY_OWNER)  # an older version left it open
        if instance.pid is not None:
            facts = status(instance)
            if from_data(facts["shape"]) != shape:
                raise TestbedError(
                    f"testbed {instance.name} is up with another shape: end it first with "
                    f"`testbed down --name {instance.name}`, or choose another name"
                )
            if trouble := troubles(facts):
                raise TestbedError(
                    f"testbed {instance.name} is up, but {trouble}. The logs are in"
                    f" {instance.folder}/logs"
                )
            return False
        _clear(instance)
        _write_files(instance, shape)
        _spawn(instance)
    return True


def _make_parent(instance: Instance) -> None:
    try:
        instance.folder.mkdir(locks.ONLY_OWNER, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise TestbedError(f"{instance.folder}: {error.strerror}; set {FOLDER_VARIABLE}") from None


def _clear(instance: Instance) -> None:
    """Remove the files of a testbed that crashed, and nothing else."""
    if not instance.is_ours:
        raise TestbedError(
            f"{instance.folder} contains files that no testbed made: choose another name, "
            f"or another {FOLDER_VARIABLE}"
        )
    for entry in instance.folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _write_files(instance: Instance, shape: Shape) -> None:
    folder = instance.folder
    (folder / "lock").touch(mode=0o600)
    for name in ("conf", "logs", "nodes"):
        (folder / name).mkdir()
    (folder / "shape.json").write_text(json.dumps(shape.as_data()))
    slurm_conf.write(shape, folder / "conf")


def _spawn(instance: Instance) -> None:
    """Start the supervisor and wait until it reports that all nodes are idle."""
    folder = instance.folder
    log = folder / "logs" / "supervisor.log"
    with control.listen(folder) as server, log.open("wb") as output:
        place = [str(folder), str(server.fileno()), *map(str, instance.shared)]
        supervisor = subprocess.Popen(
            [*namespaces.unshare_command(), sys.executable, "-m", SUPERVISOR, *place],
            cwd=folder,
            env={**os.environ, "PATH": programs.search_path(str(instance.binaries))},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[server.fileno()],
            start_new_session=True,
        )
    try:
        _wait_until_ready(instance, log)
    except BaseException:  # the logs stay for the reader, and `down` removes them
        _kill(instance)
        supervisor.kill()
        raise


def _wait_until_ready(instance: Instance, log: Path) -> None:
    try:
        control.ask(instance.folder, {"do": "status"})
    except ConnectionError:
        namespaces.check_allowed()
        last = log.read_text(errors="replace").splitlines()[-1:] or ["it printed nothing"]
        raise TestbedError(f"the testbed does not start: {last[0]} (see {log})") from None
    if (pid := instance.pid) is None:
        raise TestbedError(f"the testbed died while it started: see {log}")
    wrappers.write(instance.folder, instance.name, pid)


def down(instance: Instance) -> bool:
    """End a testbed and remove its folder; return False if there is nothing to do."""
    if not instance.folder.exists():
        return False
    with locks.alone(instance.folder):
        if not instance.is_ours:
            raise TestbedError(
                f"{instance.folder} contains files that no testbed made: nothing was removed"
            )
        _kill(instance)
        shutil.rmtree(instance.folder)
    if instance.folder.parent.name == _DEFAULT_FOLDER and not any(instance.folder.parent.iterdir()):
        instance.folder.parent.rmdir()
    return True


def _kill(instance: Instance) -> None:
    """Kill the supervisor, and with it all processes; return when all are gone."""
    pid = instance.pid
    if pid is None:
        return
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if instance.pid != pid:  # it died, and another process may have its number now
            return
        signal.pidfd_send_signal(process, signal.SIGKILL)
        ended = select.poll()
        ended.register(process, select.POLLIN)
        if not ended.poll(_KILL_TIMEOUT_MS):
            raise TestbedError(f"testbed {instance.name}: process {pid} does not end")
    finally:
        os.close(process)


def status(instance: Instance) -> Message:
    """Return the state of the testbed; TestbedError if it is down."""
    return {"name": instance.name, **ask(instance, {"do": "status"})}


def troubles(facts: Message) -> str:
    """Return what keeps a testbed from running jobs, and the fixes; empty if nothing does."""
    name = facts["name"]
    drained = [
        f"Slurm drained {node['node']} ({node['reason'] or 'without a reason'}): restore with"
        f" `testbed node {node['node']} --restore --name {name}`"
        for node in facts["nodes"]
        if node["state"].startswith("drain")
    ]
    return "; ".join([*filter(None, [_died(name, facts["daemons"])]), *drained])


def _died(name: str, daemons: dict[str, bool]) -> str:
    dead = [daemon for daemon, runs in daemons.items() if not runs]
    nodes = [daemon.removeprefix("slurmd-") for daemon in dead if daemon.startswith("slurmd-")]
    fixes = [f"testbed controller --restore --name {name}"] if len(nodes) < len(dead) else []
    fixes += [f"testbed node {node} --restore --name {name}" for node in nodes]
    if not dead:
        return ""
    return f"{', '.join(dead)} died: restore with {' and '.join(f'`{fix}`' for fix in fixes)}"


def ask(instance: Instance, request: Message) -> Message:
    """Send a request to the testbed; TestbedError if it is down or refuses."""
    try:
        return control.ask(instance.folder, request)
    except ConnectionError:
        raise TestbedError(_is_down(instance)) from None


def enter(instance: Instance, node: str | None, command: list[str]) -> NoReturn:
    """Replace this process by `command`, on the controller or a node, in the same folder."""
    pid = locks.holder(lock_file(instance.folder, node)) if node else instance.pid
    if pid is None:
        known = [entry["node"] for entry in status(instance)["nodes"]]
        if node in known:
            raise TestbedError(f"node {node} is off: `testbed node {node} --restore`")
        raise TestbedError(f"node {node} does not exist; there are {', '.join(known)}")
    os.environ.update({INSIDE_VARIABLE: instance.name, **slurm_conf.NO_BINDING})
    line = [*namespaces.enter_command(pid, str(Path.cwd())), *command]
    os.execvp(line[0], line)  # noqa: S606  the shell would only stand in the way


def _is_down(instance: Instance) -> str:
    start = f"start it with `testbed up --name {instance.name}`"
    other = elsewhere(instance)
    return f"testbed {instance.name} is down" + (f" here, but {other}" if other else f": {start}")


def elsewhere(instance: Instance) -> str:
    """Say in which other folders a testbed of the same name runs; empty if there is none."""
    folders = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if SUPERVISOR.encode() not in words[:-2]:
            continue
        folder = Path(os.fsdecode(words[words.index(SUPERVISOR.encode()) + 1]))
        if folder.name == instance.name and locks.holder(folder / "lock") is not None:
            folders.add(folder)
    return "; ".join(
        f"one of this name runs in {folder.parent.parent}: go there, or set"
        f" {FOLDER_VARIABLE}={folder.parent}"
        for folder in sorted(folders)
    )
