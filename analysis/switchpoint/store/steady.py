"""Repeats a query if another command joined or removed files of the store meanwhile."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from switchpoint.errors import InputError
from switchpoint.store.files import Rewritten

#: Each time a file that was listed a moment before must be gone again.
_TRIES = 5

_Taken = ParamSpec("_Taken")
_Given = TypeVar("_Given")


def steady(query: Callable[_Taken, _Given]) -> Callable[_Taken, _Given]:
    """Let a method that reads files list and read them again if one of them is gone."""

    @functools.wraps(query)
    def repeated(*arguments: _Taken.args, **named: _Taken.kwargs) -> _Given:
        for _ in range(_TRIES):
            with contextlib.suppress(Rewritten):
                return query(*arguments, **named)
        raise InputError("the store", "is being rewritten; run the command again later")

    return repeated
