"""Text for CSV files that people open in a spreadsheet, which must not take it for a formula."""

from __future__ import annotations

import re

import pandas as pd

from switchpoint.printable import printable

#: A spreadsheet takes text that begins with these for a formula; some of them also if they are
#: written in full width.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")

#: Numbers, and the dash for a value that is missing.
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|-", re.ASCII)


def protected(text: str) -> str:
    r"""Return a text that no spreadsheet takes for a formula; numbers stay numbers.

    Control characters are written as escapes: a reader takes what follows a carriage return for
    another row.

    >>> protected("=1+1"), protected("-send"), protected("-2.5"), protected("send")
    ("'=1+1", "'-send", '-2.5', 'send')
    >>> protected("a\r=1+1")
    'a\\r=1+1'
    """
    text = printable(text)
    is_formula = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def protected_table(values: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts and headings are `protected`."""
    columns = [
        column
        if pd.api.types.is_numeric_dtype(column)
        else column.astype(object).map(_protected_if_text)
        for _, column in values.items()
    ]
    table = pd.concat(columns, axis=1) if columns else values.copy()
    table.columns = pd.Index([protected(str(name)) for name in values.columns])
    return table


def _protected_if_text(value: object) -> object:
    return protected(value) if isinstance(value, str) else value
