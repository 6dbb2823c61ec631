"""The times of single values, and the nights into which the pauses between them divide them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from switchpoint.store.ledger import now_utc
from switchpoint.tables.sweeps import Floats, Indices

#: A value belongs to no session that is further away, and after such a pause a new night begins.
#: Half a day: so what people start by day belongs to the night that is nearer.
PAUSE_H = 12.0

#: A night without a pause ends after a day, less what rounding costs: tests that run all day.
LONGEST_H = 24.0 - 1e-6


def dated(single: pd.DataFrame) -> pd.DataFrame:
    """Return the values with a time, in its order, with the column `time`."""
    times = _parsed(single["time_utc"])
    found = single.assign(time=times)[times.notna()]
    return found.sort_values("time", kind="stable", ignore_index=True)


def hours_of(values: pd.DataFrame) -> Floats:
    """Return the time of each value in hours since 1970."""
    return _in_hours(values["time"])


def in_hours(texts: list[str]) -> Floats:
    """Return times (ISO 8601, UTC) in hours since 1970."""
    return _in_hours(_parsed(pd.Series(texts, dtype="str")))


def now_h() -> float:
    """Return the time of now in hours since 1970."""
    return float(in_hours([now_utc()])[0])


def days_of(hours: Floats) -> tuple[list[str], Indices]:
    """Return the different days (UTC) of some times, and which of these each is."""
    days, which = np.unique(hours // 24, return_inverse=True)
    texts = np.datetime_as_string(days.astype(np.int64).astype("datetime64[D]"))
    return texts.tolist(), which


def begins_of(hours: Floats) -> Indices:
    """Return which of some ordered times begin a night."""
    pauses = np.append(np.flatnonzero(np.diff(hours) >= PAUSE_H) + 1, len(hours))
    begins = []
    at = 0
    while at < len(hours):
        begins.append(at)
        longest = int(np.searchsorted(hours, hours[at] + LONGEST_H))
        at = min(int(pauses[np.searchsorted(pauses, at, side="right")]), longest)
    return np.array(begins, dtype=np.intp)


def own_nights(values: pd.DataFrame) -> tuple[Indices, list[str], list[str]]:
    """Return which values begin a night, and the names and starts of these nights."""
    begins = begins_of(hours_of(values))
    starts = texts_of_times(values, begins)
    names = [
        start[:16] if start[:10] == before[:10] else start[:10]
        for before, start in zip(["", *starts], starts, strict=False)
    ]
    return begins, names, starts


def texts_of_times(values: pd.DataFrame, rows: Indices) -> list[str]:
    """Return the times of some values as the store writes them."""
    times = values["time"].to_numpy("datetime64[us]")[rows]
    return [f"{time}Z" for time in np.datetime_as_string(times, unit="us")]


def _parsed(texts: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    times = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    return times.dt.tz_localize(None)


def _in_hours(times: pd.Series[pd.Timestamp]) -> Floats:
    return times.to_numpy("datetime64[us]").astype(np.int64) / 3.6e9
