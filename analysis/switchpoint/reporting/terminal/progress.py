"""Shows how far a long task is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

#: Fewer steps than these are done before a bar could be read.
_WORTH_A_BAR = 50


@contextmanager
def progress(task: str, total: int) -> Iterator[Callable[[], object]]:
    """Show a bar on standard error while a long task runs at a terminal; yields its advance."""
    console = Console(stderr=True)
    hidden = total < _WORTH_A_BAR or not console.is_terminal
    with Progress(console=console, disable=hidden, transient=True) as bar:
        number = bar.add_task(task, total=total)
        yield lambda: bar.advance(number)
