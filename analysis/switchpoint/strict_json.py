"""Parses JSON of unknown origin: values that no table could store are refused, with the reason.

Importing this module is fast, because the checks read records with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from switchpoint.limits import JSON_BYTES, JSON_DIGITS, JSON_LEVELS

#: Half of a character that UTF-16 writes as two. Without its other half it is no character.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

#: The digits of the largest decimal that Python writes, with room.
_DECIMAL_CHARACTERS = 400

Pairs = Callable[[list[tuple[str, Any]]], Any]


def parse_json(data: bytes | str, pairs: Pairs | None = None) -> Any:
    """Parse a JSON text.

    Parameters
    ----------
    data
        The text, as UTF-8 if it is bytes.
    pairs
        Converts the names and values of each object; by default to a dictionary.

    Raises
    ------
    ValueError
        If it is not JSON, is larger or nested deeper than the limits, or contains a number that
        is not finite or a text that is not Unicode. The message says what is wrong.
    """
    if len(data) > JSON_BYTES:
        raise ValueError(f"larger than {JSON_BYTES // 2**20} MiB")
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    try:
        value = json.loads(
            text,
            parse_int=_whole,
            parse_float=_decimal,
            parse_constant=_no_number,
            object_pairs_hook=pairs,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if _is_deeper(value, JSON_LEVELS):
        raise ValueError(_TOO_DEEP)
    if _SURROGATE.search(text):
        _check_unicode(value)
    return value


_TOO_DEEP = f"nested deeper than {JSON_LEVELS} levels"


def _whole(text: str) -> int:
    if len(text) > JSON_DIGITS + 1:  # with its sign
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _decimal(text: str) -> float:
    if len(text) > _DECIMAL_CHARACTERS:
        raise ValueError(f"a number of {len(text)} characters")
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]}, which is too large")
    return number


def _no_number(text: str) -> Any:
    raise ValueError(f"{text}, which is not a number in JSON")


def _is_deeper(value: Any, levels: int) -> bool:
    """Return whether lists and dictionaries are nested deeper than some levels."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def _check_unicode(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text with half a character (a lone surrogate)") from None
