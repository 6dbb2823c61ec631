"""Decides which columns of a table are the size, the curve's metric and its other statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from switchpoint.data_warnings import DataWarning
from switchpoint.importing.choices import Choices
from switchpoint.importing.column_names import (
    Kind,
    Meaning,
    is_latency,
    meaning_of,
    scale_of_name,
)
from switchpoint.printable import printable

SIZE = "size_bytes"
METRICS = {"time": "time_us", "bandwidth": "bandwidth_MBps"}

#: The identity column of curves of another statistic than the average.
STATISTIC = "statistic"

_MESSAGE_WORDS = ("message", "msg")


@dataclass(frozen=True)
class Plan:
    """How to read a table.

    Attributes
    ----------
    names : list of str
        The columns with our names.
    metric : str
        `time_us` or `bandwidth_MBps`.
    size_scale, metric_scale : float
        The units of the size and of the metric.
    statistic : str
        Of which the curve is; empty for averages.
    left_out : list of str
        Columns that are results too, but not the curve.
    warnings : list of DataWarning
        What to say of them; a bandwidth beside the time is the same result.
    """

    names: list[str]
    metric: str
    size_scale: float = 1.0
    metric_scale: float = 1.0
    statistic: str = ""
    left_out: list[str] = field(default_factory=list)
    warnings: list[DataWarning] = field(default_factory=list)


class NoPlanError(Exception):
    """Why a table cannot be read, and what to do."""


def plan_of(names: Sequence[str], choices: Choices) -> Plan:
    """Return how to read a table with these headings.

    Raises
    ------
    NoPlanError
        If the headings do not say what the columns are. The text begins with a verb.
    """
    headings = [choices.columns.get(name, name) for name in names]
    meanings = {
        place: meaning for place, name in enumerate(headings) if (meaning := meaning_of(name))
    }
    for place, name in enumerate(names):
        if name in choices.columns and place in meanings:
            scale = _scale_of(name, headings[place], meanings[place])
            meanings[place] = replace(meanings[place], scale=scale)
    size = _size_of(headings, meanings)
    metric = _metric_of(headings, meanings, choices)
    iterations = next((n for n, m in meanings.items() if m.kind == "iterations"), None)
    ours = {size: SIZE, metric: METRICS[meanings[metric].kind]}
    if iterations is not None:
        ours[iterations] = "iterations"
    others = {
        headings[place]: meaning
        for place, meaning in meanings.items()
        if place not in ours and not (meaning.kind == "size" and meaning.bare)
    }
    statistic = meanings[metric].statistic
    words = [
        f"column '{printable(name)[:40]}' is left out; --statistic {meaning.statistic} reads it"
        if meaning.statistic != statistic
        else f"column '{printable(name)[:40]}' is left out: '{headings[metric]}' is the curve"
        for name, meaning in others.items()
        if meaning.kind != "bandwidth"
    ]
    return Plan(
        [ours.get(place, name) for place, name in enumerate(headings)],
        METRICS[meanings[metric].kind],
        meanings[size].scale,
        meanings[metric].scale,
        "" if statistic == "avg" else statistic,
        [*others],
        [DataWarning("columns", what) for what in words],
    )


def _scale_of(name: str, ours: str, meaning: Meaning) -> float:
    """Return the unit of a chosen column: the one in its own name, or else in the chosen name."""
    try:
        scale = scale_of_name(name, meaning.kind)
    except ValueError:
        if ours not in (SIZE, *METRICS.values()):
            return meaning.scale
        example = {"size": "size_KiB", "time": "time_ms", "bandwidth": "bandwidth_Gbps"}
        chosen = printable(name)[:40]
        raise NoPlanError(
            f"has the column '{chosen}', whose unit is not that of {ours}; say it, as in --column"
            f" {example.get(meaning.kind, ours)}={chosen}, or convert the column"
        ) from None
    return meaning.scale if scale is None else scale


def _size_of(names: Sequence[str], meanings: dict[int, Meaning]) -> int:
    if SIZE in names:
        return [*names].index(SIZE)
    sizes = [place for place, meaning in meanings.items() if meaning.kind == "size"]
    with_unit = [place for place in sizes if not meanings[place].bare]
    timed = any(is_latency(names[n]) for n, m in meanings.items() if m.kind in METRICS)
    of_messages = [
        place
        for place in sizes
        if timed or any(word in names[place].lower() for word in _MESSAGE_WORDS)
    ]
    places = with_unit or of_messages
    if len(places) == 1:
        return places[0]
    if places:
        raise NoPlanError(_several([names[place] for place in places], "message size", SIZE))
    raise NoPlanError(_none(names, "column of message sizes in bytes", SIZE))


def _metric_of(names: Sequence[str], meanings: dict[int, Meaning], choices: Choices) -> int:
    wanted = choices.statistic or "avg"
    statistics: dict[str, None] = {}
    for kind, ours in METRICS.items():
        places = [place for place, meaning in meanings.items() if meaning.kind == kind]
        if not choices.statistic and ours in names:
            return [*names].index(ours)
        mine = [place for place in places if meanings[place].statistic == wanted]
        if len(mine) == 1:
            return mine[0]
        if mine:
            what = "time" if kind == "time" else "bandwidth"
            raise NoPlanError(_several([names[place] for place in mine], what, ours))
        statistics |= dict.fromkeys(meanings[place].statistic for place in places)
        if len(places) == 1 and not choices.statistic:
            return places[0]
    if statistics:
        known = " or ".join(statistics)
        raise NoPlanError(f"has no {wanted} of times; choose --statistic {known}")
    what = "column of times or bandwidths with a unit"
    raise NoPlanError(_none(names, what, f"{METRICS['time']}=NAME or {METRICS['bandwidth']}"))


def has_kind(names: Sequence[str], kind: Kind) -> bool:
    """Return whether a heading names a column of a kind."""
    return any((m := meaning_of(name)) is not None and m.kind == kind for name in names)


def _several(names: Sequence[str], what: str, ours: str) -> str:
    shown = " and ".join(f"'{printable(name)[:40]}'" for name in names[:3])
    return (
        f"has the columns {shown}, each of which may be the {what}; say which: --column {ours}=NAME"
    )


def _none(names: Sequence[str], what: str, ours: str) -> str:
    shown = ", ".join(printable(name)[:40] or "(no name)" for name in names[:8])
    more = ", ..." if len(names) > 8 else ""
    return f"has no {what} among {shown}{more}; say which it is: --column {ours}=NAME"
