"""Folds findings that recur: one line for each place and boundary, with how many curves show it.

A place is a site, a partition, an MPI library and an environment. Runs, launches, modes, process
counts, placements and benchmarks of a place are folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.explanation.causes import prominent
from switchpoint.tables.columns import identity_columns, none_for_nulls
from switchpoint.tables.findings import BOUNDARIES, KINDS

#: What names a place, in the order in which people read it.
PLACE = ["site", "partition", "mpi", "environ"]

#: A boundary that is not prominent in any curve is shown if so many curves, and so large a share of
#: those that could show it, agree.
_ENOUGH_CURVES = 3
_ENOUGH_SHARE = 0.5

#: Curves of one place that differ in these may show another boundary, and count apart.
_LIKE = ("kernel", "placement")

#: Brackets are of one boundary if they share so much of the narrower, in octaves.
_SHARED = 0.5

#: How lines can be sorted, and what `--sort` calls it.
SORTS = ("cost", "time", "confidence", "curves", "size")


@dataclass
class Line:
    """Findings of one kind, place and, if they are boundaries, of one bracket and direction.

    Attributes
    ----------
    place : dict of str to (str or None)
        By `PLACE`.
    kind : str
    last_size_before, size_bytes : int
        Of a boundary its narrowest bracket; of other kinds the smallest and largest size.
    magnitudes, costs_us, confidences : list of float
        Of each finding; costs, the time that a step adds, of steps only.
    curves : dict
        Identity of each curve that shows it, by its values.
    of_curves : int
        How many curves of the place, and of those benchmarks and placements, could show it.
    notable : bool
        Whether a reader wants it first.
    notes : list of str
        What is suspected behind it, each once.
    """

    place: dict[str, str | None]
    kind: str
    last_size_before: int
    size_bytes: int
    magnitudes: list[float] = field(default_factory=list)
    costs_us: list[float] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    curves: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    of_curves: int = 0
    notable: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_boundary(self) -> bool:
        """Whether it lies between two sizes."""
        return self.kind in BOUNDARIES

    @property
    def cost_us(self) -> float:
        """Time that it adds to a message or call, the median over its curves; NaN if unknown."""
        return float(np.median(self.costs_us)) if self.costs_us else math.nan

    @property
    def confidence(self) -> float:
        """Median over its findings."""
        return float(np.median(self.confidences))


def digest(findings: pd.DataFrame, curves: pd.DataFrame) -> list[Line]:
    """Fold findings into lines, what costs most time first.

    Parameters
    ----------
    findings
        As from `detect`.
    curves
        As from `summarise`, of the same measurements: the curves that could show them.
    """
    rows = none_for_nulls(findings.assign(_notable=prominent(findings))).to_dict("records")
    identity = identity_columns(findings.drop(columns=["_notable"], errors="ignore"))
    widths = [_octaves(row) for row in rows]
    lines: dict[tuple[Any, ...], list[Line]] = {}
    for _, row in sorted(zip(widths, rows, strict=True), key=lambda pair: pair[0]):
        place = {name: row.get(name) for name in PLACE}
        slower = row["kind"] not in BOUNDARIES or row["magnitude"] > 0
        line = _line_of(row, place, lines.setdefault((*place.values(), row["kind"], slower), []))
        _add(line, row, identity)
    folded = [line for some in lines.values() for line in some]
    _count_curves(folded, curves)
    for line in folded:
        agree = len(line.curves) >= max(_ENOUGH_CURVES, _ENOUGH_SHARE * line.of_curves)
        line.notable |= agree and line.is_boundary
    return sort_lines(folded, "cost")


def sort_lines(lines: Iterable[Line], by: str) -> list[Line]:
    """Sort lines by one of `SORTS`, largest first, sizes smallest first; steps before the rest.

    By cost, lines without one follow, those that recur in most curves first.
    """

    def key(line: Line) -> tuple[Any, ...]:
        cost = (math.isnan(line.cost_us), -line.cost_us if line.costs_us else 0)
        usual = (*cost, -len(line.curves), line.size_bytes)
        first = {
            "cost": (),
            "time": (-max(map(abs, line.magnitudes)),),
            "confidence": (-line.confidence,),
            "curves": (-len(line.curves),),
            "size": (line.last_size_before, line.size_bytes),
        }[by]
        return (*first, *usual)

    return sorted(lines, key=key)


def sort_findings(findings: pd.DataFrame, by: str) -> pd.DataFrame:
    """Sort single findings as `sort_lines` sorts lines; by curves they keep their order."""
    keys = {
        "cost": [-float(evidence.get("jump_us", -math.inf)) for evidence in findings["evidence"]],
        "time": (-findings["magnitude"].abs()).tolist(),
        "confidence": (-findings["confidence"]).tolist(),
        "curves": [0.0] * len(findings),
        "size": findings["size_bytes"].tolist(),
    }
    return findings.iloc[np.argsort(keys[by], kind="stable")]


def first_of_each_place(lines: list[Line], most: int) -> list[Line]:
    """Take so many lines, in their order, but of no place a second before each has its first."""
    before: dict[tuple[Any, ...], int] = {}
    turns = []
    for number, line in enumerate(lines):
        place = tuple(line.place.values())
        before[place] = before.get(place, -1) + 1
        turns.append((before[place], number))
    chosen = sorted(number for _, number in sorted(turns)[:most])
    return [lines[number] for number in chosen]


def select_curves(table: pd.DataFrame, wanted: Iterable[str]) -> pd.DataFrame:
    """Select the rows of those curves that `--curve` asks for.

    Parameters
    ----------
    table
        Curves or findings, with their identity columns.
    wanted
        `NAME=VALUE`: of the column NAME all curves with that value or, where none has it, those
        whose value contains it in small or large letters. Or a text: curves of which some value
        contains it. Several of one column are alternatives; different columns must all match.

    Raises
    ------
    InputError
        If a column does not exist.
    """
    conditions: dict[str, pd.Series[bool]] = {}
    columns = identity_columns(table)
    for text in wanted:
        name, equals, value = text.partition("=")
        if not equals:
            name, value = "", text
        elif name not in columns:
            known = ", ".join(columns) or "none"
            raise InputError("--curve", f"no curve has '{name}'; they have: {known}")
        found = _matches(table, [name] if name else columns, value, exact=bool(name))
        conditions[name] = conditions[name] | found if name in conditions else found
    for condition in conditions.values():
        table = table[condition.reindex(table.index)]
    return table


def select_kinds(findings: pd.DataFrame, wanted: Iterable[str]) -> pd.DataFrame:
    """Select findings of some kinds, all where none is named; raises InputError if none exists."""
    kinds = [kind.replace("-", "_").replace(" ", "_") for kind in wanted]
    for kind in kinds:
        if kind not in KINDS:
            raise InputError("--only", f"'{kind}' is no kind; use one of {', '.join(KINDS)}")
    return findings[findings["kind"].isin(kinds)] if kinds else findings


def _matches(
    table: pd.DataFrame, columns: list[str], value: str, *, exact: bool
) -> pd.Series[bool]:
    texts = table[columns].astype("object").fillna("").astype(str)
    same = (texts == value).any(axis=1)
    if exact and same.any():
        return same
    small = value.lower()
    contains = texts.apply(lambda column: column.str.lower().str.contains(small, regex=False))
    return contains.any(axis=1) if len(columns) else pd.Series(False, index=table.index)


def _octaves(row: Mapping[Any, Any]) -> float:
    """Width of a finding's bracket."""
    return _logarithm(row["size_bytes"]) - _logarithm(row["last_size_before"])


