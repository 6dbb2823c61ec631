"""The shape of a run record's footer. Tables of docs/reference/run-record.md are made from here.

Fields that only some versions and kernels write may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict  # pydantic refuses those of Python 3.11

from switchpoint.limits import COUNT
from switchpoint.records.activity import activity_problem
from switchpoint.records.header import Conditions, Part, Time, worded

#: The size of a message.
_Size = Annotated[int, Field(ge=0, lt=COUNT)]


@Part
class Point(TypedDict):
    """One mode at one size."""

    mode: str
    size_bytes: _Size
    median_us: NotRequired[float | None]
    #: Of `verification.errors`, those of this point.
    payload_errors: NotRequired[NonNegativeInt | None]


@Part
class Search(TypedDict):
    """One search for a switch."""

    #: `late_receiver`: the probe, which shows the end of the eager protocol. `bisection`: of times,
    #: which shows a jump of any cause.
    method: str
    #: The mode that was searched; the probe's is `send`, and its samples have the mode `late`.
    mode: str
    #: The sizes between which it searched.
    low_bytes: _Size
    high_bytes: _Size
    #: `exact`; `interval`: as narrow as the noise allowed; `none`; `unsure`: times scattered, ranks
    #: lost their cores, or the search ran out of time, as `reason` says.
    verdict: Literal["exact", "interval", "none", "unsure"]
    #: The last size before the switch and the first size after it; null unless exact or interval.
    last_size_bytes: _Size | None
    first_size_bytes: _Size | None
    #: Of a probe whose verdict is `none`: true if `MPI_Send` returned before its receive was posted
    #: at all sizes, false if it waited already at the smallest. Else null.
    stayed_eager: NotRequired[bool | None]
    #: Relative change of time between these two sizes, or null.
    jump: NotRequired[float | None]
    #: The cost of the search.
    visits: NotRequired[int | None]
    time_us: NotRequired[float | None]
    #: Turns in which the mode and its algorithms were then timed on both sides: the last visits of
    #: these points.
    compared_turns: NotRequired[int | None]
    #: Idle time before each timed block of a bisection, because the link throttles; 0: none.
    pause_us: NotRequired[float | None]
    #: Of all ranks during the search.
    involuntary_switches: NotRequired[int | None]
    #: One sentence.
    reason: NotRequired[str | None]


def _is_located(search: Search) -> Search:
    sizes = search["last_size_bytes"], search["first_size_bytes"]
    if search["verdict"] == "exact" and None in sizes:
        raise ValueError("is exact, but does not say between which sizes")
    return search


@Part
class Verification(TypedDict):
    """What was checked of the messages' content."""

    #: Compared payloads, or parts of a computed result.
    checks: NonNegativeInt
    errors: NonNegativeInt
    #: Payloads that arrived at all ranks together, of which `checks` were compared.
    arrived: NotRequired[NonNegativeInt | None]
    #: Payload that reached all ranks together, warm-up included, and the part that left its node.
    bytes_moved: NonNegativeInt
    bytes_between_nodes: NotRequired[NonNegativeInt | None]


@Part
class Protocol(TypedDict):
    """What UCX uses for a range of sizes."""

    #: The protocol of a tagged send from host memory for a range of sizes, in UCX's words.
    first_bytes: _Size
    last_bytes: _Size | None
    protocol: str
    #: The lane, if UCX chooses protocols as UCX 1.18 and 1.20 do by default, or null.
    path: NotRequired[str | None]


@Part
class Endpoint(TypedDict):
    """A connection of UCX."""

    #: Transport and device of each lane, such as `sysv/memory` or `tcp/eth0`.
    lanes: list[str]
    #: Empty if UCX does not report it.
    tag_send: list[Protocol]
    #: How many endpoints of this rank the entry describes.
    count: NotRequired[NonNegativeInt | None]


@Part
class RankAfter(TypedDict):
    """What a rank reports at the end."""

    #: The rank, and its conditions after the sweep, as `before`.
    rank: int
    after: Conditions
    #: The endpoints of UCX that were open at the end, without those to itself.
    ucx_endpoints: NotRequired[list[Endpoint]]


@Part
class Start(TypedDict):
    """How well calls started at an agreed time."""

    #: How many calls there were, and how many were repeated because some rank started late.
    calls: NotRequired[NonNegativeInt | None]
    late_calls: NonNegativeInt
    #: The most that a rank's start may have been off.
    clock_error_us: Annotated[float, Field(ge=0, allow_inf_nan=False)]


@Part
class Footer(TypedDict):
    """The whole footer, beside `end` and `activity`."""

    #: ISO 8601.
    end_utc: Time
    #: Rows written.
    samples: NonNegativeInt
    #: Whether the time budget ended the sweep before its last pass, or the searches of `zoom`; the
    #: record is complete, and readers print a warning.
    shortened: NotRequired[bool]
    #: One object per mode and size, see there.
    points: NotRequired[list[Point]]
    #: One object for each search, see there.
    switches: NotRequired[list[Annotated[Search, AfterValidator(_is_located)]]]
    #: What arrived, and what of it was compared.
    verification: Verification
    #: Only if calls started at an agreed time.
    start: NotRequired[Start | None]
    #: One object for each rank.
    ranks: Annotated[list[RankAfter], Field(min_length=1)]


def footer_problem(footer: dict[str, Any], header: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a footer and name the field, if anything is."""
    try:
        read = _reader().validate_python(footer)
    except ValidationError as error:
        return worded("footer", error)
    started = sorted(rank["rank"] for rank in header["ranks"])
    ended = sorted(rank["rank"] for rank in read["ranks"])
    if started != ended:
        return "footer field 'ranks' has other ranks than the header"
    if problem := activity_problem(footer, header):
        return f"footer field 'activity' {problem}"
    return None


@cache
def _reader() -> TypeAdapter[Footer]:
    return TypeAdapter(Footer)
