"""The rules of detection and its tuned constants by name, each with what it is like without it.

`--without RULE` of the scores in this folder switches rules off, and `--ablate` each of them in
turn. The product knows nothing of this: a rule is switched off by replacing the function or the
constant that it is, where it is used. `KEPT` says which constants no rule names, and why.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from arguments import one_of
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.launches import _Weighed
from switchpoint.tables.visits import Visits

#: What a score measures, by name: shares in percent, or findings in 100 curves.
Measures = Mapping[str, float]


#: Curves whose sizes were measured several times, and those with one time for each size.
REPEATS, ONE_TABLE = "repeats", "one table"


@dataclass(frozen=True)
class Rule:
    """A rule, and what stands in its place if it is switched off.

    Attributes
    ----------
    what : str
        What the rule does.
    instead : dict
        By the name of each function or constant, below `switchpoint`: what replaces it.
    only : str
        `REPEATS` or `ONE_TABLE` if the rule is for these curves alone.
    reads : bool
        Whether the rule changes how measurements are read, and not only how they are searched.
    divides : bool
        Whether it changes how the same times are divided into pieces.
    """

    what: str
    instead: dict[str, Any] = field(default_factory=dict)
    only: str = ""
    reads: bool = False
    divides: bool = False


def _nothing(*_: object, **__: object) -> list[Any]:
    return []


def _none(*_: object, **__: object) -> None:
    return None


def _in_no_launch(launches: list[Any], _: object) -> list[Any]:
    return [np.zeros(len(time), dtype=bool) for time, _ in launches]


def _nowhere(_: object, time: Any, __: object) -> tuple[Any, Any]:
    return np.zeros_like(time), np.zeros_like(time)


def _without_states(_: object, slower: object, own: Any, point_curve: Any) -> Visits:
    nothing = np.zeros(len(point_curve))
    return Visits(own.copy(), nothing, nothing, {})


def _lines_across(table: Any, left: Any, right: Any, bracket: Any) -> tuple[float, float]:
    size = float(table.size[bracket.last])
    return table.line(left, size)[0], table.line(right, size)[0]


#: Every rule and every constant that was tuned and belongs to no model.
RULES = {
    "states": Rule(
        "visits in two states widen the error, or their fastest stand for the size",
        {"tables.curves.compare_visits": _without_states},
        reads=True,
        only=REPEATS,
        divides=True,
    ),
    "noise-floor": Rule(
        "no point has less noise than 0.5 %",
        {"detection.noise.NOISE_FLOOR": 1e-4, "detection.launches.NOISE_FLOOR": 1e-4},
        divides=True,
    ),
    "error-of-median": Rule(
        "the curve's usual error is its median error plus one standard error",
        {"detection.noise._ERROR_OF_MEDIAN": 0.0},
        only=REPEATS,
        divides=True,
    ),
    "low-quantile": Rule(
        "the scatter from size to size is taken at a quantile of 40 %, not at the median",
        {"detection.noise._QUANTILE": 0.5, "detection.noise._NORMAL_QUANTILE": 0.6745},
        divides=True,
    ),
    "scatter": Rule(
        "half of the scatter from size to size counts as noise, with repeats",
        {"detection.noise._SCATTER_SHARE": 0.0},
        only=REPEATS,
        divides=True,
    ),
    "scatter-alone": Rule(
        "a tenth more than the scatter counts as noise, without repeats",
        {"detection.noise._SCATTER_SHARE_ALONE": 1.0},
        only=ONE_TABLE,
        divides=True,
    ),
    "scatter-of-few": Rule(
        "few sizes without repeats have more noise",
        {"detection.noise._FOR_FEW": 0.0},
        only=ONE_TABLE,
        divides=True,
    ),
    "level": Rule(
        "a time below the times around it has their absolute noise",
        {"detection.noise._level": lambda time: time},
        divides=True,
    ),
    "off-alone": Rule(
        "a size that is off the lines of three neighbours on both sides is an outlier",
        {"detection.noise.off_alone": _nowhere},
        divides=True,
    ),
    "misfit": Rule(
        "only if these neighbours lie on a line",
        {"detection.outliers._LARGEST_MISFIT": np.inf},
        divides=True,
    ),
    "smallest-outlier": Rule(
        "an outlier is off by 5 %",
        {"detection.outliers.SMALLEST_OUTLIER": 1e-9},
    ),
    "slope-shares": Rule(
        "slopes are usually one of three kinds: latency alone, bytes, steeper",
        {"detection.segments._SHARES": ((1.0, 0.4, 0.5),)},
        divides=True,
    ),
    "usual-slope": Rule(
        "a piece of few sizes has the usual slope",
        {"detection.segments._USUAL_ERROR": 1e3},
    ),
    "none-or-several": Rule(
        "without repeats a curve has nearly no boundary, or several",
        {"detection.launches._NONE_OR_SEVERAL": ((0.5, 1.0),)},
        only=ONE_TABLE,
        divides=True,
    ),
    "unknown-noise": Rule(
        "without repeats a curve is weighed under six noises",
        {"detection.launches._UNKNOWN": (1.0,)},
        only=ONE_TABLE,
        divides=True,
    ),
    "likeliest-noise": Rule(
        "of these, those near the estimate are likelier",
        {"detection.launches._UNSURE": 1e6},
        only=ONE_TABLE,
        divides=True,
    ),
    "odd-in-tables": Rule(
        "without repeats up to two sizes may be odd",
        {"detection.launches._MOST_ODD": 0},
        only=ONE_TABLE,
        divides=True,
    ),
    "launches": Rule(
        "a boundary of the other launches is likelier before a launch's own data",
        {"detection.launches._RECURS": 0.0},
    ),
    "kind-of-launches": Rule(
        "launches share whether the time jumps or lines meet",
        {"detection.bends._MOST_OF_ANOTHER": 0.0},
    ),
    "kind-limit": Rule(
        "one other launch changes these odds by a factor of nine at most",
        {"detection.bends._MOST_OF_ANOTHER": np.inf},
    ),
    "jumps-elsewhere": Rule(
        "where another launch jumps, no size is odd",
        {"detection.launches._jumps_elsewhere": _in_no_launch},
    ),
    "second-search": Rule(
        "a curve with an odd size is searched once more without it",
        {"detection.launches._Weighed.without": lambda self, _: self},
    ),
    "bend-odds": Rule(
        "one boundary in eight is a bend, before the data",
        {"detection.bends._LOG_ODDS": 0.0},
    ),
    "wide-bracket": Rule(
        "a boundary is reported between as many sizes as contain it with 70 %",
        {
            "detection.brackets.LEAST_PROBABILITY": 0.5,
            "detection.boundaries.LEAST_PROBABILITY": 0.5,
        },
    ),
    "possible-kind": Rule(
        "a kind with a probability of 10 % is possible: wider brackets, and steps beside bends",
        {"detection.boundaries._POSSIBLE": 0.5},
    ),
    "smallest-step": Rule(
        "a step changes the time by 5 %",
        {"detection.boundaries.SMALLEST_STEP": 0.0},
    ),
    "smallest-slope-change": Rule(
        "a change of slope changes the time by 25 % an octave later",
        {"detection.boundaries.SMALLEST_SLOPE_CHANGE": 0.0},
    ),
    "exceeds-noise": Rule(
        "without repeats a boundary changes the time by 1.25 times the noise",
        {"detection.boundaries._LEAST_ERRORS_ALONE": 0.0},
        only=ONE_TABLE,
    ),
    "end-exceeds-noise": Rule(
        "without repeats one of a single size at an end changes it by four times the noise",
        {"detection.boundaries._LEAST_ERRORS_OF_END": 1.25},
        only=ONE_TABLE,
    ),
    "beyond-slopes": Rule(
        "what meets with slopes that agree is a step only if it jumps beyond the slopes around it",
        {"detection.boundaries._jumps_beyond_slopes": lambda *_: True},
    ),
    "steps-of-bends": Rule(
        "and then it is a step",
        {"detection.boundaries._jumps_beyond_slopes": lambda *_: False},
    ),
    "single-size-before": Rule(
        "a jump after a single size is measured against its time, not its line",
        {"detection.boundaries._times_across": _lines_across},
    ),
    "odd-between": Rule(
        "a single size between two boundaries is odd if the lines beside it agree",
        {"detection.boundaries.odd_between": _none},
    ),
    "odd-ends": Rule(
        "a single size at an end may be odd",
        {"detection.boundaries._may_be_step": lambda *_, **__: True},
    ),
    "largest-step": Rule(
        "a single size at an end that is six times as slow is odd",
        {"detection.boundaries._LARGEST_STEP_OF_ONE_SIZE": np.inf},
    ),
    "cliffs": Rule(
        "large differences of neighbours that no bracket contains are steps",
        {"detection.boundaries.cliffs": _nothing},
    ),
    "cliff-slopes": Rule(
        "what the time jumps at a boundary is no slope that explains a cliff",
        {"detection.cliffs._nearest": lambda slope: np.maximum(np.nan_to_num(slope), 0.0)},
    ),
    "cliff-alone": Rule(
        "without repeats a cliff is six times its noise, not 4.5",
        {"detection.boundaries.CERTAIN_ALONE": 4.5},
        only=ONE_TABLE,
    ),
}  # fmt: skip

#: Constants that no rule names: why, and which.
KEPT = {
    "part of a rule, which goes as a whole": {
        *("cliffs.SMALLEST_CLIFF", "cliffs.CERTAIN", "cliffs.CERTAIN_ALONE"),
        *("boundaries._SIZES_BESIDE_CLIFF", "launches._ERRORS"),
        *("launches._IS_ODD", "launches._SIZES_WITH_ODD"),
    },
    "of a model: what is likely before the data, or how far numbers may go": {
        *("launches._BOUNDARIES_A_CURVE", "segments.LEVEL_RANGE", "segments._USUAL_SHARE"),
        *("segments._LEAST", "confidence.LARGEST_LOG_ODDS", "confidence._LEAST_NOISE"),
        *("recurrence._SMALLEST_EFFECT", "recurrence._LARGEST_EFFECT"),
        *("recurrence._LARGEST_LOG_ODDS", "recurrence._HIGHEST", "recurrence._MOST_LAUNCHES"),
    },
    "of time and memory": {
        *("launches.FEWEST_SIZES", "launches.MOST_SIZES", "launches._SIZES_KEPT"),
        "launches._ENTRIES_AT_ONCE",
        *("search.CURVES_AT_ONCE", "search.WORTH_A_POOL", "search.LAUNCHES_TOGETHER"),
        "segments._ROWS_AT_ONCE",
    },
    "of what no score counts: bursts, inversions, and warnings of changes that are no findings": {
        *("bursts.SMALLEST_BURST", "bursts._BURST_ERRORS", "bursts._FEWEST_PASSES"),
        *("bursts._MEDIAN_ERROR", "cliffs.POSSIBLE", "inversions.SMALLEST"),
        *("inversions.FEWEST_SIZES", "inversions.LAUNCH_SCATTER", "inversions._ERRORS"),
    },
    "of guidelines, which have a score of their own: bench/guidelines.py": {
        *("guidelines._LEAST", "guidelines._FEWEST_LAUNCHES", "guidelines._RISK"),
    },
}


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Switch rules off; a name that no longer exists is an error."""
    with ExitStack() as stack:
        for name in names:
            for target, value in RULES[name].instead.items():
                stack.enter_context(patch(f"switchpoint.{target}", value))
        yield


