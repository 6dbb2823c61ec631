"""Repeats a query if another command joined or removed files of the store meanwhile."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from switchpoint.errors import InputError
from switchpoint.store.files import Rewritten

#: The pauses between tries double from the first to the longest, since many writers together take
#: longer than one; after all of them, about a quarter of a minute, the query gives up.
_PAUSES_S = [min(0.02 * 2**number, 1.0) for number in range(19)]

_Taken = ParamSpec("_Taken")
_Given = TypeVar("_Given")


def steady(query: Callable[_Taken, _Given]) -> Callable[_Taken, _Given]:
    """Let a method that reads files list and read them again if one of them is gone."""

    @functools.wraps(query)
    def repeated(*arguments: _Taken.args, **named: _Taken.kwargs) -> _Given:
        for pause_s in _PAUSES_S:
            with contextlib.suppress(Rewritten):
                return query(*arguments, **named)
            time.sleep(pause_s)
        try:
            return query(*arguments, **named)
        except Rewritten:
            problem = "is being rewritten; run the command again later"
            raise InputError("the store", problem) from None

    return repeated
