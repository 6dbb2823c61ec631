"""Finds collectives that are slower than what other calls of the same library do in their place.

Self-consistent performance guidelines: Träff, Gropp, Thakur 2010, IEEE Transactions on Parallel and
Distributed Systems 21(5). A launch measures a collective and its replacement in turns.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from switchpoint.records.replacements import REPLACEMENTS
from switchpoint.tables.columns import identity_columns, records
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.sweeps import Floats
from switchpoint.tables.units import range_text, significant, size_text

KIND = "guideline_violation"

#: By kernel: its call, and what one size is the size of.
_CALLS = {
    "allgather": ("MPI_Allgather", " from each rank"),
    "allreduce": ("MPI_Allreduce", ""),
    "alltoall": ("MPI_Alltoall", " from each rank to each"),
    "barrier": ("MPI_Barrier", ""),
    "broadcast": ("MPI_Bcast", ""),
    "gather": ("MPI_Gather", " from each rank"),
    "reduce": ("MPI_Reduce", ""),
    "reduce_scatter": ("MPI_Reduce_scatter_block", " for each rank"),
    "scatter": ("MPI_Scatter", " for each rank"),
}

#: The mode that is the library's choice, and what begins the names of its algorithms' modes.
_CHOICE, _FORCED = "library", "library:"

#: The guidelines that compare a collective with itself: with more bytes, in two calls with half of
#: them, on more ranks, and on fewer, where its time may grow in proportion to the ranks.
MORE_BYTES, TWO_CALLS = "more_bytes", "two_calls"
MORE_RANKS, FEWER_RANKS = "more_ranks", "fewer_ranks"

#: A launch is the unit: fewer say too little about how launches differ.
_FEWEST_LAUNCHES = 3

#: Smaller relative differences are not reported.
_LEAST = 0.05

#: The probability that a place without a violation has one, over all its comparisons.
_RISK = 0.025


@dataclass(frozen=True)
class _Comparison:
    """A collective at one size, and what should not be faster.

    Attributes
    ----------
    guideline : str
        The mode of the replacement, or a comparison with itself, such as `MORE_BYTES`.
    size_bytes : int
    other : str
        What the collective is compared with, in words.
    mean, least : float
        The logarithm of how many times as long the collective takes: over launches, and in the
        launch that shows it least.
    variance : float
        Of a launch, with this `freedom`.
    within : float
        The part of it that the scatter between the passes of a launch explains.
    weight : float
        Of the mean's variance, relative to a launch's.
    low, high, risk : float
        The interval of `mean`, and the probability to see this without a violation, both for all
        comparisons of the place together.
    """

    guideline: str
    size_bytes: int
    other: str
    mean: float
    least: float
    variance: float
    within: float
    freedom: int
    weight: float
    low: float = -math.inf
    high: float = math.inf
    risk: float = 1.0

    @property
    def violates(self) -> bool:
        """Whether every launch and all launches together show it."""
        return min(self.low, self.least) > math.log1p(_LEAST)


def guideline_violations(
    points: pd.DataFrame, ranks_of: Callable[[str], int | None]
) -> list[Anomaly]:
    """Compare collectives with their replacements, and with themselves at other sizes and ranks.

    Parameters
    ----------
    points
        As from `summarise`. Runs that differ only in `run_id` are launches.
    ranks_of
        How many ranks a run has, if it is known.

    Returns
    -------
    list of dict
        One finding for each guideline and place: the identity of the curve in its first launch,
        and in `evidence` the sizes at which every launch shows the violation.
    """
    if not {"kernel", "mode", "run_id"} <= set(points):
        return []
    modes = points["mode"].astype(str)
    replacements = [mode for others in REPLACEMENTS.values() for mode in others]
    chosen = modes.eq(_CHOICE) | modes.isin(replacements) | modes.str.startswith(_FORCED)
    part = points[points["kernel"].isin([*_CALLS]) & chosen]
    if part.empty:
        return []
    ranks_of_run = {run: ranks_of(str(run)) or 0 for run in part["run_id"].unique()}
    number = part["run_id"].map(ranks_of_run).astype(int)
    part = part.assign(
        _ranks=number,
        _log=np.log(part["time_us"]),
        _squared=(part["error_us"] / part["time_us"]) ** 2,
    )[number > 0]
    identity = identity_columns(points)
    place = [name for name in identity if name not in {"run_id", "mode", "ranks"}]
    found: list[Anomaly] = []
    for _, runs in part.groupby(place, dropna=False, observed=True, sort=False):
        on: dict[int, _Launches] = {}
        for ranks in sorted({*runs["_ranks"].tolist()}):
            on[ranks] = _Launches(runs[runs["_ranks"].eq(ranks)], identity)
        compared = {
            ranks: [*launches.replaced(), *launches.at_other_sizes()]
            for ranks, launches in on.items()
        }
        for fewer, more in itertools.pairwise(on):
            compared[fewer] += on[fewer].on_ranks(on[more], MORE_RANKS, f"that on {more} ranks")
            words = f"that on {fewer} ranks, in proportion to the ranks"
            compared[more] += on[more].on_ranks(on[fewer], FEWER_RANKS, words, more / fewer)
        for ranks, launches in on.items():
            found += _findings(launches, ranks, _tested(compared[ranks]))
    return found


class _Launches:
    """What the launches of one collective at one place measured."""

    def __init__(self, points: pd.DataFrame, identity: list[str]) -> None:
        modes = points["mode"].astype(str).to_numpy()
        launch, runs = pd.factorize(points["run_id"])
        chosen = np.flatnonzero(modes == _CHOICE)
        first = points[identity].iloc[chosen[:1]]
        self.identity = next(iter(records(first, CurveIdentity)), CurveIdentity())
        self.kernel = str(points["kernel"].iloc[0])
        self.count = len(runs)
        self.sizes = sorted({*points["size_bytes"].to_numpy()[chosen].tolist()})
        self.times: dict[tuple[str, int], Floats] = {}
        self.squared: dict[tuple[str, int], list[float]] = {}
        columns = (points[name].tolist() for name in ("size_bytes", "_log", "_squared"))
        for mode, at, size, log, squared in zip(modes, launch, *columns, strict=True):
            self.times.setdefault((mode, size), np.full(self.count, np.nan))[at] = log
            self.squared.setdefault((mode, size), []).append(squared)

    def at(self, mode: str, size: int) -> Floats:
        """Return the logarithm of the time in each launch; NaN where it was not measured."""
        return self.times.get((mode, size), np.full(self.count, np.nan))

    def within(self, mode: str, size: int) -> float:
        """Return the squared error of the time in a launch, from its passes."""
        return float(np.mean(self.squared.get((mode, size), [0.0])))

    def slower(self, size: int, than: tuple[str, int]) -> Floats:
        """Return how much longer the choice takes in each launch that measured both, as logarithms.

        Fewer launches than `_FEWEST_LAUNCHES` say nothing, and count as none.
        """
        known = _known(self.at(_CHOICE, size) - self.at(*than))
        return known if len(known) >= _FEWEST_LAUNCHES else known[:0]

    def _paired(
        self, guideline: str, size: int, other: str, than: tuple[str, int], calls: int = 1
    ) -> Iterator[_Comparison]:
        """Compare the choice with other calls of the same launches, if they measured them."""
        slower = self.slower(size, than) - math.log(calls)
        if len(slower):
            yield _Comparison(
                guideline,
                size,
                other,
                float(slower.mean()),
                float(slower.min()),
                float(slower.var(ddof=1)),
                self.within(_CHOICE, size) + self.within(*than),
                len(slower) - 1,
                1 / len(slower),
            )

    def replaced(self) -> Iterator[_Comparison]:
        """Compare with the replacements in the same launch."""
        for mode, words in REPLACEMENTS.get(self.kernel, {}).items():
            for size in self.sizes:
                yield from self._paired(mode, size, words, (mode, size))

    def at_other_sizes(self) -> Iterator[_Comparison]:
        """Compare each size with the next larger one, and with two calls of its half."""
        for size, larger in itertools.pairwise(size for size in self.sizes if size > 0):
            words = f"that of {size_text(larger)}"
            yield from self._paired(MORE_BYTES, size, words, (_CHOICE, larger))
        for size in self.sizes:
            if size // 2 in self.sizes and size > 0 == size % 2:
                words = f"two calls of {size_text(size // 2)}"
                yield from self._paired(TWO_CALLS, size, words, (_CHOICE, size // 2), 2)

    def on_ranks(
        self, other: _Launches, guideline: str, words: str, allowed: float = 1.0
    ) -> Iterator[_Comparison]:
        """Compare with `allowed` times what launches on another number of ranks take."""
        for size in self.sizes:
            here, there = (_known(one.at(_CHOICE, size)) for one in (self, other))
            if min(len(here), len(there)) < _FEWEST_LAUNCHES:
                continue
            freedom = len(here) + len(there) - 2
            squares = len(here) * here.var() + len(there) * there.var()
            yield _Comparison(
                guideline,
                size,
                words,
                float(here.mean() - there.mean()) - math.log(allowed),
                float(here.min() - there.max()) - math.log(allowed),
                float(squares / freedom),
                (self.within(_CHOICE, size) + other.within(_CHOICE, size)) / 2,
                freedom,
                1 / len(here) + 1 / len(there),
            )

    def fastest_forced(self, size: int) -> tuple[str, float] | None:
        """Return the algorithm that takes the smallest part of the choice's time, and this part."""
        parts = {}
        for mode, measured in self.times:
            if mode.startswith(_FORCED) and measured == size:
                slower = self.slower(size, (mode, size))
                if len(slower):
                    parts[mode.removeprefix(_FORCED)] = float(np.exp(-slower.mean()))
        return min(parts.items(), key=lambda part: part[1]) if parts else None


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _tested(compared: list[_Comparison]) -> list[_Comparison]:
    """Add the intervals and the risk.

    Few launches often differ too little by chance, so the usual variance of all sizes counts as
    much as that of one (Smyth 2004, Statistical Applications in Genetics and Molecular Biology
    3(1)), or that of its passes if it is larger.
    """
    from scipy.special import stdtr, stdtrit  # it takes a while to load, and few verbs need it

    usual = {
        guideline: float(
            np.median([_unbiased(one) for one in compared if one.guideline == guideline])
        )
        for guideline in {one.guideline for one in compared}
    }
    tested = []
    for one in compared:
        expected = max(usual[one.guideline], one.within)
        variance, freedom = (one.variance + expected) / 2, 2 * one.freedom
        error = max(math.sqrt(variance * one.weight), 1e-9)
        width = float(stdtrit(freedom, 1 - _RISK / len(compared))) * error
        chance = float(stdtr(freedom, (math.log1p(_LEAST) - one.mean) / error))
        tested.append(
            replace(
                one,
                low=one.mean - width,
                high=one.mean + width,
                risk=min(1.0, chance * len(compared)),
            )
        )
    return tested


