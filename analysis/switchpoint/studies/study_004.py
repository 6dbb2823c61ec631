"""Study 004: message-passing tools: echo, broadcast, and applications."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.kernel_arguments import options_of
from switchpoint.models.kernels import Options, Problem
from switchpoint.records.rank_layout import layout_of
from switchpoint.studies.applications import (
    PLACEMENTS,
    gains_by_application,
    primitives_rank_applications,
)
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import SAME, Evidence, Wanted, judge, ratio, slower
from switchpoint.studies.points import (
    Data,
    NotTestableError,
    Point,
    most_ranks,
    narrowed,
    not_oversubscribed,
    point_of,
)
from switchpoint.studies.predictions import Predictable, predicted_within
from switchpoint.tables.sweeps import Floats
from switchpoint.tables.units import size_text

_BROADCAST = "broadcast"
_REPEATED, _BEST_TREE, _LIBRARY = "repeated", "binomial", "library"

_KIB = 1024
_MEMBERS = 6
_TREE_RANKS = 7
_LINEAR = 0.1

#: The ranks of its trees in figures 2.31 and 2.30, which have sixteen members each.
TREE_RANKS = {"two_level_ack": 21, "binary_ack": 31}

#: The largest error of the study's own predictions: 0.2 to 7.8 %.
_PREDICTED_WITHIN = 0.078


def _tools_equal_when_short(data: Data) -> Iterator[Evidence]:
    """Compare the slowest with the fastest tool at every size below 1 KiB."""
    rows = data.at("echo", placement=PLACEMENTS[0])
    rows = rows[rows["size_bytes"] < _KIB]
    tools = rows["mpi"].where(rows["mode"] == "mpi", rows["mode"])
    rows = rows[rows["mode"] != "sockets_polling"].assign(tool=tools)
    if rows["tool"].nunique() < 2:
        raise NotTestableError("fewer than two tools were measured below 1 KiB")
    sizes = rows.groupby("size_bytes")
    for size, part in sizes:
        points = {str(tool): point_of(of, f"echo {tool}") for tool, of in part.groupby("tool")}
        order = sorted(points, key=lambda tool: points[tool].value)
        yield judge(
            f"{order[-1]} over {order[0]} at {size_text(_bytes(size))}, the slowest of "
            f"{len(order)} tools over the fastest",
            [points[order[-1]], points[order[0]]], ratio, Wanted(high=1.1),
            comparisons=len(sizes),
        )  # fmt: skip


def _linear_up_to_a_kib(data: Data) -> Iterator[Evidence]:
    """Check that the time grows, and lies on the line between its ends in the middle."""
    rows = _group_of_most(data)
    rows = rows[rows["mode"] == _LIBRARY]
    sizes = sorted(size for size in rows["size_bytes"].unique() if size <= _KIB)
    if len(sizes) < 3 or sizes[-1] < _KIB:
        raise NotTestableError(f"{len(sizes)} sizes up to 1 KiB; a line needs three")
    first, *inner, last = (_of_size(rows, size) for size in sizes)
    where = f"{int(rows['ranks'].iloc[0])} ranks, {rows['placement'].iloc[0]}"
    yield slower(
        f"{size_text(sizes[-1])} over {size_text(sizes[0])}, {where}", last, first,
        comparisons=len(sizes) - 1,
    )  # fmt: skip
    for size, point in zip(sizes[1:-1], inner, strict=True):
        along = (size - sizes[0]) / (sizes[-1] - sizes[0])
        yield judge(
            f"{size_text(size)} over the line from end to end, {where}", [first, point, last],
            partial(_over_the_line, along),
            Wanted(1 - _LINEAR, 1 + _LINEAR), comparisons=len(sizes) - 1,
        )  # fmt: skip


def _repeated_linear_in_group(data: Data) -> Iterator[Evidence]:
    rows = not_oversubscribed(data.at(_BROADCAST, mode=_REPEATED))
    groups = sorted(map(int, rows["ranks"].unique()))
    if len(groups) < 3:
        raise NotTestableError(
            f"{len(groups)} group sizes with a core per rank; a line needs three"
        )
    rows = rows[rows["size_bytes"] == rows["size_bytes"].max()]
    points = [point_of(rows[rows["ranks"] == ranks], f"repeated {ranks}") for ranks in groups]
    receivers = np.array(groups, dtype=float) - 1

    def explained(medians: Floats) -> Floats:
        return np.asarray([np.corrcoef(receivers, times)[0, 1] for times in medians])

    yield judge(
        f"correlation of time with the number of receivers, groups of {groups}", points, explained,
        Wanted(low=0.95),
    )  # fmt: skip


def _require_trees(ranks: int) -> None:
    """Refuse groups in which all trees are the same."""
    if ranks < 4:
        raise NotTestableError(
            f"only groups of {ranks} have a core per rank; all trees are the same there",
            "use a site with a core for each of four ranks or more",
        )


def _trees_win_with_size(data: Data) -> Iterator[Evidence]:
    """Compare at the largest group and message, and with the smallest group."""
    rows = not_oversubscribed(data.at(_BROADCAST))
    groups = sorted(rows["ranks"].unique())
    _require_trees(groups[-1])
    rows = rows[rows["size_bytes"] == rows["size_bytes"].max()]
    most, least = (rows[rows["ranks"] == ranks] for ranks in (groups[-1], groups[0]))
    trees = [_of_mode(most, mode) for mode in (_BEST_TREE, _REPEATED)]
    yield judge(
        f"binomial over repeated, {groups[-1]} ranks", trees, ratio, Wanted(high=1 - SAME),
        comparisons=2,
    )  # fmt: skip
    few = [_of_mode(least, mode) for mode in (_BEST_TREE, _REPEATED)]
    yield judge(
        f"the same over that of {groups[0]} ranks", [*trees, *few],
        lambda m: m[:, 0] / m[:, 1] / (m[:, 2] / m[:, 3]), Wanted(high=1 - SAME), comparisons=2,
    )  # fmt: skip


def _library_repeats(data: Data) -> Iterator[Evidence]:
    """Compare with repeated sends and with a tree, above 8 KiB with more than six members."""
    rows = data.at(_BROADCAST)
    rows = rows[(rows["ranks"] > _MEMBERS) & (rows["size_bytes"] > 8 * _KIB)]
    if rows.empty:
        raise NotTestableError(f"no broadcast above 8 KiB among more than {_MEMBERS} ranks")
    rows = most_ranks(not_oversubscribed(rows))
    for size, part in rows.groupby("size_bytes"):
        library, repeated, tree = (_of_mode(part, m) for m in (_LIBRARY, _REPEATED, _BEST_TREE))
        where = size_text(_bytes(size))
        yield judge(
            f"MPI_Bcast over repeated sends at {where}", [library, repeated], ratio,
            Wanted(low=1 - _LINEAR), comparisons=2 * rows["size_bytes"].nunique(),
        )  # fmt: skip
        yield slower(
            f"MPI_Bcast over binomial at {where}", library, tree, by=0.25,
            comparisons=2 * rows["size_bytes"].nunique(),
        )  # fmt: skip


def _two_level_beats_binary(data: Data) -> Iterator[Evidence]:
    """Compare trees with as many members, as the study does, or else with as many ranks."""
    rows = data.at(_BROADCAST)
    rows = rows[rows["ranks"] >= _TREE_RANKS]
    if rows.empty:
        raise NotTestableError(
            f"no broadcast among {_TREE_RANKS} ranks or more; with fewer the trees hardly differ"
        )
    rows = not_oversubscribed(rows)
    own = rows[rows["mode"].map(TREE_RANKS) == rows["ranks"]]
    rows = own if own["mode"].nunique() == len(TREE_RANKS) else most_ranks(rows)
    sizes = rows.groupby("size_bytes")
    for size, part in sizes:
        binary, two_level = (_of_mode(part, mode) for mode in ("binary_ack", "two_level_ack"))
        ranks = " and ".join(map(str, sorted(set(part["ranks"]), reverse=True)))
        yield slower(
            f"binary over two-level tree at {size_text(_bytes(size))}, {ranks} ranks",
            binary, two_level, comparisons=len(sizes),
        )  # fmt: skip


#: Table 2.3 of the study in ms: the adaptive (two-level) tree and the binary tree.
PUBLISHED_TREES_MS = {
    1: (225.434, 420.610), 1 << 10: (1066.281, 1965.269),
    16 << 10: (13032.535, 17841.220), 64 << 10: (49023.240, 70447.749),
}  # fmt: skip


def trees(data: Data) -> pd.DataFrame:
    """Return the times of the study's own trees: `mode`, `size_bytes`, `time_us`."""
    try:
        rows = data.at(_BROADCAST)
    except NotTestableError:
        rows = data.passes.iloc[:0]
    own = rows[rows["mode"].map(TREE_RANKS) == rows["ranks"]]
    times = own.groupby(["mode", "size_bytes"])["time_us"].median()
    return times.reset_index()


