"""When and where the runs of a study were measured, in a sentence."""

from __future__ import annotations

import json

import pandas as pd

from switchpoint.reporting.studies.markdown import safe
from switchpoint.studies.points import Data


def conditions(data: Data, runs: pd.DataFrame) -> str:
    """Name the runs' number, time, machines and MPIs.

    Parameters
    ----------
    data
        Of all places.
    runs
        Their rows in the table of runs; only those of `data` count.
    """
    runs = runs[runs["run_id"].isin(data.facts.index)]
    if runs.empty:
        return "Nothing was measured."
    machines, shared = set(), False
    for run_id in runs["run_id"]:
        rank = json.loads(data.header_text(run_id))["ranks"][0]
        machines.add(
            f"{rank.get('cpu_model', 'an unknown processor')}, {rank.get('cores_online', '?')} "
            f"cores, Linux {rank.get('kernel_release', '?')}"
        )
    shared = bool(data.facts["oversubscribed"].any())
    start, end = (str(value)[:16] for value in (runs["start_utc"].min(), runs["start_utc"].max()))
    mpis = ", ".join(
        sorted(safe(mpi.partition(". ")[0]) for mpi in set(runs["mpi"]) if isinstance(mpi, str))
    )
    return (
        f"{len(runs)} runs from {start} to {end} UTC; {'; '.join(sorted(map(safe, machines)))}; "
        f"{mpis}." + (" Some runs have more ranks than cores." if shared else "")
    )
