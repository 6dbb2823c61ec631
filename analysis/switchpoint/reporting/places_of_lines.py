"""Says of which places and curves summarised findings are, for the terminal and for pages."""

from __future__ import annotations

import pandas as pd

from switchpoint.reporting.digest import PLACE, SUMMARISED, Line
from switchpoint.reporting.terminal.words import listed
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.naming import worded

#: What to call the values of `SUMMARISED`, which are counted if a line has more than a few.
_FOLDED = {"kernel": "benchmarks", "placement": "placements", "mode": "modes"}
_FEW_WORDS = 4


def filters_text(curves: pd.DataFrame) -> str:
    """Name the columns in which curves differ, with the number of values: what to filter by."""
    counts = {name: curves[name].nunique() for name in identity_columns(curves) if name != "run_id"}
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items() if count > 1)


def a_filter(curves: pd.DataFrame) -> str:
    """Return an example for `--curve`; empty if curves differ in nothing."""
    for name in reversed(identity_columns(curves)):
        values = curves[name].dropna().unique()
        if name != "run_id" and len(values) > 1:
            text = f"{name}={values[0]}"
            return f"'{text}'" if " " in text else text
    return ""


def naming_columns(places: list[dict[str, str | None]]) -> list[str]:
    """Return columns that name places: site, MPI, and others that distinguish places."""
    named: list[str] = []
    for name in PLACE:
        values = [place[name] for place in places]
        others = [tuple(place[other] for other in named) for place in places]
        tells = len({*zip(others, values, strict=True)}) > len({*others})
        if any(values) and (name in {"site", "mpi"} or tells):
            named.append(name)
    if "environ" not in named and any(p["environ"] and not p["mpi"] for p in places):
        named.append("environ")
    return named


def varying_columns(curves: pd.DataFrame) -> list[str]:
    """Return columns that a line names: `_FOLDED`, and others that distinguish these curves."""
    columns = [name for name in identity_columns(curves) if name not in {*PLACE, "run_id"}]
    return [name for name in columns if name in _FOLDED or len(set(curves[name])) > 1]


def curves_text(line: Line, varying: list[str]) -> str:
    """Name the benchmarks, placements and modes of a line's curves, or their number."""
    words = []
    for name in varying:
        if name not in SUMMARISED:
            value = line.common(name)
            words += [] if value is None else [worded(name, value)]
            continue
        values = list(dict.fromkeys(curve.get(name) for curve in line.curves.values()))
        known = [value for value in values if isinstance(value, str)]
        if known:
            few = len(known) <= _FEW_WORDS
            words.append(listed(known) if few else f"{len(known)} {_FOLDED[name]}")
    return ", ".join(words)
