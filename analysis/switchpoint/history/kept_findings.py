"""The findings that an earlier gate stored for a session, as that gate gave them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from switchpoint.history.accepted import NEEDED, NESTED
from switchpoint.history.kinds import GATE_COLUMNS
from switchpoint.store.store import Store
from switchpoint.tables.columns import none_for_nulls

#: What each fact that changed has.
_FACT = {"fact", "before", "now"}


def kept_findings(store: Store, session: str) -> list[dict[str, Any]]:
    """Return the findings of a session as rows of `GATE_COLUMNS`, each as it was stored last.

    What the gate cannot have written is left out.
    """
    table = store.findings(session=session)
    if table.empty or not {*NEEDED, "time_utc", "state", "fails"} <= {*table}:
        return []
    table = table.dropna(subset=[*NEEDED, "state", "fails"]).reindex(columns=GATE_COLUMNS)
    newest = table.drop_duplicates("finding_id", keep="last")
    effects = newest[["effect", "low", "high"]].apply(pd.to_numeric, errors="coerce").astype(float)
    rows = none_for_nulls(newest).to_dict("records")
    found = []
    for row, effect in zip(rows, effects.to_dict("records"), strict=True):
        try:
            nested = {name: json.loads(row[name]) for name in NESTED}
        except (TypeError, ValueError):
            continue
        if _is_sound(nested):
            found.append({**row, **nested, **effect, "fails": bool(row["fails"])})
    return found


def _is_sound(nested: Mapping[str, Any]) -> bool:
    """Whether the nested columns of a finding have the types that the gate gives them."""
    lists = [nested["curves"], nested["what_changed"]]
    entries = all(isinstance(own, list) and all(isinstance(one, dict) for one in own)
                  for own in lists)  # fmt: skip
    return entries and all({*one} >= _FACT for one in nested["what_changed"])
