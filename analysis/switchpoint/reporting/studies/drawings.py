"""Draws the figures of the studies' pages as SVG: efficiencies, and what each process does."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from switchpoint.reporting.figures.svg import LogScale, add_text
from switchpoint.tables.units import significant

_STYLE = """
text { font: 12px system-ui, 'Liberation Sans', sans-serif; fill: #1a1a1a; }
.head { font-weight: 600; } .small { font-size: 10px; } .axis { stroke: #777; fill: none; }
"""
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
_PHASES = {"compute": "#0072B2", "send": "#D55E00", "receive": "#009E73", "wait": "#e0e0e0"}

#: In pixels: a panel, and the space around it.
_WIDTH, _HEIGHT, _GAP, _TOP = 210, 150, 50, 76
_CELL, _BAR = 22, 11


def draw_efficiency(title: str, rows: pd.DataFrame) -> bytes:
    """Draw efficiency over T for each L: curves, then planes over T and np, as study 002 does.

    Parameters
    ----------
    title
        Of the drawing.
    rows
        `ranks`, `words`, `task_us`, `efficiency` and `predicted` of equally divided tasks.
    """
    lengths, counts = sorted(rows["words"].unique()), sorted(rows["ranks"].unique())
    plane = _CELL * len(counts)
    height = _TOP + _HEIGHT + _GAP + 2 * (plane + _GAP)
    drawing = _drawing(title, 70 + len(lengths) * (_WIDTH + _GAP), height)
    tasks = sorted(rows["task_us"].unique())
    for column, words in enumerate(lengths):
        left = 60 + column * (_WIDTH + _GAP)
        part = rows[rows["words"] == words]
        scale = LogScale(tasks[0], tasks[-1], left, left + _WIDTH)
        add_text(drawing, left, _TOP - 12, f"L = {words:,}", "head")
        _curves(drawing, part, counts, scale)
        for number, name in enumerate(("efficiency", "predicted")):
            top = _TOP + _HEIGHT + _GAP + number * (plane + _GAP)
            _plane(drawing, part, name, tasks, counts, left, top)
    for number, ranks in enumerate(counts):
        add_text(drawing, 60 + 190 * number, 38, f"np = {ranks}: measured, - - equation", "small")
        _line(drawing, [(40 + 190 * number, 34), (55 + 190 * number, 34)], _COLOURS[number % 4])
    return ET.tostring(drawing, encoding="unicode").encode()


def _curves(drawing: Any, part: pd.DataFrame, counts: Sequence[int], scale: LogScale) -> None:
    def point(task_us: float, value: float) -> tuple[float, float]:
        return scale(task_us), _TOP + _HEIGHT * (1 - min(max(value, 0), 1.05) / 1.05)

    bottom = _TOP + _HEIGHT
    _line(drawing, [(scale.start, _TOP), (scale.start, bottom), (scale.end, bottom)], "#777")
    for value in (0, 0.5, 1):
        add_text(
            drawing, scale.start - 6, point(scale.low, value)[1] + 4, f"{value:g}", "small", "end"
        )
    for value in (scale.low, scale.high):
        add_text(
            drawing, scale(value), bottom + 14, f"{significant(value / 1000)} ms", "small", "middle"
        )
    for number, ranks in enumerate(counts):
        own = part[part["ranks"] == ranks].sort_values("task_us")
        colour = _COLOURS[number % len(_COLOURS)]
        for name, dash in (("efficiency", ""), ("predicted", "4 3")):
            known = own.dropna(subset=[name])
            spots = [point(t, e) for t, e in zip(known["task_us"], known[name], strict=True)]
            _line(drawing, spots, colour, dash)
            if not dash:
                for x, y in spots:
                    ET.SubElement(drawing, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3",
                                                      "fill": colour})  # fmt: skip


def _plane(
    drawing: Any, part: pd.DataFrame, name: str, tasks: Sequence[float], counts: Sequence[int],
    left: float, top: float,
) -> None:  # fmt: skip
    """Draw a cell for each T and np, from white (0) to blue (1), with its value."""
    words = "measured" if name == "efficiency" else "equation"
    add_text(drawing, left, top - 6, f"{words}: rows np, columns T", "small")
    width = _WIDTH / len(tasks)
    values = part.set_index(["ranks", "task_us"])[name]
    for row, ranks in enumerate(counts):
        y = top + row * _CELL
        add_text(drawing, left - 6, y + 15, f"{ranks}", "small", "end")
        for column, task in enumerate(tasks):
            value = values.get((ranks, task))
            if value is None or pd.isna(value):
                continue
            x = left + column * width
            ET.SubElement(drawing, "rect", {
                "x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{_CELL}",
                "fill": "#56B4E9", "fill-opacity": f"{min(max(value, 0), 1):.2f}"})  # fmt: skip
            add_text(drawing, x + width / 2, y + 15, f"{100 * value:.0f}", "small", "middle")


def draw_timelines(title: str, timelines: Iterable[tuple[str, Iterable[Any]]]) -> bytes:
    """Draw what each process does at which time: a block for each timeline, all on one scale.

    Parameters
    ----------
    title
        Of the drawing.
    timelines
        A name and the spans, as `models.simulation.Span`.
    """
    blocks = [(name, list(spans)) for name, spans in timelines]
    end = max((span.end_us for _, spans in blocks for span in spans), default=1.0)
    heights = [30 + _BAR * (1 + max(span.rank for span in spans)) for _, spans in blocks]
    drawing = _drawing(title, 760, _TOP + sum(heights) + 20)
    for number, (phase, colour) in enumerate(_PHASES.items()):
        _bar(drawing, 30 + 110 * number, 30, 12, colour)
        add_text(drawing, 46 + 110 * number, 39, phase, "small")
    top = float(_TOP)
    for (name, spans), height in zip(blocks, heights, strict=True):
        last = max(span.end_us for span in spans)
        add_text(drawing, 30, top + 8, f"{name}: {significant(last / 1000)} ms", "head")
        for span in spans:
            x = 30 + 700 * span.start_us / end
            width = 700 * (span.end_us - span.start_us) / end
            _bar(drawing, x, top + 14 + _BAR * span.rank, width, _PHASES.get(span.phase, "#999"))
        top += height
    return ET.tostring(drawing, encoding="unicode").encode()


def _bar(drawing: Any, x: float, y: float, width: float, colour: str) -> None:
    ET.SubElement(drawing, "rect", {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.2f}",
                                    "height": f"{_BAR - 2}", "fill": colour})  # fmt: skip


def _line(drawing: Any, points: Sequence[tuple[float, float]], colour: str, dash: str = "") -> None:
    words = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    ET.SubElement(drawing, "polyline", {"points": words, "fill": "none", "stroke": colour,
                                        "stroke-width": "1.6", "stroke-dasharray": dash,
                                        })  # fmt: skip


def _drawing(title: str, width: float, height: float) -> Any:
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}"}
    drawing = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size,
                                 "viewBox": f"0 0 {width:.0f} {height:.0f}"})  # fmt: skip
    ET.SubElement(drawing, "style").text = _STYLE
    ET.SubElement(drawing, "rect", {"fill": "#fff", **size})
    add_text(drawing, 20, 18, title, "head")
    return drawing
