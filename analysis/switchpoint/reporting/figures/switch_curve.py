"""Draws one measured curve around a switch as SVG: each launch, their median, and the switch."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pandas as pd

from switchpoint.printable import printable
from switchpoint.reporting.figures.figure import size_ticks, value_ticks
from switchpoint.reporting.figures.svg import LogScale, add_text
from switchpoint.tables.units import range_text, size_text

#: In pixels.
_LEFT, _WIDTH, _RIGHT = 64, 700, 32
_TOP, _HEIGHT, _BOTTOM = 44, 220, 44

#: Sizes below a power of two of the switch and above one are left out: its jump would be too small.
_OCTAVES_AROUND = 8

_STYLE = """
.switch-curve text { font: 12px system-ui, 'Liberation Sans', sans-serif; fill: #1a1a1a; }
.switch-curve .head { font-weight: 600; }
.switch-curve .tick { font-size: 11px; fill: #555; }
.switch-curve .grid { stroke: #d9d9d9; }
.switch-curve .launch { fill: #56B4E9; }
.switch-curve .median { fill: none; stroke: #0072B2; stroke-width: 2; }
.switch-curve .switch { stroke: #D55E00; stroke-width: 1.6; }
@media (prefers-color-scheme: dark) {
.switch-curve text { fill: #e8e8e8; }
.switch-curve .tick { fill: #b0b0b0; }
.switch-curve .grid { stroke: #444; }
.switch-curve .median { stroke: #56B4E9; }
}
"""


def draw_switch_curve(points: pd.DataFrame, last: int, first: int, title: str, cause: str) -> str:
    """Draw a curve and a switch in it, as the text of an SVG.

    Parameters
    ----------
    points
        Rows of one curve with `size_bytes` and `time_us`, one for each launch and size.
    last, first
        The sizes in bytes around the switch.
    title, cause
        What the picture shows, and what stands beside the switch. Both are escaped.

    Returns
    -------
    str
        Empty if the curve has fewer than two sizes within eight octaves of the switch.
    """
    near = points["size_bytes"].between(last / 2**_OCTAVES_AROUND, first * 2**_OCTAVES_AROUND)
    shown = points[near & (points["size_bytes"] > 0) & (points["time_us"] > 0)]
    median = shown.groupby("size_bytes")["time_us"].median()
    sizes = median.index.to_numpy(dtype=float)
    if len(median) < 2:
        return ""
    across = LogScale(sizes.min(), sizes.max(), _LEFT, _LEFT + _WIDTH)
    low, high = float(shown["time_us"].min()), float(shown["time_us"].max())
    up = LogScale(low, high, _TOP + _HEIGHT, _TOP)
    drawing = ET.Element(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "class": "switch-curve", "role": "img",
         "aria-label": printable(title), "width": f"{_LEFT + _WIDTH + _RIGHT}",
         "height": f"{_TOP + _HEIGHT + _BOTTOM}",
         "viewBox": f"0 0 {_LEFT + _WIDTH + _RIGHT} {_TOP + _HEIGHT + _BOTTOM}"},
    )  # fmt: skip
    ET.SubElement(drawing, "style").text = _STYLE
    add_text(drawing, 0, 16, title, "head")
    _draw_axes(drawing, across, up, (low, high))
    for size_bytes, time_us in shown[["size_bytes", "time_us"]].itertuples(index=False):
        ET.SubElement(
            drawing, "circle",
            {"class": "launch", "r": "2.2", "cx": f"{across(size_bytes):.1f}",
             "cy": f"{up(time_us):.1f}"},
        )  # fmt: skip
    line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in zip(sizes, median, strict=True))
    ET.SubElement(drawing, "polyline", {"class": "median", "points": line})
    _draw_switch(drawing, across(math.sqrt(max(last, 1) * first)), range_text(last, first), cause)
    return ET.tostring(drawing, encoding="unicode")


def _draw_axes(
    drawing: ET.Element, across: LogScale, up: LogScale, times_us: tuple[float, float]
) -> None:
    bottom = _TOP + _HEIGHT
    for tick in size_ticks(across.low, across.high, 9):
        if across.low <= tick <= across.high:
            _line(drawing, "grid", (across(tick), _TOP), (across(tick), bottom))
            add_text(drawing, across(tick), bottom + 16, size_text(tick), "tick", "middle")
    ticks = value_ticks(*times_us)
    for value, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True):
        if times_us[0] <= value <= times_us[1]:
            _line(drawing, "grid", (_LEFT, up(value)), (_LEFT + _WIDTH, up(value)))
            add_text(drawing, _LEFT - 6, up(value) + 4, text, "tick", "end")
    add_text(drawing, _LEFT + _WIDTH, bottom + 34, "message size", "tick", "end")
    add_text(drawing, 0, _TOP - 10, "time of a message in µs; a dot is a launch", "tick")


def _draw_switch(drawing: ET.Element, x: float, sizes: str, cause: str) -> None:
    _line(drawing, "switch", (x, _TOP), (x, _TOP + _HEIGHT))
    left = x > _LEFT + _WIDTH / 2
    for number, text in enumerate(filter(None, [sizes, cause])):
        place = (x - 6, "end") if left else (x + 6, "start")
        add_text(drawing, place[0], _TOP + 14 + 15 * number, text, "", place[1])


def _line(drawing: ET.Element, kind: str, *ends: Sequence[float]) -> None:
    (x1, y1), (x2, y2) = ends
    ET.SubElement(
        drawing,
        "line",
        {"class": kind, "x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"},
    )