def _logarithm(size_bytes: int) -> float:
    """Of a size that may be 0, in octaves."""
    return math.log2(size_bytes + 1)


def _line_of(row: Mapping[Any, Any], place: dict[str, str | None], lines: list[Line]) -> Line:
    """Return the line that a finding belongs to, a new one if none has its bracket."""
    if row["kind"] not in BOUNDARIES:
        last = int(row["evidence"].get("last_size_bytes") or row["size_bytes"])
        if not lines:
            lines.append(Line(place, row["kind"], int(row["size_bytes"]), last))
        [line] = lines
        line.last_size_before = min(line.last_size_before, int(row["size_bytes"]))
        line.size_bytes = max(line.size_bytes, last)
        return line
    last, first = int(row["last_size_before"]), int(row["size_bytes"])
    sharing = [line for line in lines if _share(line, last, first)]
    if sharing:
        return max(sharing, key=lambda line: len(line.curves))
    lines.append(Line(place, row["kind"], last, first))
    return lines[-1]


def _share(line: Line, last: int, first: int) -> bool:
    """Whether a line's bracket, which is no wider, shares enough with another."""
    low, high = max(line.last_size_before, last), min(line.size_bytes, first)
    own = _logarithm(line.size_bytes) - _logarithm(line.last_size_before)
    return high > low and _logarithm(high) - _logarithm(low) >= _SHARED * own


def _add(line: Line, row: Mapping[Any, Any], identity: list[str]) -> None:
    line.magnitudes.append(row["magnitude"])
    line.confidences.append(row["confidence"])
    line.notable |= bool(row["_notable"])
    if row["kind"] == "step" and "jump_us" in row["evidence"]:
        line.costs_us.append(row["evidence"]["jump_us"])
    curve = {name: row.get(name) for name in identity}
    line.curves[tuple(curve.values())] = curve
    notes = [f"suspect {suspect['reason']}" for suspect in row["suspects"]]
    if not notes and row["origin"]:
        guess = row["origin"]["guess"].replace("_", " ")
        notes = [f"perhaps {guess}: {row['origin']['evidence'][0]}"]
    line.notes += [note for note in notes if note not in line.notes]


def _count_curves(lines: list[Line], curves: pd.DataFrame) -> None:
    """Count for each line the curves like its own that have sizes on both sides."""
    identity = identity_columns(curves)
    grouped = (
        curves.groupby(identity, dropna=False, observed=True)["size_bytes"]
        .agg(["min", "max"])
        .reset_index()
        if identity
        else curves["size_bytes"].agg(["min", "max"]).to_frame().T
    )
    rows = none_for_nulls(grouped).to_dict("records")
    by_place: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for row in rows:
        by_place.setdefault(tuple(row.get(name) for name in PLACE), []).append(row)
    for line in lines:
        like = {tuple(curve.get(name) for name in _LIKE) for curve in line.curves.values()}
        line.of_curves = sum(
            tuple(row.get(name) for name in _LIKE) in like
            and (
                not line.is_boundary
                or (row["min"] <= line.last_size_before and row["max"] >= line.size_bytes)
            )
            for row in by_place.get(tuple(line.place.values()), [])
        )
        line.of_curves = max(line.of_curves, len(line.curves))
