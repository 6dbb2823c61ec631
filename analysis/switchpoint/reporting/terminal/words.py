"""Words that several printed tables share: lists, ranges, kinds of findings."""

from __future__ import annotations

from switchpoint.tables.findings import KINDS
from switchpoint.tables.units import percent


def listed(words: list[str]) -> str:
    """Join words with commas and a last `and`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def change_range(magnitudes: list[float]) -> str:
    """Write relative changes: one, or the smallest and the largest."""
    low, high = percent(min(magnitudes)), percent(max(magnitudes))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def kind_text(kind: str) -> str:
    """Write a kind of finding in words."""
    return KINDS[kind].short
