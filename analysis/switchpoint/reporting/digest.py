"""Summarises recurring findings: a line per place and boundary, with the number of curves.

A place is a site, a partition, an MPI library and an environment. A line summarises runs, launches,
modes, process counts, placements and benchmarks of a place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.explanation.causes import PROMINENT_CONFIDENCE, matters
from switchpoint.tables.columns import identity_columns, records, rows_by, values_of
from switchpoint.tables.findings import BOUNDARIES, KINDS, Finding

#: No line has a higher confidence than this, however many runs show it.
_HIGHEST = 0.99

#: Columns that name a place, in the order in which people read them.
PLACE = ["site", "partition", "mpi", "environ"]

#: A boundary that is neither large nor has a suspect is shown if this many curves agree, and this
#: share of the curves that could show it.
_ENOUGH_CURVES = 3
_ENOUGH_SHARE = 0.5

#: Curves of one place that differ in these can have other boundaries. They are counted separately.
_LIKE = ("kernel", "placement")

#: Columns that lines may summarise although their values differ: curves of other modes count too.
SUMMARISED = (*_LIKE, "mode")

#: Two brackets belong to one boundary if they share this part of the narrower one, in octaves.
_SHARED = 0.5

#: The ways to sort lines, with their names for `--sort`.
SORTS = ("confidence", "cost", "time", "curves", "size")


@dataclass
class Line:
    """Findings of one kind and place, and for boundaries of one bracket and direction.

    Attributes
    ----------
    place : dict of str to (str or None)
        The values of `PLACE`.
    kind : str
    last_size_before, size_bytes : int
        For a boundary its narrowest bracket, for other kinds the smallest and largest size.
    magnitudes, costs_us : list of float
        The values of the findings. A cost is the time that a step adds; only steps have one.
    confidences : dict
        The highest confidence of the findings of each run.
    curves : dict
        The identity of each curve that shows it.
    of_curves : int
        How many curves of the place, with these benchmarks and placements, could show it. If all
        that show it have one fabric, or another label, in common: how many with this label.
    matters : bool
        Whether it is large, has a suspect or recurs.
    notable : bool
        Whether it matters and is certain enough to be shown.
    notes : list of str
        Its suspects, each once.
    """

    place: dict[str, str | None]
    kind: str
    last_size_before: int
    size_bytes: int
    magnitudes: list[float] = field(default_factory=list)
    costs_us: list[float] = field(default_factory=list)
    confidences: dict[Any, float] = field(default_factory=dict)
    curves: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    of_curves: int = 0
    matters: bool = False
    notable: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_boundary(self) -> bool:
        """Whether it lies between two sizes."""
        return self.kind in BOUNDARIES

    @property
    def cost_us(self) -> float:
        """The time that it adds to a message or call, median over its curves; NaN if unknown."""
        return float(np.median(self.costs_us)) if self.costs_us else math.nan

    @property
    def recurs(self) -> bool:
        """Whether most curves that could show it do."""
        return len(self.curves) >= _ENOUGH_SHARE * self.of_curves

    def common(self, name: str) -> str | None:
        """The value that all of its curves have in a column; None if they differ or have none."""
        value, *others = {curve.get(name) for curve in self.curves.values()}
        return value if isinstance(value, str) and not others else None

    @property
    def confidence(self) -> float:
        """The chance to see it again in its best run or, if it recurs, in any of its runs."""
        highest = max(self.confidences.values())
        if not self.recurs:
            return highest
        any_run = 1 - math.prod(1 - chance for chance in self.confidences.values())
        return max(highest, min(any_run, _HIGHEST))


def digest(
    findings: pd.DataFrame, curves: pd.DataFrame, min_confidence: float = PROMINENT_CONFIDENCE
) -> list[Line]:
    """Summarise findings as lines, with the highest confidence first.

    Parameters
    ----------
    findings
        As from `detect`.
    curves
        As from `summarise`, of the same measurements: the curves that could show them.
    min_confidence
        Lines of boundaries that are less certain are not notable.
    """
    identity = identity_columns(findings)
    large = matters(findings).tolist()
    rows = [*zip(records(findings, Finding), large, strict=True)]
    lines: dict[tuple[Any, ...], list[Line]] = {}
    for row, is_large in sorted(rows, key=lambda pair: _octaves(pair[0])):
        place = dict(zip(PLACE, values_of(row, PLACE), strict=True))
        slower = row["kind"] not in BOUNDARIES or row["magnitude"] > 0
        guideline = row["evidence"].get("guideline")
        rule = (row.get("kernel"), guideline) if guideline else None
        key = (*place.values(), row["kind"], slower, rule)
        line = _line_of(row, place, lines.setdefault(key, []))
        line.matters |= is_large
        _add(line, row, identity)
    folded = [line for some in lines.values() for line in some]
    _count_curves(folded, curves)
    for line in folded:
        agree = len(line.curves) >= _ENOUGH_CURVES and line.recurs
        line.matters |= agree and line.is_boundary
        line.notable = line.matters and line.confidence >= min_confidence
    return sort_lines(folded, SORTS[0])


def sort_lines(lines: Iterable[Line], by: str) -> list[Line]:
    """Sort lines by one of `SORTS`, largest first, but sizes smallest first.

    Lines that are as certain, to the percent, follow by their cost. Those without a cost come last,
    sorted by their number of curves. With `confidence` boundaries come first.
    """

    def key(line: Line) -> tuple[Any, ...]:
        cost = (math.isnan(line.cost_us), -line.cost_us if line.costs_us else 0)
        usual = (*cost, -len(line.curves), line.size_bytes)
        first = {
            "cost": (),
            "time": (-max(map(abs, line.magnitudes)),),
            "confidence": (not line.is_boundary, -round(line.confidence, 2)),
            "curves": (-len(line.curves),),
            "size": (line.last_size_before, line.size_bytes),
        }[by]
        return (*first, *usual)

    return sorted(lines, key=key)


def sort_findings(findings: pd.DataFrame, by: str) -> pd.DataFrame:
    """Sort single findings like `sort_lines`; with `curves` they keep their order."""
    keys = {
        "cost": [-float(evidence.get("jump_us", -math.inf)) for evidence in findings["evidence"]],
        "time": (-findings["magnitude"].abs()).tolist(),
        "confidence": (-findings["confidence"]).tolist(),
        "curves": [0.0] * len(findings),
        "size": findings["size_bytes"].tolist(),
    }
    return findings.iloc[np.argsort(keys[by], kind="stable")]


def worth_a_line(lines: list[Line]) -> list[Line]:
    """Return the notable lines or, if there are none, those that matter and are less certain."""
    notable = [line for line in lines if line.notable]
    return notable or [line for line in lines if line.matters]


def first_of_each_place(lines: list[Line], most: int) -> list[Line]:
    """Take `most` lines in order, but a second line of a place only after each has its first."""
    before: dict[tuple[Any, ...], int] = {}
    turns = []
    for number, line in enumerate(lines):
        place = tuple(line.place.values())
        before[place] = before.get(place, -1) + 1
        turns.append((before[place], number))
    chosen = sorted(number for _, number in sorted(turns)[:most])
    return [lines[number] for number in chosen]


def select_curves(table: pd.DataFrame, wanted: Iterable[str]) -> pd.DataFrame:
    """Select the rows of the curves that `--curve` names.

    Parameters
    ----------
    table
        Curves or findings, with their identity columns.
    wanted
        `NAME=VALUE`: the curves whose column NAME has this value or, if there are none, contains
        it in upper or lower case. Or a text: curves with a value that contains it. Several values
        for one column are alternatives; different columns must all match.

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
    """Select findings of some kinds, or all if none is named; raises InputError."""
    kinds = [kind.replace("-", "_").replace(" ", "_") for kind in wanted]
    for kind in kinds:
        if kind not in KINDS:
            raise InputError("--only", f"'{kind}' is not a kind; use one of {', '.join(KINDS)}")
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


