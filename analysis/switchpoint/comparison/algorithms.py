"""Finds which of its algorithms a library's collective uses at each size, and which is fastest.

A run measures the library's choice (a mode such as `library`) and each algorithm alone
(`library:ring`) in turns. Where the choice takes as long as one of them, it is that one, or one
that cannot be distinguished from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import logsumexp

from switchpoint.errors import InputError
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.mpi_names import DECIDING_ALGORITHMS
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats

#: Between the name of a mode and that of its algorithm.
_OF = ":"

#: Relative difference that the way to an algorithm makes: another communicator, another branch.
_WAY = 0.02

#: How far apart the times of different algorithms are: standard deviation of their logarithms.
_APART = 0.5

#: The probability that the library changes its algorithm within a factor of two of the size.
_CHANGE_AN_OCTAVE = 0.1

#: The probability beforehand that the choice is none of the algorithms that were measured.
_ANOTHER = 0.05

#: Algorithms are named until they have this probability together.
_SURE = 0.95

#: Standard errors within which an algorithm certainly takes equally long.
_EQUAL_ERRORS = 2

#: Few visits make tails heavier than a normal distribution's: Student's t with so many degrees.
_FREEDOM = 4

#: A launch may be slow as a whole with one communicator: one alone does not show what is faster.
_FEWEST_LAUNCHES = 2

#: The probability that a size's algorithms are not within their bounds.
_RISK = 0.05

#: The name of an algorithm that was not measured.
ANOTHER = "another"

#: The columns of a row that are no identity.
RESULTS = [
    "launches", "size_bytes", "used", "probability", "fastest", "loss", "loss_low", "loss_high",
]  # fmt: skip


@dataclass(frozen=True)
class Race:
    """One choice beside its algorithms, by algorithm and size.

    Attributes
    ----------
    sizes : array of int, shape (sizes,)
        Bytes, ascending.
    names : list of str
        The algorithms.
    runs : list of str
        The launches.
    slower : array of float, shape (launches, algorithms, sizes)
        The logarithm of the choice's time over the algorithm's, the median over visits; NaN where
        a launch did not measure it.
    error : array of float, shape (launches, algorithms, sizes)
        Its standard error.
    """

    sizes: np.ndarray[Any, np.dtype[np.int64]]
    names: list[str]
    runs: list[str]
    slower: Floats
    error: Floats

    def of(self, names: list[str]) -> Race:
        """Return the race with some of its algorithms."""
        at = [self.names.index(name) for name in names]
        return replace(self, names=names, slower=self.slower[:, at], error=self.error[:, at])

    def together(self) -> tuple[Floats, Floats]:
        """Return the mean over launches and its standard error."""
        launches = np.maximum(np.sum(~np.isnan(self.slower), axis=0), 1)
        with _missing():
            mean = np.nanmean(self.slower, axis=0)
            within = np.nanmean(self.error**2, axis=0)
            between = np.nanvar(self.slower, axis=0) * launches / np.maximum(launches - 1, 1)
        return mean, np.sqrt(np.maximum(within, between) / launches)

    def each_launch(self, risk: float) -> tuple[Floats, Floats]:
        """Return the bounds between which each launch lies with its error, but for some risk."""
        z = stats.norm.ppf(1 - risk / 2)
        with _missing():
            low = np.nanmin(self.slower - z * self.error, axis=0)
            return low, np.nanmax(self.slower + z * self.error, axis=0)


@contextmanager
def _missing() -> Iterator[None]:
    """Let what no launch measured be NaN, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def algorithms(measurements: Measurements) -> pd.DataFrame:
    """Tabulate which algorithms a library's collectives use, and what that loses.

    Parameters
    ----------
    measurements
        With runs of collectives in which a mode and its algorithms were measured (`--algorithms`).
        Runs that differ only in `run_id` are launches of one curve.

    Returns
    -------
    DataFrame
        A row for each size: the curve's identity; `ranks`; `launches`; `size_bytes`; `used`, the
        names of the algorithms, one of which the library uses (a list; "another": none of those
        that were measured); `probability` that it is one of these; `fastest`, the algorithm that
        is faster than the library's choice in every launch, and `loss`, by how much longer the
        choice takes relative to it, with `loss_low` and `loss_high`, over all launches with their
        errors (95 % for all algorithms together). The last four are missing where no algorithm is
        surely faster, and if there is only one launch.

    Raises
    ------
    InputError
        If no run measured algorithms beside the library's choice.

    Notes
    -----
    The algorithm is the hidden state of a Markov chain along the sizes. If it is the one that is
    used, the logarithm of the ratio of times is 0 within its error; if not, it is anything (normal,
    standard deviation 0.5). The probabilities are those of the forward-backward algorithm (Rabiner
    1989, Proceedings of the IEEE 77(2), eq. 27).
    """
    tables = [
        _table(race).assign(**identity, ranks=ranks, launches=len(race.slower))
        for identity, ranks, race in races(measurements)
    ]
    table = pd.concat(tables, ignore_index=True)
    table["fastest"] = table["fastest"].astype(object).where(table["fastest"].notna(), None)
    return table[[*(name for name in table if name not in RESULTS), *RESULTS]]


