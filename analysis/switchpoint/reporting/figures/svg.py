"""What drawings as SVG have in common: places on a logarithmic axis, and texts that fit."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from switchpoint.printable import printable

#: A text has at most this many characters; the whole is in its tooltip.
_MOST_CHARACTERS = 110


@dataclass(frozen=True)
class LogScale:
    """Where a value is between two places, logarithmic; values outside are at the ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        if self.high <= self.low:
            return self.start
        part = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * min(part, 1.0)


def add_text(
    parent: ET.Element, x: float, y: float, words: str, style: str, anchor: str = "start"
) -> None:
    """Add a text; one that is too long is cut, and whole in its tooltip."""
    shown = printable(words)
    attributes = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": style, "text-anchor": anchor}
    element = ET.SubElement(parent, "text", attributes)
    if len(shown) > _MOST_CHARACTERS:
        ET.SubElement(element, "title").text = shown
        shown = shown[: _MOST_CHARACTERS - 1] + "…"
        element[0].tail = shown
    else:
        element.text = shown
