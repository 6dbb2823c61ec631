"""Says in the first line which runs other work disturbed, so that nobody takes it for a finding."""

from __future__ import annotations

from switchpoint.records.core_use import disturbance
from switchpoint.tables.measurements import Measurements


def disturbed_text(measurements: Measurements) -> str:
    """Return how many runs were disturbed and by how much, or an empty text."""
    run_ids = measurements.runs["run_id"].tolist()
    taken = [disturbance(*measurements.facts(run_id)) for run_id in run_ids]
    shares = [share for share in taken if share is not None]
    if not shares:
        return ""
    of_all = f"during {len(shares):,} of {len(taken):,} runs"
    return (
        f"Other work took up to {max(shares):.0%} of the ranks' cores {of_all}. What is found in"
        " such a run may come from that, and is not shown first. Measure again when"
        " nothing else runs: `switchpoint doctor` says whether a machine is quiet."
    )
