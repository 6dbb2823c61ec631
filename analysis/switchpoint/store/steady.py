"""Repeats a query if another command joined or removed files of the store meanwhile."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from switchpoint.errors import InputError
from switchpoint.store.files import Rewritten

#: Each time a file that was listed a moment before must be gone again. Many writers together take
#: longer, so the pauses grow up to this; all of them together are a quarter of a minute.
_TRIES, _PAUSE_S, _LONGEST_S = 20, 0.02, 1.0

_Taken = ParamSpec("_Taken")
_Given = TypeVar("_Given")


def steady(query: Callable[_Taken, _Given]) -> Callable[_Taken, _Given]:
    """Let a method that reads files list and read them again if one of them is gone."""

    @functools.wraps(query)
    def repeated(*arguments: _Taken.args, **named: _Taken.kwargs) -> _Given:
        for number in range(_TRIES):
            with contextlib.suppress(Rewritten):
                return query(*arguments, **named)
            time.sleep(min(_PAUSE_S * 2**number, _LONGEST_S))
        raise InputError("the store", "is being rewritten; run the command again later")

    return repeated
