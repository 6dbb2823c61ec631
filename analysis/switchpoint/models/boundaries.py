"""Joins the boundaries that `detect` finds in the launches of a curve to those that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from switchpoint.tables.columns import records, rows_by
from switchpoint.tables.findings import BOUNDARIES, Anomaly


@dataclass(frozen=True)
class Boundary:
    """A boundary of a curve.

    Attributes
    ----------
    last_size_before, size_bytes : int
        The bracket that most launches show, in bytes.
    launches : int
        How many launches show a boundary there.
    """

    last_size_before: int
    size_bytes: int
    launches: int


def boundaries_of(
    findings: pd.DataFrame, same: Sequence[str]
) -> dict[tuple[Any, ...], list[Boundary]]:
    """Return the boundaries of each curve, ascending.

    Parameters
    ----------
    findings
        As from `detection.search.find_in_curves`.
    same
        The columns that distinguish curves, without the run. The values of a row in these columns
        are the key of its curve.
    """
    rows = records(findings[findings["kind"].isin(BOUNDARIES)], Anomaly)
    return {key: list(_joined(found)) for key, found in rows_by(rows, same).items()}


def _joined(rows: list[Anomaly]) -> Iterable[Boundary]:
    """Join rows whose brackets have a gap between sizes in common."""
    rows = sorted(rows, key=lambda row: (row["size_bytes"], row["last_size_before"]))
    group: list[Anomaly] = []
    for row in rows:
        if group and row["last_size_before"] >= group[0]["size_bytes"]:
            yield _boundary(group)
            group = []
        group.append(row)
    if group:
        yield _boundary(group)


def _boundary(rows: list[Anomaly]) -> Boundary:
    brackets = Counter((row["last_size_before"], row["size_bytes"]) for row in rows)
    (last, first), _ = brackets.most_common(1)[0]
    return Boundary(int(last), int(first), len({row["run_id"] for row in rows}))
