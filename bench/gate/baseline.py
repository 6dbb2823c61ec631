"""The yardstick of the gate: what SciPy does in few lines. What the gate adds to it must show.

For each session: how far the median of a curve's launches is from the median of its history, over
its small and over its large sizes; the same of groups of curves that share one or two facts. A
robust z gives a p-value, and all of them are one family (Benjamini and Hochberg). A change counts
if it is large enough and the launch that shows least of it shows half. For switches, a size is
compared with the one beside it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

Floats = npt.NDArray[np.float64]

RATE, LEAST, LEAST_STEP, LEAST_SCATTER = 0.01, 0.05, 0.1, 0.005


@dataclass(frozen=True)
class Found:
    """A finding: what, of which curves, how much, and with which interval (as logarithms)."""

    metric: str
    curves: frozenset[int]
    effect: float = np.nan
    low: float = np.nan
    high: float = np.nan


def compare(launches: Floats) -> tuple[Floats, Floats, Floats]:
    """Return effect, standard error and p of the last session of series of launches.

    Parameters
    ----------
    launches : array of float, shape (series, sessions, launches)
    """
    sessions = np.median(launches, axis=2)
    past = sessions[:, :-1]
    centre = np.median(past, axis=1)
    scatter = np.maximum(stats.median_abs_deviation(past, axis=1, scale="normal"), LEAST_SCATTER)
    scatter = np.sqrt(scatter * np.maximum(np.median(scatter), scatter))
    error = scatter * np.sqrt(1 + np.pi / 2 / past.shape[1])
    effect = sessions[:, -1] - centre
    p = 2 * stats.t.sf(np.abs(effect) / error, 0.4 * (past.shape[1] - 1) + 4)
    shown = ((launches[:, -1] - centre[:, None]) * np.sign(effect)[:, None]).min(axis=1)
    return effect, error, np.where(shown >= np.abs(effect) / 2, p, 1.0)


def groups_of(curves: pd.DataFrame) -> list[npt.NDArray[np.intp]]:
    """Return all curves, those that share one or two facts, and single ones."""
    values = [(name, value) for name in curves for value in curves[name].unique()]
    masks = [(curves[name] == value).to_numpy() for name, value in values]
    both = [one & two for one, two in itertools.combinations(masks, 2)]
    single = [*np.eye(len(curves), dtype=bool)]
    every = {mask.tobytes(): mask for mask in [np.ones(len(curves), bool), *masks, *both, *single]}
    return [np.flatnonzero(mask) for mask in every.values() if mask.any()]


def findings(curves: pd.DataFrame, log_time: Floats) -> list[Found]:
    """Judge the last session; `log_time` has the shape (curves, sessions, launches, sizes)."""
    off = log_time - np.median(log_time[:, :-1], axis=(1, 2), keepdims=True)
    third = off.shape[3] // 3
    parts = {
        "latency": np.median(off[..., :third], axis=3),
        "bandwidth": np.median(off[..., -third:], axis=3),
    }
    groups = groups_of(curves)
    tests = [(metric, group) for metric in parts for group in groups]
    series = np.stack([parts[metric][group].mean(axis=0) for metric, group in tests])
    effect, error, p = compare(series)
    steps = np.diff(off, axis=3)  # of sizes beside each other
    step, _, p_step = compare(np.moveaxis(steps, 3, 1).reshape(-1, *steps.shape[1:3]))
    adjusted = stats.false_discovery_control(np.r_[p, p_step])
    sure = (adjusted[: len(p)] <= RATE) & (np.abs(effect) >= np.log1p(LEAST))
    found, free = [], {metric: set(range(len(curves))) for metric in parts}
    moved = (adjusted[len(p) :] <= RATE) & (np.abs(step) >= np.log1p(LEAST_STEP))
    moved = moved.reshape(len(curves), -1)
    if moved.any():
        found.append(Found("switch", frozenset(np.flatnonzero(moved.any(axis=1)).tolist())))
    single = {
        (metric, int(group[0])): number
        for number, (metric, group) in enumerate(tests)
        if len(group) == 1
    }
    half = stats.t.ppf(0.975, 0.4 * (log_time.shape[1] - 2) + 4) * error
    for number in sorted(np.flatnonzero(sure), key=lambda one: -len(tests[one][1])):
        metric, group = tests[number]
        own = {*group.tolist()} & free[metric]
        shows = [effect[single[metric, one]] / effect[number] >= 0.5 for one in group]
        if own and np.mean(shows) >= 0.6 and len(own) == len(group):
            free[metric] -= own
            bounds = effect[number] - half[number], effect[number] + half[number]
            found.append(Found(metric, frozenset(own), effect[number], *bounds))
    return found
