"""What a place's own ping-pong predicts for its other kernels, as evidence."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.fitting import fit_model
from switchpoint.models.kernels import Problem
from switchpoint.models.links import Place
from switchpoint.models.prediction import predict_one
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout
from switchpoint.studies.evidence import Evidence, Wanted, judge
from switchpoint.studies.points import Data, NotTestableError, Point
from switchpoint.tables.columns import RUN_COLUMNS
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import Floats

_PING_PONG = "pingpong"
_MODES = ("send", "stream", "bistream")


@dataclass(frozen=True)
class Predictable:
    """A measured point, and what has to be known to predict it."""

    point: Point
    problem: Problem
    layout: RankLayout
    placement: str


def predicted_within(
    data: Data, measured: Sequence[Predictable], error: float
) -> Iterator[Evidence]:
    """Compare predictions from the place's ping-pong with what was measured.

    Parameters
    ----------
    data
        Of one MPI at one place.
    measured
        Points of other kernels.
    error
        The largest relative error with which the claim holds.

    Raises
    ------
    NotTestableError
        If there is no ping-pong that predicts a point.
    """
    kernels = {_PING_PONG, *(one.problem.kernel for one in measured)}
    try:
        model = model_of(data, kernels)
        for one in measured:
            place = Place(one.placement)
            found = predict_one(model, one.problem, place, one.layout)
            yield judge(
                f"predicted over measured, {one.point.name}", [one.point],
                functools.partial(_over, found.time_us), Wanted(1 - error, 1 + error),
                comparisons=len(measured),
            )  # fmt: skip
    except InputError as problem:
        raise NotTestableError(problem.problem, "make measure TAG=sweep") from None


def _over(predicted_us: float, medians: Floats) -> Floats:
    return predicted_us / medians[:, 0]


def model_of(data: Data, kernels: set[str]) -> SiteModel:
    """Fit the ping-pongs of a place, and the compute rates of the kernels."""
    passes = data.passes[data.passes["kernel"].isin(kernels)]
    runs = passes.drop_duplicates("run_id")
    table = pd.DataFrame(
        [
            dict.fromkeys(RUN_COLUMNS)
            | {name: row[name] for name in ("run_id", "site", "partition", "mpi", "environ",
                                            "kernel", "placement")}
            | {"format": "record", "header": data.header_text(row["run_id"]),
               "start_utc": data.header(row["run_id"]).get("start_utc")}
            for row in runs.to_dict("records")
        ],
        columns=RUN_COLUMNS,
    )  # fmt: skip
    samples = data.samples[data.samples["run_id"].isin(set(table["run_id"]))]
    other = (samples["kernel"] == _PING_PONG) & ~samples["mode"].isin(_MODES)
    return fit_model(Measurements(samples[~other], table))
