"""How much memory the file systems of a testbed may take: they must fit into the machine's."""

from __future__ import annotations

import os
from pathlib import Path

#: More than MPI libraries and jobs put into /tmp and /dev/shm of a node.
_MOST_BYTES = 2**30

#: Limits of the control group, in version 2 and 1.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)

#: Bytes of a file system for each file that it may have: a file takes about a kilobyte of the
#: kernel's memory, even if it is empty.
_BYTES_PER_FILE = 2**14


def bytes_of_each(file_systems: int) -> int:
    """Return the size of each of some file systems: all together fill half of the memory."""
    return min(_MOST_BYTES, _machine_bytes() // 2 // file_systems)


def files_of(size_bytes: int) -> int:
    """Return how many files a file system of this size may have."""
    return max(size_bytes // _BYTES_PER_FILE, 1024)


def _machine_bytes() -> int:
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _GROUP_LIMITS:
        text = path.read_text().strip() if path.exists() else ""
        if text.isdigit():  # else `max`
            limits.append(int(text))
    return min(limits)
