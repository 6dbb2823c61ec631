"""What a time of each kernel and mode is, so that only equal quantities are compared.

Half a round trip is not a call, and a message in a window of 64 is not one in a window of 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The kernel whose modes other benchmarks have.
PAIR_KERNEL = "pingpong"

#: Its modes, and the baselines' kernels that exchange messages in its pattern.
PEERS = {
    "send": ["osu_latency", "imb_pingpong", "netpipe"],
    "resend": ["netpipe"],
    "stream": ["osu_bw", "imb_uniband"],
    "bistream": ["osu_bibw", "imb_biband"],
    "sendrecv": ["imb_sendrecv"],
}

#: Messages within the time that a baseline prints, if it is not one. Our time is per message.
MESSAGES = {"imb_sendrecv": 2}

#: Messages in flight in a stream that does not say how many: the default of OSU and of IMB.
USUAL_WINDOW = "64"
WINDOW = "window_size"

HALF_ROUND_TRIP = "half a round trip"
HALF_EXCHANGE = "half an exchange"
ONE_WAY = "a message of a stream in one direction"
BOTH_WAYS = "a message of streams in both directions"
STREAMS = (ONE_WAY, BOTH_WAYS)

_PAIR_MODES = {
    **dict.fromkeys(
        ["send", "ssend", "isend", "bsend", "resend", "rsend", "persistent"], HALF_ROUND_TRIP
    ),
    "sendrecv": HALF_EXCHANGE, "stream": ONE_WAY, "sstream": ONE_WAY, "bistream": BOTH_WAYS,
}  # fmt: skip

#: Columns that say how a time was taken. Curves that differ in one are never compared.
METHOD_COLUMNS = {
    WINDOW: "the time of a message in a stream depends on the messages in flight",
    "start": "calls that start together take other times than calls that follow each other",
    "time_of": "the time of the slowest rank, the mean of all, and the root's time differ",
}


def quantity(kernel: str | None, mode: str | None) -> str | None:
    """Say what one time of a kernel's mode is; None if that is not known.

    >>> quantity("pingpong", "ssend"), quantity("osu_bw", None), quantity("mine", "send")
    ('half a round trip', 'a message of a stream in one direction', None)
    """
    kernel, mode = pattern(kernel, mode)
    if kernel == PAIR_KERNEL and mode is not None:
        return _PAIR_MODES.get(mode)
    if kernel == "multipair" and mode is not None:
        of_pairs = _PAIR_MODES.get(mode)
        return f"{of_pairs}, of all pairs together" if of_pairs in STREAMS else of_pairs
    if kernel == "echo":
        return HALF_ROUND_TRIP
    if kernel in {"broadcast", "alltoall"}:
        return f"a call of {kernel}"
    return "a whole exchange" if kernel == "imb_sendrecv" else None


def pattern(kernel: str | None, mode: str | None) -> tuple[str | None, str | None]:
    """Return our kernel and mode with the pattern and the unit of time of a baseline.

    >>> pattern("osu_latency", None), pattern("osu_bcast", None)
    (('pingpong', 'send'), ('osu_bcast', None))
    """
    for own, peers in PEERS.items():
        if kernel in peers and kernel not in MESSAGES:
            return PAIR_KERNEL, own
    return kernel, mode


def method(curve: Mapping[str, Any], column: str) -> str | None:
    """Return a curve's value of one of `METHOD_COLUMNS`, with the usual window of a stream."""
    value = curve.get(column)
    if column == WINDOW and value is None:
        return USUAL_WINDOW if quantity(curve.get("kernel"), curve.get("mode")) in STREAMS else None
    return value
