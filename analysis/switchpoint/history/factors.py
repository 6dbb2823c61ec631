"""Groups of curves that share something: a placement, an MPI, a mode, a node, or two of these."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.sweeps import Indices

#: The factor that the columns of a curve do not have: the node that its ranks ran on.
NODE = "node"


@dataclass(frozen=True)
class Group:
    """Curves that share something.

    Attributes
    ----------
    shared : dict
        What defines the group: values of one or two factors; empty for all curves.
    curves : array of int
        Their rows.
    """

    shared: Mapping[str, str]
    curves: Indices


def groups_of(curves: pd.DataFrame, nodes: Sequence[frozenset[str]]) -> list[Group]:
    """Return all curves, the curves of each value of each factor, and of each pair of them.

    Parameters
    ----------
    curves
        The identity of each curve.
    nodes
        For each curve: the nodes that every launch of tonight used.
    """
    factors: dict[tuple[str, str], npt.NDArray[np.bool_]] = {}
    for name in curves:
        for value in curves[name].dropna().unique():
            factors[str(name), str(value)] = (curves[name] == value).to_numpy()
    for node in sorted({node for some in nodes for node in some}):
        factors[NODE, node] = np.array([node in some for some in nodes])
    defined: list[dict[str, str]] = [{}]
    masks = [np.ones(len(curves), dtype=bool)]
    for (name, value), mask in factors.items():
        defined.append({name: value})
        masks.append(mask)
    for (one, first), (other, second) in itertools.combinations(factors.items(), 2):
        if one[0] != other[0]:
            defined.append(dict([one, other]))
            masks.append(first & second)
    found: dict[bytes, Group] = {}
    for shared, mask in zip(defined, masks, strict=True):
        if mask.sum() > 1:
            found.setdefault(mask.tobytes(), Group(shared, np.flatnonzero(mask)))
    return list(found.values())


def strata(curves: pd.DataFrame) -> Indices:
    """Number the curves that scatter alike: those of the same placement and MPI."""
    names = [name for name in ("placement", "mpi", "environ") if name in curves]
    if not names:
        return np.zeros(len(curves), dtype=np.intp)
    return np.asarray(curves.groupby(names, dropna=False).ngroup())
