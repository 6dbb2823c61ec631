"""Finds a site model's own errors in the site's runs of the kernels that it predicts."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.gaps import ComparedCurve, compare_with
from switchpoint.models.kernels import KERNELS
from switchpoint.models.model_errors import Condition, Score, condition_of, model_errors, score
from switchpoint.models.prediction import WITHIN
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout
from switchpoint.tables.columns import records
from switchpoint.tables.measurements import Measurements


def calibrated(model: SiteModel, measurements: Measurements, within: str = WITHIN) -> SiteModel:
    """Return the model with the errors of its predictions, by MPI; they move no prediction.

    Parameters
    ----------
    model
        As from `fit_model`.
    measurements
        Runs of the kernels at the model's site.
    within
        As of `predict`.
    """
    found: dict[tuple[str | None, bool], list[tuple[Condition, Score]]] = defaultdict(list)
    for kernel in KERNELS:
        try:
            compared = compare_with(model, measurements, kernel, within)
        except InputError:
            continue  # no run of it, or none that can be predicted
        for mpi, oversubscribed, condition, one in scores_of(compared, kernel):
            found[mpi, oversubscribed].append((condition, one))
    errors = [
        error.model_copy(update={"mpi": mpi, "oversubscribed": oversubscribed})
        for (mpi, oversubscribed), scores in sorted(found.items(), key=str)
        for error in model_errors((one[0], number, one[1]) for number, one in enumerate(scores))
    ]
    return model.model_copy(update={"errors": errors})


def scores_of(
    compared: pd.DataFrame, kernel: str
) -> list[tuple[str | None, bool, Condition, Score]]:
    """Return MPI, whether ranks share cores, condition and score of each predicted point."""
    scores = []
    for row in records(compared[compared["predicted_us"].notna()], ComparedCurve):
        nodes = tuple(ord(letter) for letter in row["ranks_on_nodes"])
        condition = condition_of(kernel, RankLayout(nodes, nodes))
        if condition is not None and row["measured_us"] > 0:
            one = score(row["measured_us"], row["links_low_us"], row["links_high_us"])
            scores.append((row["mpi"], row["oversubscribed"], condition, one))
    return scores
