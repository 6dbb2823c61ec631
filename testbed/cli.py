"""The `testbed` command: a real Slurm cluster on this machine, and faults for it."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Optional

import typer

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
def exec(  # noqa: A001
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
    print(json.dumps(instances.status(instance)))