def _trees_are_predicted(data: Data) -> Iterator[Evidence]:
    """Predict both trees of the largest group from ping-pong, at every size."""
    rows = most_ranks(not_oversubscribed(data.at(_BROADCAST)))
    ranks = int(rows["ranks"].iloc[0])
    _require_trees(ranks)
    options = _options_by_run(data)
    rows = rows[rows["mode"].isin(("binary_ack", "two_level_ack")) & rows["run_id"].isin(options)]
    measured = []
    for (placement, mode, size), part in rows.groupby(["placement", "mode", "size_bytes"]):
        run_id = part["run_id"].iloc[0]
        header = data.header(run_id)
        point = point_of(part, f"{mode} of {size_text(_bytes(size))} by {ranks} ranks, {placement}")
        problem = Problem(_BROADCAST, str(mode), ranks, _bytes(size), options[run_id])
        measured.append(Predictable(point, problem, layout_of(header), str(placement)))
    if not measured:
        raise NotTestableError("no broadcast along the trees binary_ack and two_level_ack")
    yield from predicted_within(data, measured, _PREDICTED_WITHIN)


def _options_by_run(data: Data) -> dict[Hashable, Options]:
    """Return the options of each run; without those that have one that no kernel takes."""
    known = {}
    for run_id in data.facts.index:
        with suppress(InputError):  # the command warns of it
            known[run_id] = options_of(data.header(run_id))
    return known


