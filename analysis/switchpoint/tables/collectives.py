"""Which benchmarks measure a collective, whose number of processes is part of what it is."""

from __future__ import annotations

import re

_COLLECTIVE = re.compile(
    r"_i?(?:all_?to_?all|all_?gather|all_?reduce|barrier|bcast|gather|reduce|scatter|neighbor)"
)


def is_collective(kernel: str) -> bool:
    """Return whether a kernel of another tool is a collective.

    >>> is_collective("osu_iallreduce"), is_collective("nccl_all_gather"), is_collective("osu_bw")
    (True, True, False)
    """
    return _COLLECTIVE.search(kernel) is not None
