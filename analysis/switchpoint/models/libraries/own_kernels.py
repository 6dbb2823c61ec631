"""The algorithms of our kernels, for programs that broadcast or exchange on their own.

They are those of studies 003 and 004. Nobody chooses among them by default.
"""

from __future__ import annotations

from switchpoint.models.libraries.library import BROADCAST, EXCHANGE, Algorithm, Library
from switchpoint.models.patterns import broadcast, complete_exchange


def _algorithms(kernel: str, modes: list[str], segmented: set[str]) -> list[Algorithm]:
    return [Algorithm(mode, kernel, mode, segmented=mode in segmented) for mode in modes]


OWN_KERNELS = Library(
    "the kernels",
    {
        BROADCAST: _algorithms(
            "broadcast",
            [mode for mode in broadcast.MODES if not mode.endswith("_ack")],
            {"pipelined"},
        ),
        EXCHANGE: _algorithms("alltoall", complete_exchange.MODES, set()),
    },
    lambda _operation, _group, _size_bytes, _version: None,
    None,
)
