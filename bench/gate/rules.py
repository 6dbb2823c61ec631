"""The rules of the gate that can be left out, to see what each buys: `yardstick.py --without RULE`.

Each is a name in a module, and what takes its place; the gate itself knows nothing of it.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np


def _all_normal(nightly: Any, _: int) -> Any:
    chosen = np.ones(nightly.shape, dtype=bool)
    chosen[:, -1] = False
    return chosen


def _all_sizes(search: Any, metric: str) -> Any:
    yield search._metric == metric


#: Of each rule: where it is, below `switchpoint.gating`, and what takes its place.
RULES: dict[str, tuple[str, Any]] = {
    "windows": ("baseline._WINDOWS", (1,)),
    "similar series": ("baseline._FEWEST_ALIKE", 10**9),
    "correlation": ("baseline.correlation", lambda past, *_: np.zeros(len(past))),
    "half of it now": ("baseline._HALF", -np.inf),
    "fewer launches": ("baseline._fewer_launches", lambda within, _: np.zeros(len(within))),
    "slow launches": (
        "baseline._of_slow_launches",
        lambda _, __, ___, rows: np.zeros(len(rows)),
    ),
    "levels": ("changes.normal_nights", _all_normal),
    "scopes": ("search.Search._scopes_of", _all_sizes),
    "groups": ("search._MOST_GROUPS", 0),
    "joining": ("search.Search._is_like", lambda *_: False),
    "drifts": ("search._LIKELY_DRIFT", np.inf),
    "beyond the end": ("switches._AGREES_AT_END", 2.0),
    "few sizes": ("switches._FEW_SIZES", 0),
    "own change": ("odd_sizes._SHARE_OF_ITS_OWN", 0.0),
    "causes": ("changes.causes_of", lambda changes: [[one] for one in changes]),
    "consequences": (
        "changes.divided",
        lambda beside, *_: (type(beside)([], []), beside),
    ),
}


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
