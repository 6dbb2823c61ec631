"""Pid 1 of a testbed: starts munge, Slurm's controller and the nodes, and obeys commands.

When it dies, even by kill -9, the kernel ends every process of the testbed.
"""

from __future__ import annotations

import json
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from testbed import control, daemons, locks, namespaces, slurm_conf
from testbed.control import Message
from testbed.errors import TestbedError
from testbed.fabric import Fabric
from testbed.memory import bytes_of_each
from testbed.node import PRIVATE_FOLDERS, Node, collect_dead
from testbed.shape import Shape, from_data

#: Where Open MPI of a distribution looks for the site's defaults.
OPENMPI_DEFAULTS = Path("/etc/openmpi")

_START_TIMEOUT_S = 20.0
_POLL_S = 0.01

#: On a busy machine a slurmd may end at once, or not reach the controller in time. Then it is
#: started again.
_TRIES = 3
_TRY_S = 15.0
_PAUSE_S = 1.0

#: The state of a node of which Slurm says nothing.
_UNKNOWN = daemons.NodeState()

#: States of nodes that run jobs.
_USABLE = frozenset(["idle", "mixed", "allocated", "completing"])


def main() -> None:
    """Run the testbed in folder argv[1], listening on file argv[2]; all others are shared."""
    folder, shared = Path(sys.argv[1]), tuple(map(Path, sys.argv[3:]))
    server = socket.socket(fileno=int(sys.argv[2]))
    server.set_inheritable(False)
    locks.hold(folder / "lock")
    testbed = Testbed(folder, shared)
    try:
        testbed.start()
    except (TestbedError, OSError) as error:
        said = str(error)
        print(f"error: {said}", flush=True)
        control.answer(server, lambda _: {"error": said})
        sys.exit(1)
    _serve(server, testbed)


