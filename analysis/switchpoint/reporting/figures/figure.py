"""A figure of the page, and the common parts of figures: colours, axes, escaped names."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from switchpoint.printable import printable

#: An object of Plotly's JSON: a trace, a layout or a part of one.
Plotly: TypeAlias = "dict[str, Any]"

#: Okabe and Ito's palette, which people with any colour vision can distinguish. Findings are black.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]

INK = "#1a1a1a"
_GRID = "#d9d9d9"
FAINT_GRID = "#f0f0f0"

#: What replaces these colours where the reader prefers dark pages.
DARK = {INK: "#e8e8e8", _GRID: "#4a4a4a", FAINT_GRID: "#2a2a2a", "#e0e0e0": "#5a5a5a"}

#: An axis of more decades has a label for each.
_FEW_DECADES = 3

#: Where the largest value is fewer times the smallest one, the axis has labels within a decade.
_FEW_TIMES = 5

#: Shows the page's own colour.
_NO_COLOUR = "rgba(0,0,0,0)"

#: The buttons above a figure.
_MODEBAR = {"bgcolor": _NO_COLOUR, "color": "#888", "activecolor": "#0072B2"}

#: A name in a legend has at most so many characters, to leave room for the plot.
_MOST_CHARACTERS = 72


def plain_layout() -> Plotly:
    """Return what the layouts of figures have in common: the page's own colours and its font."""
    return {
        "paper_bgcolor": _NO_COLOUR,
        "plot_bgcolor": _NO_COLOUR,
        "font": {"family": "system-ui, 'Liberation Sans', sans-serif", "size": 13, "color": INK},
        "hovermode": "closest",
        "modebar": _MODEBAR,
    }


@dataclass
class Figure:
    """One figure of a page.

    Attributes
    ----------
    name : str
        Of its element, unique on the page.
    title : str
    data, layout
        For Plotly.
    left_out : int
        How many curves it does not contain.
    """

    name: str
    title: str
    data: list[Plotly]
    layout: Plotly
    left_out: int = 0

    @property
    def panels(self) -> int:
        """How many panels are side by side."""
        return sum(name.startswith("xaxis") for name in self.layout)


def size_ticks(smallest: float, largest: float, most: int) -> list[int]:
    """Return powers of two as labels of an axis, evenly spaced and at most `most`."""
    first, last = int(np.floor(np.log2(smallest))), int(np.ceil(np.log2(largest)))
    step = max(1, int(np.ceil((last - first + 1) / most)))
    return [2**power for power in range(first - first % step, last + 1, step) if power >= 0]


def value_ticks(smallest: float, largest: float) -> Plotly:
    """Return labels of a logarithmic axis of values: decades, and more if there are few."""
    first, last = math.floor(math.log10(smallest)), math.ceil(math.log10(largest))
    steps = [1.0] if last - first > _FEW_DECADES else [1.0, 2.0, 5.0]
    if largest < _FEW_TIMES * smallest:
        steps = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0]
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return {"tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def axis() -> Plotly:
    """Return the style of every axis."""
    return {
        "gridcolor": _GRID,
        "linecolor": INK,
        "showline": True,
        "ticks": "outside",
        "tickcolor": INK,
        "mirror": True,
        "zeroline": False,
    }


def cut(text: str) -> str:
    """Shorten a name that is too long for a legend; its end distinguishes long names best."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    start = _MOST_CHARACTERS // 2
    return f"{text[:start]}…{text[start + 1 - _MOST_CHARACTERS :]}"


def literal(text: str) -> str:
    """Escape a name for Plotly, which reads a few tags and entities but no quotes."""
    return html.escape(printable(text), quote=False)


def no_template(text: str) -> str:
    """Escape braces in a name, which Plotly would read as a template."""
    return text.replace("%{", "%&#123;")
