"""Prints switch ladders: a bar per curve, and each boundary with its cause."""

from __future__ import annotations

import math

import pandas as pd

from switchpoint.comparison.ladder import EAGER, INLINE, RENDEZVOUS, UNKNOWN, RungOfCurve
from switchpoint.reporting.ladders import by_site, launches_text, line_text, rare_text
from switchpoint.reporting.terminal.tables import SafeConsole, show_line
from switchpoint.tables.units import percent, range_text, size_text

#: Characters of a bar, and those that fill it.
_WIDTH = 66
_FILLS = {INLINE: "·", EAGER: "─", RENDEZVOUS: "━", UNKNOWN: "─"}


def print_ladders(rungs: pd.DataFrame) -> None:
    """Print the ladders of `comparison.ladder`, grouped by site."""
    console = SafeConsole()
    low = max(int(rungs["first_size_bytes"].min()), 1)
    high = max(int(rungs["last_size_bytes"].max()), 2 * low)
    for heading, ladders in by_site(rungs).items():
        show_line(console, heading, style="bold")
        for name, own in ladders.items():
            show_line(console, f"  {name}")
            show_line(console, f"    {_bar(own, low, high)}")
            for rung in own:
                if (before := rung["last_size_before"]) is not None:
                    show_line(console, f"    {_boundary(before, rung)}")
                if rung["protocol"] == UNKNOWN and (line := line_text(rung)):
                    sizes = range_text(rung["first_size_bytes"], rung["last_size_bytes"])
                    show_line(console, f"      {sizes}: {line.replace('µ', 'u')}")
            if rare := rare_text(own):
                show_line(console, f"    {rare}")
    used = set(rungs["protocol"])
    proved = [protocol for protocol in _FILLS if protocol in used and protocol != UNKNOWN]
    signs = ", ".join(f"{_FILLS[protocol]} {protocol}" for protocol in proved)
    if UNKNOWN in used:
        signs = ", ".join(filter(None, [signs, f"{_FILLS[UNKNOWN]} no proof of a protocol"]))
    show_line(console, f"Bars: {size_text(low)} to {size_text(high)}, logarithmic; {signs}.")


def _bar(rungs: list[RungOfCurve], low: int, high: int) -> str:
    """Return a bar; a boundary is `|`, or `:` if it is only known to lie between two sizes."""

    def place(size_bytes: int) -> int:
        part = math.log(max(size_bytes, low) / low) / math.log(high / low)
        return min(round(part * _WIDTH), _WIDTH - 1)

    signs = [" "] * _WIDTH
    for rung in rungs:
        for at in range(place(rung["first_size_bytes"]), place(rung["last_size_bytes"]) + 1):
            signs[at] = _FILLS[rung["protocol"]]
    for rung in rungs[1:]:
        if (before := rung["last_size_before"]) is not None:
            signs[place(before)] = "|" if rung["exact"] else ":"
    return "".join(signs).rstrip()


def _boundary(before: int, rung: RungOfCurve) -> str:
    sign = "|" if rung["exact"] else ":"
    sizes = range_text(before, rung["first_size_bytes"])
    words = [
        f"{sign} {sizes}",
        f"to {rung['protocol']}" if rung["kind"] == "protocol_switch" else "step",
        "" if rung["magnitude"] is None else percent(rung["magnitude"]),
        "" if rung["cause"] is None else f"{rung['cause']} = {rung['value']}",
        "cause not known" if rung["status"] == "unknown" else str(rung["status"]),
        launches_text(rung),
    ]
    return ", ".join(filter(None, words))