def _serve(server: socket.socket, testbed: Testbed) -> None:
    """Answer requests and collect ended processes, for ever."""
    dead, wake_up = socket.socketpair()
    for end in (dead, wake_up):
        end.setblocking(False)
    signal.set_wakeup_fd(wake_up.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ready = selectors.DefaultSelector()
    ready.register(server, selectors.EVENT_READ)
    ready.register(dead, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is dead:
                dead.recv(4096)
            else:
                control.answer(server, testbed.obey)
        collect_dead()


class Testbed:
    """The running cluster: its daemons, its network and its nodes."""

    def __init__(self, folder: Path, shared: tuple[Path, ...]) -> None:
        self._folder, self._shared = folder, shared
        self._shape: Shape = from_data(json.loads((folder / "shape.json").read_text()))
        self._fabric = Fabric(self._shape)
        self._nodes: dict[str, Node] = {}
        self._daemons = daemons.Daemons(folder / "logs")
        in_memory = 1 + len(PRIVATE_FOLDERS) * len([*self._shape.nodes()])  # /run, and the nodes'
        self._size_bytes = bytes_of_each(in_memory)

    def start(self) -> None:
        """Start everything, and return when every node is idle in Slurm."""
        self._hide_machine()
        daemons.write_munge_key()
        self._daemons.start("munged")
        self._daemons.start("slurmctld", "-c")
        for name in self._shape.nodes():
            self._start_node(name)
        self._fabric.build()
        self._plug(*self._nodes.values())
        self._wait_for_controller()
        for node in self._nodes.values():
            node.controller_listens()
        self._wait_for_nodes(self._nodes.values())

    def _hide_machine(self) -> None:
        """Replace the machine's host name, /run and parts of /etc by the testbed's own."""
        socket.sethostname(slurm_conf.CONTROLLER)
        namespaces.mount_sys()
        namespaces.mount_tmpfs("/run", self._shared, self._size_bytes)
        for folder in slurm_conf.run_folders(self._shape):
            folder.mkdir(mode=0o755)
        namespaces.bind(str(self._folder / "conf"), "/etc/slurm")
        if Path("/etc/hosts").exists():  # Slurm knows all addresses; this file is for users and MPI
            namespaces.bind(str(self._folder / "conf" / "hosts"), "/etc/hosts")
        if OPENMPI_DEFAULTS.is_dir():  # a copy, whose defaults a site's administrator may change
            own = self._folder / OPENMPI_DEFAULTS.name
            shutil.copytree(OPENMPI_DEFAULTS, own)
            with (own / "openmpi-mca-params.conf").open("a") as file:
                file.write("\n")  # Debian's ends within a line
            namespaces.bind(str(own), str(OPENMPI_DEFAULTS))

    def _start_node(self, name: str) -> None:
        address = self._shape.address(name)
        self._nodes[name] = Node(name, address, self._folder, self._shared, self._size_bytes)

    def _plug(self, *nodes: Node) -> None:
        self._fabric.plug({node.name: node.pid for node in nodes})
        for node in nodes:
            node.network_is_plugged()

    def _wait_for_controller(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            self._check_daemons()
            if daemons.listens(slurm_conf.CONTROLLER_PORT):
                return
            time.sleep(_POLL_S)
        raise TestbedError(self._no_start("slurmctld"))

    def _wait_for_nodes(self, nodes: Iterable[Node]) -> None:
        """Wait until Slurm can use these nodes. Start a slurmd again that does not reach it."""
        tried = {node.name: (1, time.monotonic()) for node in nodes}
        while True:
            self._check_daemons()
            states = daemons.node_states()
            late = [name for name in tried if states.get(name, _UNKNOWN).state not in _USABLE]
            if not late:
                return
            for name in late:
                tries, since = tried[name]
                node, waited_s = self._nodes[name], time.monotonic() - since
                if waited_s < (_TRY_S if node.slurmd_runs else _PAUSE_S):
                    continue
                if tries == _TRIES:
                    raise TestbedError(f"after {tries} tries, {self._no_start(f'slurmd-{name}')}")
                node.restart_slurmd()
                tried[name] = tries + 1, time.monotonic()
            time.sleep(_POLL_S)

    def _check_daemons(self) -> None:
        for name in self._daemons.dead():
            raise TestbedError(self._no_start(name))

    def _no_start(self, name: str) -> str:
        log = self._folder / "logs" / f"{name}.log"
        return f"{name} does not start: {daemons.last_error(log)} (see {log})"

    def obey(self, request: Message) -> Message:
        """Do what a request says. The keys are those of `instance.status` and `faults`."""
        match request:
            case {"do": "status"}:
                return self._status()
            case {"do": "uplink", "host": host, **changes}:
                self._change_uplink(host, changes)
            case {"do": "node", "node": node, "action": "throttle", "percent": percent}:
                self._powered(node).throttle(percent)
            case {"do": "node", "node": node, "action": action}:
                self._change_node(node, action)
            case {"do": "controller", "kill": name}:
                self._daemons.kill(name)
            case {"do": "controller", "restore": True}:
                self._restore_controller()
            case _:
                raise TestbedError(f"unknown request {request}")
        return {}

    def _status(self) -> Message:
        # Without its controller, Slurm answers only after a long time that it cannot.
        states = {} if self._daemons.dead() else daemons.node_states()
        return {
            "shape": self._shape.as_data(),
            "daemons": self._alive(),
            "nodes": [self._node_status(name, states) for name in self._shape.nodes()],
            "uplinks": self._fabric.status(),
        }

    def _node_status(self, name: str, states: dict[str, daemons.NodeState]) -> Message:
        node = self._nodes.get(name)
        is_on = node is not None and node.is_alive
        slurm = states.get(name, _UNKNOWN)
        return {
            "node": name,
            "host": self._shape.host_of(name),
            "address": self._shape.address(name),
            "power": is_on,
            "throttle_percent": node.throttle_percent if node is not None and is_on else None,
            "state": slurm.state,
            "reason": slurm.reason if slurm.is_drained else None,
        }

    def _alive(self) -> dict[str, bool]:
        """Return for each daemon of the controller and of the nodes that are on whether it runs."""
        return self._daemons.alive() | {f"slurmd-{name}": self._nodes[name].slurmd_runs
                        for name in self._shape.nodes() if name in self._nodes}  # fmt: skip

    def _need_controller(self) -> None:
        """Raise TestbedError if a daemon died without which no node can come back."""
        for name in self._daemons.dead():
            raise TestbedError(f"{name} died: restore it first with `testbed controller --restore`")

    def _restore_controller(self) -> None:
        """Start the daemons that died. The controller continues with the jobs that it had."""
        for name in self._daemons.dead():
            self._daemons.start(name)
        self._wait_for_controller()
        states = daemons.answered_states(_START_TIMEOUT_S)
        drained = [name for name, slurm in states.items() if slurm.is_drained]
        running = [node for node in self._nodes.values() if node.slurmd_runs]
        self._wait_for_nodes([node for node in running if node.name not in drained])
        for name in drained:
            raise TestbedError(
                f"the controller is restored, but Slurm drained {name}"
                f" ({states[name].reason}): `testbed node {name} --restore` starts it again"
            )

    def _change_uplink(self, host: str, changes: Message) -> None:
        if host not in self._shape.hosts:
            raise TestbedError(
                f"host {host} does not exist; there are {', '.join(self._shape.hosts)}"
            )
        there = [node for node in self._nodes.values() if node.is_alive]
        nodes = [node for node in there if self._shape.host_of(node.name) == host]
        pids = [node.pid for node in nodes]
        if changes.pop("restore", False):
            self._fabric.restore(host, pids)
            self._need_controller()
            nodes = [node for node in nodes if node.slurmd_runs]
            for node in nodes:
                node.report()
            self._wait_for_nodes(nodes)
        else:
            self._fabric.change(host, pids, **changes)

    def _powered(self, name: str) -> Node:
        """Return a node that is on; TestbedError if it is off or does not exist."""
        self._check_node(name)
        if name not in self._nodes:
            raise TestbedError(f"node {name} is off: `testbed node {name} --restore` starts it")
        node = self._nodes[name]
        if not node.is_alive:
            raise node.dead()
        return node

    def _check_node(self, name: str) -> None:
        if name not in self._shape.nodes():
            raise TestbedError(
                f"node {name} does not exist; there are {', '.join(self._shape.nodes())}"
            )

    def _change_node(self, name: str, action: str) -> None:
        self._check_node(name)
        if action == "restore":
            self._need_controller()
            self._power_off(name)
            daemons.take_down(name)
            self._start_node(name)
            self._plug(self._nodes[name])
            self._nodes[name].controller_listens()
            self._wait_for_nodes([self._nodes[name]])
        elif action == "off":
            self._powered(name)
            self._power_off(name)
        elif action == "kill-slurmd":
            self._powered(name).kill_slurmd()

    def _power_off(self, name: str) -> None:
        node = self._nodes.pop(name, None)
        if node is not None:
            self._fabric.unplug(name)
            node.power_off()


if __name__ == "__main__":
    main()