def add_rules(options: argparse.ArgumentParser) -> None:
    """Add the arguments that switch rules off."""
    options.add_argument(
        "--without", type=one_of("rule", RULES), action="append", default=[], metavar="RULE",
        help=f"any of {', '.join(RULES)}",
    )  # fmt: skip
    options.add_argument(
        "--ablate", action="store_true", help="a table of each rule, or of those of --without"
    )


def kinds(rule: Rule | None) -> list[str]:
    """Return which curves have to be scored without a rule."""
    return [rule.only] if rule and rule.only else [REPEATS, ONE_TABLE]


def table(measure: Callable[[Rule | None], Measures], names: Collection[str]) -> None:
    """Print what a score measures with all rules, and how far it is from that without each.

    Without any names, each rule there is.
    """
    known: dict[tuple[bool | bytes, ...], Divisions] = {}
    with _divided_once(known):
        whole = measure(None)
    print("| without | " + " | ".join(whole) + " |")
    print("|---" * (len(whole) + 1) + "|")
    print("| (nothing) | " + " | ".join(f"{value:.1f}" for value in whole.values()) + " |")
    for name in names or RULES:
        rule = RULES[name]
        with without(name), nullcontext() if rule.divides else _divided_once(dict(known)):
            changed = measure(rule)
        cells = [_change(changed.get(key, value) - value) for key, value in whole.items()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


@contextmanager
def _divided_once(known: dict[tuple[bool | bytes, ...], Divisions]) -> Iterator[None]:
    """Divide the same times with the same noise once only, which takes most of the time."""
    divide = _Weighed.divide

    def remembered(weighed: _Weighed, elsewhere: Any) -> Divisions:
        arrays = weighed._size, weighed._time, weighed._noise, elsewhere
        key = (weighed.has_repeats, *(array.tobytes() for array in arrays))
        if key not in known:
            known[key] = divide(weighed, elsewhere)
        return known[key]

    with patch.object(_Weighed, "divide", remembered):
        yield


def _change(points: float) -> str:
    return f"{points:+.1f}" if abs(points) >= 0.05 else ""
