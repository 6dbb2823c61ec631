"""What the gate says of a session."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.gating.kinds import ACCEPTED, GATE_COLUMNS, GateFinding
from switchpoint.gating.policy import Maintenance


class Power(TypedDict):
    """The smallest change of a metric that is found, of a curve or all of a placement."""

    metric: str
    of: str
    sessions: int
    least: float


@dataclass(frozen=True)
class Verdict:
    """What the gate says of a session.

    Attributes
    ----------
    session, start_utc : str
        The current session, and the start of its first run.
    sessions : int
        The baseline sessions that it was compared with.
    curves : DataFrame
        The identity of each curve of the session; empty if the verdict was read from the store.
    findings : DataFrame
        `GATE_COLUMNS`, those that fail first.
    warnings : list of DataWarning
        What limits the verdict.
    parameters : DataFrame
        Latency, time per byte and noise of each launch in each segment of its curve, as the store
        keeps them; empty for the first session, and if the verdict was read from the store.
    maintenance : sequence of Maintenance
        The windows whose sessions were left out.
    site : str or None
        The site of the session; None if it has none, or several.
    power : list of dict
        The smallest changes that would be found after so many sessions: `metric`, `of` (a curve, or
        all of a placement), `sessions`, `least`. Empty without curves that are compared.
    """

    session: str
    start_utc: str
    sessions: int
    curves: pd.DataFrame
    findings: pd.DataFrame
    warnings: list[DataWarning] = field(default_factory=list)
    parameters: pd.DataFrame = field(default_factory=pd.DataFrame)
    maintenance: Sequence[Maintenance] = ()
    site: str | None = None
    power: Sequence[Power] = ()

    @property
    def fails(self) -> bool:
        """Whether a finding fails the gate."""
        return bool(self.findings["fails"].any())


def in_order(rows: list[GateFinding]) -> pd.DataFrame:
    """Return findings, those that fail first, then those of most curves."""
    rows.sort(
        key=lambda row: (
            not row["fails"],
            row["state"] == ACCEPTED,
            -len(row["curves"]),
            -abs(row["effect"]) if math.isfinite(row["effect"]) else 0.0,
        )
    )
    return pd.DataFrame(rows, columns=GATE_COLUMNS).astype({"fails": bool})
