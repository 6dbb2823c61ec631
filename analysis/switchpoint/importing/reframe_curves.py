"""Decides which of ReFrame's values are points of curves, and of which curve."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.importing.external import are_sizes, are_times
from switchpoint.importing.value_units import in_bytes_per_us, in_microseconds, is_ambiguous
from switchpoint.printable import printable
from switchpoint.tables.units import SCALES, bytes_of

#: Where a test ran, with the column names of all tables.
NAMING = ("site", "partition", "environ")

#: Columns of values that do not name a curve.
_NOT_IDENTITY = frozenset(["size_bytes", "time_us", "variable", "row", "measured", "when"])

#: A variable's name: the metric, then the size.
_SIZED = re.compile(
    r"(?P<metric>.*[^\d\W_])[_-]?(?<![\d.])(?P<number>\d+)_?(?P<scale>[KMG]?)(?P<i>i?)(?P<byte>B|bytes)?",
    re.IGNORECASE,
)

#: So many sizes of a metric show what the numbers mean.
_LEAST_SIZES = 3

#: The last words of a metric whose numbers are sizes, and of a metric of messages.
_SIZE_WORDS = frozenset(["buffer", "bytes", "length", "message", "msg", "msgsize", "size"])

_MESSAGE_WORDS = frozenset(["bandwidth", "bibw", "bw", "lat", "latency", "mbw"])

#: Words behind them that say how values were summarised, or in what unit.
_BEHIND = frozenset(["avg", "max", "mean", "median", "min", "ms", "ns", "us", "usec"])


def points_and_others(
    values: pd.DataFrame, named: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame, list[DataWarning]]:
    """Return the points of curves, with the metric as `mode`, the other values, and warnings.

    Parameters
    ----------
    values
        Each value with its variable, unit, row, time and what names its curve.
    named
        What else is part of the identity of the runs.
    """
    if values.empty:
        return values, pd.DataFrame(columns=["variable", "row"]), []
    # Sessions follow each other, also if a copy has mixed their rows.
    values = values.sort_values("when", kind="stable", ignore_index=True)
    names = [parts_of_name(variable) for variable in values["variable"]]
    trusted = pd.Series(which_are_sizes(names, values["kernel"]), index=values.index)
    named_size = pd.Series([name.size for name in names], index=values.index, dtype=float)
    metric = pd.Series([name.metric for name in names], index=values.index)
    row_size = values.pop("row_size").map(_bytes)
    values["mode"] = metric.where(trusted, values["variable"])
    values["size_bytes"] = named_size.where(trusted, row_size).astype(float)
    number = pd.to_numeric(values["value"], errors="coerce")
    unit = pd.Series([str(text) for text in values["unit"]], index=values.index, dtype=object)
    time = number * unit.map(in_microseconds).astype(float)
    bandwidth = number * unit.map(in_bytes_per_us).astype(float)
    values["time_us"] = time.fillna(values["size_bytes"] / bandwidth)
    good = are_sizes(values["size_bytes"].to_numpy()) & are_times(values["time_us"].to_numpy())
    doubtful = pd.Series([is_doubtful(name) for name in names], index=values.index)
    sentences = _taken_for_sizes(values["variable"][trusted & good & doubtful])
    sentences += _ambiguous(values["variable"], unit, values["size_bytes"].notna())
    lost = number.notna() & ~good
    sentences += _no_points(values["variable"], unit, lost, good)
    sized = trusted & lost & ~values["variable"].isin(set(values["variable"][good]))
    sentences += _other_units(values["mode"][sized & ~unit.map(is_ambiguous)], unit)
    others = values.loc[~good, ["variable", "row", *NAMING]]
    parameters = {name for names in values.pop("parameters") for name in names}
    points = _points(values[good].drop(columns=["value", "unit"]), parameters, named)
    return points, others, [DataWarning("values", sentence) for sentence in sentences]


def _points(values: pd.DataFrame, parameters: set[str], named: Mapping[str, str]) -> pd.DataFrame:
    """Return samples with the names of their curves and runs; each measurement counts once."""
    # A column that differs in every row, such as a time, is not identity, unless it is a parameter
    # or says where the row was measured.
    rows = values.drop_duplicates("row").drop(columns=["row", "measured", "when"])
    passing = {n for n in rows if len(rows) > 1 and rows[n].is_unique} - parameters
    values = values.drop(columns=passing - {*NAMING, *_NOT_IDENTITY, "kernel", "mode"})
    values = values.drop(columns=[name for name in NAMING if values[name].isna().all()])
    identity = [str(name) for name in values if name not in _NOT_IDENTITY]
    values = values.drop_duplicates([*identity, "size_bytes", "measured"])
    values[identity] = values[identity].astype("category")
    values["run_id"] = _run_ids(values, identity, named)
    return values.drop(columns=["row", "variable", "measured", "when"]).reset_index(drop=True)


def _bytes(size: object) -> float:
    """Return a size in bytes, also of `64K`; NaN if it is none."""
    try:
        return float(str(size))
    except ValueError:
        return bytes_of(size) or math.nan


def _run_ids(values: pd.DataFrame, identity: list[str], named: Mapping[str, str]) -> list[str]:
    """Return the run of each value: the session of its test, whichever files contain it.

    A session has one value of each curve and size. Its identity is what was measured in it, so a
    log that has grown, and the log and the report of a session, have the same runs.
    """
    sessions = _sessions(values, identity)
    measured: dict[Hashable, set[str]] = {}
    for session, *point in zip(sessions, values["measured"], values["size_bytes"], strict=True):
        measured.setdefault(session, set()).add(json.dumps(point))
    ids = {
        session: hashlib.sha256(
            json.dumps([sorted(texts), sorted(named.items())]).encode()
        ).hexdigest()[:32]
        for session, texts in measured.items()
    }
    return [ids[session] for session in sessions]


def _sessions(values: pd.DataFrame, identity: list[str]) -> list[tuple[str, int]]:
    """Return test and number of the session of each value: a repeated point starts another one."""
    points = zip(*(values[name].astype(object) for name in (*identity, "size_bytes")), strict=True)
    session: dict[str, int] = {}
    seen: dict[str, set[Hashable]] = {}
    sessions: list[tuple[str, int]] = []
    by_row = itertools.groupby(
        zip(values["row"], values["kernel"], points, strict=True), lambda v: v[:2]
    )
    for (_, test), of_row in by_row:
        now = [str(point) for _, _, point in of_row]
        if seen.setdefault(test, set()).intersection(now):
            session[test] = session.get(test, 0) + 1
            seen[test] = set()
        seen[test].update(now)
        sessions += [(test, session.get(test, 0))] * len(now)
    return sessions


def _taken_for_sizes(variables: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(variables))
    if not names:
        return []
    return [f"the numbers at the ends of {_some(names)} are taken for message sizes in bytes"]


def _no_points(
    variables: pd.Series[str],
    units: pd.Series[str],
    others: pd.Series[bool],
    good: npt.NDArray[np.bool_],
) -> list[str]:
    """Warn of values that are no points although other values of the variable are."""
    lost = others & variables.isin(set(variables[good]))
    return [
        f"{count} {'value' if count == 1 else 'values'} of {_some([variable])} with the unit"
        f" '{printable(unit[:20])}' {'is' if count == 1 else 'are'} no point of its curve"
        for (variable, unit), count in Counter(
            zip(variables[lost], units[lost], strict=True)
        ).items()
    ]


def _other_units(metrics: pd.Series[str], units: pd.Series[str]) -> list[str]:
    """Warn of values that have a message size in their name, but no unit of time or bandwidth."""
    pairs = Counter(zip(metrics, units[metrics.index], strict=True))
    return [
        f"{count} {'value' if count == 1 else 'values'} of {printable(metric)[:40]} with the unit"
        f" '{printable(unit[:20])}' {'is' if count == 1 else 'are'} no point of a curve"
        for (metric, unit), count in pairs.items()
        if unit not in ("", "None", "null")
    ]


def _ambiguous(
    variables: pd.Series[str], units: pd.Series[str], sized: pd.Series[bool]
) -> list[str]:
    """Warn of units that may mean bits or bytes where they decide about a time."""
    doubtful = units.map(is_ambiguous) & sized
    names = list(dict.fromkeys(variables[doubtful]))
    if not names:
        return []
    unit = units[doubtful].iloc[0]
    return [
        f"the unit '{unit}' of {_some(names)} may mean bits or bytes, so they are single values:"
        " write Mbit/s or MB/s"
    ]


def _some(names: list[str]) -> str:
    """Name some variables of many.

    >>> _some(["a"]), _some(["a", "b", "c", "d"])
    ('a', 'a, b and 2 more')
    """
    if len(names) <= 3:
        return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"{', '.join(names[:2])} and {len(names) - 2} more"


@dataclass(frozen=True)
class Name:
    """A variable's name in parts.

    Attributes
    ----------
    metric : str
    size : float or None
        In bytes, if the name ends in a number.
    unit : str
        Behind the number: `KiB`, `K`, `B` or nothing.
    """

    metric: str
    size: float | None = None
    unit: str = ""


def parts_of_name(variable: str) -> Name:
    """Split a variable's name.

    >>> parts_of_name("latency_64KiB"), parts_of_name("latency")
    (Name(metric='latency', size=65536.0, unit='KiB'), Name(metric='latency', size=None, unit=''))
    """
    match = _SIZED.fullmatch(variable)
    if match is None:
        return Name(variable)
    size = float(match["number"]) * SCALES[match["scale"].lower()]
    unit = match["scale"] + match["i"] + (match["byte"] or "")
    return Name(match["metric"].rstrip("_-"), size, unit)


def which_are_sizes(names: Sequence[Name], tests: Iterable[str]) -> list[bool]:
    """Return whether the number at the end of each name is a message size.

    Parameters
    ----------
    names
        Of variables.
    tests
        The test of each.
    """
    groups = list(zip(tests, (name.metric for name in names), strict=True))
    sizes: dict[tuple[str, str], set[float]] = {}
    for group, name in zip(groups, names, strict=True):
        if name.size is not None:
            sizes.setdefault(group, set()).add(name.size)
    return [
        name.size is not None and _is_size(name, sizes[group])
        for group, name in zip(groups, names, strict=True)
    ]


def is_doubtful(name: Name) -> bool:
    """Return whether the number may be something else although it is taken for a size.

    >>> is_doubtful(parts_of_name("time_8B")), is_doubtful(parts_of_name("latency_8B"))
    (True, False)
    """
    return not name.unit or (name.unit in ("B", "b") and not any(_words_of(name)))


def _words_of(name: Name) -> tuple[bool, bool]:
    """Return whether the metric is a size, and whether it is of messages."""
    words = re.split(r"[\W_]+", name.metric.lower())
    while len(words) > 1 and words[-1] in _BEHIND:
        words.pop()
    return words[-1] in _SIZE_WORDS, words[-1] in _MESSAGE_WORDS


def _is_size(name: Name, of_metric: set[float]) -> bool:
    unit = name.unit.lower()
    if unit == "bytes" or (unit.endswith(("b", "bytes")) and len(unit) > 1):
        return True
    of_size, of_message = _words_of(name)
    if unit and (of_size or of_message):
        return True
    several = len(of_metric) >= _LEAST_SIZES and max(of_metric) - min(of_metric) >= len(of_metric)
    return several and (of_size or (all(map(_is_power, of_metric)) and (of_message or bool(unit))))


def _is_power(size: float) -> bool:
    """Return whether a size is 0 or a power of two, as benchmarks choose them."""
    return math.isfinite(size) and int(size) & (int(size) - 1) == 0
