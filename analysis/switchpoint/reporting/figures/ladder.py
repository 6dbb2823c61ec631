"""Draws switch ladders as SVG: a bar per curve, divided by its switches, grouped by site."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from switchpoint.comparison.ladder import PROTOCOLS, UNKNOWN, Rung
from switchpoint.errors import InputError
from switchpoint.printable import printable
from switchpoint.reporting.figures.figure import size_ticks
from switchpoint.reporting.figures.svg import LogScale, add_text
from switchpoint.reporting.ladders import by_site, launches_text, line_text
from switchpoint.tables.units import percent, range_text, size_text
from switchpoint.whole_files import write_whole

#: Widths and heights in pixels. A name is above its bar, so that a narrow screen shows both.
_LEFT, _BAR, _RIGHT = 16, 760, 20
_HEAD, _NAME, _ROW, _BAR_HEIGHT, _LABEL = 64, 16, 30, 18, 14
_CHARACTER = 6.4  # of a label's text, at its size

#: Okabe and Ito's palette; ink on each of them is readable.
_FILLS = dict(zip(PROTOCOLS, ["#56B4E9", "#009E73", "#E69F00", "#bdbdbd"], strict=True))

#: What the legend says of sizes whose protocol is not proved: then the line is written.
_NO_PROOF = "no proof of a protocol: time of a message"

#: All rules are for this drawing only, because it may be part of a page.
_STYLE = """
.ladders text { font: 12px system-ui, 'Liberation Sans', sans-serif; fill: #1a1a1a; }
.ladders .head { font-weight: 600; }
.ladders .label, .ladders .tick { font-size: 11px; }
.ladders .tick { fill: #555; }
.ladders .grid { stroke: #d9d9d9; }
.ladders .cut { stroke: #1a1a1a; stroke-width: 1.6; }
.ladders .open { stroke-dasharray: 3 2; }
"""

#: For a file of its own; the report is light.
_DARK = """
@media (prefers-color-scheme: dark) {
.ladders text { fill: #e8e8e8; }
.ladders .tick { fill: #b0b0b0; }
.ladders .grid { stroke: #444; }
.ladders .cut { stroke: #fff; }
.ladders .on { fill: #1a1a1a; }
.ladders .page { fill: #121212; }
}
"""


def draw_ladders(rungs: pd.DataFrame, *, dark: bool = False) -> str:
    """Draw the ladders of `comparison.ladder`, grouped by site, as the text of an SVG.

    Every name is escaped. A boundary's label is the last size before it; it is dashed if it is only
    known to lie between two sizes. Tooltips name causes and whole names. With `dark` it follows the
    reader's preference.
    """
    scale = _scale(rungs)
    drawing = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "ladders",
            "role": "img",
            "aria-label": "Switch ladders",
        },
    )
    ET.SubElement(drawing, "style").text = _STYLE + (_DARK if dark else "")
    page = ET.SubElement(drawing, "rect", {"class": "page", "fill": "none"})
    y = float(_HEAD)
    for heading, ladders in by_site(rungs).items():
        add_text(drawing, 0, y + 4, heading, "head")
        y += 14
        for name, own in ladders.items():
            y = _draw_ladder(drawing, scale, name, own, y) + 6
        y += 16
    _draw_axis(drawing, scale, y - 16)
    _draw_legend(drawing, set(rungs["protocol"]))
    size = {"width": f"{_LEFT + _BAR + _RIGHT}", "height": f"{y:.0f}"}
    page.attrib |= size
    drawing.attrib |= {"viewBox": f"0 0 {size['width']} {size['height']}"} | size
    return ET.tostring(drawing, encoding="unicode")


def write_ladders(rungs: pd.DataFrame, path: Path) -> None:
    """Write the drawing; raises InputError if that is not possible."""
    try:
        write_whole(path, draw_ladders(rungs, dark=True).encode())
    except OSError as error:
        raise InputError(
            path, f"cannot be written ({error.strerror}); choose another file"
        ) from None


def _scale(rungs: pd.DataFrame) -> LogScale:
    """Return where a size is: over all sizes of all ladders."""
    low = max(float(rungs["first_size_bytes"].min()), 1.0)
    high = max(float(rungs["last_size_bytes"].max()), 2 * low)
    return LogScale(low, high, _LEFT, _LEFT + _BAR)


def _draw_ladder(
    drawing: ET.Element, scale: LogScale, name: str, rungs: Sequence[Rung], y: float
) -> float:
    """Draw a name, its bar, and the labels of its boundaries below it; return where they end."""
    add_text(drawing, _LEFT, y + _NAME - 4, name, "label")
    y += _NAME
    for rung in rungs:
        _draw_rung(drawing, scale, rung, y)
    reached: list[float] = []
    for rung in rungs[1:]:
        before = rung["last_size_before"]
        assert before is not None  # only the first has none
        cut = scale(before)
        group = ET.SubElement(drawing, "g")
        ET.SubElement(group, "title").text = _told(rung)
        kind = "cut" if rung["exact"] else "cut open"
        ET.SubElement(
            group, "line",
            {"class": kind, "x1": f"{cut:.1f}", "x2": f"{cut:.1f}", "y1": f"{y - 2:.1f}",
             "y2": f"{y + _BAR_HEIGHT + 2:.1f}"},
        )  # fmt: skip
        words = f"{before:,}"
        line = _free_line(reached, cut, len(words) * _CHARACTER)
        add_text(group, cut, y + _BAR_HEIGHT + 12 + line * _LABEL, words, "label", "middle")
    return y + _ROW + max(len(reached) - 1, 0) * _LABEL


def _free_line(reached: list[float], centre: float, width: float) -> int:
    """Return the first line of labels with room, and reserve it. `reached`: where each ends."""
    for line, end in enumerate(reached):
        if centre - width / 2 > end + 4:
            reached[line] = centre + width / 2
            return line
    reached.append(centre + width / 2)
    return len(reached) - 1


def _draw_rung(drawing: ET.Element, scale: LogScale, rung: Rung, y: float) -> None:
    start = scale(rung["last_size_before"] or rung["first_size_bytes"])
    end = scale(rung["last_size_bytes"])
    group = ET.SubElement(drawing, "g")
    sizes = range_text(rung["first_size_bytes"], rung["last_size_bytes"])
    line = line_text(rung)
    protocol = _NO_PROOF if rung["protocol"] == UNKNOWN else rung["protocol"]
    ET.SubElement(group, "title").text = ", ".join(filter(None, [f"{protocol}: {sizes}", line]))
    ET.SubElement(
        group, "rect",
        {"x": f"{start:.1f}", "y": f"{y:.1f}", "width": f"{max(end - start, 1):.1f}",
         "height": str(_BAR_HEIGHT), "fill": _FILLS[rung["protocol"]]},
    )  # fmt: skip
    words = [line, line.partition(" +")[0]] if rung["protocol"] == UNKNOWN else [protocol]
    for label in words:  # the longest that there is room for
        if label and end - start > len(label) * _CHARACTER + 6:
            add_text(group, (start + end) / 2, y + 13, label, "label on", "middle")
            break


def _told(rung: Rung) -> str:
    """Say what is known of the boundary at the start of a rung."""
    low, high = rung["last_size_before"], rung["first_size_bytes"]
    where = f"{low:,} | {high:,} B" if rung["exact"] else f"between {low:,} and {high:,} B"
    time = "" if rung["magnitude"] is None else f", time {percent(rung['magnitude'])}"
    cause = "" if rung["cause"] is None else f", {rung['cause']} = {rung['value']}"
    launches = f", {told}" if (told := launches_text(rung)) else ""
    kind = (rung["kind"] or "").replace("_", " ")
    return printable(f"{kind} {where}{time}{cause}, {rung['status']}{launches}")


def _draw_axis(drawing: ET.Element, scale: LogScale, bottom: float) -> None:
    for tick in size_ticks(scale.low, scale.high, 14):
        if not scale.low <= tick <= scale.high:
            continue
        x = f"{scale(tick):.1f}"
        place = {"x1": x, "x2": x, "y1": "46", "y2": f"{bottom:.0f}"}
        drawing.insert(2, ET.Element("line", {"class": "grid", **place}))  # below the bars
        add_text(drawing, scale(tick), 40, size_text(tick), "tick", "middle")


def _draw_legend(drawing: ET.Element, protocols: set[str]) -> None:
    x = float(_LEFT)
    for protocol, fill in _FILLS.items():
        if protocol not in protocols:
            continue
        ET.SubElement(
            drawing,
            "rect",
            {"x": f"{x:.0f}", "y": "6", "width": "14", "height": "12", "fill": fill},
        )
        words = _NO_PROOF if protocol == UNKNOWN else protocol
        add_text(drawing, x + 20, 16, words, "label")
        x += 44 + len(words) * _CHARACTER
    add_text(drawing, x + 8, 16, "dashed: known to lie between two sizes", "tick")
