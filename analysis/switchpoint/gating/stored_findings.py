"""Findings as the store keeps them: what is nested is JSON text, and any program may add rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, cast

import pandas as pd

from switchpoint.gating.kinds import GATE_COLUMNS, GateFinding
from switchpoint.store.not_taken import not_taken_of, noted
from switchpoint.store.store import Store
from switchpoint.store.wanted import Query
from switchpoint.tables.columns import records

#: Columns that are JSON text in the store.
NESTED = ["shared", "curves", "what_changed"]

#: Texts that each finding of the gate has.
_TEXTS = ["finding_id", "session", "time_utc", "kind", "state", "sentence"]


class _Stored(TypedDict):
    """What findings may have besides `GATE_COLUMNS`."""

    judged_utc: str | None
    accepted_by: str | None
    accepted_utc: str | None
    accepted_until: str | None


class StoredFinding(GateFinding, _Stored):
    """A finding of the gate in the store."""


_MORE = [*_Stored.__annotations__]

#: What each fact that changed has.
_FACT = {"fact", "before", "now"}


def stored_findings(store: Store, **wanted: Query) -> pd.DataFrame:
    """Return the stored rows that have what each finding of the gate has.

    Its `attrs["not_taken"]` lists what could not be read.
    """
    table = store.findings(**wanted)
    found = table.reindex(columns=[*GATE_COLUMNS, *_MORE])
    found = found.dropna(subset=[*_TEXTS, *NESTED, "fails"])
    return noted(found, not_taken_of(table))


def decoded(table: pd.DataFrame) -> Iterator[StoredFinding]:
    """Yield stored findings with Python's values; what the gate cannot have written is left out."""
    effects = table[["effect", "low", "high"]].apply(pd.to_numeric, errors="coerce").astype(float)
    for row, effect in zip(records(table), effects.to_dict("records"), strict=True):
        try:
            nested = {name: json.loads(row[name]) for name in NESTED}
        except (TypeError, ValueError):
            continue
        if all(isinstance(row[name], str) for name in _TEXTS) and _is_sound(nested):
            known = {**row, **nested, **effect, "fails": bool(row["fails"])}
            yield cast("StoredFinding", known)


def _is_sound(nested: Mapping[str, Any]) -> bool:
    """Whether the nested columns of a finding have the types that the gate gives them."""
    if not isinstance(nested["shared"], dict):
        return False
    lists = [nested["curves"], nested["what_changed"]]
    entries = all(isinstance(some, list) and all(isinstance(one, dict) for one in some)
                  for some in lists)  # fmt: skip
    return entries and all({*one} >= _FACT for one in nested["what_changed"])
