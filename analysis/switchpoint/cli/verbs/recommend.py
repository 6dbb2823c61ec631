"""`switchpoint model recommend`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.inputs import load_from
from switchpoint.cli.options import Environ, Model, Mpi, MpichLibrary, Partition, Within
from switchpoint.cli.result import Result, verb
from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError


@verb
def recommend(
    model: Model,
    placement: Annotated[
        str, typer.Option("--placement", metavar="NAME", help="Where the ranks are.")
    ],
    about: Annotated[
        str,
        typer.Option(
            "--about", metavar="NAMES", help="What to answer: broadcast, exchange, map, grain."
        ),
    ] = "broadcast,exchange,map,grain",
    ranks: Annotated[
        str, typer.Option("--ranks", metavar="LIST", help="Numbers of ranks, such as 4,8.")
    ] = "4",
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            metavar="N",
            min=1,
            help="Number of nodes. Default: as measured.",
            show_default=False,
        ),
    ] = None,
    cores: Annotated[
        int | None,
        typer.Option(
            "--cores",
            metavar="N",
            min=1,
            help="Cores of each node. Default: as measured.",
            show_default=False,
        ),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(
            "--sizes",
            metavar="SIZES",
            help="Sizes in bytes, such as 1K,64K. Default: powers of two up to the largest measured"
            " size or 1 MiB; for map and grain those of the studies.",
        ),
    ] = "",
    sort_ranks: Annotated[
        int, typer.Option("--sort-ranks", metavar="N", min=3, help="Ranks of the merge sort.")
    ] = 7,
    own_kernels: Annotated[
        bool,
        typer.Option(
            "--own-kernels", help="Compare the kernels' algorithms, not those of the MPI library."
        ),
    ] = False,
    mpi: Mpi = None,
    environ: Environ = None,
    partition: Partition = None,
    within: Within = "one_node",
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="FOLDER",
            help="Write files that the MPI library and Slurm read.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="With --write: replace files that others wrote, too.")
    ] = False,
    mpich_library: MpichLibrary = None,
    hosts: Annotated[
        str,
        typer.Option("--hosts", metavar="NAMES", help="The nodes' names, for Slurm's host file."),
    ] = "",
    checked: Annotated[
        str | None,
        typer.Option(
            "--checked",
            metavar="URL",
            help="A store or file with launches that use the written files beside launches without"
            " them; what does not win is withdrawn.",
            show_default=False,
        ),
    ] = None,
) -> Result:
    """Recommend algorithms, process maps and grains from MODEL alone."""
    from switchpoint.models.advice_files import write_advice
    from switchpoint.models.kernel_arguments import sizes_from
    from switchpoint.models.recommend import recommend as recommend_from
    from switchpoint.models.site_model import load_model
    from switchpoint.reporting.recommendations import recommendation_as_json
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.reporting.terminal.recommend import print_recommendation, print_written

    with progress("predicting"):
        recommendation = recommend_from(
            load_model(model),
            placement=placement,
            about=_names(about),
            ranks=_counts(ranks),
            nodes=nodes,
            cores=cores,
            sizes_bytes=sizes_from(sizes),
            sort_ranks=sort_ranks,
            own_kernels=own_kernels,
            within=within,
            mpi=mpi,
            environ=environ,
            partition=partition,
        )
    warnings: list[DataWarning] = []
    if checked is not None:
        from switchpoint.models.checked import check_advice

        measurements, warnings = load_from(checked)
        recommendation = check_advice(recommendation, measurements, checked, mpich_library)
    written = []
    if write is not None:
        written = write_advice(recommendation, write, mpich_library, _names(hosts), force=force)

    def show() -> None:
        print_recommendation(recommendation)
        if write is not None:
            print_written(written)

    return Result(show, lambda: recommendation_as_json(recommendation, written), warnings=warnings)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _counts(text: str) -> list[int]:
    counts = []
    for word in _names(text):
        if not word.isdecimal() or int(word) < 2:
            raise InputError("--ranks", f"'{word}' is not a number of 2 or more, such as 4,8")
        counts.append(int(word))
    if not counts:
        raise InputError("--ranks", "names no number; write such as 4,8")
    return sorted(set(counts))
