"""The kinds of findings of the gate, and its table of findings."""

from __future__ import annotations

#: What each kind asserts, in the words of the reference page.
KINDS = {
    "regression": "a metric is worse than in the baseline",
    "improvement": "a metric is better than in the baseline",
    "moved_switch": "the time jumps at another size than in the baseline",
    "noisier": "samples scatter more than in the baseline",
    "slow_drift": "a metric became worse session by session",
    "missing_curve": "baseline sessions measured a curve that this session lacks",
    "missing_value": "baseline sessions had a single value that this session lacks",
    "failed_check": "a check failed or was skipped",
    "incomplete_session": "runs are truncated, or curves have fewer launches or sizes than before",
    "placement_unproved": "ranks ran elsewhere than before, or no record proves where",
    "clock_went_back": "the session starts before one that was stored earlier",
    "wrong_site": "the hosts and processors are others than the site's in all baseline"
    " sessions, or a new site has those of another",
}

#: Kinds that compare numbers. The others tell what is missing or cannot be trusted.
CHANGES = ("regression", "improvement", "moved_switch", "noisier", "slow_drift")

#: Kinds that tell what a session lacks, if it was meant to measure all that baseline sessions did.
ABSENCES = ("missing_curve", "missing_value", "incomplete_session")

#: Kinds that fail the gate unless the site's policy says otherwise.
FAILING = frozenset({*KINDS} - {"improvement", "noisier"})

#: States of a finding.
SUSPECTED, CONFIRMED, ACCEPTED = "suspected", "confirmed", "accepted"

#: The columns of the findings, see docs/reference/gate.md.
GATE_COLUMNS = [
    "finding_id", "session", "time_utc", "kind", "metric", "shared", "curves",
    "first_size_bytes", "last_size_bytes", "effect", "low", "high", "since_utc",
    "since_low_utc", "since_high_utc", "what_changed", "state", "reason", "fails", "sentence",
]  # fmt: skip
