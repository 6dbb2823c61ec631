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
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
Last = Annotated[
    int,
    typer.Option(
        "--last",
        metavar="N",
        min=1,
        help="From the store: the newest N sessions of each curve, unless a selection names runs, a"
        " session or a time.",
    ),
]
Selections = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SELECTION]...",
        help="Columns, such as site=NAME,mpi=NAME, run=ID, session=ID, since=DATE,until=DATE, or a"
        " file or folder. Default: the store.",
        show_default=False,
    ),
]
