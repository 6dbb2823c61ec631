"""Groups of what belongs together: curves that share something, changes at about the same size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

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
        For each curve: the nodes that every launch of the current session used.
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
    for (left, first), (right, second) in itertools.combinations(factors.items(), 2):
        if left[0] != right[0]:
            defined.append(dict([left, right]))
            masks.append(first & second)
    groups: dict[bytes, Group] = {}
    for shared, mask in zip(defined, masks, strict=True):
        if mask.sum() > 1:
            groups.setdefault(mask.tobytes(), Group(shared, np.flatnonzero(mask)))
    return list(groups.values())


def variance_groups(curves: pd.DataFrame) -> Indices:
    """Number the curves of a variance group: those of the same placement and MPI."""
    names = [name for name in ("placement", "mpi", "environ") if name in curves]
    if not names:
        return np.zeros(len(curves), dtype=np.intp)
    return np.asarray(curves.groupby(names, dropna=False).ngroup())


class _HasEffect(Protocol):
    @property
    def effect(self) -> float:
        """The logarithm of a ratio of times."""


_T = TypeVar("_T")
_F = TypeVar("_F", bound=_HasEffect)


def first_fit(items: Iterable[_T], belongs: Callable[[list[_T], _T], bool]) -> list[list[_T]]:
    """Put each item into the first group that it belongs to, or else into a group of its own."""
    groups: list[list[_T]] = []
    for item in items:
        for group in groups:
            if belongs(group, item):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def of_same_sizes(changes: Iterable[_F], sizes: Callable[[_F], tuple[int, int]]) -> list[list[_F]]:
    """Group what changed in the same direction, both sizes within an octave of the first one's.

    Parameters
    ----------
    changes
        Each with its effect.
    sizes
        Returns two sizes of one of them, in bytes; 0 is like no other size.
    """

    def belongs(group: list[tuple[tuple[int, int], _F]], item: tuple[tuple[int, int], _F]) -> bool:
        (pair, change), (first_pair, first) = item, group[0]
        same_direction = (change.effect > 0) == (first.effect > 0)
        return same_direction and bool(within_an_octave(np.array(pair), np.array(first_pair)).all())

    sized = sorted(((sizes(change), change) for change in changes), key=lambda item: item[0])
    return [[change for _, change in group] for group in first_fit(sized, belongs)]


def within_an_octave(sizes: Indices, others: Indices | int) -> npt.NDArray[np.bool_]:
    """Whether each size is about the other one; 0 is like no other size."""
    return np.asarray((sizes <= 2 * others) & (others <= 2 * sizes))
