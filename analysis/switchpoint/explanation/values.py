"""Chooses settings to change, and their new values, in order to prove the cause of a switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from switchpoint.errors import InputError
from switchpoint.explanation.in_use import InUse, settings_in_use
from switchpoint.explanation.suspects import eager_suspects, governing, suspects_of_run
from switchpoint.tables.units import bytes_of

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

#: New values lie this part of the value away, at least `_GRAIN_BYTES`: above and below it, near it,
#: so that no other limit comes first, and far, so that a law shows.
_NEAR, _FAR_UP, _FAR_DOWN = 1 / 8, 1 / 2, -2 / 5

#: New values differ from the value in use by whole multiples of this, or of the smaller one below
#: 1 KiB: libraries refuse sizes that do not fit cache lines.
_GRAIN_BYTES, _SMALL_GRAIN_BYTES = 64, 16

#: An uneven value is this far below the nearest larger one: no multiple of 2 or 3 away from it, and
#: above the value in use.
_UNEVEN_BYTES = 13

#: From this value on, in bytes, values are changed by `_GRAIN_BYTES`.
_LARGE = 1024


@dataclass(frozen=True)
class Candidate:
    """A setting that may be the cause of a switch.

    Attributes
    ----------
    name, environment : str
        The setting, and the environment variable that sets it.
    value : int or None
        The value in use, in bytes; None if the library chooses it.
    near : bool
        Whether the switch follows from its value by a law of the catalogue or by a likely header.
    reason : str
        Why it is suspected.
    most_bytes : int or None
        Larger values fail, as far as the catalogue knows.
    """

    name: str
    environment: str
    value: int | None
    near: bool
    reason: str
    most_bytes: int | None = None

    @property
    def higher(self) -> list[int]:
        """Larger values to try: near the value in use, then far."""
        return [
            value for value in (self._moved(_NEAR), self._moved(_FAR_UP))
            if self.most_bytes is None or value <= self.most_bytes
        ]  # fmt: skip

    @property
    def uneven(self) -> list[int]:
        """A larger value that is no multiple of anything, to see whether values are rounded."""
        return [value - _UNEVEN_BYTES for value in self.higher[:1]]

    @property
    def lower(self) -> list[int]:
        """Smaller values to try: near the value in use, then far."""
        chosen = [self._moved(-_NEAR), self._moved(_FAR_DOWN)]
        return [value for value in dict.fromkeys(chosen) if value > 0]

    def _moved(self, part: float) -> int:
        """Return the value moved by a part of it, in the same distance from whole cache lines."""
        assert self.value is not None
        grain = _GRAIN_BYTES if self.value >= _LARGE else _SMALL_GRAIN_BYTES
        steps = max(1, round(abs(part) * self.value / grain))
        return self.value + (steps if part > 0 else -steps) * grain


def candidates(
    header: Header, footer: Footer | None, last: int, *, ends_eager: bool
) -> list[Candidate]:
    """List the settings that may cause a switch, the likeliest first.

    Parameters
    ----------
    header, footer
        Of the zoom that located the switch.
    last
        The last size before it, in bytes.
    ends_eager
        Whether the late-receiver probe located it.

    Returns
    -------
    list of Candidate
        Suspects whose value explains the place, then settings that the library chooses, then all
        other settings of the run with a size.
    """
    suspects = suspects_of_run(header, footer)(last, last + 1)
    if ends_eager:
        suspects = [*eager_suspects(header, footer, last), *suspects]
    by_name: dict[str, Candidate] = {}
    for suspect in suspects:
        if suspect["environment"] is None or suspect["name"] in by_name:
            continue
        near = suspect["last_size"] is not None
        by_name[suspect["name"]] = Candidate(
            suspect["name"],
            suspect["environment"],
            bytes_of(suspect["value"]) if near else None,
            near,
            suspect["reason"],
            suspect["most_bytes"],
        )
    for setting in settings_in_use(header).values():
        known = setting.automatic or setting.number is not None
        if setting.sized and known and setting.name not in by_name:
            by_name[setting.name] = _listed(setting)
    return sorted(by_name.values(), key=lambda one: (not one.near, one.value is not None))


def governors(header: Header, footer: Footer | None) -> list[Candidate]:
    """List the settings that could give a limit to an eager protocol without one."""
    return [
        Candidate(one["name"], environment, None, near=False, reason=one["reason"])
        for one in governing(header, footer)
        if (environment := one["environment"]) is not None
    ]


def chosen_candidates(listed: list[Candidate], name: str) -> list[Candidate]:
    """Return the candidates with a named setting first, which counts as a near one.

    Raises
    ------
    InputError
        If the run does not list such a setting with a size.
    """
    for one in listed:
        if name in (one.name, one.environment):
            rest = [other for other in listed if other is not one]
            return [Candidate(**{**vars(one), "near": one.value is not None}), *rest]
    raise InputError(
        "--setting", f"the run lists no setting '{name}' with a size; it lists: {_some(listed)}"
    )


def _some(listed: list[Candidate]) -> str:
    names = [one.name for one in listed[:12]]
    more = f" and {len(listed) - 12} more" if len(listed) > 12 else ""
    return f"{', '.join(names) or 'none'}{more}"


def _listed(setting: InUse) -> Candidate:
    reason = f"{setting.name} = {setting.value} is a size in the run's list of settings"
    if setting.automatic:
        chosen = "has no value" if setting.value in (None, "") else f"= {setting.value}"
        reason = f"{setting.name} {chosen}: no size is set, but the library may choose one"
    return Candidate(
        setting.name,
        setting.environment,
        None if setting.automatic else setting.number,
        near=False,
        reason=reason,
    )


def raisable(listed: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the candidates whose value is a number that can be raised."""
    for one in listed:
        if one.value is not None and one.higher:
            yield one
