"""Says in the first line which runs other work disturbed, so that nobody takes it for a finding."""

from __future__ import annotations

from switchpoint.tables.measurements import Measurements


def disturbed_text(measurements: Measurements) -> str:
    """Return how many runs were disturbed and by how much, or an empty text."""
    taken = measurements.disturbances
    if not taken:
        return ""
    return (
        f"Other work took up to {100 * max(taken.values()):.0f} % of the ranks' cores"
        f" during {len(taken):,} of {measurements.runs['run_id'].nunique():,} runs."
        " What is found in such a run may come from that, and is not shown first."
        " Measure again when nothing else runs: `switchpoint doctor` says whether a machine is"
        " quiet."
    )