def races(measurements: Measurements) -> list[tuple[dict[str, Any], int, Race]]:
    """Return the identity of each choice, its number of ranks, and its race with its algorithms.

    Raises
    ------
    InputError
        If no run measured algorithms beside the library's choice.
    """
    found = [*_races(measurements)]
    if not found:
        raise InputError(
            "algorithms",
            "no run measured a collective's algorithms beside the library's choice; run"
            " `reframe -t collectives -S algorithms=all`, or a kernel such as allreduce with"
            " --algorithms all, and import its records",
        )
    return found


def _races(measurements: Measurements) -> Iterator[tuple[dict[str, Any], int, Race]]:
    samples = measurements.samples
    modes = [*samples["mode"].dropna().unique()] if "mode" in samples else []
    parts = {mode: str(mode).partition(_OF) for mode in modes}
    raced = {choice for choice, of, _ in parts.values() if of} & {*modes}
    parts = {mode: part for mode, part in parts.items() if part[0] in raced}
    samples = samples[samples["mode"].isin(parts)] if parts else samples.iloc[:0]
    if samples.empty:
        return
    names = [name for name in identity_columns(samples) if name != "mode"]
    mode = samples["mode"].astype(object)
    samples = samples.assign(
        choice=mode.map({mode: choice for mode, (choice, _, _) in parts.items()}),
        algorithm=mode.map({mode: algorithm for mode, (_, _, algorithm) in parts.items()}),
    )
    visit = [*names, "choice", "algorithm", "size_bytes", "pass"]
    visits = np.log(samples.groupby(visit, observed=True, dropna=False)["time_us"].median())
    visits = visits.rename("log_time").reset_index()
    visits["ranks"] = visits["run_id"].map(
        {
            run: len(measurements.facts(str(run))[0].get("ranks", []))
            for run in visits["run_id"].unique()
        }
    )
    place = [*(name for name in names if name != "run_id"), "choice", "ranks"]
    for key, part in visits.groupby(place, observed=True, dropna=False, sort=False):
        identity = dict(zip(place, key, strict=True))
        ranks = int(identity.pop("ranks"))
        identity["mode"] = identity.pop("choice")
        race = _race(part)
        if race is not None:
            yield identity, ranks, race


def _race(visits: pd.DataFrame) -> Race | None:
    """Compare the visits of a choice with those of its algorithms in the same pass."""
    times = visits.pivot_table(
        index=["run_id", "size_bytes", "pass"], columns="algorithm", values="log_time",
        observed=True,
    )  # fmt: skip
    if "" not in times or times.shape[1] == 1:
        return None
    slower = times.drop(columns="").rsub(times[""], axis=0)
    of_size = ["run_id", "size_bytes"]
    by_size = slower.groupby(of_size, observed=True)
    median = by_size.median()
    runs, sizes = (median.index.unique(level) for level in of_size)
    cells = pd.MultiIndex.from_product([runs, sizes.sort_values()])

    def cube(table: pd.DataFrame) -> Floats:
        values = table.reindex(cells).to_numpy(float).reshape(len(runs), len(sizes), -1)
        return np.swapaxes(values, 1, 2)

    # The deviation of few visits is often much too small, so that of all sizes counts as much.
    scatter = cube(slower.sub(median).abs().groupby(of_size, observed=True).median())
    with _missing():
        usual = np.nanmedian(scatter, axis=2, keepdims=True)
    visited = np.maximum(cube(by_size.count()), 1)
    error = SD_PER_MAD * np.sqrt((scatter**2 + usual**2) / 2) * np.sqrt(np.pi / 2 / visited)
    names, launches = ([*map(str, index)] for index in (median.columns, runs))
    return Race(sizes.sort_values().to_numpy(), names, launches, cube(median), error)