def _unbiased(one: _Comparison) -> float:
    """Return a variance such that the median of many is the true one (Wilson and Hilferty 1931)."""
    return float(one.variance / (1 - 2 / (9 * one.freedom)) ** 3)


def _findings(launches: _Launches, ranks: int, compared: list[_Comparison]) -> Iterator[Anomaly]:
    """Describe each guideline that is violated, at all its sizes together."""
    for guideline in dict.fromkeys(one.guideline for one in compared):
        violated = [one for one in compared if one.guideline == guideline and one.violates]
        if violated:
            yield {**launches.identity, **_finding(launches, ranks, violated)}


def _finding(launches: _Launches, ranks: int, violated: list[_Comparison]) -> Anomaly:
    worst = max(violated, key=lambda one: one.mean)
    first = violated[0].size_bytes
    forced = launches.fastest_forced(worst.size_bytes)
    if forced is not None and math.log(forced[1]) + worst.mean > math.log1p(_LEAST):
        forced = None
    factor = math.exp(worst.mean)
    return {
        "kind": KIND,
        "size_bytes": first,
        "last_size_before": max((size for size in launches.sizes if size < first), default=0),
        "magnitude": factor - 1,
        "confidence": 1 - worst.risk,
        "evidence": {
            "guideline": worst.guideline,
            "says": _says(launches, ranks, violated, worst, forced),
            "ranks": ranks,
            "launches": launches.count,
            "last_size_bytes": violated[-1].size_bytes,
            "worst_size_bytes": worst.size_bytes,
            "sizes": [
                {
                    "size_bytes": one.size_bytes,
                    "factor": math.exp(one.mean),
                    "low": math.exp(one.low),
                    "high": math.exp(one.high),
                    "than": one.other,
                }
                for one in violated
            ],
            "forced": None if forced is None else {"algorithm": forced[0], "part": forced[1]},
        },
    }


