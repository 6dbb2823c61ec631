"""The page of predictions: what a model of each site's ping-pong says, beside what was measured."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.crossovers import crossovers
from switchpoint.models.fitting import KERNEL, fit_model
from switchpoint.models.gaps import compare_with
from switchpoint.models.kernels import KERNELS
from switchpoint.models.libraries.library import BROADCAST, EXCHANGE
from switchpoint.models.links import Place
from switchpoint.models.planes import Plane, efficiency_planes, link_at, measured_efficiency
from switchpoint.models.scaling import STRONG, WEAK, scaling
from switchpoint.models.site_model import SiteModel
from switchpoint.models.timelines import sort_timelines
from switchpoint.reporting.figures.activity import draw_timelines
from switchpoint.reporting.figures.crossovers import draw_crossovers
from switchpoint.reporting.figures.planes import draw_planes
from switchpoint.reporting.figures.predicted import draw_predicted
from switchpoint.reporting.figures.scaling import draw_scaling
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import Page, Plot, Section, Table, address
from switchpoint.reporting.pages.prediction_parts import (
    Attempts,
    SitePart,
    few_points,
    places_of,
    sites_of,
)
from switchpoint.reporting.pages.prediction_tables import (
    break_even_table,
    cell_table,
    error_table,
    phase_table,
    ring_tables,
    scaling_table,
)
from switchpoint.tables.units import significant

PATH = "predictions.html"

_AGAINST = (
    "A point is one mode and size. On the dashed line it took as long as predicted; above it,"
    " longer. Bars are 95 % intervals. Open symbols: more ranks than cores. The error is the"
    " measured time over the predicted one, minus 1. At most 60 points of a kernel are drawn, fewer"
    " of many ranks; switchpoint model predict --against compares all. The ping-pong is left out,"
    " because the model is fitted to it."
)
_TIMELINES = (
    "What each rank of the newest merge sort with a recorded timeline did with its largest array:"
    " predicted from the ping-pong and from the sort of one rank, and measured on rank 0's clock,"
    " since the repetition began."
)
_CROSSOVERS = (
    "Which of the kernels' algorithms is predicted to be the fastest, with one rank on each node."
    " More nodes than were measured are taken to be joined by a switch that is never the"
    " bottleneck. No difference: with the fastest, own or slowest links another algorithm takes at"
    " most 1.1 times as long. switchpoint model recommend compares an MPI library's own algorithms."
)
_PLANES = (
    "The part of the ranks' time that a task uses if it is divided and then each rank sends L words"
    " of 4 bytes to its right neighbour; T is the task's time on one rank. This is equation 6 of"
    " study 002 with t_start and t_w of the site's ping-pong; in it all ranks share one link."
    " Points on top are measured by the kernel ring."
)
_SCALING = (
    "Simulated by SimGrid on the links of a site model. The efficiency is relative to the fewest"
    " ranks: 1 is ideal."
)


def predictions(contents: Contents, of_sites: Sequence[Section]) -> Page:
    """Return the page, with the sections of the sites."""
    _, left_out = sites_of(contents)
    answer = ["What a model of each site's ping-pong predicts, beside what was measured."]
    if left_out:
        answer.append(f"These sites are not shown: {', '.join(map(str, left_out))}.")
    return Page(PATH, "Predictions", answer, sections=[*of_sites, _scaling(contents)])


def site_sections(part: SitePart) -> list[Section]:
    """Fit a model to a site, and return a section for each of its pictures.

    What cannot be fitted or predicted is one sentence.
    """
    made = _Made(part)
    try:
        model = fit_model(part.measurements, part.site, "this report", part.findings)
    except InputError as error:
        return [made.section("model", "Model", _sentence(error))]
    return [
        _section(made, model, name, title, words, show)
        for name, title, words, show in (
            ("against", "Predicted and measured", _AGAINST, _against),
            ("timelines", "Timelines of a merge sort", _TIMELINES, _timelines),
            ("crossovers", "The fastest algorithm", _CROSSOVERS, _crossovers),
            ("planes", "Efficiency planes", _PLANES, _planes),
        )
    ]


class _MissingError(Exception):
    """What a picture would need, as a sentence without its end."""


class _Made:
    """The runs of one site, and the names of its sections, figures and tables."""

    def __init__(self, part: SitePart) -> None:
        self.measurements = part.measurements
        self.most_places = 2 if part.alone else 1
        self._site = part.site
        self._prefix = "" if part.alone or part.site is None else f"{part.site}: "

    def name(self, *words: object) -> str:
        """Return a name that nothing of another site has."""
        return address(*words, self._site)

    def section(self, name: str, title: str, words: str, *shown: list[Any]) -> Section:
        """Return a section of this site, with plots and tables."""
        plots, tables = shown or ([], [])
        return Section(
            self.name(name), f"{self._prefix}{title}", words, plots, "", tables, stays=True
        )


def _section(
    made: _Made, model: SiteModel, name: str, title: str, words: str,
    show: Callable[[_Made, SiteModel], tuple[list[Plot], list[Table]]],
) -> Section:  # fmt: skip
    """Return one section of a site, or the sentence that says what it would need."""
    try:
        return made.section(name, title, words, *show(made, model))
    except _MissingError as missing:
        return made.section(name, title, f"{missing}.")
    except InputError as error:
        return made.section(name, title, _sentence(error))


def _sentence(error: InputError) -> str:
    text = f"{error.source} {error.problem}".replace("`", "")
    return f"{text[:1].upper()}{text[1:]}."


def _against(made: _Made, model: SiteModel) -> tuple[list[Plot], list[Table]]:
    """Show predicted against measured times of each kernel, and their errors."""
    measured = set(made.measurements.runs["kernel"])
    compared = {}
    attempts = Attempts()
    for kernel in [name for name in KERNELS if name in measured and name != KERNEL]:
        few = few_points(made.measurements, kernel)
        if len(few.samples):  # otherwise none of its modes can be predicted
            with attempts:
                compared[kernel] = compare_with(model, few, kernel)
    attempts.require(compared)
    if not compared:
        raise _MissingError(
            "No kernel that can be predicted was measured by at most 64 ranks, such as broadcasts,"
            " exchanges, rings and merge sorts; measure them with make measure TAG=study-00"
        )
    plots = []
    for kernel, points in compared.items():
        known = points[points["predicted_us"].notna()]
        if len(known):
            figure = draw_predicted(
                made.name("predicted", kernel), f"{kernel}: measured over predicted time", known
            )
            plots.append(Plot(figure.name, figure, known.drop(columns=["notes", "looks_like"])))
    return plots, [error_table(made.name("errors-table"), compared)]


def _timelines(made: _Made, model: SiteModel) -> tuple[list[Plot], list[Table]]:
    """Show what the ranks of a merge sort do, predicted above measured."""
    found = sort_timelines(model, made.measurements)
    if found is None:
        raise _MissingError(
            "No merge sort by several ranks with a timeline was measured; measure it with make"
            " measure TAG=study-000"
        )
    title = f"{found.size_bytes:,} B by map {found.layout.process_map}, {_where(found.place)}"
    figure = draw_timelines(made.name("sort"), title, found.predicted, found.measured, found.hosts)
    sides = {"predicted": found.predicted, "measured": found.measured}
    values = pd.concat([table.assign(side=side) for side, table in sides.items()])
    values = values[["side", "rank", "phase", "start_us", "end_us"]]
    return [Plot(figure.name, figure, values)], [phase_table(made.name("sort-table"), sides)]


def _crossovers(made: _Made, model: SiteModel) -> tuple[list[Plot], list[Table]]:
    """Show which algorithm is predicted fastest by size and group."""
    plots, tables = [], []
    attempts = Attempts()
    places = places_of(model, made.most_places, between_nodes=True)
    for place, operation in itertools.product(places, (BROADCAST, EXCHANGE)):
        with attempts:
            cells = crossovers(
                model, operation, placement=place.placement, mpi=place.mpi,
                environ=place.environ, partition=place.partition,
            )  # fmt: skip
            title = f"{operation.capitalize()}, {_where(place, places)}"
            figure = draw_crossovers(made.name(operation, *_words_of(place)), title, cells)
            plots.append(Plot(figure.name, figure, cells))
            tables.append(cell_table(f"{figure.name}-table", title, cells))
    attempts.require(plots)
    if not plots:
        raise _MissingError(
            "No ping-pong between nodes was measured; measure one of a placement on two nodes"
        )
    return plots, tables


def _planes(made: _Made, model: SiteModel) -> tuple[list[Plot], list[Table]]:
    """Show the efficiency over ranks, grain and message length."""
    plots, tables = [], []
    attempts = Attempts()
    places = _far_or_near(model, made.most_places)
    for place in places:
        where = _where(place, places)
        with attempts:
            link = link_at(made.measurements, place)
            planes = efficiency_planes(link)
            measured = measured_efficiency(made.measurements, place, link)
            title = (
                f"{where}: t_start = {significant(link.start_us)} µs,"
                f" t_w = {significant(link.word_us)} µs a word"
            )
            figure = draw_planes(made.name("plane", *_words_of(place)), title, planes, measured)
            plots.append(Plot(figure.name, figure, _plane_values(planes)))
            tables.append(break_even_table(f"{figure.name}-table", where, link))
            tables += ring_tables(f"{figure.name}-measured", where, measured)
    attempts.require(plots)
    return plots, tables


def _far_or_near(model: SiteModel, most: int) -> list[Place]:
    return places_of(model, most, between_nodes=True) or places_of(model, most, between_nodes=False)


def _plane_values(planes: Sequence[Plane]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (plane.words, ranks, task_us, efficiency)
            for plane in planes
            for ranks, row in zip(plane.ranks, plane.efficiency.tolist(), strict=True)
            for task_us, efficiency in zip(plane.tasks_us.tolist(), row, strict=True)
        ],
        columns=["words", "ranks", "task_us", "efficiency"],
    )


def _scaling(contents: Contents) -> Section:
    """Show time and efficiency of simulated runs over ranks."""
    points = scaling(contents.measurements)
    plots, tables = [], []
    for kind in (WEAK, STRONG):
        own = points[points["scaling"] == kind]
        if len(own):
            title = f"{kind.capitalize()} scaling of {' and '.join(sorted(set(own['kernel'])))}"
            figure = draw_scaling(f"scaling-{kind}", title, own)
            plots.append(Plot(figure.name, figure, own))
            tables.append(scaling_table(f"{figure.name}-table", figure.title, own))
    words = _SCALING if plots else (
        "No kernel was simulated with several numbers of ranks; the check Scale does that."
    )  # fmt: skip
    return Section("scaling", "Scaling", words, plots, "", tables, stays=True)


def _words_of(place: Place) -> tuple[str | None, ...]:
    return place.mpi, place.environ, place.partition, place.placement


def _where(place: Place, others: Sequence[Place] = ()) -> str:
    """Name a place; only if another one has the same name, with its environment and partition."""
    name = ", ".join(filter(None, [place.mpi or place.environ, place.placement]))
    same = [other for other in others if other != place and _where(other) == name]
    return ", ".join(dict.fromkeys(filter(None, _words_of(place)))) if same else name
