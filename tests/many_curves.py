"""A table of as many short curves as a test wants, to see work spread over cores and machines."""

from __future__ import annotations

from pathlib import Path


def write_many_curves(path: Path, curves: int) -> Path:
    """Write a tidy CSV in which every seventh curve has a step at 512 B; return its path."""
    rows = [
        f"{link},{2**power},{(3 + power * 0.1) * (2 if link % 7 == 0 and power >= 9 else 1):.3f}"
        for link in range(curves)
        for power in range(4, 13)
    ]
    path.write_text("link,size_bytes,time_us\n" + "\n".join(rows) + "\n")
    return path
