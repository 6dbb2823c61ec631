"""The rules of the gate that can be left out, to see what each buys: `yardstick.py --without RULE`.

Each is a name in a module, and what takes its place; the gate itself knows nothing of it. `KEPT`
says which constants no rule names, and why.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

#: Takes the place of a limit that nothing shall reach. Not infinite: that times 0 is NaN.
BEYOND_ALL = 1e9


class Rule(NamedTuple):
    """A rule of the gate.

    Attributes
    ----------
    what : str
        What it does.
    path : str
        Where it is, below `switchpoint.gating`.
    instead : object
        What takes its place.
    """

    what: str
    path: str
    instead: Any


def _all_sizes(search: Any, metric: str) -> Any:
    yield search._metric == metric


RULES = {
    "windows": Rule("the newest 3 and 7 sessions are compared too", "baseline._WINDOWS", (1,)),
    "window of 3": Rule("the newest 3 sessions are compared too", "baseline._WINDOWS", (1, 7)),
    "window of 7": Rule("the newest 7 sessions are compared too", "baseline._WINDOWS", (1, 3)),
    "similar series": Rule("the scatter of similar series helps", "baseline._FEWEST_ALIKE", 10**9),
    "correlation": Rule(
        "sessions that are like the one before count less",
        "baseline.correlation",
        lambda past, *_: np.zeros(len(past)),
    ),
    "half of it now": Rule(
        "the middle launch shows half of a change", "baseline.SHOWS", -BEYOND_ALL
    ),
    "fewer launches": Rule(
        "a session with fewer launches scatters more",
        "baseline._fewer_launches",
        lambda within, _: np.zeros(len(within)),
    ),
    "launch scatter": Rule(
        "the scatter of launches tells that of sessions",
        "by_session._variance",
        lambda cell, off, number: np.full(len(number), np.nan),
    ),
    "slow launches": Rule(
        "launches that are often slow are no change",
        "baseline._of_slow_launches",
        lambda _, __, ___, rows: np.zeros(len(rows)),
    ),
    "disturbed": Rule(
        "a disturbed session is no part of the scatter", "baseline.DISTURBED", BEYOND_ALL
    ),
    "often disturbed": Rule("unless a series is disturbed often", "baseline._OFTEN_DISTURBED", 1.0),
    "levels": Rule(
        "only sessions at the settled level are the baseline",
        "levels.levels",
        lambda series: [[0, series.shape[1]]] * len(series),
    ),
    "disturbed in levels": Rule("a disturbed session is no level", "levels._DISTURBED", BEYOND_ALL),
    "drifts": Rule("drifts are tested", "drift.FEWEST_SESSIONS", 10**9),
    "gradual": Rule("a line fits a drift better than a step", "drift._is_gradual", lambda *_: True),
    "scopes": Rule(
        "groups are also compared in their main segments, and in those of the same sizes",
        "search.Search._scopes_of",
        _all_sizes,
    ),
    "groups": Rule("curves that share something are tested together", "search._MOST_GROUPS", 0),
    "most of a group": Rule("most of a group changed", "search._LEAST_SHARE", 0.0),
    "scatter together": Rule(
        "before there is a baseline, a group scatters less than its members",
        "search._TOGETHER",
        1.0,
    ),
    "large effects": Rule(
        "effects beyond 8 times what matters count the same", "search._LARGE", BEYOND_ALL
    ),
    "other line": Rule(
        "a switch moves where the line of the other side is above, or below",
        "switches._Curve._jumps",
        lambda *_: (-1.0, 1.0),
    ),
    "smallest jump": Rule("small jumps are not followed", "switches._SMALLEST_JUMP", 0.0),
    "other metric": Rule(
        "if one metric is unchanged, its share of the time is taken out of the effect",
        "changes._alone",
        lambda change, *_: change,
    ),
    "causes": Rule(
        "both metrics of the same curves are one finding",
        "changes.causes_of",
        lambda changes: [[one] for one in changes],
    ),
    "consequences": Rule(
        "switches and sizes of the same curves belong to their change",
        "changes.follows_from",
        lambda _: lambda _: False,
    ),
}

#: Constants that no rule names: why, and which.
KEPT = {
    "part of a rule, which goes as a whole": {
        *("levels._FEWEST_SESSIONS", "levels._PRICE"),
        *("levels._AROUND", "switches.BESIDE", "switches._LEFT_OUT"),
    },
    "of a model: a variance, a correlation, a regression, or what is likely before the data": {
        *("baseline.MEDIAN_VARIANCE", "baseline._MIDMEAN_VARIANCE", "baseline.MOST_CORRELATED"),
        *("baseline.USUAL_SCATTER", "baseline._USUAL_FREEDOM"),
        *("changes._USUAL_SCATTER_OF_NOISE", "switches._USUAL_SCATTER", "shapes._UNKNOWN_ERROR"),
        *("levels.LEAST_SCATTER", "shapes._LEAST_CONFIDENCE", "parameters._MOST_INFLATION"),
        *("parameters._LEAST_ERROR", "parameters._BIWEIGHT", "parameters._STEPS"),
        *("parameters._STEPS_OF_LEVELS", "parameters._SURE", "parameters._LEAST_SPREAD"),
        "parameters._LONGEST_STEP",
    },
    "of time and memory": {
        *("baseline._RARE", "by_curve._POINTS_AT_ONCE", "by_curve._WORTH_A_POOL"),
        "gate._SESSIONS_AT_ONCE",
    },
    "of what is printed": {
        *("changes._POWER_SESSIONS", "changes._ENOUGH_SESSIONS", "changes._ANY_CHANGE"),
        *("circumstances._MOST_LISTED", "consequences._MOST_CLAUSES", "sessions._MOST_NAMED"),
        *("values._MOST_LISTED", "levels._POSSIBLE"),
    },
    "of what no history of `disturbed.py` has: a first session, missing curves, earlier findings,"
    " acceptances, single values, and what is measured again": {
        *("switches.ENOUGH_SESSIONS", "presence._LEAST_SHARE", "presence._LEAST_SESSIONS"),
        *("presence._RECENT", "continuity._SAME_CURVES", "continuity._NEWEST"),
        *("accepted._SAME_CURVES", "accepted._MOST_OF_EFFECT", "value_sessions.PAUSE_H"),
        *("value_sessions.LONGEST_H", "references.FEWEST_VALUES", "references._MARGIN"),
        *("suspects._MOST_JOBS", "suspects._MOST_SIZES", "suspects._MOST_COMPANIONS"),
        *("suspects._SESSIONS", "suspects._FEW_SESSIONS", "suspects._MOST_SETTINGS"),
        *("confirm._SHARE_OF_BUDGET", "laboratory.ROUND", "laboratory.MOST_LAUNCHES"),
    },
}


class ReadOnce:
    """Lets the gate read each session once, however often it judges it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> None:
        self._gate = importlib.import_module("switchpoint.gating.gate")
        self._kept = {name: getattr(self._gate, name) for name in ("calendar", "_read")}
        self._gate.calendar = lambda *given: self._once("calendar", given[2], given)
        self._gate._read = lambda *given: self._copied(self._once("_read", given[1].session, given))

    def __exit__(self, *_: object) -> None:
        for name, value in self._kept.items():
            setattr(self._gate, name, value)

    def _once(self, name: str, session: str, given: Any) -> Any:
        if (name, session) not in self._known:
            self._known[name, session] = self._kept[name](*given)
        return self._known[name, session]

    def _copied(self, read: Any) -> Any:
        session, not_taken = read
        return replace(session, limits=[], power=[]), [*not_taken]


@contextlib.contextmanager
def without(rule: str | None) -> Iterator[None]:
    """Leave a rule out for a while; None leaves out nothing."""
    if rule is None:
        yield
        return
    module, *names, name = RULES[rule].path.split(".")
    place: Any = importlib.import_module(f"switchpoint.gating.{module}")
    for one in names:
        place = getattr(place, one)
    kept = getattr(place, name)
    setattr(place, name, RULES[rule].instead)
    try:
        yield
    finally:
        setattr(place, name, kept)
