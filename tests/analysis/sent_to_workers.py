"""What tests send to the workers of a cluster.

A worker imports the module of a function, so this one imports nothing of the tests: `conftest` is
on a worker whichever folder's comes first, and a worker that cannot import never answers.
"""

from __future__ import annotations

import os

from switchpoint import InputError


def whereabouts(part: int) -> tuple[int, int]:
    """Return a part of the work and the process that does it."""
    return part, os.getpid()


def mistake(part: int) -> int:
    raise InputError("a file", f"is wrong in part {part}")


def die(_part: int) -> None:
    os._exit(1)
