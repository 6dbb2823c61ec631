"""Reads units of times and bandwidths as people write them. The case of b and B counts."""

from __future__ import annotations

import re

#: Units of time in lower case, in microseconds.
_TIMES = {
    **dict.fromkeys(("us", "usec", "usecs", "μs", "µs", "microseconds"), 1.0),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-3),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e3),
    **dict.fromkeys(("s", "sec", "seconds"), 1e6),
}

#: A bandwidth: `MB/s`, `Gib/sec`, `kbps`, `MBytes/s`, `Gbit/s`.
_BANDWIDTH = re.compile(
    r"(?P<scale>[kmgt]?)(?P<binary>i?)(?P<unit>b|bytes?|bits?)(?:/s|/sec|/second|ps)", re.IGNORECASE
)

_SCALES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def in_microseconds(unit: str) -> float | None:
    """Return a unit of time in microseconds; None if it is none.

    >>> in_microseconds("ms"), in_microseconds("GB/s")
    (1000.0, None)
    """
    return _TIMES.get(unit.strip().lower())


def in_bytes_per_us(unit: str) -> float | None:
    """Return a unit of bandwidth in bytes per microsecond; None if it is none, or ambiguous.

    >>> in_bytes_per_us("MB/s"), in_bytes_per_us("Gb/s"), in_bytes_per_us("mbps")
    (1.0, 125.0, None)
    """
    match = _BANDWIDTH.fullmatch(unit.strip())
    if match is None or is_ambiguous(unit):
        return None
    thousand = 1024.0 if match["binary"] else 1000.0
    in_bits = match["unit"] == "b" or match["unit"].lower().startswith("bit")
    per_second: float = thousand ** _SCALES[match["scale"].lower()] / (8 if in_bits else 1)
    return per_second / 1e6


def is_ambiguous(unit: str) -> bool:
    """Return whether a unit of bandwidth may mean bits or bytes.

    A writer who uses only small letters, or only capitals, does not say which. `kb/s` is how
    kilobits are written.

    >>> is_ambiguous("mbps"), is_ambiguous("MB/S"), is_ambiguous("Mbps"), is_ambiguous("kb/s")
    (True, True, False, False)
    """
    match = _BANDWIDTH.fullmatch(unit.strip())
    if match is None or len(match["unit"]) > 1:
        return False
    scale = match["scale"] + match["binary"]
    text = unit.strip()
    return (text.islower() and scale not in ("", "k")) or (text.isupper() and scale != "")