def _group_of_most(data: Data) -> pd.DataFrame:
    """Return broadcasts with the most ranks that had a core each, at the farthest placement."""
    rows = most_ranks(not_oversubscribed(data.at(_BROADCAST)))
    for placement in PLACEMENTS:
        here: pd.DataFrame = rows[rows["placement"] == placement]
        if not here.empty:
            return here
    raise NotTestableError("no broadcast between nodes")


def _over_the_line(along: float, medians: Floats) -> Floats:
    """Return the middle point divided by the line from first to last."""
    first, middle, last = medians.T
    return np.asarray(middle / (first + along * (last - first)))


def _bytes(size: Hashable) -> int:
    return int(str(size))


def _of_size(rows: pd.DataFrame, size_bytes: int) -> Point:
    wanted = {"size_bytes": size_bytes}
    return point_of(narrowed(rows, "kernel broadcast", wanted), "broadcast")


def _of_mode(rows: pd.DataFrame, mode: str) -> Point:
    return point_of(narrowed(rows, "kernel broadcast", {"mode": mode}), f"broadcast {mode}")


CLAIMS = [
    Claim("004", 1, "tools are equal below 1 kB", _tools_equal_when_short, across_tools=True,
          published="the same"),
    Claim("004", 2, "broadcast is linear in the size up to 1 kB", _linear_up_to_a_kib),
    Claim("004", 3, "broadcast by repeated sends is linear in the size of the group",
          _repeated_linear_in_group),
    Claim("004", 4, "trees win as group and message grow", _trees_win_with_size),
    Claim(
        "004", 5, "MPI_Bcast is bad above 8 kB with more than six members, since it repeats sends",
        _library_repeats,
    ),
    Claim(
        "004", 6, "the ranking of tools in primitives is the same as in applications",
        primitives_rank_applications, across_tools=True,
    ),
    Claim(
        "004", 7, "a better tool gains least in FFT, more in JPEG and sorting, most in training",
        gains_by_application, across_tools=True,
    ),
    Claim("004", 8, "the adaptive (two-level) tree beats the binary one at every size",
          _two_level_beats_binary,
          published="421 ms over 225 ms (1 B) to 70.4 s over 49.0 s (64 KiB): 1.87 to 1.44"),
    Claim("004", 9, "the costs of a message predict broadcasts along trees to 7.8 %",
          _trees_are_predicted,
          published="errors of 0.04 to 7.8 %"),
]  # fmt: skip
