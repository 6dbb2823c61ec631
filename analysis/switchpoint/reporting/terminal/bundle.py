"""Prints what a bundle contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from switchpoint.printable import printable
from switchpoint.tables.units import counted


def print_bundle(made: Mapping[str, Any]) -> None:
    """Print the file of a bundle with its content and hash."""
    size_kb = made["size_bytes"] / 1000
    contents = f"{counted(made['runs'], 'run')}, {counted(made['findings'], 'finding')}"
    print(printable(f"{made['file']}: {contents}, {size_kb:,.0f} kB"))
    print(f"SHA-256 {made['sha256']}")
