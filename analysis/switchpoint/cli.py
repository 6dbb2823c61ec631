"""The `switchpoint` command: what a person types, what is printed, and the exit code.

Exit codes: 0 done; 1 findings that fail a gate; 2 bad usage or bad data.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from switchpoint.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.measurements import Measurements

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find protocol switches in curves of MPI time against message size.",
)

_BAD = 2

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE...", help="Run records, tidy CSV, NetPIPE output; plain or gzipped."
    ),
]
Store = Annotated[str, typer.Option("--store", help="The store: a folder or an fsspec URL.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def main() -> None:
    """Run the command."""
    app()


@app.command("detect")
def detect_command(files: Files = None, store: Store = "results", as_json: Json = False) -> None:
    """Find steps and changes of slope in the curves of FILES, or of the store's latest runs."""
    with _user_mistakes():
        measurements = _load(files, store)
        from switchpoint.detection import detect

        findings = detect(measurements)
        _warn(measurements.warnings)
        if as_json:
            _print_json({"findings": findings_as_json(findings)})
        else:
            from switchpoint.terminal import print_findings

            print_findings(findings, measurements)


@app.command("report")
def report_command(
    files: Files = None,
    store: Store = "results",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the page.")] = Path(
        "report"
    ),
    as_json: Json = False,
) -> None:
    """Write one offline HTML page from FILES, or from the store's latest runs."""
    with _user_mistakes():
        measurements = _load(files, store)
        from switchpoint.reporting import report

        page = report(measurements, output)
        _warn(measurements.warnings)
        if as_json:
            _print_json({"report": str(page)})
        else:
            print(page)


@app.command("import")
def import_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What to store.")],
    store: Store = "results",
    as_json: Json = False,
) -> None:
    """Recognise FILES by content and keep them in the store; the same file twice counts once."""
    with _user_mistakes():
        from switchpoint.importing import read_files
        from switchpoint.store import Store as Kept

        gathered = read_files(files)
        for failure in gathered.failures:
            print(f"switchpoint: {failure}", file=sys.stderr)
        if gathered.measurements is None:
            raise typer.Exit(_BAD)
        added = Kept(store).add(gathered.measurements)
        _warn(gathered.measurements.warnings)
        counts = {
            "added": added,
            "already_stored": len(gathered.measurements.runs) - added,
            "failed": [str(failure) for failure in gathered.failures],
        }
        if as_json:
            _print_json(counts)
        else:
            print(f"{added} runs added to {store}, {counts['already_stored']} were already there")


def findings_as_json(findings: pd.DataFrame) -> list[dict[str, Any]]:
    """Shape findings as documented in docs/reference/findings.md, the curve as its own object."""
    from switchpoint.shapes import FINDING_COLUMNS, identity_columns

    identity = [name for name in identity_columns(findings) if name != "run_id"]
    return [
        {name: row[name] for name in FINDING_COLUMNS}
        | {"curve": {name: row[name] for name in identity if isinstance(row[name], str)}}
        | {"run_id": row["run_id"]}
        for row in findings.to_dict("records")
    ]


def _load(files: list[Path] | None, store: str) -> Measurements:
    """Measurements of the files given, or of the store; raises InputError if nothing is usable."""
    from switchpoint.importing import read_files

    if not files:
        from switchpoint.store import Store as Kept

        return Kept(store).latest()
    gathered = read_files(files)
    for failure in gathered.failures:
        print(f"switchpoint: {failure}", file=sys.stderr)
    if gathered.measurements is None:
        raise typer.Exit(_BAD)
    return gathered.measurements


def _warn(warnings: list[str]) -> None:
    for warning in warnings:
        print(f"switchpoint: warning: {warning}", file=sys.stderr)


def _print_json(content: object) -> None:
    print(json.dumps(content, indent=2))


@contextmanager
def _user_mistakes() -> Iterator[None]:
    """Turn what a user can mend into one line and exit code 2."""
    try:
        yield
    except InputError as error:
        print(f"switchpoint: {error}", file=sys.stderr)
        raise typer.Exit(_BAD) from None
