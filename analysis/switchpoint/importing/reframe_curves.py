"""Decides which of ReFrame's values are points of curves, and of which curve."""

from __future__ import annotations

import re

import pandas as pd

from switchpoint.importing.external import are_sizes, are_times
from switchpoint.tables.measurements import times_before
from switchpoint.tables.units import SCALES

#: A variable's name: the metric, then the size.
_SIZED = re.compile(
    r"(?P<metric>.*[^\d\W_])[_-]?(?<![\d.])(?P<number>\d+)_?(?P<scale>[KMG]?)(?P<i>i?)(?P<byte>B|bytes)?",
    re.IGNORECASE,
)

#: Where a test ran, with the column names of all tables.
NAMING = ("site", "partition", "environ")

#: A number without unit is a size if this many variables of a test differ in nothing else, unless
#: they are numbered consecutively or the name says what is counted: `gpu_0`, `nodes_4`.
_LEAST_BARE = 3
_COUNTED = re.compile(
    r"(?:core|cpu|device|gpu|iter|iteration|job|node|numa|proc|process|rank|run|socket|step|task"
    r"|thread|trial|worker)(?:s|es)?$",
    re.IGNORECASE,
)

#: Units in lower case, with their value in microseconds or in bytes per microsecond.
_TIMES = {
    **dict.fromkeys(("us", "usec", "usecs", "μs", "µs", "microseconds"), 1.0),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-3),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e3),
    **dict.fromkeys(("s", "sec", "seconds"), 1e6),
}
_BANDWIDTHS = {
    **dict.fromkeys(("mb/s", "mb/sec", "mbytes/s", "mbytes/sec", "mbps"), 1.0),
    **dict.fromkeys(("kb/s", "kb/sec"), 1e-3),
    **dict.fromkeys(("gb/s", "gb/sec", "gbytes/s", "gbytes/sec"), 1e3),
    **dict.fromkeys(("mib/s", "mib/sec"), 2**20 / 1e6),
    **dict.fromkeys(("gib/s", "gib/sec"), 2**30 / 1e6),
    **dict.fromkeys(("gbit/s", "gbits/s"), 125.0),
    **dict.fromkeys(("mbit/s", "mbits/s"), 0.125),
}


def points_and_others(values: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points of curves, with the metric as `mode`, and the other values."""
    if values.empty:
        return values, pd.DataFrame(columns=["variable", "row"])
    parts = [_split(variable) for variable in values["variable"]]
    values[["metric", "named_size", "bare"]] = pd.DataFrame(parts, index=values.index)
    trusted = values["named_size"].notna() & (~values["bare"] | _sizes_by_number(values))
    row_size = pd.to_numeric(values.pop("row_size"), errors="coerce")
    values["mode"] = values["metric"].where(trusted, values["variable"])
    values["size_bytes"] = values["named_size"].where(trusted, row_size).astype(float)
    number = pd.to_numeric(values["value"], errors="coerce")
    unit = values["unit"].astype(str).str.strip().str.lower()
    time = number * unit.map(_TIMES)
    values["time_us"] = time.fillna(values["size_bytes"] / (number * unit.map(_BANDWIDTHS)))
    good = are_sizes(values["size_bytes"].to_numpy()) & are_times(values["time_us"].to_numpy())
    others = values.loc[~good, ["variable", "row", *NAMING]]
    parameters = {name for names in values.pop("parameters") for name in names}
    values = values[good].drop(columns=["metric", "named_size", "bare", "value", "unit"])
    # A column that differs in every row, such as a time, is not identity, unless it is a parameter
    # or says where the row was measured.
    rows = values.drop_duplicates("row").drop(columns="row")
    passing = {n for n in rows if len(rows) > 1 and rows[n].is_unique} - parameters
    values = values.drop(columns=passing - {*NAMING, "kernel", "mode", "size_bytes", "time_us"})
    values = values.drop(columns=[name for name in NAMING if values[name].isna().all()])
    identity = [str(n) for n in values if n not in {"size_bytes", "time_us", "variable", "row"}]
    values[identity] = values[identity].astype("category")
    values["pass"] = times_before([values[name].array for name in (*identity, "size_bytes")])
    return values.drop(columns=["row", "variable"], errors="ignore").reset_index(drop=True), others


def _sizes_by_number(values: pd.DataFrame) -> pd.Series[bool]:
    """Return whether numbers without unit at the ends of a test's variables must be sizes."""
    keys = list(zip(values["kernel"], values["metric"], strict=True))
    sizes: dict[tuple[str, str], set[float]] = {}
    for key, size in zip(keys, values["named_size"], strict=True):
        if size == size:  # the variable's name ends in one
            sizes.setdefault(key, set()).add(size)
    trusted = {
        (kernel, metric)
        for (kernel, metric), known in sizes.items()
        if len(known) >= _LEAST_BARE
        and max(known) - min(known) != len(known) - 1  # numbered consecutively
        and not _COUNTED.search(metric)
    }
    return pd.Series([key in trusted for key in keys], index=values.index)


def _split(variable: str) -> tuple[str, float | None, bool]:
    """Return metric, size in bytes if the name ends in one, and whether the size has no unit.

    >>> _split("latency_64KiB"), _split("bw_8"), _split("latency")
    (('latency', 65536.0, False), ('bw', 8.0, True), ('latency', None, False))
    """
    found = _SIZED.fullmatch(variable)
    if found is None:
        return variable, None, False
    size = float(found["number"]) * SCALES[found["scale"].lower()]
    return found["metric"].rstrip("_-"), size, not (found["scale"] or found["byte"])
