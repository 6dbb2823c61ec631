"""Faults while a testbed runs: cut or slow uplinks, broken nodes, and how to restore them."""

from __future__ import annotations

import time
from typing import Any

from testbed import instance as instances
from testbed.errors import TestbedError
from testbed.instance import Instance
from testbed.shape import check_delay, check_mtu, check_rate
from testbed.throttle import check_percent

#: What can be done to a node, with the help text.
NODE_ACTIONS = {
    "kill-slurmd": "kill its slurmd; other processes on the node continue",
    "off": "end all its processes at once, as in a power failure",
    "restore": "start it again, and return when Slurm has it back",
}

_USABLE = {"idle", "mixed", "allocated", "completing"}
_RESTORE_TIMEOUT_S = 60.0
_POLL_S = 0.05


def change_uplink(instance: Instance, host: str, **changes: Any) -> None:
    """Change a host's uplink until it is restored.

    Parameters
    ----------
    changes
        Any of ``cut`` (bool), ``rate`` and ``delay`` (in tc's units), ``mtu`` (bytes).
    """
    try:
        if "rate" in changes:
            check_rate(changes["rate"])
        if "delay" in changes:
            check_delay(changes["delay"])
        if "mtu" in changes:
            check_mtu(changes["mtu"])
    except ValueError as error:
        raise TestbedError(str(error)) from None
    instances.ask(instance, {"do": "uplink", "host": host, **changes})


def restore_uplink(instance: Instance, host: str) -> None:
    """Restore a host's uplink to its shape, and wait until Slurm has its nodes back."""
    instances.ask(instance, {"do": "uplink", "host": host, "restore": True})
    _wait_until_usable(instance, "host", host)


def change_node(instance: Instance, node: str, action: str) -> None:
    """Do one of `NODE_ACTIONS`. A restore starts the node again and waits until Slurm has it."""
    instances.ask(instance, {"do": "node", "node": node, "action": action})
    if action == "restore":
        _wait_until_usable(instance, "node", node)


def throttle_node(instance: Instance, node: str, percent: int) -> None:
    """Let a node's processes run only for `percent` of the time, until the node is restored."""
    check_percent(percent)
    instances.ask(instance, {"do": "node", "node": node, "action": "throttle", "percent": percent})


def _wait_until_usable(instance: Instance, key: str, value: str) -> None:
    deadline = time.monotonic() + _RESTORE_TIMEOUT_S
    while True:
        states: dict[str, Any] = {
            entry["node"]: entry["state"]
            for entry in instances.status(instance)["nodes"]
            if entry[key] == value and entry["power"]
        }
        late = [node for node, state in states.items() if state not in _USABLE]
        if not late:
            return
        if time.monotonic() > deadline:
            raise TestbedError(
                f"node {late[0]} is not back within {_RESTORE_TIMEOUT_S:.0f} s, but "
                f"{states[late[0]]}: see {instance.folder}/logs/slurmd-{late[0]}.log"
            )
        time.sleep(_POLL_S)
