"""References for ReFrame's performance tests, with thresholds from the noise of the baseline."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import yaml

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating.policy import Policy
from switchpoint.gating.values import direction
from switchpoint.store.not_taken import not_taken_of
from switchpoint.store.store import Store
from switchpoint.tables.columns import VALUE_SERIES, Value, records, values_of
from switchpoint.tables.student import SD_PER_MAD, t975

#: Fewer values of a series justify no threshold.
FEWEST_VALUES = 5

#: A threshold is this many times further away than the 95 % interval of the next value. For normal
#: noise, about one value in 10,000 exceeds it.
_MARGIN = 2.0


#: A test's name: its class, then its parameters.
_PARAMETER = re.compile(r" %(\w+)=(\S+)")

#: Parameters that Python reads as numbers, and writes again as the same text.
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


def references(
    store: Store | str,
    *,
    site: str | None = None,
    policy: Policy | None = None,
    last: int = 90,
) -> tuple[dict[str, Any], list[DataWarning]]:
    """Return references in the form of ReFrame's external reference files (4.10 and later).

    Parameters
    ----------
    store
        The store with single values, or its folder or URL.
    site
        Only values of this site, which is ReFrame's system.
    policy
        Which direction is better where units do not say it, and the smallest threshold.
    last
        Use so many of the newest values of each series.

    Returns
    -------
    dict
        For each test class: an index of partition and environment, and its parameters if it has
        any; then for each variable reference, lower and upper threshold, and unit.
    list of DataWarning
        Series without a reference, and why, and what could not be read.

    Raises
    ------
    InputError
        If there is no single value.
    """
    store = store if isinstance(store, Store) else Store(store)
    values = store.single_values(site=site)
    left_out = not_taken_of(values)
    if values.empty:
        where = f" of the site '{site}'" if site else ""
        empty = (
            f"contains no single value{where}; fill it with `switchpoint import` of ReFrame's"
            " perflogs or run reports"
        )
        raise InputError(store.url, str(left_out[0]) if left_out else empty)
    policy = policy or Policy()
    by_test: dict[str, Any] = {}
    for _, rows in values.groupby(VALUE_SERIES, dropna=False, sort=True):
        newest = rows.sort_values("time_utc").tail(last)
        [row] = records(newest.tail(1), Value)
        name = _name(row)
        series = zip(VALUE_SERIES, values_of(row, VALUE_SERIES), strict=True)
        unknown = [column for column, value in series if not value]
        if unknown or len(newest) < FEWEST_VALUES:
            left_out.append(DataWarning("no_reference", _why_none(unknown, len(newest)), name))
            continue
        entry = _entry(newest["value"].to_numpy(dtype=float), row, policy)
        test, parameters = _parsed(row["test"])
        index = ["$partition", "$environ", *parameters]
        of_test = by_test.setdefault(test, {"$index": index})
        if of_test["$index"] != index:
            what = "another test of this class has other parameters"
            left_out.append(DataWarning("no_reference", what, name))
            continue
        keys = [f"{row['site']}:{row['partition']}", row["environ"], *parameters.values()]
        for key in keys:
            of_test = of_test.setdefault(key, {})
        of_test[str(row["variable"])] = entry
    return by_test, left_out


def _why_none(unknown: list[str], values: int) -> str:
    """Say why a series has no reference: what is not known of it, or its number of values."""
    if unknown:
        return f"ReFrame looks for references by {unknown[0]}, which is not known"
    return f"{values} values, {FEWEST_VALUES} are needed"


def _name(row: Value) -> str:
    """Name a series as ReFrame does: the same test with two MPIs has two environments."""
    place = [row["partition"], row["environ"]]
    where = "+".join(word for word in place if isinstance(word, str) and word)
    return f"{row['variable']} of '{row['test']}' on {row['site']}:{where}"


def _entry(values: Any, row: Value, policy: Policy) -> list[Any]:
    """Return the reference, its thresholds, and the unit of a series."""
    reference = float(np.median(values))
    scatter = SD_PER_MAD * float(np.median(np.abs(values - reference))) / abs(reference or 1.0)
    freedom = np.array([0.4 * (len(values) - 1)])  # of a median absolute deviation
    reach = _MARGIN * float(t975(freedom)[0]) * scatter
    reach = max(reach * math.sqrt(1 + 1 / len(values)), policy.minimum_effect.value)
    better = direction(row, policy)
    lower = None if better == "lower" else -round(min(reach, 1.0), 3)
    upper = None if better == "higher" else round(reach, 3)
    return [float(f"{reference:.6g}"), lower, upper, str(row["unit"])]


def _parsed(test: str) -> tuple[str, dict[str, Any]]:
    """Return the class of a test and its parameters."""
    parameters = {
        name: int(value) if _NUMBER.fullmatch(value) else value
        for name, value in _PARAMETER.findall(test)
    }
    return test.split(" ")[0].split("@")[0], parameters


def as_yaml(by_test: dict[str, Any]) -> str:
    """Return the content of a reference file."""
    text: str = yaml.safe_dump(by_test, sort_keys=False, default_flow_style=None)
    return text
