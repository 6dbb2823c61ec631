"""What distinguishes curves: the columns that every format may have, and one curve's values."""

from __future__ import annotations

from typing import TypedDict


class CurveIdentity(TypedDict, total=False):
    """Which curve a row is of. Labels add columns, which `columns.values_of` reads by name."""

    site: str | None
    partition: str | None
    mpi: str | None
    environ: str | None
    kernel: str | None
    placement: str | None
    mode: str | None
    run_id: str


#: Columns that distinguish the curves of run records, in the order in which people read them.
IDENTITY = [*CurveIdentity.__annotations__]
