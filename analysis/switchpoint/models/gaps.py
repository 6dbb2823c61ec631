"""Compares predictions with measurements: the error of each point, and where the model misses."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.kernel_arguments import options_by_run
from switchpoint.models.kernels import Options, Problem, kernel_of
from switchpoint.models.links import Place
from switchpoint.models.prediction import WITHIN, Prediction, predict_one
from switchpoint.models.repeats import interval, pass_medians, repeats_by
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout, layout_of
from switchpoint.tables.columns import identity_columns, records
from switchpoint.tables.findings import Finding, as_object
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements

if TYPE_CHECKING:
    from switchpoint.records.header import Header


class ComparedPoint(TypedDict):
    """A measured point beside its prediction.

    What the model cannot predict has nulls in the table, and is left out before rows are read.
    """

    ranks: int
    ranks_on_nodes: str
    oversubscribed: bool
    size_bytes: int
    predicted_us: float
    predicted_low_us: float
    predicted_high_us: float
    links_low_us: float
    links_high_us: float
    measured_us: float
    measured_low_us: float
    measured_high_us: float
    error: float
    gap: bool
    looks_like: str | None
    notes: list[str]


class ComparedCurve(ComparedPoint, CurveIdentity):
    """The same with its curve."""


#: The columns after those of the curve's identity.
COMPARISON_COLUMNS = [*ComparedPoint.__annotations__]

KIND = "prediction_gap"

#: Width of a 95 % interval of a normal distribution in standard deviations.
_WIDTH = 2 * 1.96


@dataclass(frozen=True)
class _Measured:
    """One measured point: its median and 95 % interval in microseconds."""

    time_us: float
    low_us: float
    high_us: float


def compare_with(
    model: SiteModel,
    measurements: Measurements,
    kernel: str,
    within: str = WITHIN,
    source: str | os.PathLike[str] = "measurements",
) -> pd.DataFrame:
    """Predict every measured point of a kernel at the model's site, and compare.

    Parameters
    ----------
    model
        As from `fit_model` or `load_model`.
    measurements
        Runs of the kernel.
    kernel
        Its name.
    within
        As of `predict`.
    source
        Where the measurements come from, for messages.

    Returns
    -------
    DataFrame
        One row per measured curve and size: the curve's identity without the run, then
        `COMPARISON_COLUMNS`. `error` is measured over predicted, minus 1; `gap` is True where the
        two intervals have nothing in common, and `looks_like` then says what that suggests. If the
        model cannot predict a point, `predicted_us` is null and `notes` say why. They also say
        that a model without a site is compared with any site. A run with an option that no kernel
        takes is left out (`kernel_arguments.options_by_run` names it).

    Raises
    ------
    InputError
        If there is no run of the kernel at the model's site, or none with possible options.
    """
    modes = kernel_of(kernel).modes
    runs = measurements.runs
    chosen = runs[(runs["kernel"] == kernel) & runs["header"].notna()]
    if chosen.empty:
        raise InputError(os.fspath(source), f"contains no run record of kernel {kernel}")
    here = chosen[chosen["site"] == model.site] if model.site else chosen
    if here.empty:
        others = " and ".join(sorted(chosen["site"].dropna().unique())) or "no named site"
        raise InputError(
            model.source,
            f"is a model of site '{model.site}', but {os.fspath(source)} has runs of {others};"
            " use that site's model",
        )
    options, left_out = options_by_run(dataclasses.replace(measurements, runs=here))
    if not options:
        raise InputError(os.fspath(source), str(left_out[0]))
    headers = {
        str(run_id): json.loads(header)
        for run_id, header in zip(here["run_id"], here["header"], strict=True)
        if str(run_id) in options
    }
    samples = measurements.samples
    samples = samples[samples["run_id"].isin(set(headers)) & samples["mode"].isin(modes)]
    if samples.empty:
        raise InputError(
            os.fspath(source),
            f"has no mode of {kernel} that can be predicted: {', '.join(modes)}",
        )
    rows = list(_rows(model, kernel, samples, headers, options, within))
    if model.site is None:
        sites = " and ".join(sorted(here["site"].dropna().unique())) or "no named site"
        note = f"the model names no site, and is compared with runs of {sites}"
        rows = [row | {"notes": [*row["notes"], note]} for row in rows]
    columns = [name for name in rows[0] if name not in COMPARISON_COLUMNS]
    return pd.DataFrame(rows, columns=[*columns, *COMPARISON_COLUMNS])


def prediction_gaps(comparison: pd.DataFrame) -> list[dict[str, object]]:
    """Return the gaps of a comparison as findings: `tables.findings.COLUMNS` and the curve."""
    gaps = comparison[comparison["gap"].astype(bool)]
    return [
        {**as_object(_finding(row)), "curve": _curve(row)} for row in records(gaps, ComparedCurve)
    ]


def _finding(row: ComparedPoint) -> Finding:
    return {
        "kind": KIND,
        "size_bytes": row["size_bytes"],
        "last_size_before": 0,
        "magnitude": row["error"],
        "confidence": _confidence(row),
        "evidence": {
            "predicted_us": row["predicted_us"],
            "predicted_low_us": row["predicted_low_us"],
            "predicted_high_us": row["predicted_high_us"],
            "measured_us": row["measured_us"],
            "measured_low_us": row["measured_low_us"],
            "measured_high_us": row["measured_high_us"],
            "looks_like": row["looks_like"],
            "notes": row["notes"],
            "last_size_bytes": row["size_bytes"],
        },
        "suspects": [],
        "origin": None,
    }


def _curve(row: ComparedCurve) -> dict[str, str]:
    values: Mapping[str, object] = row
    curve = {
        name: value
        for name, value in values.items()
        if name not in COMPARISON_COLUMNS and isinstance(value, str)
    }
    return curve | {"ranks": str(row["ranks"])}


def _rows(
    model: SiteModel,
    kernel: str,
    samples: pd.DataFrame,
    headers: Mapping[str, Header],
    options: Mapping[str, Options],
    within: str,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each curve and size."""
    identity = identity_columns(samples)
    passes = pass_medians(samples, identity)
    layouts = {run_id: layout_of(header) for run_id, header in headers.items()}
    # Curves also differ in where their ranks ran, and in options that are not among the labels.
    run_ids = passes["run_id"].astype("str")
    passes = passes.assign(_map=run_ids.map(lambda run: layouts[run].process_map),
                           _options=run_ids.map(lambda run: str(options[run])))  # fmt: skip
    same = [name for name in identity if name != "run_id"]
    keys = [*same, "_map", "_options"]
    for values, repeats in repeats_by(passes, keys):
        named = {name: values[name] for name in same}
        run_id = repeats.runs[0]
        place = Place(str(named.get("placement")), named.get("mpi"), named.get("environ"),
                      named.get("partition"))  # fmt: skip
        layout = layouts[run_id]
        medians = repeats.medians_us()
        for index, size in enumerate(repeats.size_bytes):
            low, high = interval(medians[:, index]) or (medians[0, index],) * 2
            measured = _Measured(float(medians[0, index]), float(low), float(high))
            problem = Problem(
                kernel, str(named["mode"]), len(layout.nodes), int(size), options[run_id]
            )
            found = _predicted(model, problem, place, layout, within)
            yield named | _compared(problem, layout, measured, found)


