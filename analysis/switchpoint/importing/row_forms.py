"""Says what form the fields of rows have, and whether a last row without a line end is whole.

A killed job, a full disk or a copy of a file that is still written ends a file within a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

#: So many other rows show the form of a field.
_LEAST_ROWS = 2

#: One row in so many may have other decimals than the rest, which then is not of this table.
_ODD_SHARE = 4


def is_whole(field: str, others: Sequence[str]) -> bool:
    """Return whether the last field of a file is complete, because the others show its form.

    Numbers that are all printed with the same decimals are whole with so many. A word that other
    rows have is whole if it is not the start of a longer one.

    >>> is_whole("16.06", ["1.61", "8.78"]), is_whole("1", ["1.61", "8.78"])
    (True, False)
    >>> is_whole("gnu", ["gnu", "gnu"]), is_whole("gnu", ["gnu", "gnu-12"])
    (True, False)
    """
    field, others = field.strip(), [other.strip() for other in others]
    if len(others) < _LEAST_ROWS:
        return False
    places = decimals(field)
    if places:
        return all(decimals(other) == places for other in others)
    longer = any(other != field and other.startswith(field) for other in others)
    return places is None and field in others and not longer


def decimals(text: str) -> int | None:
    """Return the number of digits after the point; None if a text is no plain number.

    >>> decimals("1.50"), decimals("8"), decimals("nan")
    (2, 0, None)
    """
    whole, _, digits = text.removeprefix("-").partition(".")
    return len(digits) if f"{whole}{digits}".isdecimal() else None


def odd_rows(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the few rows that have not the decimals of all others.

    These are rows with whole numbers where others have decimals, or the reverse, and a single row
    with another number of decimals, as of a number that was cut.
    """
    odd: set[int] = set()
    for column in zip(*rows, strict=True):
        places = {
            n: count for n, text in enumerate(column) if (count := decimals(text)) is not None
        }
        counts = Counter(places.values())
        if len(counts) < 2:
            continue
        usual, most = counts.most_common(1)[0]
        others = {n for n, count in places.items() if bool(count) != bool(usual)}
        if len(others) * _ODD_SHARE <= len(places):
            odd |= others
        if most == len(places) - 1 and most >= _ODD_SHARE - 1:
            odd |= {n for n, count in places.items() if count != usual}
    return odd
