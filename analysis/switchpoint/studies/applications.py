"""Study 004's comparison of tools by applications."""

from __future__ import annotations

from collections.abc import Iterator

from switchpoint.studies.evidence import SAME, Evidence, Wanted, judge, ratio
from switchpoint.studies.points import Data, NotTestableError, Point, not_oversubscribed, point_of

_BROADCAST, _LIBRARY = "broadcast", "library"

#: Between nodes, preferably far apart.
PLACEMENTS = ("two_nodes_two_hosts", "two_nodes_one_host")

#: The study's applications and our kernels.
_FFT, _JPEG, _SORT, _TRAINING, _VOTING = "fft", "jpeg", "psrs", "backpropagation", "voting"

#: Their modes in which rank 0 works alone: no tool plays a part.
_ALONE = ("serial", "one_rank")


def primitives_rank_applications(data: Data) -> Iterator[Evidence]:
    """Compare each application with the tool that primitives call the slowest and the fastest."""
    fast, slow, placement = _ranked_by_primitives(data)
    measured = [app for app in (_FFT, _JPEG, _SORT, _TRAINING, _VOTING) if _has(data, app)]
    for app in measured:
        of_slow, of_fast = (_application(data, app, mpi, placement) for mpi in (slow, fast))
        yield judge(
            f"{app} with {slow} over {fast}, {placement}", [of_slow, of_fast], ratio,
            Wanted(low=1), comparisons=len(measured),
        )  # fmt: skip
    if len(measured) < 2:
        raise NotTestableError(f"{len(measured)} of the applications were measured")


def gains_by_application(data: Data) -> Iterator[Evidence]:
    """Compare what applications gain from the better tool, in the study's order."""
    fast, slow, placement = _ranked_by_primitives(data)
    gains = {
        app: [_application(data, app, mpi, placement) for mpi in (slow, fast)]
        for app in (_FFT, _JPEG, _SORT, _TRAINING)
    }
    for larger, smaller in (
        (_JPEG, _FFT), (_SORT, _FFT), (_TRAINING, _JPEG), (_TRAINING, _SORT),
    ):  # fmt: skip
        yield judge(
            f"gain of {larger} over gain of {smaller} ({slow} over {fast})",
            [*gains[larger], *gains[smaller]],
            lambda m: m[:, 0] / m[:, 1] / (m[:, 2] / m[:, 3]), Wanted(low=1), comparisons=4,
        )  # fmt: skip


def _ranked_by_primitives(data: Data) -> tuple[str, str, str]:
    """Return the fastest and the slowest MPI in echo and broadcast of 64 KiB, and the placement."""
    size = 64 << 10
    for placement in PLACEMENTS:
        times: dict[str, float] = {}
        for mpi in sorted(set(data.passes["mpi"].dropna())):
            try:
                echo = data.point("pingpong", "send", size, placement=placement, mpi=mpi)
                tree = data.point(_BROADCAST, _LIBRARY, size, placement=placement, mpi=mpi, ranks=2)
            except NotTestableError:
                continue
            times[mpi] = echo.value * tree.value
        if len(times) >= 2:
            fast, slow = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
            if times[slow] / times[fast] < (1 + SAME) ** 2:
                raise NotTestableError(f"{fast} and {slow} are equal in echo and broadcast")
            return fast, slow, placement
    raise NotTestableError(
        "fewer than two MPIs with echo and broadcast of 64 KiB between nodes",
        "make measure TAG=study-004, with two environments or more",
    )


def _has(data: Data, kernel: str) -> bool:
    return bool((data.passes["kernel"] == kernel).any())


def _application(data: Data, kernel: str, mpi: str, placement: str) -> Point:
    """Return an application's largest problem, on the most ranks that had a core each."""
    rows = data.at(kernel, mpi=mpi, placement=placement)
    rows = not_oversubscribed(rows[~rows["mode"].isin(_ALONE)])
    for column in ("ranks", "size_bytes"):
        rows = rows[rows[column] == rows[column].max()]
    rows = rows[rows["mode"] == rows["mode"].min()]
    return point_of(rows, f"{kernel} {mpi} {placement}")