def _predicted(
    model: SiteModel, problem: Problem, place: Place, layout: RankLayout, within: str
) -> Prediction | str:
    """Predict a point, or say why the model cannot."""
    try:
        found = predict_one(model, problem, place, layout, within)
    except InputError as error:
        return str(error)
    if found.low_us <= 0:
        return f"{problem.kernel} is predicted to take no time; nothing can be compared with that"
    return found


def _compared(
    problem: Problem, layout: RankLayout, measured: _Measured, found: Prediction | str
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COMPARISON_COLUMNS)
    row |= {
        "ranks": problem.ranks, "ranks_on_nodes": layout.process_map,
        "oversubscribed": layout.oversubscribed, "size_bytes": problem.size_bytes,
        "measured_us": measured.time_us, "measured_low_us": measured.low_us,
        "measured_high_us": measured.high_us,
    }  # fmt: skip
    if isinstance(found, str):
        return row | {"gap": False, "notes": [found]}
    gap = measured.low_us > found.high_us or measured.high_us < found.low_us
    return row | {
        "predicted_us": found.time_us,
        "predicted_low_us": found.low_us,
        "predicted_high_us": found.high_us,
        "links_low_us": min(found.at_bounds_us.values()),
        "links_high_us": max(found.at_bounds_us.values()),
        "error": measured.time_us / found.time_us - 1,
        "gap": gap,
        "looks_like": _looks_like(problem, layout, measured, found) if gap else None,
        "notes": found.notes,
    }


def _looks_like(
    problem: Problem, layout: RankLayout, measured: _Measured, found: Prediction
) -> str:
    """Say what a gap suggests. It is never a proof."""
    if measured.time_us < found.time_us:
        return "overlap: messages proceed at the same time that the model sends one after another"
    ranks, nodes = len(layout.nodes), len(set(layout.nodes))
    if layout.oversubscribed:
        return f"contention: {ranks} ranks share {layout.cores} cores, and waiting ranks use them"
    if nodes > 1 and ranks > nodes:
        return "contention: ranks of one node share its link and its memory"
    machines = len(set(layout.machines))
    if ranks > 2 and machines < nodes:
        return f"contention: {nodes} nodes share {machines} machine and its memory"
    if ranks > 2:
        return "contention: more messages are on their way at once than in the ping-pong"
    return "cache: the kernel's data are not where the ping-pong's are"


def _confidence(row: ComparedPoint) -> float:
    """Return the probability that noise shows no such gap, from the widths of both intervals."""
    spread = math.hypot(
        math.log(row["measured_high_us"] / row["measured_low_us"]) / _WIDTH,
        math.log(row["predicted_high_us"] / row["predicted_low_us"]) / _WIDTH,
    )
    away = abs(math.log(row["measured_us"] / row["predicted_us"]))
    return math.erf(away / spread / math.sqrt(2)) if spread > 0 else 1.0
