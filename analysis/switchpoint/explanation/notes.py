"""Notes on findings: the exact position and the cause, or what is suspected."""

from __future__ import annotations

import pandas as pd

from switchpoint.explanation.origins import words_of
from switchpoint.explanation.places import Explained, curve_columns
from switchpoint.tables.columns import NOTES, records, rows_by, values_of
from switchpoint.tables.findings import Finding
from switchpoint.tables.naming import other_curve


def note(findings: pd.DataFrame, switches: pd.DataFrame) -> pd.DataFrame:
    """Add `notes` to findings: the exact position and cause, or otherwise what is suspected.

    Parameters
    ----------
    findings, switches
        As from `detect` and `explain`, of the same measurements.
    """
    pinned = switches[switches["exact"]]
    curve = curve_columns(findings)
    by_curve = rows_by(records(pinned, Explained), curve)
    notes = []
    for row in records(findings, Finding):
        inside = [
            f"to the byte: {switch['last_size_bytes']:,} to {switch['first_size_bytes']:,}"
            f" ({switch['kind'].replace('_', ' ')}); {switch['status']}: {switch['reason']}"
            for switch in by_curve.get(values_of(row, curve), [])
            if row["last_size_before"] <= switch["last_size_bytes"] < row["size_bytes"]
        ]
        notes.append(inside or _guesses(row))
    return findings.assign(**{NOTES: pd.Series(notes, index=findings.index, dtype=object)})


def _guesses(finding: Finding) -> list[str]:
    """Return the suspects or the guess of a finding, or what its curve is slower than."""
    if says := finding["evidence"].get("says"):
        return [says]
    if other := other_curve(finding["evidence"]):
        return [f"slower than {other}"]
    if finding["suspects"]:
        return [f"suspect: {suspect['reason']}" for suspect in finding["suspects"]]
    if origin := finding["origin"]:
        return [f"perhaps {words_of(origin)}"]
    return []
