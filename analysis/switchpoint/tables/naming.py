"""Names curves by what distinguishes them, for tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.columns import REPRODUCES, identity_columns

#: A curve's name always contains these, if it has them.
_ALWAYS = ("mpi", "placement", "mode")

#: And these, unless all curves of a table agree in them.
_WHERE_DIFFERENT = ("site", "kernel", REPRODUCES)


def telling_columns(table: pd.DataFrame, shown: Sequence[str] = ()) -> list[str]:
    """Return the identity columns that name the curves of a table.

    Parameters
    ----------
    table
        Samples, curves or findings.
    shown
        Columns that are shown elsewhere, such as in a heading. They are not included.

    Returns
    -------
    list of str
        MPI (the environment, if a curve's MPI is not known), placement and mode if the table has
        them, site and kernel if they differ, then every column that distinguishes curves which
        are equal in all columns before it.
    """
    codes = {name: _codes(table[name]) for name in identity_columns(table)}
    known = [name for name, code in codes.items() if (code >= 0).any()]
    named = [name for name in plain_columns(table, known) if name not in shown]
    so_far = np.zeros(len(table), dtype=np.intp)
    for name in [*shown, *named]:
        so_far = _together(so_far, codes[name] if name in codes else _codes(table[name]))
    for name in known:
        if name in shown or name in named:
            continue
        both = _together(so_far, codes[name])
        if both.max(initial=0) > so_far.max(initial=0):
            named.append(name)
            so_far = both
    return named


def _codes(column: pd.Series[Any]) -> npt.NDArray[np.intp]:
    """Number the values of a column; -1 stands for null."""
    return np.asarray(pd.factorize(column)[0], dtype=np.intp)


def _together(one: npt.NDArray[np.intp], other: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Number the pairs of values of two numbered columns from 0."""
    pair = one * (other.max(initial=0) + 2) + other + 1
    return np.asarray(np.unique(pair, return_inverse=True)[1])


def plain_columns(table: pd.DataFrame, known: Sequence[str]) -> list[str]:
    """Return the known columns that name a table's curves, even if all curves agree in them.

    If an MPI library is not known, its environment is included.
    """
    mpi = table["mpi"] if "mpi" in table else pd.Series(index=table.index, dtype="object")
    unknown = "environ" in known and bool((mpi.isna() & table["environ"].notna()).any())
    return [
        name
        for name in known
        if name in _ALWAYS
        or (name in _WHERE_DIFFERENT and len(np.unique(_codes(table[name]))) > 1)
        or (name == "environ" and unknown)
    ]


def shared_words(table: pd.DataFrame) -> str:
    """Return what all curves of a table have in common, except the run."""
    words = [
        worded(name, str(table[name].iloc[0]))
        for name in identity_columns(table)
        if name != "run_id" and len(table) and (_codes(table[name]) == 0).all()
    ]
    return ", ".join(words)


def other_curve(evidence: Mapping[str, Any]) -> str:
    """Name the other curve of a finding by what differs; empty without one."""
    other = evidence.get("other", {})
    return ", ".join(worded(k, v) for k, v in other.items() if k != "run_id" and isinstance(v, str))


def run_names(runs: pd.DataFrame) -> dict[str, str]:
    """Name runs by when they started, and those that started together also by their digits.

    Parameters
    ----------
    runs
        With `run_id` and `start_utc`.
    """
    started = {
        str(run): start[:19].replace("T", " ") if isinstance(start, str) else ""
        for run, start in zip(runs["run_id"], runs["start_utc"], strict=True)
    }
    times = Counter(started.values())
    minutes = Counter(start[:16] for start in started.values())
    return {
        run: start[:16] if start and minutes[start[:16]] == 1
        else start if start and times[start] == 1
        else f"{start} {run[:8]}".strip()
        for run, start in started.items()
    }  # fmt: skip


def curve_name(columns: Sequence[str], key: object) -> str:
    """Return the words of a curve's identity, which is a tuple or a single value."""
    values = key if isinstance(key, tuple) else (key,)
    words = zip(columns, values, strict=True)
    return ", ".join(worded(*word) for word in words if isinstance(word[1], str)) or "the curve"


def worded(column: str, value: object) -> str:
    """Write a value of a curve's identity for where no heading says what a number means.

    >>> worded("nodes", "16"), worded("window_size", "64"), worded("fabric", "roce")
    ('16 nodes', 'window size 64', 'roce')
    """
    text = short(column, value)
    if column == "run_id" or not text.replace(".", "").isdecimal():
        return text
    name = column.replace("_", " ")
    return f"{text} {name}" if name.endswith("s") else f"{name} {text}"


def short(column: str, value: object) -> str:
    """Write one value of a curve's identity. A run is its first eight digits."""
    if not isinstance(value, str):
        return "-"
    if column == REPRODUCES:
        return f"run {value[:8]} again"
    return value[:8] if column == "run_id" else value
