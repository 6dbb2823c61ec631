"""What the ranks of a merge sort do over time: predicted, and as a run recorded it (study 000)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.kernel_arguments import options_of
from switchpoint.models.kernels import MERGE_SORT, Problem
from switchpoint.models.links import Place
from switchpoint.models.prediction import WITHIN, predict_one
from switchpoint.models.site_model import SiteModel
from switchpoint.records.activity import activity_problem, activity_table
from switchpoint.records.rank_layout import RankLayout, layout_of
from switchpoint.tables.columns import records
from switchpoint.tables.measurements import Measurements, facts_of


@dataclass(frozen=True)
class Timelines:
    """One sort, predicted and measured.

    Attributes
    ----------
    place : Place
        Where it ran.
    layout : RankLayout
        Its ranks.
    hosts : dict
        The host of each rank.
    size_bytes : int
        The array.
    predicted, measured : DataFrame
        `mode`, `size_bytes`, `rank`, `phase`, `start_us`, `end_us`.
    """

    place: Place
    layout: RankLayout
    hosts: dict[int, str]
    size_bytes: int
    predicted: pd.DataFrame
    measured: pd.DataFrame


def sort_timelines(
    model: SiteModel, measurements: Measurements, within: str = WITHIN
) -> Timelines | None:
    """Predict the largest array of the newest sort whose record says what each rank did.

    Parameters
    ----------
    model
        Of the site of the measurements.
    measurements
        Runs of any kernels.
    within
        As of `predict`.

    Returns
    -------
    Timelines or None
        None if no run of several ranks recorded what they did.

    Raises
    ------
    InputError
        If the model lacks what is needed.
    """
    runs = measurements.runs
    sorts = runs[(runs["kernel"] == MERGE_SORT) & runs["header"].notna() & runs["footer"].notna()]
    newest_first = sorts.sort_values("start_utc", ascending=False, kind="stable")
    for run in records(newest_first):
        header, footer = facts_of(run)
        ranks = [rank["rank"] for rank in header.get("ranks", [])]
        if footer is None or activity_problem(footer, header) or ranks != [*range(len(ranks))]:
            continue
        try:
            options = options_of(header)
        except InputError:  # an untrusted record; an older sort will do
            continue
        layout = layout_of(header)
        activity = activity_table(footer)
        activity = activity[activity["mode"] == "tree"]
        if len(layout.nodes) > 1 and not activity.empty:
            break
    else:
        return None
    size_bytes = int(activity["size_bytes"].max())
    place = Place(str(run["placement"]), run["mpi"], run["environ"], run["partition"])
    problem = Problem(MERGE_SORT, "tree", len(layout.nodes), size_bytes, options)
    spans = predict_one(model, problem, place, layout, within).spans
    if not spans:
        raise InputError(model.source, "predicts no activity of this sort; its array is too short")
    predicted = pd.DataFrame([dataclasses.asdict(span) for span in spans])
    return Timelines(
        place, layout, {rank["rank"]: str(rank["host"]) for rank in header["ranks"]},
        size_bytes, predicted.assign(mode="tree", size_bytes=size_bytes),
        activity[activity["size_bytes"] == size_bytes],
    )  # fmt: skip
