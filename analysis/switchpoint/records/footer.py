"""The shape of a run record's footer, as docs/reference/run-record.md documents it.

Fields that only some versions and kernels write may be missing.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, ValidationError

from switchpoint.limits import COUNT
from switchpoint.records.activity import activity_problem
from switchpoint.records.header import Conditions, Part, Time, worded

#: The size of a message.
_Size = Annotated[int, Field(ge=0, lt=COUNT)]


class _Point(Part):
    mode: str
    size_bytes: _Size
    median_us: float | None = None


class _Search(Part):
    method: str
    mode: str
    low_bytes: _Size
    high_bytes: _Size
    verdict: Literal["exact", "interval", "none", "unsure"]
    last_size_bytes: _Size | None
    first_size_bytes: _Size | None
    jump: float | None = None
    visits: int | None = None
    time_us: float | None = None
    reason: str | None = None


class _Verification(Part):
    checks: NonNegativeInt
    errors: NonNegativeInt
    arrived: NonNegativeInt | None = None
    bytes_moved: NonNegativeInt
    bytes_between_nodes: NonNegativeInt | None = None


class _Protocol(Part):
    first_bytes: _Size
    last_bytes: _Size | None
    protocol: str
    path: str | None = None


class _Endpoint(Part):
    lanes: list[str]
    tag_send: list[_Protocol]
    count: NonNegativeInt | None = None


class _Rank(Part):
    rank: int
    after: Conditions
    ucx_endpoints: list[_Endpoint] = Field(default=[])


class _Start(Part):
    calls: NonNegativeInt | None = None
    late_calls: NonNegativeInt
    clock_error_us: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Footer(Part):
    end_utc: Time
    samples: NonNegativeInt
    shortened: bool = False
    points: list[_Point] = Field(default=[])
    switches: list[_Search] = Field(default=[])
    verification: _Verification
    start: _Start | None = None
    ranks: list[_Rank] = Field(min_length=1)


def footer_problem(footer: dict[str, Any], header: dict[str, Any]) -> str | None:
    """Say what is wrong with a footer and name the field, if anything is."""
    try:
        read = _Footer.model_validate(footer)
    except ValidationError as error:
        return worded("footer", error)
    started = sorted(rank["rank"] for rank in header["ranks"])
    ended = sorted(rank.rank for rank in read.ranks)
    if started != ended:
        return "footer field 'ranks' has other ranks than the header"
    if problem := activity_problem(footer, header):
        return f"footer field 'activity' {problem}"
    return None
