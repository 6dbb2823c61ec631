"""Matches the curves of two sides, and says why others have no counterpart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from switchpoint.comparison.methods import METHOD_COLUMNS, PAIR_KERNEL, method, pattern, quantity
from switchpoint.comparison.sides import Side
from switchpoint.tables.columns import BUILD, identity_columns
from switchpoint.tables.mpi_names import mpi_family
from switchpoint.tables.sweeps import Floats, Indices
from switchpoint.tables.units import range_text
from switchpoint.tables.unlike import UNLIKE

Identity = dict[str, str | None]

#: Columns that may differ between the two sides if each side has one value: what is compared.
_WHERE = ("site", "partition", "mpi", "environ", "kernel", "mode", "placement", BUILD)

#: Names that each site chooses for itself. They need not agree if no name is on both sides.
_LOCAL = ("partition", "environ", BUILD)


@dataclass(frozen=True)
class Curve:
    """A curve with all its launches.

    Attributes
    ----------
    identity : dict
        Its identity columns without the run.
    run_ids : list of str
        A run is a launch.
    size_bytes : array of int, shape (sizes,)
        All sizes of all launches, ascending.
    log_time, error : array of float, shape (launches, sizes)
        Natural logarithm of the median time in microseconds, NaN where a launch did not measure a
        size, and its relative standard error within the launch, 0 if it is not known.
    """

    identity: Identity
    run_ids: list[str]
    size_bytes: Indices
    log_time: Floats
    error: Floats

    def at(self, size_bytes: Indices) -> tuple[Floats, Floats]:
        """Return logarithms and errors at some of its sizes."""
        places = np.searchsorted(self.size_bytes, size_bytes)
        return self.log_time[:, places], self.error[:, places]


@dataclass(frozen=True)
class Pair:
    """Two curves that differ only in what is compared.

    Attributes
    ----------
    first, other : Curve
    shared : dict of str to str
        Identity columns with the same value.
    differs : dict of str to (str or None, str or None)
        The values of the others.
    size_bytes : array of int
        Sizes that both have.
    """

    first: Curve
    other: Curve
    shared: dict[str, str]
    differs: dict[str, tuple[str | None, str | None]]
    size_bytes: Indices


@dataclass(frozen=True)
class Unmatched:
    """A curve without a counterpart, with the reason."""

    letter: str
    identity: Identity
    reason: str


def curves_of(side: Side) -> list[Curve]:
    """Collect the launches of each curve of a side."""
    points = side.points
    if points.empty:  # zooms have no points
        return []
    names = [name for name in identity_columns(points) if name != "run_id"]
    groups = (
        points.groupby(names, dropna=False, observed=True, sort=True) if names else [((), points)]
    )
    curves = [
        _curve(
            {n: v if isinstance(v, str) else None for n, v in zip(names, key, strict=True)}, part
        )
        for key, part in groups
    ]
    return sorted(curves, key=lambda curve: [value or "" for value in curve.identity.values()])


def _curve(identity: Identity, points: pd.DataFrame) -> Curve:
    sizes, place = np.unique(points["size_bytes"].to_numpy(dtype=int), return_inverse=True)
    launch, runs = pd.factorize(points["run_id"])
    time = points["time_us"].to_numpy(dtype=float)
    log_time, error = np.full((2, len(runs), len(sizes)), np.nan)
    log_time[launch, place] = np.log(time)
    error[launch, place] = points["error_us"].to_numpy(dtype=float) / time
    return Curve(identity, [str(run) for run in runs], sizes, log_time, error)


def match(
    first: Side, other: Side, firsts: Sequence[Curve], others: Sequence[Curve]
) -> tuple[list[Pair], list[Unmatched]]:
    """Pair the curves of two sides.

    Curves are paired if their identity is the same, except in what the selections compare: a
    column that both name, or in which each side has a single value. Names that only mean something
    at one site (partition, environment, build) need not agree if no name is on both sides. MPI
    libraries with no version in common are matched by family, and other benchmarks with our kernel
    by pattern if no kernel is on both sides. What a time is, and how it was taken (`methods`),
    always agrees.
    """
    rules = _Rules(first, other, firsts, others)
    by_key: dict[tuple[str | None, ...], list[Curve]] = {}
    for curve in others:
        by_key.setdefault(rules.key(curve), []).append(curve)
    pairs: list[Pair] = []
    unmatched = []
    for curve in firsts:
        alike = by_key.get(rules.key(curve), [])
        own = [pair for one in alike if (pair := _pair(curve, one))]
        pairs += own
        if not own:
            reason = _reason(curve, alike) or rules.missing(curve, others, other.letter)
            unmatched.append(Unmatched(first.letter, curve.identity, reason))
    paired = {id(pair.other) for pair in pairs}
    firsts_by_key: dict[tuple[str | None, ...], list[Curve]] = {}
    for curve in firsts:
        firsts_by_key.setdefault(rules.key(curve), []).append(curve)
    for curve in others:
        if id(curve) not in paired:
            alike = firsts_by_key.get(rules.key(curve), [])
            reason = _reason(curve, alike) or rules.missing(curve, firsts, first.letter)
            unmatched.append(Unmatched(other.letter, curve.identity, reason))
    return pairs, unmatched


def _pair(first: Curve, other: Curve) -> Pair | None:
    """Pair two curves; None if they do not measure the same or have no size in common."""
    sizes = np.intersect1d(first.size_bytes, other.size_bytes)
    if not len(sizes) or _other_quantity(first.identity, other.identity):
        return None
    names = list(dict.fromkeys([*first.identity, *other.identity]))
    values = {name: (first.identity.get(name), other.identity.get(name)) for name in names}
    return Pair(
        first,
        other,
        {name: own for name, (own, theirs) in values.items() if own == theirs and own is not None},
        {name: both for name, both in values.items() if both[0] != both[1]},
        sizes,
    )


def _other_quantity(first: Identity, other: Identity) -> str | None:
    """Say why the times of two curves are different quantities; None if they are the same."""
    what = [(curve.get("kernel"), curve.get("mode")) for curve in (first, other)]
    if pattern(*what[0]) != pattern(*what[1]):
        units = [quantity(*one) for one in what]
        names = [" ".join(filter(None, one)) or "a curve without a kernel" for one in what]
        if None in units:
            return f"{names[0]} and {names[1]} are not known to time the same"
        if units[0] != units[1]:
            return f"{names[0]} times {units[0]}, {names[1]} {units[1]}"
    for column, why in METHOD_COLUMNS.items():
        values = [method(curve, column) or "not known" for curve in (first, other)]
        if values[0] != values[1]:
            return f"{column} is {values[0]} and {values[1]}: {why}"
    return None


def _reason(curve: Curve, alike: Sequence[Curve]) -> str | None:
    """Say why a curve was not paired with one of the same identity; None if there is none."""
    if not alike:
        return None
    other = alike[0]
    if reason := _other_quantity(curve.identity, other.identity):
        return reason
    return f"no size in common: {_sizes(curve)} and {_sizes(other)}"


def _sizes(curve: Curve) -> str:
    return range_text(int(curve.size_bytes[0]), int(curve.size_bytes[-1]))


class _Rules:
    """Which columns must agree between two sides, and the key of these."""

    def __init__(
        self, first: Side, other: Side, firsts: Sequence[Curve], others: Sequence[Curve]
    ) -> None:
        kernels = [
            {curve.identity.get("kernel") for curve in curves} for curves in (firsts, others)
        ]
        self._by_pattern = not kernels[0] & kernels[1]
        self._by_family = False
        named = {*first.selection.wanted} & {*other.selection.wanted}
        rows = [[self._identity(curve) for curve in curves] for curves in (firsts, others)]
        self._columns: list[str] = []
        for name in dict.fromkeys(name for side in rows for row in side for name in row):
            values = [{row.get(name) for row in side} for side in rows]
            if name in METHOD_COLUMNS:  # `_other_quantity` compares them
                continue
            if name == UNLIKE:  # each side numbers its own runs, so each is compared with all
                continue
            if values[0] & values[1] or not _may_differ(name, values, named):
                self._columns.append(name)
                self._by_family |= name == "mpi" and not values[0] & values[1]

    def key(self, curve: Curve) -> tuple[str | None, ...]:
        """Return what must agree."""
        identity = self._identity(curve)
        return tuple(self._value(identity, name) for name in self._columns)

    def missing(self, curve: Curve, others: Sequence[Curve], letter: str) -> str:
        """Say which values no curve of the other side has, alone or together."""
        own = self.key(curve)
        keys = {self.key(other) for other in others}
        absent = [
            place for place, value in enumerate(own) if all(key[place] != value for key in keys)
        ]
        if not absent:  # each is there, but not together: what differs from the nearest
            differing = ([n for n, value in enumerate(own) if key[n] != value] for key in keys)
            absent = min(differing, key=lambda places: (len(places), places))
        words = [f"{self._columns[place]} {own[place] or '(none)'}" for place in absent]
        return f"{letter} has no such curve with {', '.join(words)}"

    def _identity(self, curve: Curve) -> Identity:
        if not self._by_pattern:
            return curve.identity
        kernel, mode = pattern(curve.identity.get("kernel"), curve.identity.get("mode"))
        matched = curve.identity | {"kernel": kernel, "mode": mode}
        if kernel == PAIR_KERNEL and matched.get("processes") == "2":  # IMB alone prints it
            matched["processes"] = None
        return matched

    def _value(self, identity: Identity, name: str) -> str | None:
        value = identity.get(name)
        return mpi_family(value) if name == "mpi" and self._by_family and value else value


def _may_differ(name: str, values: list[set[str | None]], named: set[str]) -> bool:
    """Return whether a column with no value on both sides is what the selections compare."""
    if name in named or name in _LOCAL:
        return True
    return name in _WHERE and all(len(side) == 1 for side in values)
