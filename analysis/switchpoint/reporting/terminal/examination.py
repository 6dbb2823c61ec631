"""Prints what the examination of a site found: plain lines, so that a pipe cuts nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from switchpoint.printable import printable

if TYPE_CHECKING:
    from switchpoint.sites.doctor import Fact


def print_examination(facts: Iterable[Fact]) -> int:
    """Print each fact as it is found, what is well first on its line; count the problems.

    Returns
    -------
    int
        How many facts are in the state `missing`.
    """
    problems = 0
    for fact in facts:
        problems += fact.state == "missing"
        if fact.state == "ok":
            print(printable(f"ok  {fact.topic}: {fact.found}"), flush=True)
        else:
            source = fact.place or fact.topic
            print(printable(f"{source}: {fact.found}; {fact.fix}"), flush=True)
    print(
        f"{problems} problem{'' if problems == 1 else 's'} found"
        if problems
        else "no problem found"
    )
    return problems
