"""Histories of a disturbed site whose truth is known: what is permanent, and what is one session.

All noise multiplies a time, and the launch is what repeats. Each kind of history is one fault or
one disturbance: see `KINDS`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint import Measurements
from switchpoint.tables.columns import RUN_COLUMNS

Floats = npt.NDArray[np.float64]

SIZES = 2 ** np.arange(3, 23)
SESSIONS, LAUNCHES, PASSES = 38, 3, 3
START = datetime(2026, 1, 1, 2, tzinfo=timezone.utc)

#: The session from which a permanent change lasts, and the sessions that are judged.
CHANGED = 32
JUDGED = range(CHANGED - 2, CHANGED + 4)

#: Each curve's place: MPI, placement, mode, pair of nodes.
MPIS = ["MPICH", "Open MPI"]
PLACEMENTS = {"one_node": (0.5, 1e-4), "same_switch": (12.0, 4e-4), "two_switches": (20.0, 8e-4)}
MODES = ["send", "ssend"]
PAIRS = [f"b{2 * one + 1}-b{2 * one + 2}" for one in range(5)]

#: Standard deviations of the logarithm of time: of a session at a placement, which remembers the
#: one before; of a curve in a session; of a launch; of a sample.
PLACE, REMEMBERED, OWN, LAUNCH, SAMPLE = 0.006, 0.5, 0.008, 0.02, 0.01

KINDS = {
    "quiet": "nothing but noise",
    "bad node": "one pair of nodes takes 40 % longer, once a month",
    "weekly": "one placement takes 4 % longer on every seventh session",
    "slow sessions": "a curve takes 10 to 40 % longer for a whole session, 2 % of them",
    "bimodal launches": "of one MPI at one placement, 30 % of launches take 25 % longer",
    "latency of a sixth": "+10 % latency on a sixth of the curves",
    "bandwidth of a sixth": "-10 % bandwidth on a sixth of the curves",
    "placement": "+12 % latency of one placement",
    "one curve": "+15 % of the time of one curve",
    "switch": "the limit of one MPI between nodes falls from 64 to 32 KiB",
    "masked change": "+40 % for good on one pair of nodes, sixteen sessions after one bad session",
    "masked switch": "the same switch, after a session that was 40 % slower as a whole",
    "small change": "+6 % of the time of one curve",
    "drift": "one placement takes 0.4 % longer with every session from the ninth on",
    "slow link": "a pair's time is at least as long as a third of its bandwidth allows",
    "settled level": "+10 % latency of a sixth, 20 sessions after +12 % of a placement",
    "repaired level": "+10 % latency of a sixth, 13 sessions after a week of +12 % of a placement",
    "few sessions": "+12 % latency of one placement, with three earlier sessions",
    "one launch": "one launch in place of three, of one MPI, and nothing else",
}


@dataclass
class History:
    """Sessions of 60 curves.

    Attributes
    ----------
    curves : DataFrame
        `mpi`, `placement`, `mode`, `nodes` of each curve.
    log_time : array of float, shape (curves, sessions, launches, sizes)
        Logarithm of the median time of each launch, in microseconds.
    truth : list of (session, metric, curves, effect)
        What is so in each session: the curves that a finding may name.
    before : int
        How many earlier sessions each is compared with.
    fewer : frozenset of int
        The curves that have one launch only, from the change on.
    """

    kind: str
    seed: int
    curves: pd.DataFrame
    log_time: Floats
    truth: list[tuple[int, str, frozenset[int], float]] = field(default_factory=list)
    before: int = 30
    fewer: frozenset[int] = frozenset()

    def true(self, session: int) -> list[tuple[str, frozenset[int], float]]:
        """Return what is so in a session."""
        return [tuple(one[1:]) for one in self.truth if one[0] == session]  # type: ignore[misc]

    def measurements(self, sessions: range) -> Measurements:
        """Return the measurements of some sessions, as an import would."""
        shape = (len(self.curves), len(sessions), LAUNCHES, PASSES, len(SIZES))
        rng = np.random.default_rng([self.seed, 99, sessions.start])
        times = np.exp(self.log_time[:, sessions, :, None, :] + rng.normal(0, SAMPLE, shape))
        runs, labels = [], []
        there = np.ones(shape[:3], dtype=bool)
        late = np.flatnonzero(np.array(sessions) >= CHANGED)
        there[np.ix_(sorted(self.fewer), late, range(1, LAUNCHES))] = False
        for curve, number, launch in np.argwhere(there).tolist():
            session = sessions[number]
            told = self.curves.iloc[curve].to_dict()
            start = START + timedelta(days=session, minutes=40 * launch, seconds=curve)
            own = {
                "site": "synthetic", "partition": "cpu", "environ": told["mpi"],
                "mpi": told["mpi"], "kernel": "pingpong", "placement": told["placement"],
                "run_id": f"{self.seed:08x}{curve:08x}{session:08x}{launch:08x}",
            }  # fmt: skip
            text = f"{start:%Y-%m-%dT%H:%M:%S.%fZ}"
            more = {"format": "record", "source": own["run_id"], "complete": True}
            more |= {"date": text[:10], "start_utc": text, "session": f"s{session:03}"}
            runs.append(own | more)
            labels.append(own | {"mode": told["mode"], "nodes": told["nodes"]})
        each = PASSES * len(SIZES)
        columns = {
            name: pd.Categorical([one[name] for one in labels]).take(
                np.repeat(np.arange(len(labels)), each)
            )
            for name in labels[0]
        }
        turn, place = (np.tile(axis, len(labels)) for axis in np.indices(shape[3:]).reshape(2, -1))
        samples = pd.DataFrame(
            columns
            | {"size_bytes": SIZES[place], "pass": turn, "sample": np.zeros_like(turn),
               "iterations": np.ones_like(turn), "time_us": times[there].ravel()},
            copy=False,
        )  # fmt: skip
        return Measurements(samples, pd.DataFrame(runs, columns=RUN_COLUMNS))


def history(kind: str, seed: int) -> History:
    """Return a history of a kind of `KINDS`."""
    places = itertools.product(MPIS, PLACEMENTS, MODES, PAIRS)
    curves = pd.DataFrame(places, columns=["mpi", "placement", "mode", "nodes"])
    rng = np.random.default_rng([seed, *map(ord, kind)])
    shape = (len(curves), SESSIONS, LAUNCHES)
    noise = rng.normal(0, LAUNCH, shape) + rng.normal(0, OWN, shape[:2])[:, :, None]
    places = rng.normal(0, PLACE * np.sqrt(1 - REMEMBERED**2), (len(PLACEMENTS), SESSIONS))
    for one in range(1, SESSIONS):
        places[:, one] += REMEMBERED * places[:, one - 1]
    code = curves["placement"].map([*PLACEMENTS].index).to_numpy()
    noise += places[code][:, :, None]
    made = History(kind, seed, curves, np.zeros((*shape, len(SIZES))))
    latency, per_byte, limit, least = _faults(made, rng, noise, shape)
    line = latency[..., None] + per_byte[..., None] * SIZES
    line = line + np.where(limit[..., None] <= SIZES, 0.8 * latency[..., None], 0.0)
    line = np.maximum(line, least[..., None] * SIZES)
    made.log_time[:] = np.log(line)[:, :, None, :] + noise[..., None]
    made.log_time[:] += rng.normal(0, SAMPLE / 2, made.log_time.shape)
    for curve in made.fewer:  # for detectors that take as many launches of every session
        made.log_time[curve, CHANGED:] = made.log_time[curve, CHANGED:, :1]
    return made


def _faults(
    made: History, rng: np.random.Generator, noise: Floats, shape: tuple[int, int, int]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Put the faults of a kind into the lines and the noise; tell them in the history's truth."""
    curves, kind = made.curves, made.kind
    bases = np.array([PLACEMENTS[one] for one in curves["placement"]])
    bases = bases * np.exp(rng.normal(0, 0.05, bases.shape))
    latency, per_byte = (np.repeat(bases[:, [one]], SESSIONS, axis=1) for one in (0, 1))
    limit, least = np.full(shape[:2], 65536.0), np.zeros(shape[:2])  # bytes, and us for a byte
    pair = str(rng.choice(PAIRS))
    on_pair = (curves["nodes"] == pair).to_numpy()
    mpi, placement = str(rng.choice(MPIS)), str(rng.choice([*PLACEMENTS]))
    on_placement = (curves["placement"] == placement).to_numpy()
    sixth = ((curves["mpi"] == mpi) & (curves["placement"] == placement)).to_numpy()
    between = ((curves["mpi"] == mpi) & (curves["placement"] != "one_node")).to_numpy()
    bad = CHANGED - 16

    def tell(sessions: range | list[int], metric: str, which: Floats, effect: float) -> None:
        where = frozenset(np.flatnonzero(which).tolist())
        made.truth.extend((one, metric, where, effect) for one in sessions)

    lasting = range(CHANGED, SESSIONS)
    if kind == "bad node":
        months = [4, CHANGED]
        noise[np.ix_(on_pair, months)] += np.log(1.4)
        tell(months, "time", on_pair, 0.4)
    elif kind == "weekly":
        noise[on_placement, ::7] += np.log(1.04)
    elif kind == "slow sessions":
        slow = rng.random(shape[:2]) < 0.02
        by = rng.uniform(0.1, 0.4, shape[:2])
        noise += np.where(slow, np.log1p(by), 0.0)[..., None]
        made.truth.extend(
            (int(session), "time", frozenset([int(curve)]), float(by[curve, session]))
            for curve, session in np.argwhere(slow)
        )
    elif kind == "bimodal launches":
        noise[sixth] += np.where(rng.random(noise[sixth].shape) < 0.3, np.log(1.25), 0.0)
    elif kind == "latency of a sixth":
        latency[sixth, CHANGED:] *= 1.1
        tell(lasting, "latency", sixth, 0.1)
    elif kind == "bandwidth of a sixth":
        per_byte[sixth, CHANGED:] /= 0.9
        tell(lasting, "bandwidth", sixth, -0.1)
    elif kind == "placement":
        latency[on_placement, CHANGED:] *= 1.12
        tell(lasting, "latency", on_placement, 0.12)
    elif kind == "one curve":
        one = np.arange(len(curves)) == rng.integers(len(curves))
        noise[one, CHANGED:] += np.log(1.15)
        tell(lasting, "time", one, 0.15)
    elif kind == "switch":
        limit[between, CHANGED:] = 32768
        tell(lasting, "switch", between, np.nan)
    elif kind == "masked change":
        noise[np.ix_(on_pair, [bad, *lasting])] += np.log(1.4)
        tell([bad, *lasting], "time", on_pair, 0.4)
    elif kind == "masked switch":
        noise[:, bad] += np.log(1.4)
        limit[between, CHANGED:] = 32768
        tell(lasting, "switch", between, np.nan)
    elif kind == "small change":
        one = np.arange(len(curves)) == rng.integers(len(curves))
        noise[one, CHANGED:] += np.log(1.06)
        tell(lasting, "time", one, 0.06)
    elif kind == "drift":
        noise[on_placement] += 0.004 * np.maximum(np.arange(SESSIONS) - 7, 0)[:, None]
        tell(range(8, SESSIONS), "time", on_placement, np.nan)
    elif kind == "slow link":
        slow = on_pair & (curves["placement"] != "one_node").to_numpy()
        least[slow, CHANGED:] = 3 * per_byte[slow, CHANGED:]
        tell(lasting, "bandwidth", slow, np.nan)
    elif kind == "settled level":
        noise[on_placement, CHANGED - 20 :] += np.log(1.12)
        latency[sixth, CHANGED:] *= 1.1
        tell(lasting, "latency", sixth, 0.1)
    elif kind == "repaired level":
        noise[on_placement, CHANGED - 20 : CHANGED - 13] += np.log(1.12)
        latency[sixth, CHANGED:] *= 1.1
        tell(lasting, "latency", sixth, 0.1)
    elif kind == "few sessions":
        made.before = 3
        latency[on_placement, CHANGED:] *= 1.12
        tell(lasting, "latency", on_placement, 0.12)
    elif kind == "one launch":
        made.fewer = frozenset(np.flatnonzero(curves["mpi"] == mpi).tolist())
    return latency, per_byte, limit, least
