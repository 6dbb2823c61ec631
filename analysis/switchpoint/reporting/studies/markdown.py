"""Writes tables and names from records as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from switchpoint.printable import printable

#: Characters that Markdown or HTML would take for something else.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def place_name(place: Mapping[Any, Any]) -> str:
    """Name a site and its MPI."""
    if not isinstance(place["site"], str):
        return "not measured"
    mpi = place["mpi"] if isinstance(place["mpi"], str) else "all tools"
    return f"{place['site']}, {mpi}"


def safe(text: object) -> str:
    """Escape a text from a record."""
    return _SPECIAL.sub(r"\\\1", printable(str(text)))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
