"""The kinds of findings of the gate, and its table of findings."""

from __future__ import annotations

#: What each kind asserts, in the words of the reference page.
KINDS = {
    "regression": "a metric is worse than in the history",
    "improvement": "a metric is better than in the history",
    "moved_switch": "the time jumps at another size than in the history",
    "noisier": "samples scatter more than in the history",
    "slow_drift": "a metric became worse night by night",
    "missing_curve": "earlier nights measured a curve that this session lacks",
    "missing_value": "earlier nights had a single value that this session lacks",
    "failed_check": "a check failed or was skipped",
    "incomplete_session": "runs are truncated, or curves have fewer launches or sizes than before",
    "placement_unproved": "ranks ran elsewhere than in earlier nights, or no record proves where",
    "clock_went_back": "the session starts before one that was stored earlier",
    "wrong_site": "the hosts and processors are others than the site's in all earlier nights, or a"
    " new site has those of another",
}

#: Kinds that compare numbers. The others tell what is missing or cannot be trusted.
CHANGES = ("regression", "improvement", "moved_switch", "noisier", "slow_drift")

#: Kinds that tell what a session lacks, if it was meant to measure all that earlier nights did.
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
