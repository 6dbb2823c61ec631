"""The rules of the gate that can be left out, to see what each buys: `yardstick.py --without RULE`.

Each is a name in a module, and what takes its place; the gate itself knows nothing of it.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np


def _all_sizes(search: Any, metric: str) -> Any:
    yield search._metric == metric


#: Of each rule: where it is, below `switchpoint.gating`, and what takes its place.
RULES: dict[str, tuple[str, Any]] = {
    "windows": ("baseline._WINDOWS", (1,)),
    "similar series": ("baseline._FEWEST_ALIKE", 10**9),
    "correlation": ("baseline.correlation", lambda past, *_: np.zeros(len(past))),
    "half of it now": ("baseline.SHOWS", -np.inf),
    "fewer launches": ("baseline._fewer_launches", lambda within, _: np.zeros(len(within))),
    "slow launches": (
        "baseline._of_slow_launches",
        lambda _, __, ___, rows: np.zeros(len(rows)),
    ),
    "levels": ("levels.levels", lambda series: [[0, series.shape[1]]] * len(series)),
    "scopes": ("search.Search._scopes_of", _all_sizes),
    "groups": ("search._MOST_GROUPS", 0),
    "joining": ("search.Search._is_like", lambda *_: False),
    "drifts": ("drift.FEWEST_SESSIONS", 10**9),
    "beyond the end": ("switches._AGREES_AT_END", 2.0),
    "few sizes": ("switches._FEW_SIZES", 0),
    "own change": ("odd_sizes.SHOWS", 0.0),
    "often disturbed": ("baseline._OFTEN_DISTURBED", 1.0),
    "disturbed": ("baseline.DISTURBED", np.inf),
    "launches show it": ("baseline._LAUNCHES_BELOW", 1.0),
    "large effects": ("search._LARGE", np.inf),
    "most of a group": ("search._LEAST_SHARE", 0.0),
    "scatter together": ("search._TOGETHER", 1.0),
    "smallest jump": ("switches._SMALLEST_JUMP", 0.0),
    "agrees": ("switches._AGREES", 0.0),
    "disturbed in levels": ("levels.DISTURBED", np.inf),
    "causes": ("changes.causes_of", lambda changes: [[one] for one in changes]),
    "consequences": (
        "changes.explained",
        lambda moved, odd, *_: ([False] * len(moved), [False] * len(odd)),
    ),
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
    path, instead = RULES[rule]
    module, *names, name = path.split(".")
    place: Any = importlib.import_module(f"switchpoint.gating.{module}")
    for one in names:
        place = getattr(place, one)
    kept = getattr(place, name)
    setattr(place, name, instead)
    try:
        yield
    finally:
        setattr(place, name, kept)
