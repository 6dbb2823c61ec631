"""Predicts the time of a kernel from a site model alone, with an interval and what limits it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.applications import assumption_of
from switchpoint.models.chosen_rates import bounded, rate_of
from switchpoint.models.kernels import (
    Options,
    Problem,
    check_mode,
    kernel_of,
    pattern_of,
)
from switchpoint.models.links import BOUNDS, Link, Place, curve_of, link_of
from switchpoint.models.model_errors import condition_of, error_of
from switchpoint.models.refusals import check_ranks
from switchpoint.models.simulation import Span, simulate
from switchpoint.models.site_model import Curve, ModelError, SiteModel
from switchpoint.models.site_network import SiteNetwork
from switchpoint.records.rank_layout import RankLayout, nodes_of_map

#: The placement whose link joins ranks of the same node, unless the placement has one node.
WITHIN = "one_node"

PREDICTION_COLUMNS = [
    "site", "mpi", "kernel", "placement", "mode", "ranks", "process_map", "size_bytes", "time_us",
    "low_us", "high_us", "notes", "activity",
]  # fmt: skip


@dataclass(frozen=True)
class Prediction:
    """A predicted time.

    Attributes
    ----------
    at_bounds_us : dict
        The time as the kernel defines it, in microseconds, by each of `links.BOUNDS`: with the
        fastest, own and slowest times that the repeats of the model's curves make likely (95 %).
        Faster links may turn an order round, and then the whole may take longer.
    notes : list of str
        What limits it, such as a size beyond those measured.
    spans : list of Span
        What each rank does at which time.
    mpi : str or None
        The MPI of the curves.
    error : ModelError or None
        The model's own error, if it is known.
    """

    at_bounds_us: dict[str, float]
    notes: list[str]
    spans: list[Span]
    mpi: str | None
    error: ModelError | None = None

    @property
    def time_us(self) -> float:
        """The time with the model's own links."""
        return self.at_bounds_us["value"]

    @property
    def low_us(self) -> float:
        """The least time: of measured ones 5 % are shorter, if the model's error is known."""
        least_us = min(self.at_bounds_us.values())
        if self.error is None:
            return least_us
        return min(least_us * math.exp(-self.error.low), self.time_us)

    @property
    def high_us(self) -> float:
        """The most time: of measured ones 5 % are longer, if the model's error is known."""
        most_us = max(self.at_bounds_us.values())
        if self.error is None:
            return most_us
        return max(most_us * math.exp(self.error.high), self.time_us)


