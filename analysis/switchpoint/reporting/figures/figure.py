"""A figure of the page, and what all figures share: colours, axes, names as Plotly reads them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Okabe and Ito's palette, told apart with any colour vision; black is kept for findings.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]

INK = "#1a1a1a"
_GRID = "#d9d9d9"


@dataclass
class Figure:
    """One figure of the page: its element's name, a title, and Plotly's data and layout."""

    name: str
    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


def size_ticks(smallest: float, largest: float, most: int) -> list[int]:
    """Powers of two to label an axis with, evenly spaced and no more than `most`."""
    first, last = int(np.floor(np.log2(smallest))), int(np.ceil(np.log2(largest)))
    step = max(1, int(np.ceil((last - first + 1) / most)))
    return [2**power for power in range(first - first % step, last + 1, step) if power >= 0]


def axis() -> dict[str, Any]:
    """How every axis looks."""
    return {
        "gridcolor": _GRID,
        "linecolor": INK,
        "showline": True,
        "ticks": "outside",
        "mirror": True,
        "zeroline": False,
    }


def literal(text: str) -> str:
    """Escape a name for Plotly, which reads a few tags and entities but no quotes."""
    return html.escape(text, quote=False)


def no_template(text: str) -> str:
    """Keep a name's own braces from being read as one of Plotly's templates."""
    return text.replace("%{", "%&#123;")
