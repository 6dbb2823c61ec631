"""Parameters that are compared with their histories, and changes that some of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from switchpoint.history.factors import NODE, Group
from switchpoint.history.parameters import Parameters
from switchpoint.history.scatter import Judged
from switchpoint.tables.sweeps import Floats, Indices

#: Of the curves that may have changed together, at least this share did.
LEAST_SHARE = 0.6

#: Changes count at most this much when they are compared, as a logarithm: a slow node makes one
#: mode twice as slow, and another twenty times, and both changed together.
LARGE = 0.4


@dataclass(frozen=True)
class Compared:
    """The parameters of all curves, compared with their histories, and what counts as a change.

    Attributes
    ----------
    parameters, judged
        Of each parameter: its nights, and how tonight compares with them.
    stratum : array of int
        Parameters with the same number scatter alike.
    groups : sequence of Group
        The curves that may have changed together.
    least : dict
        The smallest effect that matters by metric, as a logarithm. Others are not tested.
    rate : float
        The false discovery rate of each family of tests: groups, drifts and single parameters.
    settled_after : int
        A level is normal after so many nights.
    """

    parameters: Parameters
    judged: Judged
    stratum: Indices
    groups: Sequence[Group]
    least: Mapping[str, float]
    rate: float
    settled_after: int


@dataclass(frozen=True)
class Change:
    """A change of one metric that some curves have in common.

    Attributes
    ----------
    metric : str
    curves : array of int
        The curves that changed.
    rows : array of int
        Their parameters.
    effect, low, high : float
        The logarithm of the ratio to the history, with its 95 % interval. More is worse.
    z, p : float
        The effect as a normal deviate, and its probability by chance.
    series : array of float
        The same ratio in each night.
    shared : dict
        What the curves of its group share, by factor.
    """

    metric: str
    curves: Indices
    rows: Indices
    effect: float
    low: float
    high: float
    z: float
    p: float
    series: Floats = field(repr=False)
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def node(self) -> str | None:
        """The node that all of its group share and others do not."""
        return self.shared.get(NODE)
