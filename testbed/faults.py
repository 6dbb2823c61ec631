"""Faults while a testbed runs: uplinks cut or slowed, nodes broken, and all of it mended."""

from __future__ import annotations

import time
from typing import Any

from testbed import instance as instances
from testbed.errors import TestbedError
from testbed.instance import Instance
from testbed.shape import check_delay, check_mtu, check_rate

#: What can be done to a node.
NODE_ACTIONS = ("kill-slurmd", "off", "restore")

_USABLE = {"idle", "mixed", "allocated", "completing"}
_RESTORE_TIMEOUT_S = 60.0
_POLL_S = 0.05


def change_uplink(
    instance: Instance,
    host: str,
    *,
    cut: bool = False,
    rate: str | None = None,
    delay: str | None = None,
    mtu: int | None = None,
) -> None:
    """Cut a host's uplink or change its rate, delay (tc's words) or mtu (bytes) till restored."""
    try:
        if rate is not None:
            check_rate(rate)
        if delay is not None:
            check_delay(delay)
        if mtu is not None:
            check_mtu(mtu)
    except ValueError as error:
        raise TestbedError(str(error)) from None
    asked = {"cut": cut or None, "rate": rate, "delay": delay, "mtu": mtu}
    changes = {key: value for key, value in asked.items() if value is not None}
    instances.ask(instance, {"do": "uplink", "host": host, **changes})


def restore_uplink(instance: Instance, host: str) -> None:
    """Make a host's uplink again as its shape says, and wait until Slurm has its nodes back."""
    instances.ask(instance, {"do": "uplink", "host": host, "restore": True})
    _wait_until_usable(instance, "host", host)


def change_node(instance: Instance, node: str, action: str) -> None:
    """Do one of `NODE_ACTIONS`; restoring starts the node anew and waits until Slurm has it."""
    instances.ask(instance, {"do": "node", "node": node, "action": action})
    if action == "restore":
        _wait_until_usable(instance, "node", node)


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
