"""The `testbed` command: a real Slurm cluster on this machine, and faults for it."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Optional

import typer

from testbed import faults
from testbed import instance as instances
from testbed.errors import TestbedError
from testbed.shape import DEFAULT, load

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A real Slurm cluster on this machine, in namespaces: no container engine.",
)

Name = Annotated[str, typer.Option("--name", help="Which testbed; several may run at once.")]


def main() -> None:
    """Run the command; a TestbedError becomes one line and exit code 2."""
    try:
        app()
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        sys.exit(2)


@app.command()
def up(
    name: Name = "main",
    shape: Annotated[str, typer.Option(help="A shape file, or a shipped shape.")] = DEFAULT,
) -> None:
    """Start a testbed, and return when all its nodes are idle."""
    instance = instances.locate(name)
    wanted = load(shape)
    fresh = instances.up(instance, wanted)
    nodes = ", ".join(wanted.nodes())
    print(f"testbed {name} {'is up' if fresh else 'was already up'}: {nodes}")
    print(f'use it with: export PATH="{instance.binaries}:$PATH"')


@app.command()
def down(
    name: Name = "main",
    every: Annotated[bool, typer.Option("--all", help="End all of this repository.")] = False,
) -> None:
    """End a testbed and remove all its files."""
    chosen = list(instances.all_instances()) if every else [instances.locate(name)]
    ended = [instance.name for instance in chosen if instances.down(instance)]
    print(f"ended: {', '.join(ended)}" if ended else "nothing to do: no testbed is up")


@app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": False})
def exec(
    context: typer.Context,
    name: Name = "main",
    node: Annotated[Optional[str], typer.Option(help="On this node.")] = None,  # noqa: UP045
) -> None:
    """Run a command inside, on the controller or a node: testbed exec -- sinfo."""
    if not context.args:
        raise TestbedError("no command: testbed exec [--node NODE] -- COMMAND...")
    instances.enter(instances.locate(name), node, context.args)


@app.command()
def status(
    name: Name = "main",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show nodes and uplinks; exit code 1 if the testbed is down."""
    instance = instances.locate(name)
    is_up = instance.pid is not None
    facts = {"name": name, "up": is_up, **(instances.status(instance) if is_up else {})}
    facts |= {"folder": str(instance.folder), "bin": str(instance.binaries)} if is_up else {}
    if as_json:
        print(json.dumps(facts, indent=2))
    elif is_up:
        _print_status(facts)
    else:
        left = f"; `testbed down` removes {instance.folder}" if instance.folder.exists() else ""
        print(f"testbed {name} is down{left}")
    if not is_up:
        raise typer.Exit(1)


def _print_status(facts: dict[str, Any]) -> None:
    dead = [daemon for daemon, alive in facts["daemons"].items() if not alive]
    print(f"testbed {facts['name']} is up" + (f", but {', '.join(dead)} died" if dead else ""))
    _print_table(
        ("node", "host", "address", "power", "state"),
        [
            (*_pick(n, "node", "host", "address"), _on(n["power"]), n["state"])
            for n in facts["nodes"]
        ],
    )
    _print_table(
        ("host", "uplink", "rate", "delay", "mtu"),
        [
            (u["host"], "cut" if u["cut"] else "up", u["rate"], u["delay"] or "-", str(u["mtu"]))
            for u in facts["uplinks"]
        ],
    )
    print(f"commands in {facts['bin']}, logs in {facts['folder']}/logs")


def _pick(entry: dict[str, Any], *keys: str) -> list[str]:
    return [str(entry[key]) for key in keys]


def _on(power: bool) -> str:
    return "on" if power else "off"


def _print_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        print("  " + "  ".join(map(str.ljust, row, widths)).rstrip())


@app.command()
def uplink(
    host: Annotated[str, typer.Argument(help="Such as a.")],
    name: Name = "main",
    cut: Annotated[bool, typer.Option("--cut", help="Take the link down.")] = False,
    restore: Annotated[bool, typer.Option("--restore", help="As the shape says.")] = False,
    rate: Annotated[Optional[str], typer.Option(help="Such as 100mbit.")] = None,  # noqa: UP045
    delay: Annotated[Optional[str], typer.Option(help="Such as 50us; needs netem.")] = None,  # noqa: UP045
    mtu: Annotated[Optional[int], typer.Option(help="Bytes, on all of the host.")] = None,  # noqa: UP045
) -> None:
    """Cut, slow or restore the link between a host and the others."""
    if restore == (cut or rate is not None or delay is not None or mtu is not None):
        raise TestbedError("uplink: give --restore alone, or any of --cut, --rate, --delay, --mtu")
    instance = instances.locate(name)
    if restore:
        faults.restore_uplink(instance, host)
    else:
        faults.change_uplink(instance, host, cut=cut, rate=rate, delay=delay, mtu=mtu)


@app.command()
def node(
    node: Annotated[str, typer.Argument(help="Such as a1.")],
    name: Name = "main",
    kill_slurmd: Annotated[bool, typer.Option("--kill-slurmd", help="Kill its slurmd.")] = False,
    off: Annotated[bool, typer.Option("--off", help="As if its power failed.")] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Start it anew.")] = False,
) -> None:
    """Break a node, or bring it back."""
    asked = [
        a for a, on in zip(faults.NODE_ACTIONS, (kill_slurmd, off, restore), strict=True) if on
    ]
    if len(asked) != 1:
        raise TestbedError("node: give one of --kill-slurmd, --off, --restore")
    faults.change_node(instances.locate(name), node, asked[0])
