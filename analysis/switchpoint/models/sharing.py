"""Shares cores and links in equal parts among the work that uses them at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass


@dataclass(eq=False)
class _Work:
    left_us: float
    needs: Mapping[Hashable, float]
    end: Callable[[], None]
    since_us: float
    rate: float = 0.0
    version: int = 0


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
        self._users: dict[Hashable, dict[_Work, None]] = {}

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
        work = _Work(work_us, needs, end, self._now_us())
        for resource in needs:
            self._users.setdefault(resource, {})[work] = None
        self._adjust(needs, work)

    def _adjust(self, changed: Mapping[Hashable, float], also: _Work | None = None) -> None:
        """Give all users of some resources the speed that is right now."""
        affected = {} if also is None else {also: None}
        for resource in changed:
            affected |= self._users[resource]
        for work in affected:
            rate = min([1.0, *(serves / len(self._users[r]) for r, serves in work.needs.items())])
            if rate != work.rate:
                self._set_rate(work, rate)

    def _set_rate(self, work: _Work, rate: float) -> None:
        now_us = self._now_us()
        work.left_us = max(work.left_us - (now_us - work.since_us) * work.rate, 0.0)
        work.since_us, work.rate = now_us, rate
        work.version += 1
        version = work.version
        self._after(work.left_us / rate, lambda: self._finish(work, version))

    def _finish(self, work: _Work, version: int) -> None:
        if version != work.version:
            return  # its speed changed since
        for resource in work.needs:
            del self._users[resource][work]
        self._adjust(work.needs)
        work.end()
