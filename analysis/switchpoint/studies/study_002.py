"""Study 002: parallel efficiency of a divided task with a ring exchange."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.models.efficiency import (
    LITERATURE,
    WORD_BYTES,
    Link,
    break_even_us,
    efficiency,
    link_of_sends,
)
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import (
    SAME,
    SAME_EFFICIENCY,
    Evidence,
    Wanted,
    conclude,
    judge,
    resampled_medians,
    resampled_rows,
)
from switchpoint.studies.points import (
    LAUNCHES,
    Data,
    NotTestableError,
    Point,
    narrowed,
    not_oversubscribed,
    point_of,
)
from switchpoint.tables.sweeps import Floats

_KERNEL = "ring"
_TASK = ["grain_us", "serial_percent"]
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)
_SHORT, _MIDDLE, _LONG = (WORD_BYTES * words for words in (1, 1000, 10_000))

EFFICIENCY_COLUMNS = [
    "placement", "ranks", "words", "task_us", "serial", "speedup", "efficiency", "low", "high",
    "start_us", "word_us", "predicted", "predicted_literature", "oversubscribed",
]  # fmt: skip


def parallel_efficiency(data: Data) -> pd.DataFrame:
    """Return speed-up and efficiency over T, L and np, measured and from equation 6.

    Parameters
    ----------
    data
        The data of one place.

    Returns
    -------
    DataFrame
        One row per `placement`, `ranks`, `words`, `task_us` (nominal T) and `serial`: `speedup`,
        `efficiency` with `low` and `high`; `start_us` and `word_us`, fitted to the ping-pong of
        the same placement, and `predicted` with them; `predicted_literature` with the study's
        constants; `oversubscribed`: more ranks than cores. Null without a ping-pong.
    """
    rows = []
    try:
        grid = _grid(data)
    except NotTestableError:
        return pd.DataFrame(columns=EFFICIENCY_COLUMNS)
    for key, points in grid.items():
        placement, ranks, size_bytes, task_us, serial, oversubscribed = key
        words = size_bytes // WORD_BYTES
        found = judge("", points, _efficiency_of(ranks), Wanted())
        link = _link_or_none(data, placement)
        actual_us = points[0].value
        rows.append(
            {
                "placement": placement, "ranks": ranks, "words": words, "task_us": task_us,
                "serial": serial, "speedup": ranks * found.value, "efficiency": found.value,
                "low": found.low, "high": found.high,
                "start_us": None if link is None else link.start_us,
                "word_us": None if link is None else link.word_us,
                "predicted": None if link is None else _predicted(
                    link, actual_us, ranks, words, serial),
                "predicted_literature": _predicted(LITERATURE, actual_us, ranks, words, serial),
                "oversubscribed": oversubscribed,
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=EFFICIENCY_COLUMNS)


def break_even(efficiencies: pd.DataFrame) -> pd.DataFrame:
    """Return the task whose efficiency is 1 / np: measured, and from the equations.

    Parameters
    ----------
    efficiencies
        As from `parallel_efficiency`.

    Returns
    -------
    DataFrame
        `ranks`, `words`; `measured_us`, interpolated between the tasks (null if no task is on
        one of its sides), `below_us`, the shortest task if the division pays for all of them
        (otherwise null), `predicted_us` from the ping-pong and `literature_us`.
    """
    rows = []
    balanced = efficiencies[efficiencies["serial"] == 0]
    for _, part in balanced.groupby(["ranks", "words"]):
        part = part.sort_values("task_us")
        ranks, words = int(part["ranks"].iloc[0]), int(part["words"].iloc[0])
        over = part["efficiency"].to_numpy(dtype=float) - 1 / ranks
        tasks = np.log(part["task_us"].to_numpy(dtype=float))
        crossing = np.flatnonzero((over[:-1] < 0) & (over[1:] >= 0))
        measured = None
        if len(crossing):
            last = crossing[-1]
            measured = float(np.exp(np.interp(0, over[last : last + 2], tasks[last : last + 2])))
        first = part.iloc[0]
        below = float(first["task_us"]) if (over >= 0).all() else None
        own = None if pd.isna(first["start_us"]) else Link(first["start_us"], first["word_us"])
        rows.append(
            [ranks, words, measured, below,
             own and break_even_us(ranks, own.exchange_us(ranks, words)),
             break_even_us(ranks, LITERATURE.exchange_us(ranks, words))]
        )  # fmt: skip
    columns = ["ranks", "words", "measured_us", "below_us", "predicted_us", "literature_us"]
    return pd.DataFrame(rows, columns=columns)


def _literature_over_estimates(data: Data) -> Iterator[Evidence]:
    yield from _over_estimated(data, lambda _: LITERATURE, "1,500 us and 5 us a word")


def _ping_pong_over_estimates(data: Data) -> Iterator[Evidence]:
    yield from _over_estimated(data, lambda placement: _link(data, placement), "")


def _over_estimated(data: Data, link_of: Any, constants: str) -> Iterator[Evidence]:
    """Compare predicted with measured efficiency, as mean over T, L and np per placement."""
    cells: dict[str, list[tuple[Any, ...]]] = {}
    for key, points in _grid(data).items():
        if not key[-1]:
            cells.setdefault(key[0], []).append((key, points))
    if not cells:
        not_oversubscribed(data.at(_KERNEL, mode="alternate"))
        raise NotTestableError("no run of kernel ring with modes alternate and serial")
    for placement, measured in sorted(cells.items()):
        link = link_of(placement)
        every = [point for _, pair in measured for point in pair]
        medians = resampled_medians(every)
        relative = []
        for index, ((_, ranks, size_bytes, _, serial, _), (task, _)) in enumerate(measured):
            actual = _efficiency_of(ranks)(medians[:, 2 * index : 2 * index + 2])
            words = size_bytes // WORD_BYTES
            relative.append(_predicted(link, task.value, ranks, words, serial) / actual)
        source = (
            constants or f"{link.start_us:.3g} us and {link.word_us:.2g} us a word of ping-pong"
        )
        yield conclude(
            f"efficiency predicted with {source} over measured, mean of {len(measured)} points, "
            f"{placement}",
            np.mean(relative, axis=0), Wanted(low=1 + SAME_EFFICIENCY), every,
            comparisons=len(cells),
        )  # fmt: skip


def _narrow_band_but_long(data: Data) -> Iterator[Evidence]:
    """Compare at the shortest task, where communication matters most, between hosts."""
    rows = not_oversubscribed(_tasks(data, placement="two_nodes_two_hosts", serial_percent="0"))
    rows = rows[rows["grain_us"] == min(rows["grain_us"], key=int)]
    for ranks, part in rows.groupby("ranks"):
        short, middle, long = (_of_size(part, size) for size in (_SHORT, _MIDDLE, _LONG))
        where = f"{ranks} ranks, T = {int(part['grain_us'].iloc[0]) / 1000:g} ms"
        yield judge(
            f"efficiency with 1 word over 1,000, {where}", [short, middle],
            lambda m: m[:, 1] / m[:, 0], Wanted(1 - SAME, 1 + SAME), comparisons=2,
        )  # fmt: skip
        yield judge(
            f"efficiency with 10,000 words over 1,000, {where}", [long, middle],
            lambda m: m[:, 1] / m[:, 0], Wanted(high=1 - SAME), comparisons=2,
        )  # fmt: skip


def _one_percent_shows(data: Data) -> Iterator[Evidence]:
    rows = not_oversubscribed(_tasks(data, ranks=4, size_bytes=_SHORT))
    rows = rows[rows["grain_us"] == max(rows["grain_us"], key=int)]
    for placement, part in rows.groupby("placement"):
        none, one = (
            point_of(narrowed(part, "kernel ring with 4 ranks", {"serial_percent": s}), _KERNEL)
            for s in ("0", "1")
        )
        yield judge(
            f"efficiency with 1 % serial over 0 %, 4 ranks, {placement}", [one, none],
            lambda m: m[:, 1] / m[:, 0], Wanted(high=1 - SAME_EFFICIENCY),
        )  # fmt: skip


def _runs_form_a_band(data: Data) -> Iterator[Evidence]:
    """Return the width of the band that contains four of five launches, over their median."""
    wanted = {"placement": "two_nodes_two_hosts", "size_bytes": _MIDDLE, "serial_percent": "0"}
    rows = not_oversubscribed(_tasks(data, **wanted))
    rows = rows[rows["grain_us"] == min(rows["grain_us"], key=int)]
    point = point_of(rows, "ring alternate two_nodes_two_hosts")
    if len(point.runs) < LAUNCHES:
        raise NotTestableError(
            f"{len(point.runs)} launches of one point; a band needs {LAUNCHES}",
            f"repeat make measure TAG=study-002 until there are {LAUNCHES}",
        )
    times = np.asarray(point.medians, dtype=np.float64)[:, None]

    def width(draws: Floats) -> Floats:
        low, middle, high = np.quantile(draws[:, :, 0], [0.1, 0.5, 0.9], axis=1)
        return np.asarray((high - low) / middle)

    yield conclude(
        f"width of the band of {len(times)} launches", resampled_rows(times, width),
        Wanted(low=SAME_EFFICIENCY), [point],
    )  # fmt: skip


def _grid(data: Data) -> dict[tuple[Any, ...], tuple[Point, Point]]:
    """The serial and the parallel point of each placement, np, size, T, s and oversubscription."""
    rows = _labelled(data.at(_KERNEL))
    keys = ["placement", "ranks", "size_bytes", *_TASK, "oversubscribed"]
    grid = {}
    lack: NotTestableError | None = None
    for key, part in rows.groupby(keys, sort=True):
        placement, ranks, size_bytes, grain, serial, oversubscribed = map(str, key)
        modes = {str(mode): rows for mode, rows in part.groupby("mode")}
        if not {"serial", "alternate"} <= set(modes):
            continue
        cell = (placement, int(ranks), int(size_bytes), float(grain), float(serial) / 100,
                oversubscribed == "True")  # fmt: skip
        try:
            grid[cell] = (
                point_of(modes["serial"], f"ring serial {placement}"),
                point_of(modes["alternate"], f"ring alternate {placement}"),
            )
        except NotTestableError as error:  # a point with too few passes leaves the others
            lack = error
    if lack is not None and not grid:
        raise lack
    return grid


def _tasks(data: Data, **wanted: Any) -> pd.DataFrame:
    """Parallel steps of labelled runs."""
    rows = _labelled(data.at(_KERNEL, mode="alternate"))
    return narrowed(rows, f"kernel {_KERNEL}", wanted)


def _labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose labels give the task as numbers; raises NotTestableError if there are none."""
    if set(_TASK) <= set(rows):
        numbers = [rows[name].map(_is_number) for name in _TASK]
        rows = rows[np.logical_and.reduce(numbers)]
        if not rows.empty:
            return rows
    raise NotTestableError(f"runs of kernel {_KERNEL} without labels {' and '.join(_TASK)}")