def _table(race: Race) -> pd.DataFrame:
    """Return a row for each size."""
    used = race.of([name for name in race.names if name not in DECIDING_ALGORITHMS] or race.names)
    probability = _probabilities(used)
    names = [*used.names, ANOTHER]
    order = np.argsort(-probability, axis=0, kind="stable")
    summed = np.cumsum(np.take_along_axis(probability, order, axis=0), axis=0)
    count = 1 + np.argmax(summed >= _SURE, axis=0)
    # The library may change to an algorithm that takes equally long at one size only.
    mean, error = used.together()
    equal = np.abs(mean) + _EQUAL_ERRORS * error < _WAY
    named = [{*order[:n, at], *np.flatnonzero(equal[:, at])} for at, n in enumerate(count)]
    rows: dict[str, Any] = {
        "size_bytes": race.sizes,
        "used": [sorted(names[a] for a in at) for at in named],
        "probability": np.minimum(summed[count - 1, np.arange(len(count))], 1.0),
    }
    return pd.DataFrame(rows | _fastest(race))


def _probabilities(race: Race) -> Floats:
    """Return the probability of each algorithm, and of another one, at each size."""
    slower, error = race.together()
    scale = np.hypot(error, _WAY)
    same = stats.t.logpdf(slower / scale, _FREEDOM) - np.log(scale)
    different = stats.norm.logpdf(slower, scale=np.hypot(_APART, error))
    evidence = np.vstack([np.nan_to_num(same - different), np.zeros(len(race.sizes))])
    states = len(evidence)
    first = np.full(states, np.log((1 - _ANOTHER) / (states - 1)))
    first[-1] = np.log(_ANOTHER)
    forward, backward = evidence + first[:, None], np.zeros_like(evidence)
    steps = [_step(first, octaves) for octaves in np.diff(np.log2(np.maximum(race.sizes, 1)))]
    for at, step in enumerate(steps, start=1):
        forward[:, at] = evidence[:, at] + logsumexp(forward[:, at - 1, None] + step, axis=0)
    for at, step in reversed([*enumerate(steps)]):
        backward[:, at] = logsumexp(step + backward[:, at + 1] + evidence[:, at + 1], axis=1)
    total = forward + backward
    return np.asarray(np.exp(total - logsumexp(total, axis=0)))


def _step(first: Floats, octaves: float) -> Floats:
    """Return the logarithm of the probability of each state after each: kept, or drawn again."""
    kept = (1 - _CHANGE_AN_OCTAVE) ** octaves
    return np.asarray(np.log(kept * np.eye(len(first)) + (1 - kept) * np.exp(first)))


def _fastest(race: Race) -> dict[str, Any]:
    """Return the algorithm that is surely faster than the choice in every launch, and the loss."""
    low, high = race.each_launch(_RISK / len(race.names))
    mean, _ = race.together()
    repeated = len(race.slower) >= _FEWEST_LAUNCHES
    sure = np.where((low > _WAY) & repeated, mean, -np.inf)
    best, at = sure.argmax(axis=0), np.arange(len(race.sizes))
    exists = np.isfinite(sure[best, at])
    pick = {"loss": mean, "loss_low": low, "loss_high": high}
    return {
        "fastest": np.where(exists, np.array(race.names, dtype=object)[best], None),
        **{name: np.where(exists, np.expm1(of[best, at]), np.nan) for name, of in pick.items()},
    }
