"""Shows how far a long task is, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.console import Console

from switchpoint.printable import printable

#: A task that ends within this time needs no word about it.
_SILENT_S = 2.0

#: How often the line on a terminal is rewritten, and how often a pipe gets a line.
_REWRITTEN_S = 0.5
_LINE_EVERY_S = 10.0


@contextmanager
def progress(task: str, total: int | None = None) -> Iterator[Callable[[], object]]:
    """Say what is being done if it takes long, and how far it is; yields its advance.

    On a terminal it is one line that is rewritten, and removed at the end; elsewhere a line every
    ten seconds.
    """
    done = 0
    started = time.monotonic()

    def advance() -> None:
        nonlocal done
        done += 1

    def words() -> str:
        far = "" if total is None or total < 2 else f" {done:,} of {total:,},"
        return printable(f"{task}:{far} {time.monotonic() - started:.0f} s")

    ended = Event()
    thread = Thread(target=_show, args=(words, ended), daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        ended.set()
        thread.join()


@contextmanager
def status(task: str) -> Iterator[None]:
    """Say at once what will take long, then as `progress` does."""
    console = _console()
    if not console.is_terminal:
        console.print(task, soft_wrap=True)
    with progress(task):
        yield


def _console() -> Console:
    return Console(stderr=True, highlight=False, markup=False)


def _show(words: Callable[[], str], ended: Event) -> None:
    if ended.wait(_SILENT_S):
        return
    console = _console()
    if not console.is_terminal:
        wait_s = _LINE_EVERY_S - _SILENT_S
        while not ended.wait(wait_s):
            console.print(f"switchpoint: {words()}", soft_wrap=True)
            wait_s = _LINE_EVERY_S
        return
    with console.status(words()) as line:
        while not ended.wait(_REWRITTEN_S):
            line.update(words())
