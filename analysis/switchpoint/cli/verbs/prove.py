"""`switchpoint prove`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.options import Json
from switchpoint.cli.result import Result, verb


@verb
def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND...",
            help="The command that starts the kernel zoom on two ranks, such as"
            " `mpirun -n 2 build/mine/bin/zoom`.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the records are written.")
    ] = Path("proof"),
    setting: Annotated[
        str | None,
        typer.Option(
            "--setting",
            metavar="NAME",
            help="Change this setting first. Default: the likeliest.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="MODE:LAST",
            help="A step of this mode after LAST bytes, such as send:92, in place of the end of the"
            " eager protocol.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="Start no trial later than this.")
    ] = "3m",
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME=VALUE",
            help="A label of each record; repeatable.",
            show_default=False,
        ),
    ] = None,
    catalogue: Annotated[
        Path | None,
        typer.Option(
            "--learn",
            metavar="FILE",
            help="Add the setting that is confirmed to this catalogue of the site.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> Result:
    """Find the setting that causes a switch, by changing settings and measuring again."""
    from switchpoint.cli.confirming import seconds_of
    from switchpoint.explanation.own_catalogue import check_catalogue
    from switchpoint.proving.prove import prove
    from switchpoint.reporting.json import switches_as_json
    from switchpoint.reporting.terminal.proof import print_proof

    if catalogue is not None:
        check_catalogue(catalogue)
    _end_as_ctrl_c_does()
    options = [f"--label={label}" for label in labels or ()]
    tell = (lambda line: None) if as_json else show
    proof = prove(words, folder, setting, step, seconds_of(budget), options, tell)
    learned = [] if catalogue is None else proof.learn(catalogue)

    def show_all_forms() -> None:
        print_proof(proof)
        for entry in learned:
            show(f"learned in {catalogue}: {entry.variable}")

    return Result(
        show_all_forms,
        lambda: {
            "switches": switches_as_json(proof.switches),
            "trials": proof.trials,
            "seconds": proof.seconds,
            "records": [str(record) for record in proof.records],
            "learned": [entry.variable for entry in learned],
        },
    )


def _end_as_ctrl_c_does() -> None:
    """Let what ends this command end the ranks that it started too, unless it is to be ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
