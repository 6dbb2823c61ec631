"""Runs plans of launches within a time, and keeps what they measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from switchpoint.gating.relative_times import levels, slower_by_group
from switchpoint.gating.suspects import Suspect
from switchpoint.gating.trials import LABEL, Trial, hosts_of, interleaved, trial_named
from switchpoint.importing.reading import read_files
from switchpoint.tables.curves import summarise
from switchpoint.tables.sweeps import Floats

#: Launches of each trial in a session: the fewest that have an interval, and the most in all.
ROUND, MOST_LAUNCHES = 3, 15

#: Measures a plan within so many seconds; returns the records, and why others are missing.
Measure = Callable[[Sequence[Trial], float], tuple[list[Path], list[str]]]


class Laboratory:
    """Measures plans within the budget, and keeps what was measured."""

    def __init__(self, measure: Measure, budget_s: float, clock: Callable[[], float]) -> None:
        self._measure, self._clock = measure, clock
        self._end, self._budget_s = clock() + budget_s, budget_s
        self._launch_s: dict[str, float] = {}  # by job
        self._number = 0
        self._points: list[pd.DataFrame] = []
        self.failures: list[str] = []

    def run(self, trials: Sequence[Trial], sure: Callable[[], bool], share: float = 1.0) -> None:
        """Measure rounds until it is sure, this share of the time is over, or nothing came of it.

        The first round may take all of the time.
        """
        for number in range(MOST_LAUNCHES // ROUND):
            plan = interleaved(trials, ROUND, self._number)
            left_s = self._end - self._clock() - (1 - share) * self._budget_s * (number > 0)
            if not plan or left_s <= self._expected_s(plan):
                return
            if not self._run(plan, left_s) or sure():
                return

    def has_time_for(self, trials: Sequence[Trial]) -> bool:
        """Return whether a round of these will end in time, as far as is known."""
        return self._expected_s(interleaved(trials, ROUND)) < self._end - self._clock()

    def quickest(self, suspects: Sequence[Suspect]) -> Suspect | None:
        """Return the suspect of which a launch of each trial takes least time; None if none."""
        return min(suspects, key=lambda suspect: self._expected_s(suspect.trials), default=None)

    def _expected_s(self, plan: Sequence[Trial]) -> float:
        """Return about how long a plan takes; 0 before anything was measured."""
        known = [*self._launch_s.values()]
        usual = float(np.mean(known)) if known else 0.0
        return sum(self._launch_s.get(str(trial.job), usual) for trial in plan)

    def _run(self, plan: Sequence[Trial], left_s: float) -> bool:
        begin = self._clock()
        records, failures = self._measure(plan, left_s)
        self._number += ROUND
        took_s = self._clock() - begin
        self.failures += failures
        if not records:
            return False
        imported = read_files(records).measurements
        if imported is None:
            return False
        points = summarise(imported)
        hosts = {
            run_id: hosts_of(imported.facts(run_id)[0]) for run_id in points["run_id"].unique()
        }
        trials = [trial_named(plan, name, LABEL) for name in points[LABEL].astype(str)]
        jobs = dict(zip(points["run_id"], (str(trial.job) for trial in trials), strict=True))
        starts = imported.runs.set_index("run_id")["start_utc"]
        self._launch_s |= _seconds_of_launches(starts, jobs, took_s)
        self._points.append(
            points.drop(columns=LABEL).assign(
                variant=[trial.variant for trial in trials],
                number=[trial.number for trial in trials],
                where=[str(trial.where) for trial in trials],
            )[
                # Without one node and without another that was to stay, either may be the cause.
                [
                    {*trial.nodes} <= {*hosts[run_id]}
                    for run_id, trial in zip(points["run_id"], trials, strict=True)
                ]
            ]
        )
        return True

    def slower_by_launch(self, suspect: Suspect, variant: str, beside: str | None = None) -> Floats:
        """Return how slow each launch of a variant was; only of rounds that also had `beside`."""
        if not self._points:
            return np.zeros(0)
        points = pd.concat(self._points, ignore_index=True)
        points = points[points["where"].isin([str(trial.where) for trial in suspect.trials])]
        rounds = points.groupby("variant")["number"].unique()
        if variant not in rounds.index or (beside is not None and beside not in rounds.index):
            return np.zeros(0)
        wanted = points["variant"] == variant
        if beside is not None:
            wanted &= points["number"].isin(rounds[beside])
        launches = points[wanted]
        number = dict(zip(launches["run_id"], launches["number"], strict=True))
        table = levels(launches.drop(columns=["variant", "number", "where"]), suspect.metric)
        slower = slower_by_group(table, suspect.usual, number.get, suspect.moved)
        return np.asarray(slower, dtype=np.float64)


def _seconds_of_launches(
    starts: pd.Series, jobs: dict[str, str], took_s: float
) -> dict[str, float]:
    """Return how long a launch of each job takes, such that all of them take what they took.

    Parameters
    ----------
    starts
        When each run started, by run; one ends when the next starts, the last like the others.
    jobs
        Of each run.
    took_s
        Seconds of all launches, with what is around them.
    """
    in_order = pd.to_datetime(starts, utc=True).sort_values()
    gaps_s = -in_order.diff(-1).dt.total_seconds()
    by_job = gaps_s.groupby(in_order.index.map(jobs.get))
    means_s = by_job.mean().fillna(gaps_s.mean())
    all_s = float((means_s * by_job.size()).sum())
    if not all_s > 0:  # a single launch, or such that nobody knows when they started
        return dict.fromkeys(jobs.values(), took_s / len(in_order))
    return {str(job): float(mean_s) * took_s / all_s for job, mean_s in means_s.items()}
