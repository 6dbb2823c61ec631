"""When and where the runs of a study were measured, in a sentence."""

from __future__ import annotations

from switchpoint.reporting.studies.markdown import safe
from switchpoint.studies.points import Data
from switchpoint.tables.measurements import Measurements


def conditions(data: Data, measurements: Measurements) -> str:
    """Name the runs' number, time, machines and MPIs, and what else ran meanwhile.

    Parameters
    ----------
    data
        Of all places.
    measurements
        All that was read; only the runs of `data` count.
    """
    runs = measurements.runs[measurements.runs["run_id"].isin(data.facts.index)]
    if runs.empty:
        return "Nothing was measured."
    machines = set()
    for run_id in runs["run_id"]:
        rank = measurements.facts(run_id)[0]["ranks"][0]
        cores = rank.get("cores_online")  # None where cores are simulated
        machines.add(
            f"{rank.get('cpu_model', 'an unknown processor')}, "
            + (f"{cores} cores, " if cores else "")
            + f"Linux {rank.get('kernel_release', '?')}"
        )
    shared = bool(data.facts["oversubscribed"].any())
    start, end = (str(value)[:16] for value in (runs["start_utc"].min(), runs["start_utc"].max()))
    mpis = ", ".join(sorted(safe(mpi) for mpi in set(runs["mpi"]) if isinstance(mpi, str)))
    taken = [
        share for run_id, share in measurements.disturbances.items() if run_id in data.facts.index
    ]
    disturbed = (
        f" **Other work took up to {100 * max(taken):.0f} % of the ranks' cores during"
        f" {len(taken)} of these runs: measure again before you rely on a time.**"
        if taken
        else ""
    )
    return (
        f"{len(runs)} runs from {start} to {end} UTC; {'; '.join(sorted(map(safe, machines)))}; "
        f"{mpis}." + (" Some runs have more ranks than cores." if shared else "") + disturbed
    )
