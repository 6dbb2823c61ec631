"""Finds the parts outside the Python package: checks, site-configs, C sources.

In a checkout they lie beside the package's sources, in an installation below the package.
"""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).resolve().parent / "share"
_CHECKOUT = Path(__file__).resolve().parents[2]


def in_checkout() -> bool:
    """Whether this package runs from a checkout of the project."""
    return not _INSTALLED.is_dir()


def shipped(name: str) -> Path:
    """Path of a part by its name at the top of the project, such as ``checks``."""
    return (_CHECKOUT if in_checkout() else _INSTALLED) / name
