"""Converts what is known of a finding into its confidence: the chance that another run shows it.

It needs no labels: what one session shows is in the next one or it is not. The weights
(`recurrence.yaml`) come from recorded sessions: bench/detection/recurrence.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from importlib import resources

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from switchpoint.tables.columns import records, values_of
from switchpoint.tables.findings import BOUNDARIES, Anomaly
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.sweeps import Indices

#: Kinds that describe one curve. A noise burst describes a moment, which nobody expects again; what
#: compares two curves knows how much launches differ.
OF_A_CURVE = (*BOUNDARIES, "outlier")

#: Curves that agree in these and have other modes are siblings.
_RUN = ("site", "partition", "mpi", "environ", "kernel", "placement", "run_id")

#: The highest confidence: of what one run shows best, another one misses so much. It may be
#: disturbed there, or jump one size earlier or later.
_HIGHEST = 0.93

#: A finding belongs to a curve if at least this share of its launches show it.
_MOST_LAUNCHES = 0.5

#: Odds of being real are limited to this.
_LARGEST_LOG_ODDS = math.log(1e3)

#: Effects are limited to these, as differences of logarithms of time.
_SMALLEST_EFFECT, _LARGEST_EFFECT = 0.05, 1.0


def add_chances(rows: list[Anomaly], curves: pd.DataFrame) -> None:
    """Replace the confidence of what one curve shows by the chance that another run shows it.

    Its evidence gets `real`, the confidence before; how many `launches` of its curve show it, of
    `of_launches` that have sizes there; and the same of its `siblings`, the other modes of its run.

    Parameters
    ----------
    rows
        Findings, with the identity of their curves.
    curves
        The identity of every curve, with its smallest and largest size as `low` and `high`.
    """
    own = [row for row in rows if row["kind"] in OF_A_CURVE]
    if not own:
        return
    _count(own, curves)
    for row in own:
        row["evidence"]["real"] = row["confidence"]
        row["confidence"] = chance(features(row))


def comes_again(finding: Anomaly, others: Iterable[Anomaly]) -> bool:
    """Return whether the findings of the same curve in another run contain one like this.

    A boundary comes again if the time changes in the same direction between sizes that overlap.
    Another finding comes again if one of its kind and direction affects one of its sizes.
    """
    low, high = _extent(finding)
    for other in others:
        other_low, other_high = _extent(other)
        overlap = max(low, other_low) < min(high, other_high)
        if overlap and _sort_of(finding) == _sort_of(other):
            return True
    return False


def lasting(findings: pd.DataFrame) -> pd.Series[bool]:
    """Return which findings belong to their curve, and not only to a few of its launches."""
    chosen = [
        evidence.get("launches", 1) >= _MOST_LAUNCHES * evidence.get("of_launches", 1)
        for evidence in findings["evidence"]
    ]
    return pd.Series(chosen, index=findings.index, dtype=bool)


def features(row: Anomaly) -> dict[str, float]:
    """Return the features from which the chance of a finding is computed.

    Parameters
    ----------
    row
        A finding whose evidence has what `add_chances` adds.

    Returns
    -------
    dict
        `constant` 1; `real`, the natural log-odds of the probability that it is real; `log_effect`,
        the logarithm of the change of the logarithm of time; `faster`, 1 if the time falls;
        `outlier`, 1 for one; `siblings` and `launches`, the log-odds of the share of
        siblings and of other launches that show it, 0 without any; `several`, 1 if there are
        other launches, which were searched together with this one.
    """
    evidence = row["evidence"]
    effect = abs(math.log(max(1 + row["magnitude"], 1e-3)))
    return {
        "constant": 1.0,
        "real": _log_odds(evidence["real"]),
        "log_effect": math.log(min(max(effect, _SMALLEST_EFFECT), _LARGEST_EFFECT)),
        "faster": float(row["magnitude"] < 0),
        "outlier": float(row["kind"] == "outlier"),
        "siblings": _log_odds_of(evidence["siblings"], evidence["of_siblings"]),
        "launches": _log_odds_of(evidence["launches"] - 1, evidence["of_launches"] - 1),
        "several": float(evidence["of_launches"] > 1),
    }


def chance(found: Mapping[str, float], by: Mapping[str, float] | None = None) -> float:
    """Return the probability that another run shows a finding with these features."""
    known = by or weights()
    odds = sum(weight * found[name] for name, weight in known.items())
    return min(1 / (1 + math.exp(-odds)), _HIGHEST)


@functools.cache
def weights() -> dict[str, float]:
    """Return the weight of each feature."""
    text = resources.files(__package__).joinpath("recurrence.yaml").read_text(encoding="utf-8")
    known: dict[str, float] = yaml.safe_load(text)
    return known


def _log_odds(probability: float) -> float:
    odds = probability / max(1 - probability, 1e-300)
    return min(max(math.log(max(odds, 1e-300)), -_LARGEST_LOG_ODDS), _LARGEST_LOG_ODDS)


def _log_odds_of(number: int, of: int) -> float:
    return math.log((number + 0.5) / (of - number + 0.5))


def _sort_of(row: Anomaly) -> tuple[str, bool]:
    """Return what two findings of one sort have in common: the kind, and the direction."""
    kind = "boundary" if row["kind"] in BOUNDARIES else row["kind"]
    return kind, row["magnitude"] > 0


def _extent(row: Anomaly) -> tuple[int, int]:
    """Return after which size a finding begins, and its last size."""
    if row["kind"] in BOUNDARIES:
        return row["last_size_before"], row["size_bytes"]
    return row["size_bytes"] - 1, row["evidence"].get("last_size_bytes", row["size_bytes"])


def _count(rows: list[Anomaly], curves: pd.DataFrame) -> None:
    """Count the launches and the siblings that show each finding, and those that could."""
    names = [str(name) for name in curves if name not in ("low", "high")]
    number = {
        values_of(row, names): place for place, row in enumerate(records(curves, CurveIdentity))
    }
    curve = np.array([number[values_of(row, names)] for row in rows], dtype=np.int64)
    spans = curves[["low", "high"]].to_numpy(dtype=np.int64)
    launch = _groups(curves, [name for name in names if name != "run_id"])
    with_modes = {"mode", "run_id"} <= {*names}
    run = _groups(curves, [name for name in _RUN if name in names]) if with_modes else None
    launches = _shown_and_able(rows, curve, launch, spans)
    of_run = _shown_and_able(rows, curve, np.arange(len(curves)) if run is None else run, spans)
    for row, (shown, able), (in_run, able_in_run) in zip(rows, launches, of_run, strict=True):
        row["evidence"].update({"launches": shown, "of_launches": able})
        row["evidence"].update({"siblings": in_run - 1, "of_siblings": able_in_run - 1})


def _shown_and_able(
    rows: list[Anomaly], curve: Indices, group: Indices, spans: npt.NDArray[np.int64]
) -> list[list[int]]:
    """Return of each finding how many curves of its group show it, and how many have sizes there.

    Findings at the same place of one group are counted once, so that many launches cost little.
    """
    counts = np.zeros((len(rows), 2), dtype=int)
    sorts = pd.factorize(pd.Series([str(_sort_of(row)) for row in rows], dtype=object))[0]
    places = np.array([[*_extent(row), sort] for row, sort in zip(rows, sorts, strict=True)])
    members, found = _members(group), _members(group[curve])
    for number, here in found.items():
        low, high = spans[members[number]].T
        distinct, which = np.unique(places[here], axis=0, return_inverse=True)
        for place, (last, first, sort) in enumerate(distinct):
            overlap = np.maximum(places[here, 0], last) < np.minimum(places[here, 1], first)
            shown = {*curve[here[overlap & (places[here, 2] == sort)]].tolist()}
            able = members[number][(low <= last + 1) & (high >= first)]
            counts[here[which.ravel() == place]] = len(shown), len(shown.union(able.tolist()))
    return [[int(shown), int(able)] for shown, able in counts]


def _members(group: Indices) -> dict[int, Indices]:
    """Return the places of each group."""
    order = np.argsort(group, kind="stable")
    firsts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return {int(group[part[0]]): part for part in np.split(order, firsts[1:]) if len(part)}


def _groups(curves: pd.DataFrame, names: list[str]) -> Indices:
    """Number the curves by their values in some columns; without any, all are of one group."""
    if not names:
        return np.zeros(len(curves), dtype=int)
    return curves.groupby(names, dropna=False, observed=True).ngroup().to_numpy()
