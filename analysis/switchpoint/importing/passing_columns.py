"""Finds columns of a table that would make each of its rows a curve: an index, a time, a result."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.identity import IDENTITY

#: A curve has at least so many sizes; with fewer in the whole table, nothing can be said.
_LEAST_SIZES = 3

_NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")


def passing_columns(
    names: pd.DataFrame, sizes: npt.NDArray[np.float64]
) -> Iterator[tuple[str, bool, str]]:
    """Return each such column, whether it is left out, and what to say of it.

    Parameters
    ----------
    names
        The columns that would name curves, as categories.
    sizes
        The message size of each row.
    """
    size, _ = pd.factorize(sizes)
    if size.max(initial=0) + 1 < _LEAST_SIZES:
        return
    for name in map(str, names):
        column = names[name].array
        alone = _values_of_one_size(column.codes.astype("int64"), size)
        texts = [str(text) for text in column.categories]
        if not _differs(alone, texts, int(size.max()) + 1):
            continue
        of_results = all(_NUMBER.fullmatch(text) or _TIME.search(text) for text in texts)
        if of_results and name not in IDENTITY:
            what = f"column '{name}' has other values at each size, so it names no curve: left out"
            yield name, True, what
        else:
            what = (
                f"column '{name}' has another value at each size, so each row is a curve of its"
                " own: remove the column if it names no curve"
            )
            yield name, False, what


def _values_of_one_size(
    codes: npt.NDArray[np.int64], size: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return for each value of a column whether all its rows have the same size."""
    pairs = pd.unique(codes * (size.max() + 1) + size)
    _, counts = np.unique(pairs // (size.max() + 1), return_counts=True)
    return np.asarray(counts == 1)


def _differs(alone: npt.NDArray[np.bool_], texts: list[str], sizes: int) -> bool:
    """Return whether a column's values belong to one size each; of results, rounded, most do."""
    if len(alone) < _LEAST_SIZES:
        return False
    decimals = any("." in text for text in texts) and all(map(_NUMBER.fullmatch, texts))
    rounded = decimals and float(alone.mean()) > 0.5 and 2 * len(alone) > sizes
    return bool(alone.all()) or rounded
