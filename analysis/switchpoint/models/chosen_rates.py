"""Chooses the compute rate of a site model with which a kernel is predicted."""

from __future__ import annotations

from typing import Any

from switchpoint.errors import InputError
from switchpoint.models.applications import APPLICATIONS, rated_by
from switchpoint.models.kernels import MERGE_SORT, RING, Problem
from switchpoint.models.links import Place, few_repeats
from switchpoint.models.site_model import ComputeRate, Curve, SiteModel

#: The check that measures the rate, for each kernel that is not predicted without one.
_CHECKS = {MERGE_SORT: "MergeSortAlone", **{name: one.check for name, one in APPLICATIONS.items()}}


def rate_of(
    model: SiteModel, problem: Problem, place: Place, curve: Curve
) -> tuple[ComputeRate | None, list[str]]:
    """Return the compute rate of a kernel: that of the link's curve, or the one most like it.

    Parameters
    ----------
    model, problem, place
        As of `prediction.predict_one`.
    curve
        That of the messages.

    Returns
    -------
    tuple
        The rate, None if the kernel is predicted without one; and what limits it, as sentences.

    Raises
    ------
    InputError
        If the model has no rate, and the kernel needs one.
    """
    mode = rated_by(problem.kernel, problem.mode)
    rates = [
        rate
        for rate in model.compute_rates
        if (rate.kernel, rate.mode) == (problem.kernel, mode)
        and (place.partition is None or rate.partition in (None, place.partition))
    ]
    if rates:
        rate = min(rates, key=lambda one: _differs(one, curve))
        few = few_repeats(f"the compute rate of {rate.kernel}", rate)
        notes = [few] if few else []
        if any(_differs(rate, curve)):
            names = [name for name in (rate.environ, rate.mpi, rate.partition) if name]
            notes.append(f"the compute rate is that of {', '.join(names)}")
        return rate, notes
    if check := _CHECKS.get(problem.kernel):
        raise InputError(
            model.source,
            f"has no compute rate of {problem.kernel}{f' in mode {mode}' if mode else ''};"
            f" run the check {check}, import and fit again",
        )
    if problem.kernel == RING:
        return None, ["the ring's task was not calibrated; it is taken to take as long as it says"]
    return None, []


def bounded(rate: ComputeRate | None, bound: str) -> float:
    """Return the time of a rate at one of `links.BOUNDS`; 1 if there is none."""
    if rate is None:
        return 1.0
    chosen: Any = getattr(rate.time_us, bound)
    return float(rate.time_us.value if chosen is None else chosen)


def _differs(rate: ComputeRate, curve: Curve) -> list[bool]:
    """Return whether a rate surely has another MPI, environment or partition than a curve."""
    return [
        None not in (of_rate := getattr(rate, name), of_curve := getattr(curve, name))
        and of_rate != of_curve
        for name in ("mpi", "environ", "partition")
    ]
