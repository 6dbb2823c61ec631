"""`switchpoint model fit | predict | recommend | export`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.inputs import fresh_warnings, load_all, load_from
from switchpoint.cli.options import Environ, Files, Model, Mpi, Partition, Store, Within
from switchpoint.cli.result import Result, verb
from switchpoint.cli.verbs.recommend import recommend
from switchpoint.data_warnings import DataWarning

if TYPE_CHECKING:
    from switchpoint.models.site_model import SiteModel

app = typer.Typer(
    no_args_is_help=True,
    help="Fit a model of a site, predict kernels from it, recommend algorithms, export it.",
)
app.command("recommend")(recommend)


@app.command("fit")
@verb
def fit(
    files: Files = None,
    store: Store = "results",
    site: Annotated[
        str | None, typer.Option("--site", metavar="NAME", help="The site, if there are several.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")
    ] = Path("site-model.yaml"),
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Predict the site's runs of other kernels, and keep the errors for intervals.",
        ),
    ] = False,
) -> Result:
    """Fit start time and time per byte to each segment of a site's ping-pong curves."""
    measurements = load_all(files, store)
    from switchpoint.models.calibration import calibrated
    from switchpoint.models.fitting import fit_model
    from switchpoint.models.site_model import save_model
    from switchpoint.reporting.terminal.model import print_model
    from switchpoint.reporting.terminal.progress import progress

    with progress("fitting"):
        model = fit_model(measurements, site, str(files[0]) if files else store)
        model = calibrated(model, measurements) if calibrate else model
    save_model(model, output)

    def show_all_forms() -> None:
        print_model(model)
        show(output)

    return Result(
        show_all_forms,
        lambda: {"model": str(output)} | model.model_dump(mode="json"),
        warnings=[*fresh_warnings(measurements, files), *_limits(model.notes)],
    )


@app.command("predict")
@verb
def predict(
    model: Model,
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL", help="Such as ring, broadcast, alltoall, mergesort.")
    ],
    placement: Annotated[
        str, typer.Option("--placement", metavar="NAME", help="Where the ranks are.")
    ] = "one_node",
    modes: Annotated[
        str, typer.Option("--mode", metavar="NAMES", help="Modes of the kernel. Default: all.")
    ] = "",
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="SIZES", help="Message sizes, such as 1K,64K.")
    ] = "",
    ranks: Annotated[
        int | None, typer.Option("--ranks", metavar="N", min=1, help="Number of ranks.")
    ] = None,
    process_map: Annotated[
        str | None,
        typer.Option("--map", metavar="MAP", help="The node of each rank, such as AABAABB."),
    ] = None,
    mpi: Mpi = None,
    environ: Environ = None,
    partition: Partition = None,
    within: Within = "one_node",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the kernel, such as grain=2000 or packet=64K; may be repeated.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="URL",
            help="Predict what this store or file contains of KERNEL, and compare.",
        ),
    ] = None,
    activity: Annotated[
        bool,
        typer.Option("--activity", help="With --json: also print what each rank does when."),
    ] = False,
) -> Result:
    """Predict the time of KERNEL from MODEL alone, with its interval."""
    from switchpoint.models.kernel_arguments import options_from, sizes_from
    from switchpoint.models.prediction import predict as predict_points
    from switchpoint.models.site_model import load_model
    from switchpoint.reporting.json import predictions_as_json
    from switchpoint.reporting.terminal.model import print_predictions
    from switchpoint.reporting.terminal.progress import progress

    loaded = load_model(model)
    if against is not None:
        return _beside_measured(loaded, kernel, against, within)
    with progress("predicting"):
        table = predict_points(
            loaded,
            kernel,
            placement=placement,
            modes=[name for name in modes.split(",") if name],
            sizes_bytes=sizes_from(sizes),
            ranks=ranks,
            process_map=process_map,
            within=within,
            options=options_from(option or []),
            mpi=mpi,
            environ=environ,
            partition=partition,
        )
    return Result(
        lambda: print_predictions(table), lambda: predictions_as_json(table, activity=activity)
    )


@app.command("export")
@verb
def export(
    model: Model,
    placement: Annotated[
        str, typer.Option("--placement", metavar="NAME", help="The links of the platform.")
    ],
    simgrid: Annotated[
        Path, typer.Option("--simgrid", metavar="FILE", help="The platform file to write.")
    ],
    hosts: Annotated[int, typer.Option("--hosts", metavar="N", min=1, help="How many.")] = 2,
    topology: Annotated[
        str,
        typer.Option("--topology", metavar="NAME", help="star, fat_tree, torus or dragonfly."),
    ] = "star",
    mpi: Mpi = None,
    environ: Environ = None,
    partition: Partition = None,
    within: Within = "one_node",
) -> Result:
    """Write MODEL as a platform for SimGrid, with SMPI's factors."""
    from switchpoint.models.links import Place, curve_of
    from switchpoint.models.simgrid import platform, platform_notes
    from switchpoint.models.site_model import load_model, write_whole

    loaded, place = load_model(model), Place(placement, mpi, environ, partition)
    write_whole(simgrid, platform(loaded, place, hosts, within, topology))
    notes = platform_notes(loaded, place, within)

    def to_json() -> object:
        curve = curve_of(loaded, place, "send")
        written = {"platform": str(simgrid), "site": loaded.site, "placement": placement}
        of_curve = {"mpi": curve.mpi, "environ": curve.environ, "partition": curve.partition}
        shape = {"hosts": hosts, "topology": topology, "notes": notes}
        return {**written, "within": within, **of_curve, **shape}

    return Result(lambda: show(simgrid), to_json, warnings=_limits(notes))


def _limits(notes: Iterable[str]) -> list[DataWarning]:
    return [DataWarning("model", note) for note in notes]


def _beside_measured(model: SiteModel, kernel: str, against: str, within: str) -> Result:
    """Return predictions beside measurements."""
    measurements, warnings = load_from(against)
    from switchpoint.models.gaps import compare_with
    from switchpoint.models.kernel_arguments import options_by_run
    from switchpoint.reporting.json import beside_measured_as_json
    from switchpoint.reporting.terminal.model import print_comparison

    comparison = compare_with(model, measurements, kernel, within, against)
    return Result(
        lambda: print_comparison(comparison),
        lambda: beside_measured_as_json(comparison),
        warnings=[*warnings, *options_by_run(measurements)[1]],
    )
