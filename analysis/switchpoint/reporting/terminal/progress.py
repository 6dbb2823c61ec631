"""Shows how far a long task is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

#: Fewer steps are done before a user could read a progress bar.
_WORTH_A_BAR = 50


@contextmanager
def progress(task: str, total: int) -> Iterator[Callable[[], object]]:
    """Show a progress bar on standard error if it is a terminal; yields its advance."""
    console = Console(stderr=True)
    hidden = total < _WORTH_A_BAR or not console.is_terminal
    with Progress(console=console, disable=hidden, transient=True) as bar:
        number = bar.add_task(task, total=total)
        yield lambda: bar.advance(number)


@contextmanager
def status(task: str) -> Iterator[None]:
    """Say on standard error what is being done, on a terminal with how long it takes."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.print(task, markup=False, soft_wrap=True)
        yield
        return
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=console, transient=True,
    ) as bar:  # fmt: skip
        bar.add_task(task, total=None)
        yield
