"""The current session with its baseline sessions, which the parts of the gate share."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.gating.accepted import Acceptance, matching
from switchpoint.gating.circumstances import differences, nodes_of, ranked
from switchpoint.gating.kinds import ACCEPTED, CHANGES, SUSPECTED, ChangedFact, GateFinding
from switchpoint.gating.points import Points, texts_of
from switchpoint.gating.policy import Policy
from switchpoint.gating.presence import Absent
from switchpoint.gating.sessions import Sessions
from switchpoint.gating.verdict import Power
from switchpoint.gating.words import finding_id, shared_by
from switchpoint.tables.sweeps import Indices


@dataclass(frozen=True)
class Draft:
    """What a part of the gate found, before it is compared with what was accepted.

    Attributes
    ----------
    kind, metric : str
        One of `KINDS`; what changed, or empty.
    sentence : str
        For people.
    curves : array of int
        Rows of `Points.curves`; may be empty.
    key : tuple
        Sizes or names that distinguish the finding from others of this kind.
    shared : dict
        What all its curves have in common.
    first_size_bytes, last_size_bytes : int or None
    effect, low, high : float
        Relative, with its 95 % interval; NaN without one.
    since : tuple of str
        When it began, and the first and last time when it may have begun; empty if not known.
    facts : list of dict
        What else changed, if the kind compares no numbers of curves.
    """

    kind: str
    metric: str
    sentence: str
    curves: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    key: tuple[int | str, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)
    first_size_bytes: int | None = None
    last_size_bytes: int | None = None
    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    since: tuple[str, ...] = ()
    facts: tuple[ChangedFact, ...] = ()


@dataclass(frozen=True)
class Current:
    """A session and its baseline sessions.

    Attributes
    ----------
    sessions, points
        Runs and points of all sessions; without the points before an accepted change.
    before : DataFrame
        Runs of the newest baseline session without a confirmed change.
    facts : dict
        As from `facts_of_runs`, of the session and of that session.
    acceptances : list of Acceptance
    absent : Absent
        What the session lacks. Unlike `points`, this takes all sessions into account: an accepted
        change does not make a curve one that nobody expects.
    limits : list of DataWarning
        What limits the verdict. The parts of the gate add to it.
    power : list of dict
        The smallest changes that would be found, see `Search.power`.
    """

    sessions: Sessions
    points: Points
    before: pd.DataFrame
    facts: Mapping[str, Mapping[str, str]]
    acceptances: list[Acceptance]
    absent: Absent = field(default_factory=Absent)
    limits: list[DataWarning] = field(default_factory=list)
    power: list[Power] = field(default_factory=list)

    @property
    def curves(self) -> pd.DataFrame:
        """The identity of each curve of all sessions."""
        return self.points.curves

    @functools.cached_property
    def current_runs(self) -> pd.DataFrame:
        """The runs of the current session."""
        return self.sessions.runs_of(self.sessions.current)

    @functools.cached_property
    def current_launches(self) -> pd.DataFrame:
        """The current session's launches of curves."""
        launches = self.points.launches
        return launches[launches["session_number"] == self.sessions.current]

    @property
    def current_curves(self) -> pd.DataFrame:
        """The identity of each curve of the session."""
        return self.curves.iloc[np.unique(self.current_launches["curve"])].reset_index(drop=True)

    @functools.cached_property
    def nodes(self) -> list[frozenset[str]]:
        """Of each curve: the nodes that all its launches of the current session used."""
        used: list[frozenset[str] | None] = [None] * len(self.curves)
        for curve, run_id in zip(
            self.current_launches["curve"], self.current_launches["run_id"], strict=True
        ):
            nodes = nodes_of(self.facts.get(run_id, {}))
            known = used[curve]
            used[curve] = nodes if known is None else known & nodes
        return [frozenset() if nodes is None else nodes for nodes in used]

    @functools.cached_property
    def differences(self) -> dict[str, dict[str, tuple[str, str]]]:
        """What differs between the current session's runs and those of a session before."""
        if not self.sessions.current:
            return {}
        return differences(self.current_runs, self.before, self.facts)

    def runs_of_curves(self, curves: Indices) -> set[str]:
        """Return the current session's runs of some curves."""
        launches = self.current_launches[self.current_launches["curve"].isin(curves)]
        return set(launches["run_id"])

    def described(self, draft: Draft) -> GateFinding:
        """Return a finding as a row of `GATE_COLUMNS`, before anybody's acceptance counts."""
        shared = dict(draft.shared) or shared_by(self.curves, draft.curves)
        facts = list(draft.facts)
        if draft.kind in CHANGES and len(draft.curves):
            facts = ranked(self.differences, self.runs_of_curves(draft.curves))
        return {
            "finding_id": finding_id(draft.kind, draft.metric, draft.key, shared),
            "session": self.sessions.session,
            "time_utc": self.sessions.starts_utc[-1],
            "kind": draft.kind,
            "metric": draft.metric,
            "shared": shared,
            "curves": texts_of(self.curves.iloc[draft.curves]),
            "first_size_bytes": draft.first_size_bytes,
            "last_size_bytes": draft.last_size_bytes,
            "effect": draft.effect,
            "low": draft.low,
            "high": draft.high,
            "since_utc": draft.since[0] if draft.since else None,
            "since_low_utc": draft.since[1] if draft.since else None,
            "since_high_utc": draft.since[2] if draft.since else None,
            "what_changed": facts,
            "state": SUSPECTED,
            "reason": None,
            "fails": False,
            "sentence": draft.sentence,
        }

    def decided(self, row: GateFinding, policy: Policy) -> GateFinding:
        """Return a finding with its state, and whether it fails.

        A switch that moved for the better is an improvement too: a policy must let both fail.
        """
        known = matching(self.acceptances, row)
        better = row["kind"] == "moved_switch" and row["effect"] < 0
        kinds = {row["kind"], "improvement"} if better else {row["kind"]}
        return {
            **row,
            "state": ACCEPTED if known else SUSPECTED,
            "reason": known.words if known else None,
            "fails": known is None and kinds <= policy.fails,
        }
