"""Notes on a table what could not be read for it: `attrs["not_taken"]`, a list of objects.

pandas copies `attrs` and writes them as JSON, so they contain texts only.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from switchpoint.data_warnings import DataWarning, entries_of_warnings, warning_of_entry

_NAME = "not_taken"


def noted(table: pd.DataFrame, not_taken: Iterable[DataWarning]) -> pd.DataFrame:
    """Note on a table what could not be read, and return it."""
    table.attrs[_NAME] = entries_of_warnings(not_taken)
    return table


def not_taken_of(table: pd.DataFrame) -> list[DataWarning]:
    """Return what could not be read for a table."""
    return [warning_of_entry(entry) for entry in table.attrs.get(_NAME, [])]
