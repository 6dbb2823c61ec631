"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Run records, tidy CSV, output of OSU, IMB or NetPIPE, also gzipped, or folders with"
        " such files. Default: the store.",
        show_default=False,
    ),
]
Store = Annotated[
    str, typer.Option("--store", metavar="URL", help="The store: a folder or an fsspec URL.")
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="From the store: only runs that started at this UTC date or time, such as 2026-11-20"
        " or 2026-11-20T18:30, or later.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="From the store: only runs that started before this UTC date or time.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
