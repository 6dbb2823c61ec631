"""Decides what trials prove about the cause of a switch (docs/explanation/causes.md).

A cause is confirmed by a law that holds to the byte for other values, by a switch that moves up
with it, and by rivals that leave the switch where it is when they are raised.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from switchpoint.explanation.laws import Law, law_of
from switchpoint.explanation.trials import Trial

CONFIRMED, GOVERNED, SUSPECTED, NONE, REFUTED, UNKNOWN = (
    "confirmed", "governed", "suspected", "none", "refuted", "unknown",
)  # fmt: skip

#: The priority of a status.
RANK = {CONFIRMED: 0, GOVERNED: 1, SUSPECTED: 2, NONE: 3, REFUTED: 4}

#: A law must hold for so many values besides the one in use.
_LEAST_VALUES = 2

#: So many settings that only act together are more than a pair, which can be proved.
_LEAST_GROUP = 3


@dataclass
class Verdict:
    """What is known of one setting, or of two that act together.

    `law` is the law of a setting that is confirmed alone, and `values` are those that decided.
    """

    status: str
    reason: str
    partner: str | None = None
    values: list[int] = field(default_factory=list)
    law: Law | None = None


@dataclass
class Question:
    """One switch, and everything by which its cause can be tested.

    Attributes
    ----------
    last : int
        The last size before the switch, in bytes.
    trials : list of Trial
        Runs with other settings.
    rivals : set of str
        Settings that could end the protocol here too.
    refused : dict
        The value of each setting with which the program did not start.
    repeats : set of int
        Where runs with the same settings had the switch.
    untried : set of str
        Settings with a size that no trial gave another value.
    """

    last: int
    trials: list[Trial]
    rivals: Collection[str]
    refused: dict[str, int]
    repeats: Collection[int]
    untried: Collection[str] = frozenset()

    @property
    def unsteady(self) -> str:
        """Where the switch was with the same settings, if not always at the same byte."""
        if set(self.repeats) == {self.last}:
            return ""
        elsewhere = ", ".join(f"{there:,}" for there in sorted(self.repeats))
        return f"with the same settings the last size was {elsewhere}"

    def stayed(self, trial: Trial) -> bool:
        """Whether the switch was where it is without changes."""
        return self.last in trial.lasts

    def rose(self, trial: Trial) -> bool:
        """Whether the switch moved up, or is gone."""
        return not self.stayed(trial) and (
            trial.gone or any(there > self.last for there in trial.lasts)
        )

    def risen(self) -> list[Trial]:
        """Return trials that only raised settings, and with which the switch moved up."""
        return [
            trial for trial in self.trials
            if self.rose(trial) and all(change.raised for change in trial.changed.values())
        ]  # fmt: skip

    def raised_in_vain(self) -> set[str]:
        """Return settings that were raised while the switch stayed, alone or with others.

        A value that the library chose is raised if the new one is above the last size.
        """
        return {
            name for trial in self.trials if self.stayed(trial)
            for name, change in trial.changed.items()
            if change.raised or (change.numbers is None and self._above(trial.number_of(name)))
        }  # fmt: skip

    def _above(self, number: int | None) -> bool:
        return number is not None and number > self.last


def judge_setting(
    question: Question, name: str, value: int | None, automatic: bool, reason: str
) -> Verdict:
    """Decide what the trials say of one setting.

    Parameters
    ----------
    question
        The switch and its trials.
    name, value, automatic
        The setting, its value in bytes in the switch's run, and whether the library chooses it.
    reason
        Why the setting is suspected, one sentence; empty if nothing but trials speaks for it.
    """
    alone = [trial for trial in question.trials if set(trial.changed) == {name}]
    if automatic or value is None:
        return _overridden(question, name, alone, reason)
    law, _ = law_of(value, question.last, _places(alone, name))
    vain = [t for t in [*alone, *_raised_with_others(question, name)] if question.stayed(t)]
    stays = [trial for trial in vain if not _follows(law, trial, name)]
    # A size that is rounded, or the larger of two: some values move the switch, others do not.
    if stays and not any(set(trial.changed) == {name} for trial in question.risen()):
        return Verdict(REFUTED, _stays(question, name, stays[0]))
    return _followed(question, name, value, [*alone, *_in_context(question, name)], reason)


def judge_pairs(question: Question, names: Collection[str]) -> Iterator[tuple[str, Verdict]]:
    """Yield verdicts on two settings with limits at the same size, of which both must be raised."""
    able = _moving_alone(question)
    for first, second in combinations(sorted(names), 2):
        alone = {
            name for t in question.trials if question.stayed(t) and len(t.changed) == 1
            for name, change in t.changed.items() if change.raised
        }  # fmt: skip
        rising = [t for t in question.risen() if set(t.changed) == {first, second}]
        if rising and {first, second} <= alone - able:
            yield from _together(question, first, second, rising)


def judge_group(question: Question) -> Iterator[tuple[str, Verdict]]:
    """Yield verdicts on three or more settings that move the switch only if all are raised."""
    risen = [set(trial.changed) for trial in question.risen()]
    smallest = min(risen, key=len, default=set())
    vain = [set(trial.changed) for trial in question.trials if question.stayed(trial)]
    if len(smallest) < _LEAST_GROUP or any(smallest - {name} not in vain for name in smallest):
        return
    says = f"the switch moves if {_listed(smallest)} are raised together, and stays without one"
    for name in sorted(smallest):
        yield name, Verdict(SUSPECTED, says, partner=_listed(smallest - {name}))


def none_of(question: Question) -> tuple[str, str] | None:
    """Return what is known if no setting is a cause, as status and sentence; None without trials.

    The status is `none` if all settings were raised in vain, and otherwise `unknown`.
    """
    if risen := [len(trial.changed) for trial in question.risen()]:
        together = f"{min(risen)} settings raised together move" if min(risen) > 1 else "1 moves"
        return UNKNOWN, f"{together} it; the cause among them was not found"
    vain = question.raised_in_vain()
    if not vain:
        return None
    says = "1 setting that was raised does not move it"
    if len(vain) > 1:
        says = f"none of {len(vain)} settings that were raised moves it"
    left = {*_unraised(question), *question.untried}
    if left:
        return UNKNOWN, f"{says}; not raised yet: {_some(left)}"
    return NONE, f"{says}: the library's or the kernel's constant, or the hardware"


def _overridden(question: Question, name: str, alone: list[Trial], reason: str) -> Verdict:
    """Test a setting whose value the library chooses: there is nothing that a law could fit."""
    for trial in alone:
        after = trial.changed[name].after
        if question.stayed(trial) and (trial.number_of(name) or 0) > question.last:
            return Verdict(REFUTED, _stays(question, name, trial))
        if question.rose(trial) and after is not None:
            if question.unsteady:
                says = reason or f"{name} is automatic"
                return Verdict(SUSPECTED, f"{says}; not confirmed: {question.unsteady}")
            there = _there(trial)
            return Verdict(
                GOVERNED,
                f"{name} is automatic: the library computes the size from other facts; set to"
                f" {after.value}, {there}",
            )
    return Verdict(SUSPECTED, reason)


def _followed(
    question: Question, name: str, value: int, singles: list[Trial], reason: str
) -> Verdict:
    """Test a setting with a number by where the switch was with other numbers."""
    moved = sorted(
        ((t.value_of(name), t) for t in singles
         if t.number_of(name) is not None and (t.lasts or t.gone)),
        key=lambda pair: pair[0],
    )  # fmt: skip
    if not moved:
        return Verdict(SUSPECTED, reason)
    law, holds = law_of(value, question.last, _places([t for _, t in moved], name))
    contrary = [
        other for other, trial in moved
        if law(other) not in trial.lasts and not _other_limit(question, law, other, value, trial)
    ]  # fmt: skip
    up = [other for other in holds if other > value]
    rising = [other for other, t in moved if other > value and question.rose(t)]
    tried = "; ".join(dict.fromkeys(
        f"set to {other:,}, {_at(law(other)) if _follows(law, t, name) else _there(t)}"
        for other, t in moved
    ))  # fmt: skip
    if contrary:
        return _without_law(question, name, value, moved, rising, reason, tried)
    said = f"{name} = {value:,} {law.text}: last size {question.last:,}; {tried}"
    lacking = _lacking(question, name, law, holds, up)
    if lacking:
        text = said if holds else f"{reason}; {tried}" if reason else f"{name} = {value:,}; {tried}"
        says = f"{text}; not confirmed: {'; '.join(lacking)}"
        return Verdict(SUSPECTED, says, values=sorted(holds))
    others = question.raised_in_vain() - {name}
    stay = (
        f"; it stays when {_counted(len(others))} {'is' if len(others) == 1 else 'are'} raised"
        if others
        else ""
    )
    left = "; another step stays there" if any(question.stayed(t) for _, t in moved) else ""
    said = f"{said}{_rounding(law, value, holds)}{stay}{left}"
    return Verdict(CONFIRMED, said, values=sorted(holds), law=law)


def _rounding(law: Law, value: int, holds: Collection[int]) -> str:
    """Return that the library may round, as a clause, if the values that were tried do not show it.

    Values that differ by multiples of `step` move a limit that is rounded to it as much as one
    that is not.
    """
    apart = math.gcd(*(other - value for other in holds))
    step = apart & -apart  # the largest power of 2 that divides it: libraries round to those
    if law.grain != 1 or step == 1:
        return ""
    return f"; only shown in steps of {step:,} B, so that it may be rounded"


def _places(trials: list[Trial], name: str) -> list[tuple[int, int]]:
    """Return the numbers that a setting had, each with each place of a switch."""
    return [
        (t.value_of(name), there) for t in trials if t.number_of(name) is not None
        for there in t.lasts
    ]  # fmt: skip


def _follows(law: Law, trial: Trial, name: str) -> bool:
    """Whether a switch is where a law has it, even if another one is still at the old place.

    Two things can change the time at one size, such as a limit and a cache line.
    """
    return trial.number_of(name) is not None and law(trial.value_of(name)) in trial.lasts


def _lacking(question: Question, name: str, law: Law, holds: set[int], up: list[int]) -> list[str]:
    """Return what is missing from a proof, one clause each."""
    lacking = []
    if len(holds) < _LEAST_VALUES:
        lacking.append(f"the law holds for {len(holds)} other value{'s' * (len(holds) != 1)}")
    if not up and name not in question.refused:
        lacking.append("it was only lowered, and any limit that is low enough acts")
    if question.unsteady:
        lacking.append(question.unsteady)
    able = _moving_alone(question, name)
    if able:
        lacking.append(f"it moves too when {_some(able)} is raised alone")
    if any(not _follows(law, trial, name) for trial in _raised_with_others(question, name)):
        lacking.append("it stays when others are raised with it")
    if missing := _unraised(question, name) - able:
        lacking.append(f"not raised yet: {_some(missing)}")
    return lacking


def _moving_alone(question: Question, name: str = "") -> set[str]:
    """Return settings that move the switch when they are raised alone, besides one with any name.

    Of limits of which the lowest one acts, at most one does.
    """
    alone = [trial for trial in question.risen() if len(trial.changed) == 1]
    return {
        other for trial in alone for other in trial.changed
        if other != name and name not in trial.followers
    }  # fmt: skip


def _without_law(
    question: Question,
    name: str,
    value: int,
    moved: list[tuple[int, Trial]],
    rising: list[int],
    reason: str,
    tried: str,
) -> Verdict:
    """Test a setting with which the switch moves, but by no law."""
    places = {there for _, t in moved for there in t.lasts}
    if rising and len(places | {question.last}) > _LEAST_VALUES and not question.unsteady:
        return Verdict(
            GOVERNED,
            f"the switch follows {name} = {value:,} by no fixed header: the library computes the"
            f" size from it; {tried}",
            values=[other for other, _ in moved],
        )
    says = f"{reason}; {tried}" if reason else f"{name} = {value:,}; {tried}"
    if question.unsteady:
        says = f"{says}; not confirmed: {question.unsteady}"
    return Verdict(SUSPECTED, says)


def _other_limit(question: Question, law: Law, other: int, value: int, trial: Trial) -> bool:
    """Whether a trial agrees with a law although the switch is elsewhere.

    If a setting is raised, another limit can come first; then the switch lies between. It can also
    be gone, because the new place is above what was probed.
    """
    if other < value:
        return False
    return trial.gone or any(question.last < there < law(other) for there in trial.lasts)


def _together(
    question: Question, first: str, second: str, rising: list[Trial]
) -> Iterator[tuple[str, Verdict]]:
    """Test two limits at one size: the lower one of them acts."""
    laws = {}
    for name in (first, second):
        numbers = rising[0].changed[name].numbers
        assert numbers is not None
        laws[name] = Law(
            law_of(numbers[0], question.last, [])[0].factor, question.last - numbers[0]
        )

    def lower(trial: Trial) -> tuple[int, str]:
        return min((laws[name](trial.value_of(name)), name) for name in (first, second))

    holds = [trial for trial in rising if lower(trial)[0] in trial.lasts]
    acted = {lower(trial)[1] for trial in holds}
    tried = "; ".join(
        f"set to {t.value_of(first):,} and {t.value_of(second):,}, {_there(t)}" for t in rising
    )
    says = (
        f"{first} and {second} both end it here: when one of them is raised alone the switch stays;"
        f" {tried}"
    )
    if question.unsteady:
        says = f"{says}; not confirmed: {question.unsteady}"
    steady = not question.unsteady
    proved = steady and len(holds) == len(rising) >= _LEAST_VALUES and acted == {first, second}
    for name, other in ((first, second), (second, first)):
        status = CONFIRMED if proved and not _unraised(question, name, other) else SUSPECTED
        yield name, Verdict(status, says, partner=other)


def _unraised(question: Question, *causes: str) -> set[str]:
    """Return rivals of causes that were never raised, and start with larger values."""
    known_by_others = {
        name for trial in question.trials if set(trial.changed) <= set(causes)
        for name in trial.followers
    }  # fmt: skip
    seen = {*causes, *known_by_others, *question.raised_in_vain(), *question.refused}
    return set(question.rivals) - seen


def _in_context(question: Question, name: str) -> list[Trial]:
    """Return trials in which a setting was changed beside others that leave the switch alone.

    Some settings can only be raised together with others. They count if a trial with exactly these
    others, at the same values, has the switch at its place.
    """
    contexts = [t for t in question.trials if question.stayed(t) and name not in t.changed]

    def same(trial: Trial, context: Trial) -> bool:
        return all(
            trial.changed[other].after == context.changed[other].after for other in context.changed
        )

    return [
        trial for trial in question.trials
        if name in trial.changed and len(trial.changed) > 1
        and any(
            set(trial.changed) - {name} == set(context.changed) and same(trial, context)
            for context in contexts
        )
    ]  # fmt: skip


def _raised_with_others(question: Question, name: str) -> list[Trial]:
    return [
        trial for trial in question.trials
        if question.stayed(trial) and name in trial.changed and trial.changed[name].raised
    ]  # fmt: skip


def _stays(question: Question, name: str, trial: Trial) -> str:
    after = trial.changed[name].after
    others = len(trial.changed) - 1
    beside = f" with {_counted(others)}" if others else ""
    return (
        f"{name} set to {after.value if after else 'nothing'}{beside}: the last size stayed"
        f" {question.last:,}"
    )


def _there(trial: Trial) -> str:
    if trial.lasts:
        return _at(min(trial.lasts))
    return "the switch is gone" if trial.gone else "no switch was found"


def _at(last: int) -> str:
    return f"last size {last:,}"


def _listed(names: Collection[str]) -> str:
    *most, last = sorted(names)
    return f"{', '.join(most)} and {last}" if most else last


def _some(names: Collection[str]) -> str:
    """Return the first three of some names, and how many others there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(sorted(names)[:3])}{more}"


def _counted(count: int) -> str:
    return f"{count} other settings" if count != 1 else "1 other setting"
