"""Reads message sizes at the ends of variables' names, where nothing else can be meant.

`latency_64KiB` has a size. `latency_p99`, `time_7B` (a model), `build_gcc11` and
`nodes_4` have none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from switchpoint.tables.units import SCALES

#: A variable's name: the metric, then the size.
_SIZED = re.compile(
    r"(?P<metric>.*[^\d\W_])[_-]?(?<![\d.])(?P<number>\d+)_?(?P<scale>[KMG]?)(?P<i>i?)(?P<byte>B|bytes)?",
    re.IGNORECASE,
)

#: So many sizes of a metric show what the numbers mean.
_LEAST_SIZES = 3

#: The last words of a metric whose numbers are sizes, and of a metric of messages.
_SIZE_WORDS = frozenset(["buffer", "bytes", "length", "message", "msg", "msgsize", "size"])
_MESSAGE_WORDS = frozenset(["bandwidth", "bibw", "bw", "lat", "latency", "mbw"])

#: Words behind them that say how values were summarised, or in what unit.
_BEHIND = frozenset(["avg", "max", "mean", "median", "min", "ms", "ns", "us", "usec"])


@dataclass(frozen=True)
class Name:
    """A variable's name in parts.

    Attributes
    ----------
    metric : str
    size : float or None
        In bytes, if the name ends in a number.
    unit : str
        Behind the number: `KiB`, `K`, `B` or nothing.
    """

    metric: str
    size: float | None = None
    unit: str = ""


def parts_of_name(variable: str) -> Name:
    """Split a variable's name.

    >>> parts_of_name("latency_64KiB"), parts_of_name("latency")
    (Name(metric='latency', size=65536.0, unit='KiB'), Name(metric='latency', size=None, unit=''))
    """
    match = _SIZED.fullmatch(variable)
    if match is None:
        return Name(variable)
    size = float(match["number"]) * SCALES[match["scale"].lower()]
    unit = match["scale"] + match["i"] + (match["byte"] or "")
    return Name(match["metric"].rstrip("_-"), size, unit)


def which_are_sizes(names: Sequence[Name], tests: Iterable[str]) -> list[bool]:
    """Return whether the number at the end of each name is a message size.

    Parameters
    ----------
    names
        Of variables.
    tests
        The test of each.
    """
    groups = list(zip(tests, (name.metric for name in names), strict=True))
    sizes: dict[tuple[str, str], set[float]] = {}
    for group, name in zip(groups, names, strict=True):
        if name.size is not None:
            sizes.setdefault(group, set()).add(name.size)
    return [
        name.size is not None and _is_size(name, sizes[group])
        for group, name in zip(groups, names, strict=True)
    ]


def is_doubtful(name: Name) -> bool:
    """Return whether the number may be something else although it is taken for a size.

    >>> is_doubtful(parts_of_name("time_8B")), is_doubtful(parts_of_name("latency_8B"))
    (True, False)
    """
    return not name.unit or (name.unit in ("B", "b") and not any(_words_of(name)))


def _words_of(name: Name) -> tuple[bool, bool]:
    """Return whether the metric is a size, and whether it is of messages."""
    words = re.split(r"[\W_]+", name.metric.lower())
    while len(words) > 1 and words[-1] in _BEHIND:
        words.pop()
    return words[-1] in _SIZE_WORDS, words[-1] in _MESSAGE_WORDS


def _is_size(name: Name, of_metric: set[float]) -> bool:
    unit = name.unit.lower()
    if unit == "bytes" or (unit.endswith(("b", "bytes")) and len(unit) > 1):
        return True
    of_size, of_message = _words_of(name)
    if unit and (of_size or of_message):
        return True
    several = len(of_metric) >= _LEAST_SIZES and max(of_metric) - min(of_metric) >= len(of_metric)
    return several and (of_size or (all(map(_is_power, of_metric)) and (of_message or bool(unit))))


def _is_power(size: float) -> bool:
    """Return whether a size is 0 or a power of two, as benchmarks choose them."""
    return math.isfinite(size) and int(size) & (int(size) - 1) == 0
