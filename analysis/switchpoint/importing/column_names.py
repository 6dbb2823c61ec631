"""Reads what the heading of a column means: a message size, a time or a bandwidth, in which unit.

The names are those that OSU, IMB, R and pandas write. A name that leaves its unit out means
nothing, except for OSU's `Size`, which is in bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from switchpoint.importing.value_units import in_bytes_per_us, in_microseconds

Kind = Literal["size", "time", "bandwidth", "iterations"]

#: R writes `X.bytes` for `#bytes`, and `Bandwidth..MB.s.` for `Bandwidth (MB/s)`.
_WORD = re.compile(r"[^\W_]+")
_FROM_R = "x"

_SIZE_WORDS = frozenset(["size", "message", "msg", "msgsize", "length", "buffer"])
_SIZE_UNITS = {
    **dict.fromkeys(("b", "byte", "bytes", "nbytes"), 1),
    **{"kib": 2**10, "mib": 2**20, "gib": 2**30},
}
_TIME_WORDS = frozenset(["t", "time", "latency", "lat", "overall"])
_BANDWIDTH_WORDS = frozenset(["bandwidth", "bw", "throughput"])
_ITERATION_WORDS = frozenset(["repetitions", "iterations", "iters", "iteratons"])

#: Words for a statistic, and the name under which it is chosen. A name without one is an average.
STATISTICS = {
    **dict.fromkeys(("avg", "average", "mean"), "avg"),
    **dict.fromkeys(("min", "minimum"), "min"),
    **dict.fromkeys(("max", "maximum"), "max"),
    **dict.fromkeys(("median", "p50"), "median"),
    **{"p90": "p90", "p95": "p95", "p99": "p99"},
}


@dataclass(frozen=True)
class Meaning:
    """What a column contains.

    Attributes
    ----------
    kind : str
    scale : float
        Its unit in bytes, microseconds or bytes per microsecond.
    statistic : str
        `avg`, or what the name says.
    bare : bool
        Whether the name is a size without any unit.
    """

    kind: Kind
    scale: float = 1.0
    statistic: str = "avg"
    bare: bool = False


def meaning_of(name: str) -> Meaning | None:
    """Return what a column's name means; None if it does not say so with its unit.

    >>> meaning_of("t.usec."), meaning_of("time")
    (Meaning(kind='time', scale=1.0, statistic='avg', bare=False), None)
    >>> meaning_of("Bandwidth (MB/s)") == meaning_of("Bandwidth..MB.s.")
    True
    >>> meaning_of("max_time (seconds)")
    Meaning(kind='time', scale=1000000.0, statistic='max', bare=False)
    >>> meaning_of("X.bytes"), meaning_of("t.usec.comp.")
    (Meaning(kind='size', scale=1, statistic='avg', bare=False), None)
    """
    words = _WORD.findall(name)
    if words and words[0].lower() == _FROM_R and len(words) > 1:
        words = words[1:]
    lower = [word.lower() for word in words]
    if not words:
        return None
    if {*lower} <= _ITERATION_WORDS:
        return Meaning("iterations")
    meaning = _size(lower) or _metric(words)
    if meaning is None:
        return None
    statistics = [STATISTICS[word] for word in lower if word in STATISTICS]
    return replace(meaning, statistic=statistics[0]) if len({*statistics}) == 1 else meaning


#: Units that mean several things, or none of ours.
_OTHER_UNITS = re.compile(
    r"[kmgt]i?b?(?:it)?s?|bits?|elements?|count|words?|doubles?|floats?|ints?"
    r"|[kmgt]?i?b(?:it)?(?:ps|/s|/sec)|min|minutes?|h|hours?|[pf]s|cycles?|ticks?",
    re.IGNORECASE,
)


def scale_of_name(name: str, kind: Kind) -> float | None:
    """Return the unit at the end of the name of a column of some kind; None if there is none.

    Raises
    ------
    ValueError
        If it is a unit of something else, or one with several meanings.

    >>> scale_of_name("duration_ms", "time"), scale_of_name("n", "size")
    (1000.0, None)
    """
    words = _WORD.findall(name)
    known: list[float | None] = []
    for length in (2, 1):
        unit = "/".join(words[-length:])
        of_kind = {"size": in_bytes, "time": in_microseconds, "bandwidth": in_bytes_per_us}
        known.append(of_kind[kind](unit) if kind in of_kind and unit else None)
        if _OTHER_UNITS.fullmatch(unit) and len(words) > length and known[-1] is None:
            raise ValueError
    return next((float(scale) for scale in known if scale is not None), None)


def in_bytes(unit: str) -> float | None:
    """Return a unit of sizes in bytes; None if it is none.

    >>> in_bytes("KiB"), in_bytes("us")
    (1024, None)
    """
    return _SIZE_UNITS.get(unit.strip().lower())


def _size(words: list[str]) -> Meaning | None:
    rest = [word for word in words if word not in _SIZE_WORDS and word != "in"]
    if not rest:
        return Meaning("size", bare=True)
    if len(rest) == 1 and rest[0] in _SIZE_UNITS:
        return Meaning("size", _SIZE_UNITS[rest[0]])
    return None


def _metric(words: list[str]) -> Meaning | None:
    """Return what a name with a unit at its end means."""
    for length in (2, 1):
        rest = {word.lower() for word in words[:-length]} - {*STATISTICS}
        scale = in_bytes_per_us("/".join(words[-length:]))
        of_messages = bool(rest) or words[0] == "Mbytes"  # `MB/s` alone may be a disk's
        if scale is not None and rest <= _BANDWIDTH_WORDS and of_messages:
            return Meaning("bandwidth", scale)
    time = in_microseconds(words[-1])
    rest = {word.lower() for word in words[:-1]} - {*STATISTICS}
    if time is not None and rest and rest <= _TIME_WORDS:
        return Meaning("time", time)
    return None


def is_latency(name: str) -> bool:
    """Return whether a column's name shows that messages were timed."""
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & {"latency", "lat", *_BANDWIDTH_WORDS})
