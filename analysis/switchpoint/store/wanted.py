"""What a reader wants of a store: equal columns and a span of time, as filters of Parquet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from typing import Any

import pandas as pd
import pyarrow.dataset as ds

from switchpoint.errors import InputError

#: What a column must be equal to, several values of which it must be one, or a time; None does not
#: restrict.
Query = str | date | Collection[str] | None

#: Characters of a time without its seconds.
_MINUTE = len("2026-11-20T18:30")


@dataclass(frozen=True)
class Wanted:
    """Which rows of a table are wanted.

    Attributes
    ----------
    equal : dict
        Columns and the text that each must have, or a tuple of texts, one of which it must have.
    since, until : str
        The first time, and the first time past the end, as text that compares with the store's
        times; empty for no bound.
    time : str
        The column with the time.
    """

    equal: dict[str, str | tuple[str, ...]]
    since: str = ""
    until: str = ""
    time: str = "start_utc"

    @classmethod
    def of(cls, query: Mapping[str, Query], time: str = "start_utc") -> Wanted:
        """Read `since`, `until` and columns from a query.

        Raises
        ------
        InputError
            If a time is not one, or the span is empty.
        """
        given = {name: value for name, value in query.items() if value is not None}
        since, until = (time_text(name, given.pop(name, "")) for name in ("since", "until"))
        if since and until and since >= until:
            raise InputError("until", f"{until} is not after since, which is {since}")
        return cls({name: _wanted(value) for name, value in given.items()}, since, until, time)

    def condition(self, columns: Iterable[str]) -> Any:
        """Return Arrow's filter expression, or None if everything is wanted.

        Raises
        ------
        InputError
            If a wanted column is not among these.
        """
        terms = []
        for name, value in self.equal.items():
            field = self._field(name, columns)
            terms.append(field == value if isinstance(value, str) else field.isin([*value]))
        if self.since:
            terms.append(ds.field(self.time) >= self.since)
        if self.until:
            terms.append(ds.field(self.time) < self.until)
        return both(*terms)

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the wanted rows of a table that was read without a filter."""
        for name, value in self.equal.items():
            column = table[name]
            table = table[column == value if isinstance(value, str) else column.isin(value)]
        if self.since:
            table = table[table[self.time] >= self.since]
        if self.until:
            table = table[table[self.time] < self.until]
        return table

    def to_the_minute(self) -> Wanted:
        """Return the same with bounds that contain also times without seconds, such as `10:00Z`."""
        until = f"{self.until[:_MINUTE]}~" if len(self.until) > _MINUTE else self.until
        return replace(self, since=self.since[:_MINUTE], until=until)

    def files(self, paths: list[str]) -> list[str]:
        """Return those files of batches whose month may contain wanted rows."""
        return [path for path in paths if self._may_be_in(path.split("/")[-2])]

    def _may_be_in(self, folder: str) -> bool:
        month = folder.removeprefix("month=")
        if not month[:1].isdigit():  # without a date: in no span of time
            return not (self.since or self.until)
        begins_too_late = bool(self.until) and month >= self.until
        return not begins_too_late and month >= self.since[:7]

    @staticmethod
    def _field(name: str, columns: Iterable[str]) -> Any:
        known = sorted(columns)
        if name not in known:
            raise InputError(name, f"is not a column of the store; use one of {', '.join(known)}")
        return ds.field(name)


def _wanted(value: Query) -> str | tuple[str, ...]:
    if isinstance(value, str | date) or value is None:
        return str(value)
    return tuple(value)


def divided(query: Mapping[str, Query]) -> tuple[dict[str, Query], Any]:
    """Divide a query into one of runs, and Arrow's filter of their rows."""
    mode = {name: value for name, value in query.items() if name == "mode"}
    of_runs = {name: value for name, value in query.items() if name != "mode"}
    return of_runs, Wanted.of(mode).condition(["mode"])


def both(*terms: Any) -> Any:
    """Join Arrow's filter expressions; None restricts nothing."""
    joined = None
    for term in terms:
        if term is not None:
            joined = term if joined is None else joined & term
    return joined


def time_text(name: str, value: Any) -> str:
    """Return a UTC date or time as text that compares with the store's times.

    >>> time_text("since", "2026-11-20"), time_text("since", "2026-11-20T18:30+01:00")
    ('2026-11-20', '2026-11-20T17:30')

    Raises
    ------
    InputError
        If it is neither a date nor a time.
    """
    if value is None or value == "":
        return ""
    try:
        time = datetime.fromisoformat(
            value.strip().replace("Z", "+00:00") if isinstance(value, str) else value.isoformat()
        )
    except (AttributeError, ValueError):
        raise InputError(
            name, f"'{value}' is not a date; write it as 2026-11-20 or 2026-11-20T18:30 (UTC)"
        ) from None
    if time.tzinfo is not None:
        time = time.astimezone(timezone.utc).replace(tzinfo=None)
    # A stored time may be a day, or have no seconds. It is smaller than a text that is longer.
    return time.isoformat().removesuffix(":00").removesuffix("T00:00")
