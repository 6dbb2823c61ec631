"""The `switchpoint` command. Each verb is in the file of its name in `verbs/`."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

import typer

from switchpoint.cli.exits import BAD, INTERRUPTED, say
from switchpoint.cli.verbs import (
    accept,
    algorithms,
    bundle,
    catalogue,
    checks,
    claims,
    compare,
    detect,
    doctor,
    explain,
    gate,
    import_files,
    init_site,
    ladder,
    model,
    plan,
    prove,
    reach,
    references,
    report,
    reproduce,
    store,
    studies,
    tools,
    tune,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


#: What Typer raises for a mistake in the words of the command. Only its subclass has a public name.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def run() -> None:
    """Run the command."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `switchpoint detect | head` ends quietly
    try:
        try:
            code = app(standalone_mode=False)
            if code == INTERRUPTED:  # so Typer words Ctrl-C
                say("interrupted")
            sys.exit(code)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # before Typer words it, while it reads the options' types
        say("interrupted")
        sys.exit(INTERRUPTED)
    except typer.Abort:  # Ctrl-C at a question
        sys.exit(INTERRUPTED)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a command without any words
            print(error)
        else:
            say(_told(error))
        sys.exit(BAD)


def _told(error: Any) -> str:
    """Return one line about a mistake in the words of the command."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    command = error.ctx.command_path if error.ctx else "switchpoint"
    return f"{message}; `{command} -h` shows what it takes"


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"switchpoint {version('switchpoint')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find protocol switches in curves of MPI time against message size."""


# In the order of `switchpoint --help`.
app.command("import")(import_files.command)
app.command("detect")(detect.command)
app.command("claims")(claims.command)
app.command("studies")(studies.command)
app.command("explain")(explain.command)
app.command("plan")(plan.command)
app.command("prove")(prove.command)
app.command("gate")(gate.command)
app.command("accept")(accept.command)
app.command("references")(references.command)
app.command("report")(report.command)
app.command("compare")(compare.command)
app.command("bundle")(bundle.command)
app.command("ladder")(ladder.command)
app.command("reach")(reach.command)
app.command("algorithms")(algorithms.command)
app.command("tune")(tune.command)
app.command("tools")(tools.command)
app.command("reproduce")(reproduce.command)
app.command("doctor")(doctor.command)
app.command("checks")(checks.command)

app.add_typer(model.app, name="model")
app.add_typer(store.app, name="store")
app.add_typer(catalogue.app, name="catalogue")

init = typer.Typer(no_args_is_help=True, help="Write the settings of a new site.")
init.command("site")(init_site.command)
app.add_typer(init, name="init")
