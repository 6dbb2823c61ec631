"""The model's own error: how far measured times lie outside what the links' repeats make likely.

Asymmetric conformalised quantile regression (Romano, Patterson, Candès 2019, theorem 2): of
predictions of the same kind whose measured times are known, 5 % lie below the lower end, moved by
`low`, and 5 % above the upper end, moved by `high`. The errors of a site come from its own runs
(`calibrated`); those of this package from simulated networks (bench/simulated_truth.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from switchpoint.models.applications import APPLICATIONS
from switchpoint.models.kernels import MERGE_SORT, MPI_ALLTOALL, MPI_BCAST, RING
from switchpoint.models.site_model import ModelError, SiteModel
from switchpoint.records.rank_layout import RankLayout
from switchpoint.strict_yaml import read_yaml

#: The part of measured times that an interval contains.
COVERAGE = 0.9

#: Fewer known predictions show no error.
LEAST_POINTS = 9

_SHIPPED = Path(__file__).with_name("model_errors.yaml")

#: The patterns whose errors are of one kind, by kernel.
_PATTERNS = {
    **{"broadcast": "broadcast", MPI_BCAST: "broadcast"},
    **{"alltoall": "alltoall", MPI_ALLTOALL: "alltoall", RING: "ring"},
    **dict.fromkeys([MERGE_SORT, *APPLICATIONS], "application"),
}


class Condition(NamedTuple):
    """What predictions whose errors are of one kind have in common.

    Attributes
    ----------
    pattern : str
        `broadcast`, `alltoall`, `ring` or `application`.
    ranks : int
        The power of two that is not below the number of ranks.
    shared : bool
        Whether ranks share nodes.
    """

    pattern: str
    ranks: int
    shared: bool


class Score(NamedTuple):
    """By how much a measured time lies outside the links' bounds: logarithms, negative inside."""

    below: float
    above: float


def condition_of(kernel: str, layout: RankLayout) -> Condition | None:
    """Return the condition of a prediction; None if it has no error beside that of its links."""
    pattern, ranks = _PATTERNS.get(kernel), len(layout.nodes)
    if pattern is None or ranks < 2:
        return None
    shared = 1 < len(set(layout.nodes)) < ranks
    return Condition(pattern, 2 ** math.ceil(math.log2(ranks)), shared)


def score(measured_us: float, low_us: float, high_us: float) -> Score:
    """Return the score of a measured time beside the links' bounds."""
    return Score(math.log(low_us / measured_us), math.log(measured_us / high_us))


def model_errors(scores: Iterable[tuple[Condition, Hashable, Score]]) -> list[ModelError]:
    """Return the error of each condition with enough scores.

    Parameters
    ----------
    scores
        Each with its condition, and with what it shares with scores that are not independent of
        it, such as a network; every group counts the same (Lee, Barber, Willett 2023).
    """
    by_condition: dict[Condition, dict[Hashable, list[Score]]] = defaultdict(dict)
    for condition, group, one in scores:
        by_condition[condition].setdefault(group, []).append(one)
    return [
        ModelError(
            **condition._asdict(), points=points,
            low=_conformal([[one.below for one in own] for own in groups.values()]),
            high=_conformal([[one.above for one in own] for own in groups.values()]),
        )
        for condition, groups in sorted(by_condition.items())
        if (points := sum(map(len, groups.values()))) >= LEAST_POINTS
    ]  # fmt: skip


def error_of(
    model: SiteModel,
    condition: Condition | None,
    mpi: str | None,
    *,
    oversubscribed: bool,
    senders: bool,
) -> tuple[ModelError | None, str | None]:
    """Return the error of a prediction, and what limits it, as a sentence.

    Parameters
    ----------
    model, condition, mpi
        The model, what is predicted, and the MPI of the curves. The site's own error is that of the
        most similar number of ranks.
    oversubscribed
        Whether ranks share cores: this package knows no such error.
    senders
        Whether the model knows senders to several receivers: without, neither is an error known.
    """
    if condition is None:
        return None, None
    own = [
        one for one in model.errors
        if (one.mpi, one.pattern, one.shared) == (mpi, condition.pattern, condition.shared)
        and one.oversubscribed == oversubscribed
    ]  # fmt: skip
    if own:
        return min(own, key=lambda one: abs(math.log(one.ranks / condition.ranks))), None
    if not oversubscribed and senders:
        for one in shipped_errors():
            if (one.pattern, one.ranks, one.shared) == condition:
                return one, "the model's own error is that of simulated networks"
    if oversubscribed:
        why = "ranks share cores"
    elif not senders:
        why = "no broadcast --mode repeated by two and by three ranks was measured"
    else:
        why = f"no {condition.pattern} by {condition.ranks} ranks was measured"
    return None, (
        f"the interval is without the model's own error, since {why};"
        f" measure {condition.pattern} and fit with --calibrate"
    )


@cache
def shipped_errors() -> list[ModelError]:
    """Return the errors of this package, those of simulated networks."""
    return [ModelError.model_validate(one) for one in read_yaml(_SHIPPED)["errors"]]


def _conformal(groups: list[list[float]]) -> float:
    """Return the score that one of a new group exceeds in half of 1 - `COVERAGE` of cases at most.

    The new group counts as one more, of which nothing is known; the largest score stands for it.
    """
    weighted = sorted(
        (one, 1 / (len(groups) + 1) / len(group)) for group in groups for one in group
    )
    below = 0.0
    for one, weight in weighted:
        below += weight
        if below >= (1 + COVERAGE) / 2:
            return one
    return weighted[-1][0]
