"""Decides which tables of one file are passes over one curve, and which are curves of their own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from switchpoint.data_warnings import DataWarning
from switchpoint.importing.problems import Problem
from switchpoint.tables.unlike import TABLES, differ

#: The column that numbers the tables of a file that differ although they have the same names.
TABLE = "table"

#: Two measurements never agree in so many different times.
_LEAST_TIMES = 5

#: A table joins one of so many curves; a file with more would need hours.
_MOST_COMPARED = 16


@dataclass(frozen=True)
class Part:
    """The usable rows of a table.

    Attributes
    ----------
    identity : dict of str to str
        The names of its curve.
    size_bytes, time_us, iterations : array
    lines : array
        The line of each row.
    rank, command : str
        The rank that printed it, and the command before it; empty if not known.
    after_another : bool
        Whether rows may also be of the table before.
    """

    identity: dict[str, str]
    size_bytes: npt.NDArray[np.float64]
    time_us: npt.NDArray[np.float64]
    iterations: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    rank: str = ""
    command: str = ""
    after_another: bool = False


def in_order(part: Part) -> tuple[list[Part], list[Problem]]:
    """Return the parts of a table in which sizes go up, and why rows are skipped or divided.

    If rows of several tables are mixed, nobody knows of which table a row is.
    """
    size, kernel = part.size_bytes, part.identity.get("kernel", "")
    starts = (np.flatnonzero(np.diff(size) <= 0) + 1).tolist()
    if not starts:
        return [part], []
    repeats = int(np.unique(size, return_counts=True)[1].max())
    lines = [int(part.lines[start]) for start in starts]
    if repeats == 1:
        what = "sizes go back; the rows are sorted"
        return [part], [Problem(line, what, kernel) for line in lines]
    one_after_another = repeats == len(starts) + 1 and bool((np.diff(size) != 0).all())
    if part.after_another or not one_after_another:
        what = "rows of several tables are mixed: all are skipped; print each table to a file"
        return [], [Problem(lines[0], what, kernel)]
    what = "sizes start again without a title; the rows from here are a table of their own"
    pieces = [
        _slice(part, start, end) for start, end in zip([0, *starts], [*starts, None], strict=True)
    ]
    return pieces, [Problem(line, what, kernel) for line in lines]


def _slice(part: Part, start: int, end: int | None) -> Part:
    """Return some rows of a part."""
    rows = slice(start, end)
    return replace(
        part,
        size_bytes=part.size_bytes[rows],
        time_us=part.time_us[rows],
        iterations=part.iterations[rows],
        lines=part.lines[rows],
    )


def apart(parts: Iterable[Part], factor: float = TABLES) -> tuple[list[Part], list[DataWarning]]:
    """Number the tables that have the same names but are no passes over one curve, and say so.

    Parameters
    ----------
    parts
        Tables.
    factor
        Passes over one curve do not differ by more.
    """
    parts = list(parts)
    same: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for place, part in enumerate(parts):
        same.setdefault(tuple(sorted(part.identity.items())), []).append(place)
    warnings: list[DataWarning] = []
    for places in same.values():
        tables = [parts[place] for place in places]
        kernel = f"{tables[0].identity['kernel']}: " if "kernel" in tables[0].identity else ""
        if ranks := _several_ranks(tables):
            what = (
                f"{kernel}ranks {ranks} each printed a table, as separate programs do: start them"
                " as one job"
            )
            warnings.append(DataWarning("several_ranks", what))
        curves = _curves(tables, factor)
        if len(curves) == 1:
            continue
        for number, members in enumerate(curves, start=1):
            for member in members:
                place = places[member]
                names = parts[place].identity | {TABLE: str(number)}
                parts[place] = replace(parts[place], identity=names)
        warnings.append(_why(kernel, [tables[members[0]] for members in curves]))
    return parts, warnings


def once(parts: Iterable[Part]) -> tuple[list[Part], list[DataWarning]]:
    """Leave out tables that are there twice with the same times, and say so."""
    kept: list[Part] = []
    warnings: list[DataWarning] = []
    known: dict[str, int] = {}
    for part in parts:
        names = sorted(part.identity.items())
        content = repr(
            [names, part.rank, part.command, part.size_bytes.tolist(), part.time_us.tolist()]
        )
        first = known.setdefault(content, int(part.lines[0]))
        if first == part.lines[0] or len(np.unique(part.time_us)) < _LEAST_TIMES:
            kept.append(part)
        else:
            kernel = f"{part.identity['kernel']}: " if "kernel" in part.identity else ""
            what = f"the same table as from line {first}, which counts once"
            warnings.append(DataWarning("rows", f"{kernel}line {part.lines[0]}: {what}"))
    return kept, warnings


def _several_ranks(tables: list[Part]) -> str:
    ranks = list(dict.fromkeys(table.rank for table in tables))
    return ", ".join(ranks[:4]) if len(ranks) > 1 else ""


def _curves(tables: list[Part], factor: float) -> list[list[int]]:
    """Sort tables into curves: each joins the first one that it agrees with."""
    curves: list[list[int]] = []
    for number, table in enumerate(tables):
        for curve in curves[:_MOST_COMPARED]:
            first = tables[curve[0]]
            if first.command == table.command and not differ(_log_ratios(first, table), factor):
                curve.append(number)
                break
        else:
            curves.append([number])
    return curves


def _log_ratios(one: Part, other: Part) -> npt.NDArray[np.float64]:
    """Return the logarithm of the ratio of times at each size that both have."""
    if np.array_equal(one.size_bytes, other.size_bytes):
        return np.asarray(np.log(other.time_us / one.time_us))
    _, ours, theirs = np.intersect1d(one.size_bytes, other.size_bytes, return_indices=True)
    ratios: npt.NDArray[np.float64] = np.log(other.time_us[theirs] / one.time_us[ours])
    return ratios


def _why(kernel: str, firsts: list[Part]) -> DataWarning:
    """Say which tables are curves of their own, and why."""
    lines = [str(table.lines[0]) for table in firsts]
    shown = f"{', '.join(lines[:-1])} and {lines[-1]}"
    if len(lines) > 4:
        shown = f"{', '.join(lines[:3])} and {len(lines) - 3} more"
    reasons = []
    largest = max(
        (
            abs(float(np.median(ratio)))
            for table in firsts[1:]
            if len(ratio := _log_ratios(firsts[0], table))
        ),
        default=0.0,
    )
    if largest > 0:
        reasons.append(f"differ by up to a factor of {math.exp(largest):.3g}")
    if len({table.command for table in firsts}) > 1:
        reasons.append("follow different commands")
    return DataWarning(
        "separate_curves",
        f"{kernel}the tables from lines {shown} {' and '.join(reasons)}, so each is a curve of"
        f" its own ({TABLE} = 1, 2, ...): put them into files with labels",
    )
