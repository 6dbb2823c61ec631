"""Makes bundles: what another site needs to compare itself with some of our curves."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.comparison.pseudonyms import Pseudonyms
from switchpoint.comparison.selections import Selection
from switchpoint.comparison.sides import select
from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.importing import bundle as bundles
from switchpoint.tables.columns import identity_columns, records, values_of
from switchpoint.tables.findings import Finding, as_object
from switchpoint.tables.sweeps import ZOOM


def bundle(
    selection: str,
    output: str | os.PathLike[str],
    store: str | os.PathLike[str] = "results",
    *,
    last: int = 1,
    replace_names: bool = False,
) -> dict[str, Any]:
    """Write one file with the curves, facts and findings of a selection.

    Parameters
    ----------
    selection
        As for `compare`; empty for the whole store.
    output
        The file.
    store, last
        As for `compare`.
    replace_names
        Replace names of hosts, users and paths. Names of sites, partitions and labels stay.

    Returns
    -------
    dict
        What the bundle says of itself, `file`, `size_bytes`, `sha256`, and the `warnings` of the
        selection: what could not be read is not in the bundle.

    Raises
    ------
    InputError
        If the selection selects nothing, or the file cannot be written.
    """
    chosen = Selection.parse(selection) if selection else Selection.everything()
    side = select(chosen, "A", store, last)
    path = Path(output)
    if path.is_dir():
        raise InputError(path, "is a folder; give the name of a file")
    of_curves = side.measurements.runs["run_id"].isin(side.points["run_id"].unique())
    zooms = side.measurements.runs["kernel"].eq(ZOOM)
    runs = side.measurements.runs[of_curves | zooms].reset_index(drop=True)
    points = side.points.astype(dict.fromkeys(identity_columns(side.points), object))
    findings = _findings(detect(side.measurements), set(runs["run_id"]))
    if replace_names:
        names = Pseudonyms.of(runs)
        runs, points = names.runs(runs), names.points(points)
        findings = names.findings(findings)
    about = {
        "made_utc": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "made_by": f"switchpoint {version('switchpoint')}",
        "sites": sorted(runs["site"].dropna().unique()),
        "names_replaced": replace_names,
        "runs": len(runs),
        "points": len(points),
        "findings": len(findings),
    }
    digits = bundles.write(path, runs, points, findings, about)
    written = {"file": str(path), "size_bytes": path.stat().st_size, "sha256": digits}
    return about | written | {"warnings": side.warnings}


def _findings(findings: pd.DataFrame, run_ids: set[str]) -> list[dict[str, object]]:
    """Return the findings of some runs, with their curve and its run as an object."""
    rows = []
    for row in records(findings[findings["run_id"].isin(run_ids)], Finding):
        curve = values_of(row, names := identity_columns(findings))
        known = {name: v for name, v in zip(names, curve, strict=True) if isinstance(v, str)}
        rows.append({**as_object(row), "curve": known})
    return rows
