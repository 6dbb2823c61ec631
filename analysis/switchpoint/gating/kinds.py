"""The kinds of findings of the gate, and its table of findings."""

from __future__ import annotations

from typing import TypedDict

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
    "rule_no_longer_wins": "fresh launches show that a rule of `switchpoint tune` is not faster any"
    " more than the library's own choice",
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


class ChangedFact(TypedDict, total=False):
    """A fact that differs between sessions; `of_` are shares of runs, of other findings absent."""

    fact: str
    before: str
    now: str
    of_changed: float
    of_unchanged: float


class GateFinding(TypedDict):
    """A finding of the gate. Without an effect its numbers are NaN, or null in rows of a table."""

    #: the same in every session as long as the finding is the same
    finding_id: str
    #: the current session and its start
    session: str
    time_utc: str
    #: a kind; `latency`, `bandwidth`, `time`, `noise`, `switch`, or the name of a single value
    kind: str
    metric: str
    #: what all its curves have in common; the identity of each
    shared: dict[str, str]
    curves: list[dict[str, str]]
    #: the sizes that changed
    first_size_bytes: int | None
    last_size_bytes: int | None
    #: relative change, with its 95 % confidence interval; of launches or sizes that are fewer, the
    #: largest of a curve
    effect: float
    low: float
    high: float
    #: when the change began, and the first and last session that are possible
    since_utc: str | None
    since_low_utc: str | None
    since_high_utc: str | None
    #: facts that differ from the newest unchanged baseline session: `fact`, `before`, `now`,
    #: `of_changed`, `of_unchanged` (shares of runs)
    what_changed: list[ChangedFact]
    #: `suspected`, `confirmed` or `accepted`; who accepted it and why; whether it fails
    state: str
    reason: str | None
    fails: bool
    #: for people
    sentence: str


GATE_COLUMNS = [*GateFinding.__annotations__]
