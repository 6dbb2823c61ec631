"""Arguments and options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Run records, tidy CSV, output of OSU, IMB or NetPIPE, plain or gzipped, or folders"
        " of such. Without: the store.",
        show_default=False,
    ),
]
Store = Annotated[
    str, typer.Option("--store", metavar="URL", help="The store: a folder or an fsspec URL.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