def _is_number(text: object) -> bool:
    return isinstance(text, str) and _NUMBER.fullmatch(text) is not None


def _efficiency_of(ranks: int) -> Any:
    return lambda medians: medians[:, 0] / (ranks * medians[:, 1])


def _predicted(link: Link, task_us: float, ranks: int, words: int, serial: float) -> float:
    return efficiency(task_us, ranks, link.exchange_us(ranks, words), serial)


def _link(data: Data, placement: str) -> Link:
    rows = data.at("pingpong", mode="send", placement=placement)
    link = link_of_sends(rows, 3)
    if link is None:
        raise NotTestableError(
            f"fewer than three ping-pong sizes from 4 B to 64 KiB on {placement}",
            "make measure TAG=sweep",
        )
    return link


def _link_or_none(data: Data, placement: str) -> Link | None:
    try:
        return _link(data, placement)
    except NotTestableError:
        return None


def _of_size(rows: pd.DataFrame, size_bytes: int) -> Point:
    wanted = {"size_bytes": size_bytes}
    return point_of(narrowed(rows, "kernel ring", wanted), "ring alternate")


CLAIMS = [
    Claim(
        "002", 1, "constants from the literature over-estimate the efficiency",
        _literature_over_estimates,
          published="over-estimated"),
    Claim(
        "002", 2, "constants from today's ping-pong over-estimate the efficiency",
        _ping_pong_over_estimates,
    ),
    Claim(
        "002", 3, "on a switched network efficiencies up to 1,000 words lie in one narrow band, "
        "and only 10,000 words are lower", _narrow_band_but_long,
          published="a very narrow band; a clear drop"),
    Claim("002", 4, "1 % of serial work is visible at 4 ranks", _one_percent_shows,
          published="0.960 over 0.988 by its equations, T = 1 s"),
    Claim("002", 5, "single runs form a band of some width", _runs_form_a_band,
          published="a clear band"),
]  # fmt: skip