def predict(
    model: SiteModel,
    kernel: str,
    *,
    placement: str,
    modes: Sequence[str] = (),
    sizes_bytes: Sequence[int] = (),
    ranks: int | None = None,
    process_map: str | None = None,
    within: str = WITHIN,
    options: Options | None = None,
    **place: str | None,
) -> pd.DataFrame:
    """Predict a kernel at several points.

    Parameters
    ----------
    model
        As from `fit_model` or `load_model`.
    kernel
        A name of `models.kernels.KERNELS`.
    placement
        Where the ranks are; the model has its curves.
    modes, sizes_bytes
        By default all modes that can be predicted, and some sizes.
    ranks
        How many; they are divided evenly over the nodes of the placement.
    process_map
        The node of each rank, such as AABAABB, in place of `ranks`.
    within
        The placement whose link joins ranks of one node.
    options
        Those of the kernel.
    **place
        `mpi`, `environ`, `partition`: which curves, if the model has several.

    Returns
    -------
    DataFrame
        `PREDICTION_COLUMNS`, one row for each mode and size; times in microseconds. `notes` is a
        list of sentences on what limits the prediction, `activity` a list of `simulation.Span`.

    Raises
    ------
    InputError
        If the model lacks what is needed, or the kernel, its ranks or its options do not suit.
    """
    known = kernel_of(kernel)
    for mode in modes:
        check_mode(kernel, mode)
    where = Place(placement, **place)
    layout = layout_at(model, where, process_map, ranks, known.ranks)
    rows = []
    for mode in modes or _suitable(kernel, len(layout.nodes), options or Options()):
        for size_bytes in sizes_bytes or known.sizes_bytes:
            problem = Problem(kernel, mode, len(layout.nodes), size_bytes, options or Options())
            found = predict_one(model, problem, where, layout, within)
            rows.append(
                {
                    "site": model.site, "mpi": found.mpi, "kernel": kernel,
                    "placement": placement, "mode": mode, "ranks": len(layout.nodes),
                    "process_map": layout.process_map, "size_bytes": size_bytes,
                    "time_us": found.time_us, "low_us": found.low_us, "high_us": found.high_us,
                    "notes": found.notes, "activity": found.spans,
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=PREDICTION_COLUMNS)


def predict_one(
    model: SiteModel, problem: Problem, place: Place, layout: RankLayout, within: str = WITHIN
) -> Prediction:
    """Predict one point whose ranks are somewhere; parameters and errors as of `predict`."""
    links = _links(model, problem, place, layout, within)
    rate, notes = rate_of(model, problem, place, links[1].alone)
    notes += [assumed] if (assumed := assumption_of(problem)) else []
    times: dict[str, float] = {}
    spans: list[Span] = []
    for bound in BOUNDS:
        near, far = (dataclasses.replace(link, bound=bound, _costs={}) for link in links)
        network = SiteNetwork(layout, near, far)
        times[bound], found = _simulated(problem, bounded(rate, bound), network)
        spans = found if bound == "value" else spans
    if layout.oversubscribed:
        notes.append(
            f"{len(layout.nodes)} ranks share {layout.cores} cores a machine;"
            " ranks that wait are taken to use none"
        )
    if len(set(layout.nodes)) > 1 and problem.ranks > 2 and links[1].bistream is None:
        notes.append("no bistream was measured; both directions of a link are taken as independent")
    notes += dict.fromkeys([*links[0].notes, *links[1].notes])
    between, mpi = links[1], links[1].alone.mpi
    error, limited = error_of(
        model, condition_of(problem.kernel, layout), mpi,
        oversubscribed=layout.oversubscribed, senders=between.knows_order or problem.ranks == 2,
    )  # fmt: skip
    notes += [limited] if limited else []
    return Prediction(times, notes, spans, mpi, error)


def times_by_curve(
    model: SiteModel, problem: Problem, place: Place, layout: RankLayout, within: str = WITHIN
) -> dict[tuple[str, str], tuple[float, float]]:
    """Predict one point with one curve after the other at its bounds; parameters of `predict_one`.

    Returns
    -------
    dict
        By placement and mode of the curve: the fastest and the slowest time in microseconds that
        this curve's repeats make likely, while all others are as fitted.
    """
    links = _links(model, problem, place, layout, within)
    rate, _ = rate_of(model, problem, place, links[1].alone)
    curves = {
        (curve.placement, curve.mode)
        for link in links for curve in (link.alone, link.stream) if curve is not None
    }  # fmt: skip
    found = {}
    for placement, mode in sorted(curves):
        ends = []
        for bound in ("low", "high"):
            near, far = (
                dataclasses.replace(
                    link, bound=bound if link.alone.placement == placement else "value",
                    bounded_mode=mode, _costs={},
                )
                for link in links
            )  # fmt: skip
            network = SiteNetwork(layout, near, far)
            ends.append(_simulated(problem, bounded(rate, "value"), network)[0])
        found[placement, mode] = (ends[0], ends[1])
    return found


def _simulated(problem: Problem, rate_us: float, network: SiteNetwork) -> tuple[float, list[Span]]:
    """Return the time of a point on a network, and what each rank does."""
    pattern = pattern_of(problem, rate_us)
    outcome = simulate(pattern.programs, network)
    end_us = outcome.end_us[0] if pattern.ends_at_root else max(outcome.end_us)
    return end_us / pattern.parts, outcome.spans


def layout_at(
    model: SiteModel, place: Place, process_map: str | None, ranks: int | None, usual_ranks: int
) -> RankLayout:
    """Put ranks on the nodes of a placement: as a map says, or evenly."""
    curve = curve_of(model, place, "send")
    if process_map is not None:
        if ranks not in (None, len(process_map)):
            raise InputError(
                "--ranks", f"{ranks} contradicts the {len(process_map)} of --map; give one of them"
            )
        try:
            nodes = nodes_of_map(process_map)
        except ValueError as error:
            raise InputError("--map", str(error)) from None
        if nodes != curve.nodes:
            raise InputError(
                "--map",
                f"'{process_map}' needs {nodes} node{'s'[: nodes != 1]}, but placement"
                f" '{place.placement}' has {curve.nodes}; use another map or placement",
            )
        of_ranks = tuple(ord(letter) - ord("A") for letter in process_map)
    else:
        ranks = ranks or usual_ranks
        check_ranks(ranks)
        if ranks % curve.nodes:
            raise InputError(
                "--ranks",
                f"{ranks} cannot be divided evenly over the {curve.nodes} nodes of"
                f" '{place.placement}'; use a multiple, or --map",
            )
        of_ranks = tuple(rank * curve.nodes // ranks for rank in range(ranks))
    return layout_on(curve, of_ranks)


def layout_on(curve: Curve, of_ranks: tuple[int, ...], cores: int | None = None) -> RankLayout:
    """Put ranks on nodes like those of a curve, or of the same kind with other `cores`.

    Nodes with a machine of their own stay so; emulated ones share theirs.
    """
    own_machines = cores is not None or curve.machines == curve.nodes
    machines = of_ranks if own_machines else tuple(node % curve.machines for node in of_ranks)
    return RankLayout(of_ranks, machines, curve.cores_per_machine if cores is None else cores)


def _suitable(kernel: str, ranks: int, options: Options) -> list[str]:
    """Return the modes of a kernel that work with these ranks; all, if none does."""
    known = kernel_of(kernel)
    suitable = [
        mode for mode in known.modes
        if known.refuse(Problem(kernel, mode, ranks, known.sizes_bytes[0], options)) is None
    ]  # fmt: skip
    return suitable or known.modes


def _links(
    model: SiteModel, problem: Problem, place: Place, layout: RankLayout, within: str
) -> tuple[Link, Link]:
    """Return the links within a node and between nodes; the same one if only one is used."""
    mode = problem.mode if problem.kernel == "pingpong" else "send"
    if mode.endswith("stream"):
        mode = mode.replace("stream", "send")
    between = link_of(model, place, "send" if mode == "sendrecv" else mode)
    nodes = len(set(layout.nodes))
    if nodes == 1 or nodes == len(layout.nodes):
        return between, between
    near = dataclasses.replace(place, placement=within)
    return link_of(model, near), between
