"""Writes sizes, times and changes as people read them."""

from __future__ import annotations


def size_text(size_bytes: float) -> str:
    """Write a message size: binary units where they divide it, else bytes with thin groups.

    >>> size_text(65536), size_text(65481), size_text(8)
    ('64 KiB', '65,481 B', '8 B')
    """
    size = int(size_bytes)
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} B"


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits and no exponent.

    >>> significant(0.012345), significant(12.345), significant(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    if value == 0:
        return "0"
    decimals = digits - len(f"{abs(value):.0f}") if abs(value) >= 1 else None
    if decimals is None:
        return f"{float(f'{value:.{digits}g}'):f}".rstrip("0").rstrip(".")
    return f"{value:,.{max(decimals, 0)}f}"


def change_text(relative: float) -> str:
    """Write a relative change with its direction in words.

    >>> change_text(0.553), change_text(-0.2)
    ('+55 % slower', '-20 % faster')
    """
    return f"{100 * relative:+.0f} % {'slower' if relative > 0 else 'faster'}"


def bracket_text(last_size_before: int, size_bytes: int) -> str:
    """Write the interval that holds a step's first byte, as (last before, first past]."""
    return f"({last_size_before:,}, {size_bytes:,}] B"
