"""Searches the settings of a run for those that move its switch, with few launches.

Likely settings are raised one at a time; then all at once, and a group that moves the switch is
halved (Zeller and Hildebrandt 2002, Simplifying and Isolating Failure-Inducing Input). The search
only collects records: `explanation.verdicts` decides what they prove.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from switchpoint.explanation.trials import (
    Configuration,
    changes,
    configuration_of,
    followers,
    places_found,
)
from switchpoint.explanation.values import Candidate, raisable
from switchpoint.explanation.zooms import beside, searches_in
from switchpoint.proving.launching import Launcher, NotStartedError
from switchpoint.records.record import Facts

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer

#: So many likely settings are raised one at a time before all are raised at once.
_MOST_ALONE = 6

#: So many settings that the library chooses get a value alone; the others together.
_MOST_AUTOMATIC = 3

#: So many groups with which the program does not start are halved; then they are left out.
_MOST_HALVINGS = 8

#: Launches of a trial, if other programs disturb it.
_MOST_LAUNCHES = 3

STAYED, MOVED, REFUSED, UNCLEAR, IGNORED = "stayed", "moved", "refused", "unclear", "ignored"


class OutOfTimeError(Exception):
    """The budget is used up."""


@dataclass
class Target:
    """The switch whose cause is searched.

    Attributes
    ----------
    last : int
        The last size before it, in bytes.
    mode : str or None
        The mode in which timing locates it; None if the late-receiver probe does.
    """

    last: int
    mode: str | None = None

    def searches(self, *also: int) -> list[str]:
        """Return the options of `zoom` that search it, and other last sizes where it may be."""
        if self.mode is None:
            return ["--mode=late"]
        brackets = [beside(self.mode, last, last + 1) for last in (self.last, *also) if last > 0]
        words = [f"{mode}:{low}-{high}" for mode, low, high in dict.fromkeys(brackets)]
        return [f"--mode={self.mode}", f"--brackets={','.join(words)}"]

    def outcome(self, footer: Footer | None) -> tuple[str, int | None]:
        """Return whether the switch of a run stayed, and its last size if it is known."""
        probed = self.mode is None
        lasts, gone = places_found(searches_in(footer), self.last, probed)
        if self.last in lasts:
            return STAYED, self.last
        if gone or (lasts and probed):
            return MOVED, min(lasts, default=None)
        return UNCLEAR, None


@dataclass
class Search:
    """The experiment on one switch.

    Attributes
    ----------
    launcher : Launcher
        Starts the trials.
    base : Facts
        The record of the run whose switch is explained.
    target : Target
        The switch.
    listed : list of Candidate
        Settings, the likeliest first.
    deadline : float
        When to stop, on `time.monotonic`.
    progress : callable
        Called with a line after each trial.
    found : dict
        Outcome and last size of each trial, by its changes.
    followers : set of str
        Other names of settings that were changed.
    taken : set of str
        Settings that a trial's record shows with another value.
    halvings : int
        How many groups were halved because the program does not start with them.
    """

    launcher: Launcher
    base: Facts
    target: Target
    listed: Sequence[Candidate]
    deadline: float
    progress: Callable[[str], object] = lambda line: None
    found: dict[tuple[tuple[str, int], ...], tuple[str, int | None]] = field(default_factory=dict)
    followers: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    halvings: int = 0

    def run(self) -> None:
        """Make the trials; those that were made stay if the time runs out."""
        try:
            moving = self._find()
            for one in moving:
                self._try_values(one, [other for other in moving if other is not one])
            quiet = self._raise_rivals(moving)
            if len(moving) == 1 and not self._follows_upward(moving[0]):
                for value in moving[0].higher:
                    self._trial([(moving[0], value), *self._above(quiet)])
            self._override()
            if not moving:
                self._override_others()
            self._trial([])
        except OutOfTimeError:
            self.progress("the time is used up")

    def give_a_limit(self, last: int) -> None:
        """Give a limit to a protocol without one, through settings that the library chooses."""
        try:
            for one in self.listed:
                if self._trial([(one, last)])[0] == MOVED:
                    return
        except OutOfTimeError:
            self.progress("the time is used up")

    def _find(self) -> list[Candidate]:
        """Return the setting that moves the switch when it is raised, or two that do together."""
        near = [one for one in raisable(self.listed) if one.near]
        for one in near[:_MOST_ALONE]:
            if self._rises(one):
                return [one]
        if len(near) > 1 and (group := self._smallest(near)):
            return group
        self._override()
        rest = [one for one in raisable(self.listed) if one not in near]
        return self._smallest([*near, *rest])

    def _rises(self, one: Candidate) -> bool:
        """Whether the switch moves when a setting is raised alone."""
        for value in one.higher:
            outcome, _ = self._trial([(one, value)])
            if outcome != REFUSED:
                return outcome == MOVED
            self.launcher.refused[one.name] = value
        return False

    def _override(self) -> None:
        """Give a value above the switch to settings that the library chooses, the likely ones."""
        for one in self._automatic()[:_MOST_AUTOMATIC]:
            if self._raised([one]) in {REFUSED, IGNORED}:
                self._leave_out([one])

    def _override_others(self) -> None:
        """Do the same with all others together; if the switch moves, find the one that moves it."""
        others = self._automatic()[_MOST_AUTOMATIC:]
        self._staying_parts(others)
        self._leave_out(one for one in others if one.name not in self.taken)  # reach no library

    def _leave_out(self, group: Iterable[Candidate]) -> None:
        """Remember settings that cannot be raised, which the records name."""
        self.launcher.refused |= {one.name: value for one, value in self._above(group)}

    def _automatic(self) -> list[Candidate]:
        words = ("thresh", "eager", "rndv", "limit")
        chosen = [one for one in self.listed if one.value is None]
        return sorted(chosen, key=lambda one: not any(w in one.name.lower() for w in words))

    def _above(self, group: Iterable[Candidate]) -> list[tuple[Candidate, int]]:
        """Return each setting with its highest value, or one above the switch if it has none."""
        above = self.target.last * 3 // 2 + 37
        return [(one, one.higher[-1] if one.value is not None else above) for one in group]

    def _smallest(self, group: list[Candidate]) -> list[Candidate]:
        """Return the smallest part of a group with which the switch moves; empty if it stays."""
        able = self._moving_part(group)
        parts = 2
        while len(able) > 1:
            size = max(1, len(able) // parts)
            chunks = [able[start : start + size] for start in range(0, len(able), size)]
            smaller = next((c for c in chunks if self._raised(c) == MOVED), None)
            if smaller is not None:
                able, parts = smaller, 2
                continue
            without = [[one for one in able if one not in chunk] for chunk in chunks]
            smaller = next((w for w in without if w and self._raised(w) == MOVED), None)
            if smaller is not None:
                able, parts = smaller, max(parts - 1, 2)
            elif size == 1:
                break
            else:
                parts = min(2 * parts, len(able))
        return able

    def _moving_part(self, group: list[Candidate]) -> list[Candidate]:
        """Return a part of a group that starts and moves the switch, as large as possible."""
        outcome = self._raised(group) if group else STAYED
        if outcome == MOVED:
            return group
        halves = self._halves(group) if outcome == REFUSED else []
        return next((part for half in halves if (part := self._moving_part(half))), [])

    def _staying_parts(self, group: list[Candidate]) -> list[list[Candidate]]:
        """Return parts of a group with which the switch stays, without settings that move it."""
        outcome = self._raised(group) if group else UNCLEAR
        if outcome == STAYED:
            return [group]
        if outcome == MOVED and len(group) > 1:
            culprits = self._smallest(group)
            return self._staying_parts([one for one in group if one not in culprits])
        halves = self._halves(group) if outcome in {REFUSED, UNCLEAR} else []
        return [part for half in halves for part in self._staying_parts(half)]

    def _halves(self, group: list[Candidate]) -> list[list[Candidate]]:
        """Halve a group that does not start; a single setting is remembered, and named."""
        if len(group) < 2:
            self._leave_out(group)
            return []
        self.halvings += 1
        if self.halvings > _MOST_HALVINGS:
            return []
        half = len(group) // 2
        return [group[:half], group[half:]]

    def _raised(self, group: Iterable[Candidate]) -> str:
        return self._trial(self._above(group))[0]

    def _try_values(self, one: Candidate, others: list[Candidate]) -> None:
        """Try values by which a law shows: two above the one in use, two below it, one uneven."""
        if others:  # both must rise; the lower one decides where the switch is
            for value, rest in zip(one.higher, reversed(others[0].higher), strict=False):
                self._trial([(one, value), (others[0], rest)])
            for other in (one, *others):
                self._rises(other)
            return
        for value in [*one.higher, *one.lower, *one.uneven]:
            self._trial([(one, value)])

    def _raise_rivals(self, moving: list[Candidate]) -> list[Candidate]:
        """Raise everything else, first what could end the protocol here, then what has a size.

        Returns the first group with which the switch stays.
        """
        names = {one.name for one in moving} | self.followers
        others = [one for one in raisable(self.listed) if one.name not in names]
        near = self._staying_parts([one for one in others if one.near])
        return next(iter([*near, *self._staying_parts(others)]), [])

    def _follows_upward(self, one: Candidate) -> bool:
        """Whether the switch moved up as far as the value, so that no other limit came first."""
        value = one.value or 0
        return any(
            self._trial([(one, higher)])[1] == self.target.last + higher - value
            for higher in one.higher
        )

    def _trial(self, changed: list[tuple[Candidate, int]]) -> tuple[str, int | None]:
        """Launch once with changed settings; each combination is tried once."""
        key = tuple(sorted((one.name, value) for one, value in changed))
        if key in self.found and key:
            return self.found[key]
        if time.monotonic() > self.deadline:
            raise OutOfTimeError
        words = " ".join(f"{name}={value}" for name, value in key)
        message = words if len(key) <= 2 else f"{len(key)} settings raised"
        labels = {"base_run": self.base.run_id}
        if key:
            labels["intervention"] = words if len(key) == 1 else f"{len(key)} settings"
        variables = {one.environment: str(value) for one, value in changed}
        try:
            for _ in range(_MOST_LAUNCHES):
                facts = self.launcher.launch(self._searches(changed), variables, labels)
                outcome = self._outcome(facts, changes_something=bool(key))
                if outcome[0] != UNCLEAR:
                    break
            message = f"{message or 'the same settings again'}: {_said(outcome)}"
        except NotStartedError as error:
            outcome = (REFUSED, None)
            message = f"{message}: does not start ({error})"
        self.found[key] = outcome
        self.progress(message)
        return outcome

    def _outcome(self, facts: Facts, *, changes_something: bool) -> tuple[str, int | None]:
        base = self._configuration
        other = configuration_of(facts.header, facts.footer)
        changed = changes(base, other)
        self.taken |= {*changed}
        if len(changed) == 1:
            self.followers |= followers(base, other, changed)
        if changes_something and not changed:
            return IGNORED, None
        if not base.same_way(other):
            return UNCLEAR, None
        return self.target.outcome(facts.footer)

    @functools.cached_property
    def _configuration(self) -> Configuration:
        return configuration_of(self.base.header, self.base.footer)

    def _searches(self, changed: list[tuple[Candidate, int]]) -> list[str]:
        """Return what to search: where the switch was, and where it would follow a setting."""
        follows = [
            value + self.target.last - one.value
            for one, value in changed[:2]
            if one.value is not None
        ]
        return self.target.searches(*follows)


def _said(outcome: tuple[str, int | None]) -> str:
    kind, last = outcome
    if kind == MOVED:
        return "the switch is gone" if last is None else f"the last size moved to {last:,}"
    if kind == IGNORED:
        return "skipped; the command line, a file or the library sets this value"
    return "the switch stayed" if kind == STAYED else "the path changed, or nothing was found"
