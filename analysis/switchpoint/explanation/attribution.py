"""Collects what is known of one switch's cause: suspects, rivals, and the verdict on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from switchpoint.explanation.in_use import InUse
from switchpoint.explanation.places import ConsideredCause, Place, Switch
from switchpoint.explanation.suspects import (
    Suspects,
    eager_suspects,
    suspects_of_run,
    unlisted_suspect,
)
from switchpoint.explanation.trials import Configuration, Configurations, Trial, trials_of
from switchpoint.explanation.verdicts import (
    RANK,
    REFUTED,
    SUSPECTED,
    Question,
    Verdict,
    judge_group,
    judge_pairs,
    judge_setting,
    none_of,
)
from switchpoint.tables.findings import Suspect
from switchpoint.tables.measurements import Facts, Measurements
from switchpoint.tables.units import bytes_of

if TYPE_CHECKING:
    pass

#: No message is larger.
_MOST_BYTES = 2**62


def causes_of(
    measurements: Measurements, runs: Configurations, place: Place, switch: Switch
) -> tuple[list[ConsideredCause], tuple[str, str] | None]:
    """Test every setting that predicts the switch, could end it, or was changed.

    Returns
    -------
    causes : list of dict
        Suspects with `status`, `reason` and `partner` (the other setting, if two act together), the
        best status first.
    none : tuple of str, or None
        As from `none_of`: what is known if no setting is a cause.
    """
    facts = measurements.facts(switch.run_id or "")
    predicts = suspects_of_run(*facts)
    suspects = _suspects(facts, predicts, place, switch)
    trials, repeats = trials_of(runs, place, switch)
    refused: dict[str, int] = {}
    for search in [*place.searches, *place.moved]:
        refused |= runs.of(search["run_id"]).refused
    rivals = {*_rivals(predicts, switch), *(s["name"] for s in suspects if _can_act(s, switch))}
    untried = _untried(runs, place, switch) - refused.keys()
    question = Question(switch.last, trials, rivals, refused, repeats, untried)
    _tell(switch, question)
    causes = [
        _considered(suspect, _verdict(question, suspect, runs.of(switch.run_id or "").settings))
        for suspect in [*suspects, *_changed_alone(runs, switch, trials, suspects)]
    ]
    together = [*judge_pairs(question, _changed_in_pairs(trials)), *judge_group(question)]
    for name, verdict in together:
        causes = [
            _considered(cause, verdict) if cause["name"] == name else cause for cause in causes
        ]
    kept = [
        cause for cause in causes
        if cause["status"] != SUSPECTED or cause["reason"]
    ]  # fmt: skip
    return sorted(kept, key=_priority), none_of(question)


def _suspects(
    facts: Facts,
    predicts: Suspects,
    place: Place,
    switch: Switch,
) -> list[Suspect]:
    """Return the suspects of a switch: those that end the eager protocol first, if it ends here.

    What cannot be set, such as a segment of the network, comes last.
    """
    predicted = predicts(switch.last, switch.first)
    end = switch.last if switch.probed else place.eager_end
    eager = []
    if end is not None and switch.last <= end < switch.first:
        eager = eager_suspects(*facts, int(end))
    first, second = (eager, predicted) if switch.probed else (predicted, eager)
    named = {suspect["name"] for suspect in first}
    both = [*first, *(suspect for suspect in second if suspect["name"] not in named)]
    return sorted(both, key=lambda suspect: suspect["environment"] is None)


def _rivals(predicts: Suspects, switch: Switch) -> Iterator[str]:
    """Yield known settings that end the eager protocol on this path at the switch or above."""
    if switch.probed:
        for suspect in predicts(switch.last, _MOST_BYTES):
            if suspect["ends_eager"] and suspect["environment"] is not None:
                yield suspect["name"]


def _untried(runs: Configurations, place: Place, switch: Switch) -> set[str]:
    """Return settings with a size to which no run of a place gave another value."""
    base = runs.of(switch.run_id or "")
    sized = {
        name for name, setting in base.settings.items()
        if setting.sized and (setting.automatic or setting.number is not None)
    }  # fmt: skip
    for run_id in {search["run_id"] for search in [*place.searches, *place.moved]}:
        other = runs.of(run_id)
        sized -= {name for name in sized if _was_set(base, other, name)}
    return sized


def _was_set(base: Configuration, other: Configuration, name: str) -> bool:
    """Whether a run's environment sets another value, or another one is in use."""
    return base.environment.get(name) != other.environment.get(name) or (
        name in other.settings and other.settings[name].value != base.settings[name].value
    )


