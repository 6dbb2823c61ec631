"""Shares cores and links in equal parts among the work that uses them at a time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field


@dataclass(eq=False)
class _Group:
    """Work that needs the same resources, so that all of it proceeds at the same speed.

    `done_us` is how much work each would have done that was there from the start; it was so much at
    `since_us`.
    """

    needs: Mapping[Hashable, float]
    since_us: float
    done_us: float = 0.0
    rate: float = 0.0
    version: int = 0
    #: What `done_us` is when each piece of work ends, the first one at the front.
    ends: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)


class Sharing:
    """Work in progress on resources of which each serves a number of users at full speed.

    Work that needs several resources proceeds at the speed of the one that is shared most.

    Parameters
    ----------
    after
        Calls a function after a delay in microseconds.
    now_us
        Returns the time.
    """

    def __init__(
        self, after: Callable[[float, Callable[[], None]], None], now_us: Callable[[], float]
    ) -> None:
        self._after, self._now_us = after, now_us
        self._numbers = itertools.count()  # work that ends at the same time ends in order
        self._groups: dict[frozenset[tuple[Hashable, float]], _Group] = {}
        self._on: dict[Hashable, dict[_Group, None]] = {}
        self._users: dict[Hashable, int] = {}

    def start(
        self, work_us: float, needs: Mapping[Hashable, float], end: Callable[[], None]
    ) -> None:
        """Start work that takes `work_us` alone, and call `end` when it is done.

        Parameters
        ----------
        work_us
            Its time at full speed.
        needs
            Each resource that it uses all the time, and how many users that serves at full speed.
        end
            Called when the work is done.
        """
        key = frozenset(needs.items())
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(needs, self._now_us())
        self._progress(group)
        heapq.heappush(group.ends, (group.done_us + work_us, next(self._numbers), end))
        for resource in needs:
            self._on.setdefault(resource, {})[group] = None
            self._users[resource] = self._users.get(resource, 0) + 1
        self._adjust(group)

    def _progress(self, group: _Group) -> None:
        now_us = self._now_us()
        group.done_us += (now_us - group.since_us) * group.rate
        group.since_us = now_us

    def _adjust(self, changed: _Group) -> None:
        """Give all groups beside one the speed that is right now, and wait for their ends."""
        affected = {changed: None}
        for resource in changed.needs:
            affected |= self._on[resource]
        for group in affected:
            if not group.ends:
                continue
            rate = min([1.0, *(serves / self._users[r] for r, serves in group.needs.items())])
            if rate != group.rate or group is changed:
                self._progress(group)
                group.rate = rate
                self._await_end(group)

    def _await_end(self, group: _Group) -> None:
        group.version += 1
        version, left_us = group.version, max(group.ends[0][0] - group.done_us, 0.0)
        self._after(left_us / group.rate, lambda: self._finish(group, version))

    def _finish(self, group: _Group, version: int) -> None:
        if version != group.version:
            return  # its speed changed since, or other work ends before
        group.done_us, _, end = heapq.heappop(group.ends)
        group.since_us = self._now_us()
        for resource in group.needs:
            self._users[resource] -= 1
        self._adjust(group)
        if not group.ends:
            del self._groups[frozenset(group.needs.items())]
            for resource in group.needs:
                del self._on[resource][group]
        end()