def _octaves(row: Finding) -> float:
    """Return the width of a finding's bracket."""
    return _logarithm(row["size_bytes"]) - _logarithm(row["last_size_before"])


def _logarithm(size_bytes: int) -> float:
    """Return a size in octaves; it may be 0."""
    return math.log2(size_bytes + 1)


def _line_of(row: Finding, place: dict[str, str | None], lines: list[Line]) -> Line:
    """Return the line of a finding, or a new line if no line has its bracket."""
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
    """Return whether a line's bracket shares enough with another one that is at least as wide."""
    low, high = max(line.last_size_before, last), min(line.size_bytes, first)
    own = _logarithm(line.size_bytes) - _logarithm(line.last_size_before)
    return high > low and _logarithm(high) - _logarithm(low) >= _SHARED * own


def _add(line: Line, row: Finding, identity: list[str]) -> None:
    line.magnitudes.append(row["magnitude"])
    if row["kind"] == "step" and "jump_us" in row["evidence"]:
        line.costs_us.append(row["evidence"]["jump_us"])
    curve = dict(zip(identity, values_of(row, identity), strict=True))
    line.curves[tuple(curve.values())] = curve
    run = row.get("run_id") or tuple(curve.values())
    line.confidences[run] = max(line.confidences.get(run, 0.0), row["confidence"])
    notes = [f"suspect {suspect['reason']}" for suspect in row["suspects"]]
    if says := row["evidence"].get("says"):
        notes = [says]
    if not notes and row["origin"]:
        guess = row["origin"]["guess"].replace("_", " ")
        notes = [f"perhaps {guess}: {row['origin']['evidence'][0]}"]
    line.notes += [note for note in notes if note not in line.notes]


def _count_curves(lines: list[Line], curves: pd.DataFrame) -> None:
    """Count for each line the similar curves that have sizes on both sides."""
    identity = identity_columns(curves)
    labels = [name for name in identity if name not in {*PLACE, *SUMMARISED, "run_id"}]
    grouped = (
        curves.groupby(identity, dropna=False, observed=True)["size_bytes"]
        .agg(["min", "max"])
        .reset_index()
        if identity
        else curves["size_bytes"].agg(["min", "max"]).to_frame().T
    )
    by_place = rows_by(records(grouped), PLACE)
    for line in lines:
        like = {tuple(curve.get(name) for name in _LIKE) for curve in line.curves.values()}
        common = {name: value for name in labels if (value := line.common(name)) is not None}
        line.of_curves = sum(
            tuple(row.get(name) for name in _LIKE) in like
            and all(row.get(name) == value for name, value in common.items())
            and (
                not line.is_boundary
                or (row["min"] <= line.last_size_before and row["max"] >= line.size_bytes)
            )
            for row in by_place.get(tuple(line.place.values()), [])
        )
        line.of_curves = max(line.of_curves, len(line.curves))
