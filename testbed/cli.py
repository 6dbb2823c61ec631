"""The `testbed` command: a real Slurm cluster on this machine, and faults for it.

It uses argparse: commands are called often, and a larger library would cost 0.3 s each time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import Any, NoReturn

from switchpoint.cli.streams import BAD, check_streams, failures_in_words, say

from testbed import faults
from testbed import instance as instances
from testbed.errors import TestbedError
from testbed.shape import DEFAULT, load


def main() -> None:
    """Run the command; a TestbedError becomes one line and exit code 2."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `testbed status | head` ends quietly
    check_streams("testbed")
    try:
        with failures_in_words("testbed"):
            _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> NoReturn:
    try:
        arguments = command_line().parse_args()
        sys.exit(arguments.run(arguments))
    except TestbedError as error:
        say(str(error), "testbed")
        sys.exit(BAD)
    finally:
        sys.stdout.flush()


class _Parser(argparse.ArgumentParser):
    """Prints an error in one line."""

    def error(self, message: str) -> NoReturn:
        raise TestbedError(f"{message}; see `{self.prog} --help`")


def command_line() -> _Parser:
    """Describe the command with its verbs and options."""
    parser = _Parser(
        prog="testbed",
        description="A real Slurm cluster on this machine, made of namespaces.",
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(metavar="COMMAND", required=True)

    up = _verb(verbs, "up", _up, "start a testbed, and return when its nodes are idle")
    up.add_argument(
        "--shape",
        metavar="FILE",
        default=DEFAULT,
        help="a file, or an included shape: two-hosts (default), four-hosts, slow-uplinks,"
        " shared-ethernet",
    )

    down = _verb(verbs, "down", _down, "end a testbed and remove all its files")
    down.add_argument("--all", action="store_true", help="end all testbeds of this repository")

    status = _verb(
        verbs,
        "status",
        _status,
        "show nodes and uplinks; exit code 1 if it is down, a daemon died or Slurm drained a node",
    )
    status.add_argument("--json", action="store_true", help="for programs")

    enter = _verb(
        verbs, "exec", _exec, "run a command inside, in the same folder: testbed exec -- sinfo"
    )
    enter.add_argument("--node", help="on this node; without it, on the controller")
    enter.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")

    _add_faults(verbs)
    return parser


def _add_faults(verbs: Any) -> None:
    uplink = _verb(verbs, "uplink", _uplink, "cut, slow or restore a host's link to the others")
    uplink.add_argument("host", metavar="HOST", help="such as a")
    uplink.add_argument("--cut", action="store_true", help="take the link down")
    uplink.add_argument("--rate", help="bandwidth in both directions, such as 100mbit")
    uplink.add_argument("--delay", help="each way, such as 50us; needs a kernel with netem")
    uplink.add_argument("--mtu", type=int, help="in bytes, of the host's uplink and all its nodes")
    uplink.add_argument("--restore", action="store_true", help="restore what the shape says")

    node = _verb(verbs, "node", _node, "break, slow or restore a node")
    node.add_argument("node", metavar="NODE", help="such as a1")
    action = node.add_mutually_exclusive_group(required=True)
    for name, does in faults.NODE_ACTIONS.items():
        action.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=does)
    action.add_argument(
        "--throttle", metavar="PERCENT", type=int, help="let its processes run PERCENT of the time"
    )

    controller = _verb(verbs, "controller", _controller, "kill or restore the controller's daemons")
    act = controller.add_mutually_exclusive_group(required=True)
    act.add_argument("--kill", choices=faults.DAEMONS, help="kill this daemon; jobs continue")
    act.add_argument("--restore", action="store_true", help="start those that died")


def _verb(verbs: Any, name: str, run: Any, does: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=does, description=f"{does[0].upper()}{does[1:]}.", allow_abbrev=False
    )
    parser.add_argument(
        "--name",
        default=os.environ.get("TESTBED_NAME") or "main",
        help="the testbed; several may run at the same time (TESTBED_NAME, or main)",
    )
    parser.set_defaults(run=run)
    return parser


