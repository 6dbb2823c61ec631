"""The parameters of launches that the store keeps for ever, and boundaries that are used again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from switchpoint.history.accepted import Acceptance, identity_text
from switchpoint.history.by_curve import ByCurve
from switchpoint.history.circumstances import nodes_of
from switchpoint.history.night import Night
from switchpoint.history.nights import Nights
from switchpoint.history.points import Points, texts_of
from switchpoint.limits import COUNT
from switchpoint.store.store import Store

#: Boundaries that were found in a history of some nights are used in at most so many times longer
#: ones.
_MOST_GROWTH = 1.5


@dataclass(frozen=True)
class Boundaries:
    """The segments of a curve as they were found.

    Attributes
    ----------
    first_sizes : list of int
        The first size of each segment, in bytes.
    searched_utc : str
        The start of the session for which they were searched.
    nights : int
        The number of nights before it.
    """

    first_sizes: list[int]
    searched_utc: str
    nights: int


def known_boundaries(
    store: Store,
    points: Points,
    nights: Nights,
    acceptances: Iterable[Acceptance],
    for_nights: int,
) -> tuple[dict[int, Boundaries], list[str]]:
    """Return the boundaries of curves that an earlier gate stored and that still count.

    Return also what could not be read, one sentence each. Boundaries that are lost are searched.

    Parameters
    ----------
    store
        Its parameters of the newest earlier night are read.
    points, nights
        Of all nights.
    acceptances
        What was accepted. A change that was accepted later may have moved boundaries.
    for_nights
        After so many nights, boundaries are searched again.
    """
    if not nights.tonight:
        return {}, []
    columns = ["curve", "first_size_bytes", "searched_utc", "searched_nights"]
    table = store.parameters(columns, since=nights.starts_utc[-2], until=nights.starts_utc[-1])
    not_taken: list[str] = table.attrs["not_taken"]
    if table.empty or not {*columns} <= {*table}:
        return {}, not_taken
    table = _sound(table)
    oldest = nights.starts_utc[max(nights.tonight - for_nights, 0)]
    accepted: dict[str, str] = {}
    for one in acceptances:
        for curve in one.curves if one.is_new_normal else ():
            accepted[curve] = max(accepted.get(curve, ""), one.session_utc)
    number = {identity_text(text): curve for curve, text in enumerate(texts_of(points.curves))}
    known: dict[int, Boundaries] = {}
    names = ["curve", "searched_utc", "searched_nights"]
    for _, part in table.groupby(names, observed=True):
        curve, searched, count = (part[name].iloc[0] for name in names)
        still = searched > oldest and nights.tonight <= count * _MOST_GROWTH
        if still and curve in number and accepted.get(curve, "") < searched:
            sizes = sorted({*part["first_size_bytes"].astype(int).tolist()})
            known[number[curve]] = Boundaries(sizes, searched, int(count))
    return known, not_taken


def _sound(table: pd.DataFrame) -> pd.DataFrame:
    """Return different rows of parameters, without those that the gate cannot have written."""
    numbers = {
        name: pd.to_numeric(table[name], errors="coerce")
        for name in ("first_size_bytes", "searched_nights")
    }
    known = table.assign(**numbers).dropna().drop_duplicates()
    right = known["first_size_bytes"].between(0, COUNT - 1) & (known["searched_nights"] >= 0)
    return known[right].astype({"curve": "str", "searched_utc": "str"})


def parameters_of_launches(
    night: Night, curves: ByCurve, known: Mapping[int, Boundaries]
) -> pd.DataFrame:
    """Return the parameters of tonight's launches as the store keeps them.

    Parameters
    ----------
    night
        The judged session.
    curves
        As from `by_curve`.
    known
        Boundaries that were not searched tonight.
    """
    now = Boundaries([], night.nights.starts_utc[-1], night.nights.tonight)
    whose = [known.get(curve, now) for curve in range(len(night.curves))]
    identity = night.curves.assign(
        curve=[identity_text(text) for text in texts_of(night.curves)],
        searched_utc=[one.searched_utc for one in whose],
        searched_nights=[one.nights for one in whose],
    ).astype({"curve": "category", "searched_utc": "category"})
    runs = night.nights.runs_of(night.nights.tonight).drop_duplicates("run_id").set_index("run_id")
    facts = [night.facts.get(run, {}) for run in runs.index]
    proved = {
        "proved_nodes": [", ".join(sorted(nodes_of(one))) or None for one in facts],
        "proved_path": [one.get("path") for one in facts],
    }
    told = runs[["start_utc", "session"]].join(pd.DataFrame(proved, runs.index, dtype=object))
    own = curves.parameters.tonight
    parts = [
        identity.iloc[own["curve"]].reset_index(drop=True),
        told.reindex(own["run_id"]).reset_index(),
        own.drop(columns=["curve", "run_id"]),
    ]
    table = pd.concat(parts, axis="columns")
    # A label of a run may have the name of one of these columns.
    return table.loc[:, ~table.columns.duplicated(keep="last")]
