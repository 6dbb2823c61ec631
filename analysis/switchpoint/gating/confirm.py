"""Measures again what the gate suspects, until it is sure or the time is over.

First the suspected curves as the current session measured them. If a change recurs, then in turn
with and without what may have caused it: each setting that changed, and each node.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from switchpoint.gating.baseline import SHOWS
from switchpoint.gating.kinds import CONFIRMED, SUSPECTED
from switchpoint.gating.laboratory import ROUND, Laboratory, Measure
from switchpoint.gating.parameters import NOISE
from switchpoint.gating.relative_times import Slowdown, slowdown
from switchpoint.gating.suspects import Suspect
from switchpoint.gating.trials import Trial
from switchpoint.gating.verdict import Verdict

#: Whether changes recur may take at most this share of the time, so that some is left for causes.
_SHARE_OF_BUDGET = 0.5


class Recurrence(Enum):
    """Whether a change of the current session was seen again."""

    RECURS = "recurs"
    GONE = "not seen again"
    UNSURE = "not sure"


@dataclass(frozen=True)
class Confirmation:
    """What measuring again says of a finding.

    Attributes
    ----------
    finding_id : str
    outcome : Recurrence or None
        None if nothing was measured.
    sentence : str
        Appended to that of the finding.
    causes : list of str
        What the change goes away without.
    fails : bool
        Whether the finding still fails, see `_still_fails`.
    """

    finding_id: str
    outcome: Recurrence | None
    sentence: str
    causes: list[str] = field(default_factory=list)
    fails: bool = True

    @property
    def state(self) -> str:
        """The finding's new state."""
        return CONFIRMED if self.outcome is Recurrence.RECURS else SUSPECTED


def confirm(
    suspects: Sequence[Suspect],
    measure: Measure,
    budget_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> list[Confirmation]:
    """Measure suspected curves again.

    Parameters
    ----------
    suspects
        As from `suspects_of`.
    measure
        Runs a plan.
    budget_s
        Seconds for all of it. A plan that will not end in time is not begun.
    clock
        Seconds that pass.
    """
    lab = Laboratory(measure, budget_s, clock)
    again = merged(trial for suspect in suspects for trial in suspect.trials)
    lab.run(
        again, lambda: not any(_is_open(lab, suspect) for suspect in suspects), _SHARE_OF_BUDGET
    )
    recurring = [_quickest_job(lab, suspect) for suspect in suspects if _recurs(lab, suspect)]
    causes: dict[str, list[str]] = {suspect.finding_id: [] for suspect in recurring}
    innocent: dict[str, list[str]] = {suspect.finding_id: [] for suspect in recurring}
    for variants_of in (without_settings, with_lock_before, without_nodes):
        open_ = [suspect for suspect in recurring if not causes[suspect.finding_id]]
        for finding_id, explained in _explained(lab, open_, variants_of).items():
            causes[finding_id] = explained.causes
            innocent[finding_id] += explained.others
    return [
        _confirmation(
            lab, suspect, causes.get(suspect.finding_id, []), innocent.get(suspect.finding_id, [])
        )
        for suspect in suspects
    ]


def applied(verdict: Verdict, confirmations: Iterable[Confirmation]) -> Verdict:
    """Return a verdict of the gate with what measuring again says: what was not seen again passes.

    A finding that could not be measured again fails as before.
    """
    findings = verdict.findings.copy()
    for confirmation in confirmations:
        row = findings.index[findings["finding_id"] == confirmation.finding_id]
        findings.loc[row, "sentence"] += f"; {confirmation.sentence}"
        if confirmation.outcome is not None:
            findings.loc[row, "state"] = confirmation.state
            findings.loc[row, "fails"] = confirmation.fails
    order = findings["fails"].astype(bool).sort_values(ascending=False, kind="stable").index
    return replace(verdict, findings=findings.loc[order].reset_index(drop=True))


def _recurs(lab: Laboratory, suspect: Suspect) -> bool:
    return _seen(lab, suspect)[0] is Recurrence.RECURS


def _quickest_job(lab: Laboratory, suspect: Suspect) -> Suspect:
    """Return a suspect in the quickest of its jobs in which its change recurs.

    One is enough to find its cause, and a node or a setting may slow the others so much that no
    time is left.
    """
    return lab.quickest([job for job in suspect.jobs if _recurs(lab, job)]) or suspect


def _is_open(lab: Laboratory, suspect: Suspect) -> bool:
    return _seen(lab, suspect)[0] in (Recurrence.UNSURE, None)


def _seen(lab: Laboratory, suspect: Suspect) -> tuple[Recurrence, Slowdown] | tuple[None, None]:
    """Compare the launches that measured again with the sessions before."""
    again = lab.slower_by_launch(suspect, "")
    if len(again) < ROUND or not len(suspect.sessions):
        return None, None
    seen = slowdown(again, suspect.sessions)
    worse = seen.times(suspect.current)
    wanted = SHOWS * abs(suspect.current)
    if worse.low > 0 and worse.effect >= wanted:
        return Recurrence.RECURS, seen
    return (Recurrence.GONE if worse.high < wanted else Recurrence.UNSURE), seen


def _still_fails(outcome: Recurrence, seen: Slowdown, suspect: Suspect) -> bool:
    """Return whether a change that was measured again still fails.

    One that is not sure does unless no change is the better explanation: scatter alone must not
    fail a loaded machine in every session.
    """
    if outcome is not Recurrence.UNSURE:
        return outcome is Recurrence.RECURS
    worse = seen.times(suspect.current)
    return worse.low > 0 or worse.effect >= SHOWS * abs(suspect.current)


@dataclass(frozen=True)
class _Causes:
    """Variants without which a change is not there, those without which it is, and others."""

    causes: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)

    @property
    def sure(self) -> bool:
        """Whether more launches are not needed."""
        return bool(self.causes) or not self.unsure


