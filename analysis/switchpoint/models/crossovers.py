"""Maps which algorithm is predicted fastest over the size of the message and of the group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.models.gains import surely_faster
from switchpoint.models.kernels import Options, Problem, kernel_of
from switchpoint.models.libraries.library import BROADCAST, EXCHANGE
from switchpoint.models.libraries.own_kernels import OWN_KERNELS
from switchpoint.models.links import Place, curve_of
from switchpoint.models.prediction import WITHIN, Prediction, layout_on, predict_one
from switchpoint.models.site_model import SiteModel
from switchpoint.records.rank_layout import RankLayout

CROSSOVER_COLUMNS = [
    "operation", "ranks", "size_bytes", "fastest", "segment_bytes", "time_us", "low_us", "high_us",
    "as_good",
]  # fmt: skip

#: The groups of study 004. An exchange by sixteen ranks takes seconds to simulate.
GROUPS = {BROADCAST: (2, 4, 8, 16), EXCHANGE: (2, 4, 8)}

#: Below the first size the start of a message decides. Above the last one of an exchange there are
#: several packets, whose simulation takes seconds.
_FIRST_BYTES = 64
_LAST_BYTES = {BROADCAST: 1 << 20, EXCHANGE: 64 << 10}

#: Into how many segments a message is divided, none of them shorter than this.
_SEGMENTS = (4, 16)
_LEAST_SEGMENT = 1 << 10

#: Packets in flight need no limit if a message is one packet.
_LIMITED = "_windowed"


def crossovers(
    model: SiteModel,
    operation: str,
    *,
    placement: str,
    groups: Sequence[int] = (),
    sizes_bytes: Sequence[int] = (),
    within: str = WITHIN,
    **place: str | None,
) -> pd.DataFrame:
    """Predict which of the kernels' algorithms is the fastest for each group and size.

    Parameters
    ----------
    model
        As from `fit_model` or `load_model`.
    operation
        `broadcast` or `exchange`.
    placement
        The model's curves between nodes; each rank has a node of its own.
    groups
        Numbers of ranks; by default `GROUPS`.
    sizes_bytes
        Of messages; by default powers of four from 64 B to the largest measured size, at most
        1 MiB for broadcasts and 64 KiB for exchanges.
    within
        As of `predict`.
    **place
        `mpi`, `environ`, `partition`: which curves, if the model has several.

    Returns
    -------
    DataFrame
        `CROSSOVER_COLUMNS`, one row for each group and size that can be predicted.
        `segment_bytes` is 0 for whole messages. `as_good` names the other algorithms than which
        the fastest one is not surely faster; times are in microseconds.

    Raises
    ------
    InputError
        If the model lacks what is needed.
    """
    where = Place(placement, **place)
    curve = curve_of(model, where, "send")
    largest = max((one.last_size_bytes for one in curve.segments), default=1)
    sizes = list(sizes_bytes) or _powers_of_four(min(largest, _LAST_BYTES[operation]))
    rows: list[tuple[object, ...]] = []
    failed: list[InputError] = []
    for ranks in groups or GROUPS[operation]:
        layout = layout_on(curve, tuple(range(ranks)))
        for size_bytes in sizes:
            times, missing = _times(
                model, _problems(operation, ranks, size_bytes), where, layout, within
            )
            failed += missing
            if times:
                rows.append((operation, ranks, size_bytes, *_compared(times)))
    if not rows:
        raise failed[0]
    return pd.DataFrame(rows, columns=CROSSOVER_COLUMNS)


def _times(
    model: SiteModel, problems: Iterable[Problem], place: Place, layout: RankLayout, within: str
) -> tuple[dict[str, tuple[int, Prediction]], list[InputError]]:
    """Return the best segments and the time of each algorithm, and why others have none."""
    times: dict[str, tuple[int, Prediction]] = {}
    missing = []
    for problem in problems:
        try:
            found = predict_one(model, problem, place, layout, within)
        except InputError as error:
            missing.append(error)
            continue
        known = times.get(problem.mode)
        if known is None or found.time_us < known[1].time_us:
            times[problem.mode] = (_segment(problem), found)
    return times, missing


def _compared(times: dict[str, tuple[int, Prediction]]) -> tuple[object, ...]:
    """Return the fastest algorithm with its segments and times, and those that are as good."""
    fastest = min(times, key=lambda mode: times[mode][1].time_us)
    segment_bytes, best = times[fastest]
    as_good = [
        mode
        for mode, (_, time) in times.items()
        if mode != fastest and not surely_faster(best, time)
    ]
    return fastest, segment_bytes, best.time_us, best.low_us, best.high_us, ", ".join(as_good)


def _problems(operation: str, ranks: int, size_bytes: int) -> Iterator[Problem]:
    """Yield the algorithms that suit the group, with each length of segments."""
    for algorithm in OWN_KERNELS.algorithms[operation]:
        if algorithm.mode.endswith(_LIMITED):
            continue
        lengths = [size_bytes // count for count in _SEGMENTS] if algorithm.segmented else []
        for length in [size_bytes, *(one for one in lengths if one >= _LEAST_SEGMENT)]:
            options = Options(segment=max(length, 1))
            problem = Problem(algorithm.kernel, algorithm.mode, ranks, size_bytes, options)
            if kernel_of(algorithm.kernel).refuse(problem) is None:
                yield problem


def _segment(problem: Problem) -> int:
    """Return the length of the segments, 0 for a whole message."""
    return problem.options.segment if problem.options.segment < problem.size_bytes else 0


def _powers_of_four(largest: int) -> list[int]:
    sizes = [_FIRST_BYTES]
    while 4 * sizes[-1] <= largest:
        sizes.append(4 * sizes[-1])
    return sizes