def _says(
    launches: _Launches,
    ranks: int,
    violated: list[_Comparison],
    worst: _Comparison,
    forced: tuple[str, float] | None,
) -> str:
    """Write a finding as a sentence."""
    call, of_what = _CALLS[launches.kernel]
    size = f" of {size_text(worst.size_bytes)}{of_what}" if worst.size_bytes else ""
    low, factor, high = (
        significant(math.exp(one), 2) for one in (worst.low, worst.mean, worst.high)
    )
    sentence = f"{call}{size} on {ranks} ranks takes {factor} [{low}, {high}] times {worst.other}"
    if len(violated) > 1:
        sentence += f"; longer at {_ranges(launches.sizes, [one.size_bytes for one in violated])}"
    if forced is not None:
        sentence += f"; forced to {forced[0]}, it takes {significant(forced[1], 2)} times as long"
    return sentence


def _ranges(sizes: list[int], violated: list[int]) -> str:
    """Write the sizes; those that are neighbours among all that were measured as a range."""
    at = [sizes.index(size) for size in violated]
    runs = [
        [place for _, place in run]
        for _, run in itertools.groupby(enumerate(at), lambda pair: pair[1] - pair[0])
    ]
    return " and ".join(range_text(sizes[run[0]], sizes[run[-1]]) for run in runs)
