"""Arguments and options that several verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cores import VARIABLE, is_cluster
from switchpoint.errors import InputError


def _use_cluster(scheduler: str | None) -> str | None:
    """Let all work by curve or by file go to a cluster."""
    if scheduler is not None:
        with user_mistakes():
            if not is_cluster(scheduler):
                raise InputError(
                    "--scheduler",
                    f"'{scheduler}' is no scheduler; give its address, such as tcp://login1:8786,"
                    " or the JSON file that it writes",
                )
        os.environ[VARIABLE] = scheduler
    return scheduler


Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        readable=False,  # a file that may not be read costs only itself
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
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        callback=_use_cluster,
        help="Work on the Dask cluster with this scheduler: its address, such as"
        " tcp://login1:8786, or its JSON file.",
        show_default=False,
    ),
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
        metavar="SELECTION",
        help="Columns, such as site=NAME,mpi=NAME, run=ID, session=ID, since=DATE,until=DATE, or a"
        " file or folder. Default: the store.",
        show_default=False,
    ),
]

#: Of verbs that use a site model.
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `model fit` wrote.")]
Mpi = Annotated[
    str | None, typer.Option("--mpi", metavar="NAME", help="The MPI, if there are several.")
]
Environ = Annotated[
    str | None,
    typer.Option("--environ", metavar="NAME", help="The environment, if there are several."),
]
Partition = Annotated[
    str | None,
    typer.Option("--partition", metavar="NAME", help="The partition, if there are several."),
]
MpichLibrary = Annotated[
    Path | None,
    typer.Option(
        "--mpich-library",
        metavar="FILE",
        help="MPICH's libmpich.so, whose other decisions the selection file keeps.",
        show_default=False,
    ),
]
Within = Annotated[
    str,
    typer.Option(
        "--within", metavar="PLACEMENT", help="The placement whose path ranks of one node use."
    ),
]
