"""Chooses where the ranks of a merge sort run, and when one node beats several (study 000)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from switchpoint.errors import InputError
from switchpoint.models.collectives import Where
from switchpoint.models.gains import surely_faster
from switchpoint.models.kernels import MERGE_SORT, Problem
from switchpoint.models.prediction import Prediction, predict_one
from switchpoint.models.refusals import check_ranks
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout

#: More maps would be simulated for minutes.
_MOST_MAPS = 2000


@dataclass(frozen=True)
class MapAdvice:
    """The best maps of one sort.

    Attributes
    ----------
    size_bytes : int
        The array.
    alone_us, one_node_us : Prediction
        One rank alone, and all ranks on one node.
    best_map : str or None
        The node of each rank with the shortest predicted time on several nodes; None if there is
        one node.
    best_us : Prediction or None
        Its time.
    as_good : tuple of str
        Other maps of several nodes than which it is not surely faster.
    """

    size_bytes: int
    alone_us: Prediction
    one_node_us: Prediction
    best_map: str | None
    best_us: Prediction | None
    as_good: tuple[str, ...]

    @property
    def winner(self) -> str:
        """`one process`, `one node`, `several nodes`, or `no difference`."""
        times = {"one process": self.alone_us, "one node": self.one_node_us}
        if self.best_us is not None:
            times["several nodes"] = self.best_us
        first = min(times, key=lambda name: times[name].time_us)
        others = [time for name, time in times.items() if name != first]
        sure = all(surely_faster(times[first], time) for time in others)
        return first if sure else "no difference"


def best_maps(
    model: SiteModel, where: Where, ranks: int, nodes: int, sizes_bytes: Sequence[int]
) -> list[MapAdvice]:
    """Predict the sort on every map of some nodes.

    Parameters
    ----------
    model, where
        The curves; `where.layout` says how many machines and cores the nodes have.
    ranks, nodes
        Of the tree, in which rank r has the parent (r - 1) / 2, and the most nodes of a map.
    sizes_bytes
        The arrays.

    Raises
    ------
    InputError
        If the model has no compute rate of the sort, or there are too many maps.
    """
    maps = _maps(ranks, nodes)
    found = []
    for size_bytes in sizes_bytes:
        times = {each: _predict(model, where, each, size_bytes) for each in maps}
        alone = _predict(model, where, "A", size_bytes, "serial")
        one_node = times.pop("A" * ranks)
        best = min(times, key=lambda each: times[each].time_us) if times else None
        best_us = times[best] if best else None
        as_good = tuple(
            each
            for each, time in times.items()
            if best_us and each != best and not surely_faster(best_us, time)
        )
        found.append(MapAdvice(size_bytes, alone, one_node, best, best_us, as_good))
    return found


def _maps(ranks: int, nodes: int) -> list[str]:
    """Return each map; a new node has the next letter, so that no two maps are the same."""
    check_ranks(ranks)
    if nodes == 1:
        return ["A" * ranks]
    maps = ["A"]
    for _ in range(ranks - 1):
        maps = [begun + letter for begun in maps for letter in _next_nodes(begun, nodes)]
        if len(maps) > _MOST_MAPS:
            raise InputError(
                "--nodes",
                f"{ranks} ranks on up to {nodes} nodes have more than {_MOST_MAPS:,} maps;"
                " use fewer nodes or fewer --sort-ranks",
            )
    return maps


def _next_nodes(begun: str, nodes: int) -> list[str]:
    """Return the nodes that the next rank may have: those with a rank, and one more."""
    known = min(len(set(begun)) + 1, nodes)
    return [chr(ord("A") + node) for node in range(known)]


def _predict(
    model: SiteModel, where: Where, process_map: str, size_bytes: int, mode: str = "tree"
) -> Prediction:
    nodes = tuple(ord(letter) - ord("A") for letter in process_map)
    machines = len(set(where.layout.machines))
    layout = RankLayout(nodes, tuple(node % machines for node in nodes), where.layout.cores)
    problem = Problem(MERGE_SORT, mode, len(nodes), size_bytes)
    stays = len(set(nodes)) == 1 and where.group.nodes > 1
    place = dataclasses.replace(where.place, placement=where.within) if stays else where.place
    return predict_one(model, problem, place, layout, where.within)
