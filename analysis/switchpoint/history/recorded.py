"""What a store knows of some runs besides their times: headers and Spack locks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from switchpoint.importing.lock import unpack
from switchpoint.store.store import Store


@dataclass
class Recorded:
    """Headers and locks of some runs.

    Attributes
    ----------
    headers : dict
        Of run records, by run ID.
    locks : set of str
        The texts of the Spack locks that were imported with them.
    """

    headers: dict[str, dict[str, Any]] = field(default_factory=dict)
    locks: set[str] = field(default_factory=set)

    @property
    def lock(self) -> str:
        """Their common lock; empty if there is none or several."""
        return min(self.locks) if len(self.locks) == 1 else ""


def recorded(store: Store, run_ids: Iterable[str]) -> Recorded:
    """Return what is known of the runs with these IDs."""
    found = Recorded()
    for run_id in run_ids:
        for run in store.facts(run_id=str(run_id)).to_dict("records"):
            if isinstance(run["header"], str):
                found.headers[str(run_id)] = json.loads(run["header"])
            if isinstance(run["lock"], str) and (lock := unpack(run["lock"])) is not None:
                found.locks.add(lock)
    return found
