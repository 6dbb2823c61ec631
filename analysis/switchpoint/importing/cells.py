"""Reads numbers in the cells of tables: `64K`, `1 MiB`, thousands separators, decimal commas."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.units import bytes_of

#: Digits in groups of three. Sizes are whole, so that a separator in one can mean nothing else.
_GROUPED = re.compile(r"\d{1,3}(?:([., '\u00a0\u202f])\d{3})(?:\1\d{3})*")
_COMMA_GROUPS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_POINT_GROUPS = re.compile(r"-?\d{1,3}(?:\.\d{3})+,\d+")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+(?:[eE][-+]?\d+)?")
_WITH_UNIT = re.compile(r"\d+(?:\.\d+)?\s*[kKmMgG]?i?[bB]?")


def sizes_of(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return message sizes in bytes; NaN where a text is none.

    >>> sizes_of(["64K", "1 MiB", "1,024", "4096", "0x20"]).tolist()
    [65536.0, 1048576.0, 1024.0, 4096.0, nan]
    """
    numbers = _plain(texts)
    for place in np.flatnonzero(np.isnan(numbers)).tolist():
        text = str(texts[place]).strip()
        if grouped := _GROUPED.fullmatch(text):
            numbers[place] = float(text.replace(grouped[1], ""))
        elif _WITH_UNIT.fullmatch(text) and (size := bytes_of(text)) is not None:
            numbers[place] = size
    return numbers


def values_of(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return values of a column; NaN where a text is none, or may mean two numbers.

    `1,234` may be 1234 or 1.234. It is read if another value of the column shows what its comma
    means.

    >>> values_of(["1,234.5", "2.5"]).tolist(), values_of(["0,5", "1,234"]).tolist()
    ([1234.5, 2.5], [0.5, 1.234])
    >>> values_of(["1,234", "2,345"]).tolist(), values_of(["1,234", "1,234,567"]).tolist()
    ([nan, nan], [1234.0, 1234567.0])
    >>> values_of(["17.250", "17,340"]).tolist()
    [17.25, nan]
    """
    numbers = _plain(texts)
    unread = [
        (place, str(texts[place]).strip()) for place in np.flatnonzero(np.isnan(numbers)).tolist()
    ]
    if not unread:
        return numbers
    words = [text for _, text in unread]
    groups = {text for text in words if _COMMA_GROUPS.fullmatch(text)}
    commas = {text for text in words if _DECIMAL_COMMA.fullmatch(text)} - groups
    points = {text for text in words if _POINT_GROUPS.fullmatch(text)}
    has_point = any("." in str(text) for text in texts if str(text).strip() not in points)
    if (commas or points) and not has_point:
        decimal_comma = commas | points | {text for text in groups if text.count(",") == 1}
        for place, text in unread:
            if text in decimal_comma:
                numbers[place] = float(text.replace(".", "").replace(",", "."))
    elif not commas and not points:
        shown = has_point or any(text.count(",") > 1 for text in groups)
        for place, text in unread:
            if text in groups and shown and ("." in text or not has_point):
                numbers[place] = float(text.replace(",", ""))
    return numbers


def _plain(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    words = pd.Series([str(text).strip() for text in texts], dtype=object)
    return np.array(pd.to_numeric(words, errors="coerce"), dtype=float)