def _up(arguments: argparse.Namespace) -> int:
    instance = instances.locate(arguments.name)
    shape = load(arguments.shape)
    fresh = instances.up(instance, shape)
    nodes = ", ".join(shape.nodes())
    print(f"testbed {instance.name} {'is up' if fresh else 'was already up'}: {nodes}")
    print(f'use it with: export PATH="{instance.binaries}:$PATH"')
    return 0


def _down(arguments: argparse.Namespace) -> int:
    named = [instances.locate(arguments.name)]
    chosen = list(instances.all_instances()) if arguments.all else named
    ended = [instance.name for instance in chosen if instances.down(instance)]
    if ended:
        print(f"ended: {', '.join(ended)}")
    else:
        others = filter(None, map(instances.elsewhere, [] if arguments.all else named))
        print("; ".join(["nothing to do: no such testbed is up here", *others]))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    instance = instances.locate(arguments.name)
    is_up = instance.pid is not None
    facts: dict[str, Any] = {"name": instance.name, "up": is_up}
    if is_up:
        facts |= {"folder": str(instance.folder), "bin": str(instance.binaries)}
        facts |= instances.status(instance)
    if arguments.json:
        print(json.dumps(facts, indent=2))
    elif is_up:
        _print_status(facts)
    else:
        left = f", but {instance.folder} remains" if instance.folder.exists() else ""
        other = instances.elsewhere(instance)
        print(f"testbed {instance.name} is down{left}" + (f"; {other}" if other else ""))
    return 0 if is_up and not instances.troubles(facts) else 1


def _print_status(facts: dict[str, Any]) -> None:
    trouble = instances.troubles(facts)
    print(f"testbed {facts['name']} is up" + (f", but {trouble}" if trouble else ""))
    nodes = [
        (node["node"], node["host"], node["address"], _power(node), node["state"])
        for node in facts["nodes"]
    ]
    _print_table(("node", "host", "address", "power", "state"), nodes)
    uplinks = [
        (link["host"], "cut" if link["cut"] else "up", link["rate"], link["delay"], link["mtu"])
        for link in facts["uplinks"]
    ]
    _print_table(("host", "uplink", "rate", "delay", "mtu"), uplinks)
    print(f"commands in {facts['bin']}, logs in {facts['folder']}/logs")


def _power(node: dict[str, Any]) -> str:
    if percent := node["throttle_percent"]:
        return f"{percent} %"
    return "on" if node["power"] else "off"


def _print_table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    texts = [head, *(["-" if cell is None else str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        print("  " + "  ".join(map(str.ljust, row, widths)).rstrip())


def _exec(arguments: argparse.Namespace) -> int:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise TestbedError("no command: testbed exec [--node NODE] -- COMMAND")
    instances.enter(instances.locate(arguments.name), arguments.node, command)


def _uplink(arguments: argparse.Namespace) -> int:
    instance = instances.locate(arguments.name)
    changes = {
        "cut": arguments.cut or None,
        "rate": arguments.rate,
        "delay": arguments.delay,
        "mtu": arguments.mtu,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    if arguments.restore == bool(changes):
        raise TestbedError("uplink: give --restore alone, or any of --cut, --rate, --delay, --mtu")
    if arguments.restore:
        faults.restore_uplink(instance, arguments.host)
    else:
        faults.change_uplink(instance, arguments.host, **changes)
    return 0


def _controller(arguments: argparse.Namespace) -> int:
    instance = instances.locate(arguments.name)
    if arguments.restore:
        faults.restore_controller(instance)
    else:
        faults.kill_daemon(instance, arguments.kill)
    return 0


def _node(arguments: argparse.Namespace) -> int:
    instance = instances.locate(arguments.name)
    if arguments.throttle is not None:
        faults.throttle_node(instance, arguments.node, arguments.throttle)
    else:
        faults.change_node(instance, arguments.node, arguments.action)
    return 0
