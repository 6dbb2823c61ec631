"""Faults while a testbed runs: cut or slow uplinks, broken nodes, and how to restore them."""

from __future__ import annotations

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

#: The daemons of the controller.
DAEMONS = ("munged", "slurmctld")


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


def change_node(instance: Instance, node: str, action: str) -> None:
    """Do one of `NODE_ACTIONS`. A restore starts the node again and waits until Slurm has it."""
    instances.ask(instance, {"do": "node", "node": node, "action": action})


def kill_daemon(instance: Instance, daemon: str) -> None:
    """Kill one of the controller's `DAEMONS`; jobs continue."""
    instances.ask(instance, {"do": "controller", "kill": daemon})


def restore_controller(instance: Instance) -> None:
    """Start those of the controller's daemons that died, and wait until Slurm has its nodes."""
    instances.ask(instance, {"do": "controller", "restore": True})


def throttle_node(instance: Instance, node: str, percent: int) -> None:
    """Let a node's processes run only for `percent` of the time, until the node is restored."""
    check_percent(percent)
    instances.ask(instance, {"do": "node", "node": node, "action": "throttle", "percent": percent})
