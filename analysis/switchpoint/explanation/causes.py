"""Finds anomalies in curves and what may have caused them: suspected settings, likely origins.

A suspicion or a guess is never a proof. `switches` has the proofs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from switchpoint.detection.search import find_anomalies
from switchpoint.explanation.origins import Origins, origins_of_run
from switchpoint.explanation.slower_runs import slower_because
from switchpoint.explanation.suspects import Suspects, suspects_of_run
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.findings import BOUNDARIES, Anomaly, Finding, Origin, Suspect, may_jump
from switchpoint.tables.measurements import Measurements

#: Findings from these values on are shown first. A smaller change needs a suspect.
PROMINENT_MAGNITUDE = 0.2
PROMINENT_CONFIDENCE = 0.85

#: What sibling curves have in common, and how many of them without a step refute a guess.
_SIBLING = ["site", "partition", "mpi", "kernel", "placement"]
_ENOUGH_SIBLINGS = 2


def detect(
    source: Measurements | pd.DataFrame, progress: Callable[[], object] = lambda: None
) -> pd.DataFrame:
    """Find steps, changes of slope, and other anomalies in every curve and between curves.

    Parameters
    ----------
    source
        Measurements or their samples table.
    progress
        Called after each curve.

    Returns
    -------
    DataFrame
        One row per finding: the curve's identity columns and `tables.findings.COLUMNS`, which
        says what each means, as `tables.findings.KINDS` does of the kinds. `confidence` is the
        chance that another run shows what is in one curve (`detection.recurrence`); of what
        compares two, the probability that they differ more than launches do. It says nothing of
        the cause.
    """
    anomalies = find_anomalies(source, progress)
    if isinstance(source, Measurements):
        return add_causes(anomalies, source)
    return _with_causes(anomalies, [[] for _ in anomalies.index], [None] * len(anomalies))


def add_causes(anomalies: pd.DataFrame, measurements: Measurements) -> pd.DataFrame:
    """Add suspects and origins to what was found in these measurements."""
    rows: list[Finding] = []
    runs: dict[str, tuple[Suspects, Origins]] = {}
    for row in records(anomalies, Anomaly):
        run_id = row["run_id"]
        if run_id not in runs:
            facts = measurements.facts(run_id)
            runs[run_id] = suspects_of_run(*facts), origins_of_run(*facts)
        suspects, origin = runs[run_id]
        if run_id in measurements.disturbances:
            row["evidence"]["other_work"] = measurements.disturbances[run_id]
        boundary = row["kind"] in BOUNDARIES
        found: Finding = {
            **row,
            "suspects": suspects(row["last_size_before"], row["size_bytes"]) if boundary else [],
            "origin": origin(row) if may_jump(row) else None,
        }
        if row["kind"] == "placement_inversion":
            other = measurements.facts(row["evidence"]["other"]["run_id"])
            found["origin"] = slower_because(measurements.facts(run_id), other)
        rows.append(found)
    _count_siblings(measurements, rows)
    return _with_causes(
        anomalies, [row["suspects"] for row in rows], [row["origin"] for row in rows]
    )


def _with_causes(
    anomalies: pd.DataFrame, suspects: list[list[Suspect]], origins: Sequence[Origin | None]
) -> pd.DataFrame:
    return anomalies.assign(
        suspects=pd.Series(suspects, index=anomalies.index, dtype=object),
        origin=pd.Series([*origins], index=anomalies.index, dtype=object),
    )


def prominent(findings: pd.DataFrame) -> pd.Series[bool]:
    """Return which findings are shown first: certain, and large or with a suspect."""
    return matters(findings) & (findings["confidence"] >= PROMINENT_CONFIDENCE)


def matters(findings: pd.DataFrame) -> pd.Series[bool]:
    """Return which findings are large or have a suspect.

    What was found in a disturbed run may come from the other work, and is not among them.
    """
    large = findings["magnitude"].abs() >= PROMINENT_MAGNITUDE
    quiet = ~findings["evidence"].map(lambda evidence: "other_work" in evidence).astype(bool)
    return (large | findings["suspects"].map(bool)) & quiet


#: Origins that sibling modes do not have: only streams have a buffer for each message in flight.
_OF_ITS_MODE = {"cache"}


def _count_siblings(measurements: Measurements, rows: list[Finding]) -> None:
    """Add to each guessed origin in how many sibling curves a step recurs; drop it if in few.

    Siblings are curves of the same site, MPI, kernel and placement: other modes, launches,
    settings.
    """
    identity = [str(name) for name in measurements.curves]
    guessed = [row for row in rows if may_jump(row) and row["origin"]]
    alike = [name for name in _SIBLING if name in identity]
    if not guessed or not alike:
        return
    curves = records(measurements.curves)
    family = Counter(values_of(curve, alike) for curve in curves)
    steps = pd.DataFrame(
        [
            (values_of(row, alike), values_of(row, identity), *_bracket(row))
            for row in rows
            if may_jump(row)
        ],
        columns=["family", "curve", "before", "size"],
    )
    of_family: dict[Any, pd.DataFrame] = dict(iter(steps.groupby("family", sort=False)))
    for row in guessed:
        origin = row["origin"]
        if origin is None or origin["guess"] in _OF_ITS_MODE:
            continue
        key = values_of(row, alike)
        others = family[key] - 1
        before, size = _bracket(row)
        near = of_family[key]
        shares = (near["before"].to_numpy() <= size) & (near["size"].to_numpy() >= before)
        recurs = {*near["curve"].to_numpy()[shares]} - {values_of(row, identity)}
        if others >= _ENOUGH_SIBLINGS and len(recurs) < others / 2:
            row["origin"] = None
        elif others:
            origin["evidence"].append(f"recurs in {len(recurs)} of {others} sibling curves")


def _bracket(row: Finding) -> tuple[int, int]:
    return row["last_size_before"], row["size_bytes"]
