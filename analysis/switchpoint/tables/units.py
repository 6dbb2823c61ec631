"""Writes sizes, numbers and changes as people read them, and reads sizes as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

#: Bytes of the letters that scale a size, in lower case.
SCALES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def size_text(size_bytes: float) -> str:
    """Write a message size in binary units if they divide it, otherwise in bytes.

    >>> size_text(65536), size_text(65481), size_text(8)
    ('64 KiB', '65,481 B', '8 B')
    """
    size = int(size_bytes)
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} B"


def bytes_of(text: object) -> int | None:
    """Parse a size in bytes with UCX's or Open MPI's suffixes; None if it is not a size.

    >>> bytes_of("64k"), bytes_of(65536), bytes_of("auto"), bytes_of("9" * 400)
    (65536, 65536, None, None)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKmMgG]?)[iI]?[bB]?", str(text).strip())
    if match is None:
        return None
    size_bytes = float(match[1]) * SCALES[match[2].lower()]
    return int(size_bytes) if math.isfinite(size_bytes) else None


def significant(value: float, digits: int = 3) -> str:
    """Write a number with the given significant digits and no exponent; `-` if it is not known.

    >>> significant(0.012345), significant(12.345), significant(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    before_point = math.floor(math.log10(abs(value))) + 1
    return f"{value:,.{max(digits - before_point, 0)}f}"


def significant_range(numbers: Iterable[float]) -> str:
    """Write the least and the most of some numbers, or one if they do not differ as written.

    >>> significant_range([2, 1.234]), significant_range([1.234, 1.2341])
    ('1.23 to 2.00', '1.23')
    """
    values = [*numbers]
    low, high = significant(min(values)), significant(max(values))
    return low if low == high else f"{low} to {high}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural if it is not 1.

    >>> counted(1, "curve"), counted(1200, "curve")
    ('1 curve', '1,200 curves')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(relative: float) -> str:
    """Write a relative change in percent with its sign.

    >>> percent(29.15), percent(-0.2)
    ('+2,915 %', '-20 %')
    """
    return f"{100 * relative:+,.0f} %" if math.isfinite(relative) else "-"


def place_text(kind: str, last_size_before: int, size_bytes: int, last_size: int | None) -> str:
    """Write the place of a finding: a bracket, one size, or the range that ends at `last_size`.

    >>> place_text("step", 57344, 65536, None), place_text("outlier", 32, 64, None)
    ('57,344 to 65,536 B', '64 B')
    >>> place_text("mode_inversion", 32, 64, 1024)
    '64 to 1,024 B'
    """
    if last_size is not None:
        return range_text(size_bytes, last_size)
    if kind == "outlier":
        return range_text(size_bytes, size_bytes)
    return range_text(last_size_before, size_bytes)


def range_text(first_bytes: int, last_bytes: int) -> str:
    """Write a range of sizes; for a step the last size before it and the first size after it.

    >>> range_text(57344, 65536), range_text(64, 64)
    ('57,344 to 65,536 B', '64 B')
    """
    if first_bytes == last_bytes:
        return f"{first_bytes:,} B"
    return f"{first_bytes:,} to {last_bytes:,} B"