def _can_act(suspect: Suspect, switch: Switch) -> bool:
    """Whether a suspect is a limit that can be raised: not the network's, nor an automatic one."""
    return (
        suspect["environment"] is not None
        and suspect["last_size"] is not None
        and (suspect["ends_eager"] or not switch.probed)
    )


def _verdict(question: Question, suspect: Suspect, settings: dict[str, InUse]) -> Verdict:
    value = bytes_of(suspect["value"])
    listed = settings.get(suspect["name"])
    automatic = suspect["environment"] is not None and (
        value is None or (listed is not None and listed.automatic)
    )
    if suspect["environment"] is None:
        return Verdict(SUSPECTED, suspect["reason"])
    return judge_setting(question, suspect["name"], value, automatic, suspect["reason"])


def _considered(suspect: Suspect | ConsideredCause, verdict: Verdict) -> ConsideredCause:
    law = verdict.law
    return {
        "name": suspect["name"],
        "environment": suspect["environment"],
        "set_by": suspect["set_by"],
        "value": suspect["value"],
        "source": suspect["source"],
        "ends_eager": suspect["ends_eager"],
        "status": verdict.status,
        "reason": verdict.reason,
        "partner": verdict.partner,
        "holds": len(verdict.values),
        "law": None
        if law is None
        else {
            "factor": str(law.factor),
            "offset_bytes": law.offset,
            "grain_bytes": law.grain,
        },
    }


def _priority(cause: ConsideredCause) -> tuple[int, int]:
    """Return the key by which causes are sorted: the best status, then the law that holds most."""
    return RANK[cause["status"]], -cause["holds"]


def _changed_alone(
    runs: Configurations, switch: Switch, trials: list[Trial], suspects: list[Suspect]
) -> Iterator[Suspect]:
    """Yield the settings that were changed one at a time, or two at a time, and no suspects."""
    known = {suspect["name"] for suspect in suspects}
    settings = runs.of(switch.run_id or "").settings
    for trial in trials:
        for name, change in trial.changed.items():
            one = change.after or change.before
            if len(trial.changed) > 2 or name in known or one is None:
                continue
            known.add(name)
            yield unlisted_suspect(settings.get(name), one)


def _changed_in_pairs(trials: list[Trial]) -> set[str]:
    return {name for trial in trials if len(trial.changed) == 2 for name in trial.changed}


def _tell(switch: Switch, question: Question) -> None:
    """Add each trial to the evidence of the switch."""
    for trial in question.trials:
        switch.tell(
            trial.run_id, "intervention", f"{_changed_text(trial)}: {_outcome(question, trial)}"
        )


def _changed_text(trial: Trial) -> str:
    """Return what was changed in a trial, in words: NAME=VALUE, or how many settings."""
    words = [
        f"{name}={change.after.value if change.after else 'unset'}"
        for name, change in trial.changed.items()
    ]
    return " ".join(words) if len(words) <= 2 else f"{len(words)} settings changed"


def _outcome(question: Question, trial: Trial) -> str:
    if question.stayed(trial):
        return f"the last size stayed {question.last:,}"
    if trial.lasts:
        return f"the last size moved to {min(trial.lasts):,}"
    return "the switch is gone" if trial.gone else "no switch was found"


def best_of(causes: list[ConsideredCause]) -> ConsideredCause | None:
    """Return the best cause that is not refuted."""
    return next((cause for cause in causes if cause["status"] != REFUTED), None)
