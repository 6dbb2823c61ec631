"""Study 000: tree merge sort of 50,000 ints by seven processes, over maps of processes to nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.kernels import Problem
from switchpoint.models.links import Place
from switchpoint.models.prediction import Prediction, predict_one
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout, layout_of
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import Evidence, Wanted, alike, judge, slower
from switchpoint.studies.points import Data, NotTestableError, Point, not_oversubscribed, point_of
from switchpoint.studies.predictions import Predictable, model_of, predicted_within
from switchpoint.tables.sweeps import Floats

_KERNEL = "mergesort"
_ARRAY_BYTES = 200_000

#: Nodes of processes 0 to 6; process i sends halves to 2i + 1 and 2i + 2. The map of figure 12 is a
#: reconstruction that agrees with the study's "twice as much".
ALONE, ONE_NODE = "A", "AAAAAAA"
FIGURE_10, FIGURE_11, FIGURE_12, FIGURE_13 = "AABAABB", "AAAAABB", "AABABAB", "ABBAAAA"

#: Maps are compared over the slowest measured network, which is most similar to the study's.
_NETWORKS = ("two_nodes_two_hosts", "two_nodes_one_host")

#: Of each of the study's machines. Simulated machines are like them: their records name no cores.
_PROCESSORS = 2

#: A line explains the times if it leaves less than this share of their variance.
_LINEAR = 0.9

#: The largest error of the study's own predictions: 14 to 22 %.
_PREDICTED_WITHIN = 0.22


def bytes_over_network(nodes: str, array_bytes: int = _ARRAY_BYTES) -> int:
    """Return the bytes that cross between nodes in both directions.

    Parameters
    ----------
    nodes
        Node of each of the seven processes, one letter each.
    array_bytes
        Size of the whole array.

    >>> bytes_over_network("AABAABB"), bytes_over_network("ABBAAAA")
    (200000, 800000)
    """
    share = [0, 2, 2, 4, 4, 4, 4]
    return sum(
        2 * array_bytes // share[child]
        for child in range(1, len(nodes))
        if nodes[child] != nodes[(child - 1) // 2]
    )


def _linear_in_bytes(data: Data) -> Iterator[Evidence]:
    points = _maps(data)
    if len(points) < 4:
        raise NotTestableError(f"{len(points)} maps over the network; a line needs four")
    moved = np.array([bytes_over_network(nodes) for nodes in points], dtype=float)
    centred = moved - moved.mean()

    def explained(medians: Floats) -> Floats:
        return np.asarray([np.corrcoef(moved, times)[0, 1] ** 2 for times in medians])

    def slope(medians: Floats) -> Floats:
        return np.asarray(medians @ centred / (centred**2).sum()) * 1e3

    every = list(points.values())
    yield judge(
        f"share of the variance that a line explains, {len(points)} maps", every, explained,
        Wanted(low=_LINEAR), comparisons=2,
    )  # fmt: skip
    yield judge(
        "time for each 1,000 B over the network", every, slope, Wanted(low=0), unit="us",
        comparisons=2,
    )  # fmt: skip


def _one_two_four(data: Data) -> Iterator[Evidence]:
    for nodes, name, times in ((FIGURE_12, "12", 2), (FIGURE_13, "13", 4)):
        yield judge(
            f"figure {name} over figure 10", [_map(data, nodes), _map(data, FIGURE_10)],
            lambda m: m[:, 0] / m[:, 1], Wanted(0.8 * times, 1.2 * times), comparisons=2,
        )  # fmt: skip


def _figures_10_and_11(data: Data) -> Iterator[Evidence]:
    yield alike("figure 11 over figure 10", _map(data, FIGURE_11), _map(data, FIGURE_10))


def _one_node_beats_ethernet(data: Data) -> Iterator[Evidence]:
    yield slower("figure 10 over one node", _map(data, FIGURE_10), _on_one_node(data))


def _fast_network_beats_one_node(data: Data) -> Iterator[Evidence]:
    """Compare one node with two; emulated nodes share cores, so they cannot show this."""
    fastest = _fastest(data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES))
    if fastest is None:
        raise NotTestableError(
            "all nodes belong to one machine, so a second node adds no processor",
            "use a site with two or more machines and a network such as InfiniBand",
        )
    placement, rows = fastest
    far = point_of(not_oversubscribed(rows), f"{_KERNEL} {placement}")
    yield slower(f"one node over figure 10, {placement}", _on_one_node(data), far)


def _fastest(rows: pd.DataFrame) -> tuple[str, pd.DataFrame] | None:
    """Return the network on which two machines sort fastest with a processor for each leaf."""
    if "process_map" not in rows:
        return None
    rows = rows[(rows["process_map"] == FIGURE_10) & (rows["machines"] > 1)]
    if rows.empty:
        return None
    placement = str(rows.groupby("placement", observed=True)["time_us"].median().idxmin())
    return placement, rows[rows["placement"] == placement]


def _parallelism_does_not_matter(data: Data) -> Iterator[Evidence]:
    """Predict a map that is hardly parallel from the bytes of balanced maps, and compare."""
    rows = data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES, process_map=FIGURE_13)
    if (rows["machines"] < 2).all():
        raise NotTestableError(
            "all nodes belong to one machine, so all maps are equally parallel",
            "use a site with two or more machines",
        )
    balanced = [FIGURE_10, FIGURE_12]
    near, far = (bytes_over_network(nodes) for nodes in balanced)
    along = (bytes_over_network(FIGURE_13) - near) / (far - near)
    yield judge(
        "figure 13 over the prediction from the bytes of figures 10 and 12",
        [*(_map(data, nodes) for nodes in balanced), _map(data, FIGURE_13)],
        lambda m: m[:, 2] / (m[:, 0] + along * (m[:, 1] - m[:, 0])),
        Wanted(0.8, 1.2),
    )


#: The study's layouts with their maps. On the last, its fastest on VIA, each leaf has a processor.
LAYOUTS = [
    ("one process", ALONE), ("one node", ONE_NODE), ("one leaf remote", "AAAAAAB"),
    ("figure 10", FIGURE_10), ("figure 11", FIGURE_11), ("three leaves remote", "AABABBB"),
    ("figure 12, text", FIGURE_12), ("figure 12, caption", "AABBBAA"), ("figure 13", FIGURE_13),
    ("a processor for each leaf", FIGURE_10),
]  # fmt: skip


def maps(data: Data) -> pd.DataFrame:
    """Return each layout's time, measured and predicted, with what each rank does.

    Parameters
    ----------
    data
        Of one MPI at one place.

    Returns
    -------
    DataFrame
        `layout`, `process_map`, `bytes` over the network; `measured_us` and `predicted_us`, null if
        unknown; `activity`, a list of `models.simulation.Span`. Empty if no sort was measured.
    """
    columns = ["layout", "process_map", "bytes", "measured_us", "predicted_us", "activity"]
    try:
        rows = data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES)
        network = _network(data)
        model: SiteModel | None = model_of(data, {_KERNEL, "pingpong"})
    except NotTestableError:
        return pd.DataFrame(columns=columns)
    except InputError:
        model = None
    cores = _cores(data, rows)
    found = []
    for layout, nodes in LAYOUTS:
        placement = "one_node" if set(nodes) == {"A"} else network
        own = rows[(rows["placement"] == placement) & (rows.get("process_map") == nodes)]
        if layout == LAYOUTS[-1][0]:
            placement, own = _fastest(rows) or (network, own.iloc[:0])
            predicted = _predicted(model, nodes, placement, _PROCESSORS, apart=True)
        else:
            predicted = _predicted(model, nodes, placement, cores)
        measured = own["time_us"].median() if len(own) else None
        time_us, spans = (None, []) if predicted is None else (predicted.time_us, predicted.spans)
        found.append([layout, nodes, bytes_over_network(nodes), measured, time_us, spans])
    return pd.DataFrame(found, columns=columns)


def _predicted(
    model: SiteModel | None, nodes: str, placement: str, cores: int | None, *, apart: bool = False
) -> Prediction | None:
    """Predict a map, whose nodes are machines of their own if `apart`."""
    if model is None:
        return None
    on_node = tuple(ord(letter) - ord("A") for letter in nodes)
    layout = RankLayout(on_node, on_node if apart else (0,) * len(nodes), cores)
    problem = Problem(_KERNEL, "tree", len(nodes), _ARRAY_BYTES)
    try:
        return predict_one(model, problem, Place(placement), layout)
    except InputError:
        return None


def _processes_pay_on_one_node(data: Data) -> Iterator[Evidence]:
    alone = data.point(_KERNEL, "tree", _ARRAY_BYTES, placement="one_node", process_map=ALONE)
    yield slower("one process over seven on one node", alone, _on_one_node(data))


def _maps_are_predicted(data: Data) -> Iterator[Evidence]:
    """Predict each map from ping-pong and the sort of one process."""
    placement = _network(data)
    rows = not_oversubscribed(
        data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES, placement=placement)
    )
    machines = int(rows["machines"].min())
    cores = _cores(data, rows)
    measured = []
    for nodes, point in _by_map(rows).items():
        on_node = tuple(ord(letter) - ord("A") for letter in nodes)
        layout = RankLayout(on_node, tuple(node % machines for node in on_node), cores)
        problem = Problem(_KERNEL, "tree", len(nodes), _ARRAY_BYTES)
        measured.append(Predictable(point, problem, layout, placement))
    if not measured:
        raise NotTestableError(f"no run of kernel {_KERNEL} by seven ranks between nodes")
    yield from predicted_within(data, measured, _PREDICTED_WITHIN)


def _cores(data: Data, rows: pd.DataFrame) -> int:
    """Return how many cores a node of the first of these runs has."""
    return layout_of(data.header(rows["run_id"].iloc[0])).cores or _PROCESSORS


def _maps(data: Data) -> dict[str, Point]:
    """Return each map over the measured network."""
    rows = data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES)
    return _by_map(rows[rows["placement"] == _network(data)])


def _by_map(rows: pd.DataFrame) -> dict[str, Point]:
    """Return the point of each map of seven ranks to several nodes."""
    if "process_map" not in rows:
        return {}
    return {
        str(nodes): point_of(part, f"{_KERNEL} {nodes}")
        for nodes, part in rows.groupby("process_map")
        if len(str(nodes)) == len(ONE_NODE) and nodes != ONE_NODE
    }


def _map(data: Data, nodes: str) -> Point:
    return data.point(_KERNEL, "tree", _ARRAY_BYTES, placement=_network(data), process_map=nodes)


def _on_one_node(data: Data) -> Point:
    return data.point(_KERNEL, "tree", _ARRAY_BYTES, placement="one_node", process_map=ONE_NODE)


def _network(data: Data) -> str:
    measured = set(data.at(_KERNEL, mode="tree", size_bytes=_ARRAY_BYTES)["placement"])
    for placement in _NETWORKS:
        if placement in measured:
            return placement
    raise NotTestableError(f"no run of kernel {_KERNEL} between nodes")


CLAIMS = [
    Claim("000", 1, "time grows linearly with the bytes over the network", _linear_in_bytes,
          published="nearly linear"),
    Claim("000", 2, "figures 10, 12 and 13 take times of 1 : 2 : 4", _one_two_four,
          published="1 : 2 : 4"),
    Claim("000", 3, "figures 10 and 11 take about the same time", _figures_10_and_11,
          published="no significant difference"),
    Claim("000", 4, "one node beats two over the network", _one_node_beats_ethernet,
          published="0.212 s over 0.049 s: 4.33"),
    Claim("000", 5, "a fast network (there VIA) beats one node", _fast_network_beats_one_node,
          published="0.049 s over 0.032 s: 1.53"),
    Claim(
        "000", 6, "over the network, parallelism does not matter compared with the bytes",
        _parallelism_does_not_matter,
          published="no noticeable effect"),
    Claim("000", 7, "on one node seven processes beat one", _processes_pay_on_one_node,
          published="0.085 s over 0.049 s: 1.73"),
    Claim("000", 8, "ping-pong and one process predict each map to 22 %", _maps_are_predicted,
          published="0.166 s over 0.212 s to 0.042 s over 0.049 s: 0.78 to 0.86"),
]  # fmt: skip