def _explained(
    lab: Laboratory, suspects: Sequence[Suspect], variants_of: Callable[[Suspect], list[Trial]]
) -> dict[str, _Causes]:
    """Measure changes in turn with and without what may cause them, until it is sure."""
    chosen = {suspect.finding_id: variants_of(suspect) for suspect in suspects}
    variants: list[Trial] = []
    tried = []
    for suspect in suspects:
        more = merged([*variants, *chosen[suspect.finding_id]])
        if lab.has_time_for(more):
            variants = more
            tried.append(suspect)

    def sure() -> bool:
        return all(_causes(lab, suspect, chosen[suspect.finding_id]).sure for suspect in tried)

    lab.run(variants, sure)
    return {
        suspect.finding_id: _causes(lab, suspect, chosen[suspect.finding_id])
        for suspect in suspects
    }


def _causes(lab: Laboratory, suspect: Suspect, variants: Sequence[Trial]) -> _Causes:
    """Tell the variants without which a change is not there from those without which it is."""
    verdicts = _Causes()
    for variant in (trial.variant for trial in variants if trial.variant):
        without = lab.slower_by_launch(suspect, variant)
        beside = lab.slower_by_launch(suspect, "", variant)
        if min(len(without), len(beside)) < ROUND:
            verdicts.unsure.append(variant)
            continue
        better = slowdown(beside, without).times(suspect.current)
        wanted = SHOWS * abs(suspect.current)
        if better.low > 0 and better.effect >= wanted:
            where = f" in {suspect.where}" if suspect.where else ""
            verdicts.causes.append(f"{variant} (without it{where} {slowdown(without, beside)})")
        elif better.high < wanted:
            verdicts.others.append(variant)
        else:
            verdicts.unsure.append(variant)
    return verdicts


def _confirmation(
    lab: Laboratory, suspect: Suspect, causes: list[str], others: list[str]
) -> Confirmation:
    outcome, seen = _seen(lab, suspect)
    if outcome is None or seen is None:
        why = f": {lab.failures[0]}" if lab.failures else ""
        return Confirmation(suspect.finding_id, None, f"could not be measured again{why}")
    fails = _still_fails(outcome, seen, suspect)
    launches = len(lab.slower_by_launch(suspect, ""))
    what = "scatter" if suspect.metric == NOISE else "time"
    sentence = f"{outcome.value} in {launches} more launches: {what} {seen}"
    if suspect.moved:
        sentence += " beyond that of the sizes beside them"
    if outcome is Recurrence.UNSURE:
        sentence += ", so it still fails" if fails else ", too little to fail"
    if causes:
        sentence += f"; confirmed cause: {' and '.join(causes)}"
    elif others:
        sentence += f"; not caused by {' or '.join(others)}"
    if suspect.untried and not causes:
        names = ", ".join(setting.name for setting in suspect.untried)
        sentence += f"; not tried, because no record may set it: {names}"
    return Confirmation(suspect.finding_id, outcome, sentence, causes, fails)


def merged(trials: Iterable[Trial]) -> list[Trial]:
    """Return one trial for each variant of each job on the same nodes, with all modes and sizes."""
    by_variant: dict[object, Trial] = {}
    for trial in trials:
        key = (*trial.where, trial.avoided, trial.variant)
        known = by_variant.get(key, trial)
        by_variant[key] = replace(
            known,
            modes=tuple(sorted({*known.modes, *trial.modes})),
            sizes_bytes=tuple(sorted({*known.sizes_bytes, *trial.sizes_bytes})),
        )
    return [*by_variant.values()]


def without_settings(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same with each changed setting as before."""
    base = suspect.trials[0]
    undone = [
        replace(base, variant=str(setting), environment={setting.environment: setting.before})
        for setting in suspect.settings
    ]
    return [base, *undone] if undone else []


def with_lock_before(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same as Spack built it before."""
    base = suspect.trials[0]
    if not suspect.lock_before:
        return []
    old = replace(base, variant="Spack's lock", lock=suspect.lock_before, built_before=True)
    return [base, old]


def without_nodes(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same with another in place of each node."""
    base = suspect.trials[0]
    others = [
        replace(
            base,
            variant=f"node {node}",
            nodes=tuple(other for other in base.nodes if other != node),
            avoided=(node,),
        )
        for node in base.nodes
    ]
    return [base, *others] if others else []
