"""Selects the entries of the catalogue that count for a run: by its library and by its path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from switchpoint.explanation.catalogue import Segment, Setting, catalogue
from switchpoint.tables.mpi_names import mpi_name


def settings_of(mpi: dict[str, Any], path: str) -> Iterator[Setting]:
    """Return settings of the catalogue that the run's library has and that act on its path."""
    return (entry for entry in catalogue().settings if _applies(entry, mpi, path))


def segments_of(mpi: dict[str, Any], path: str) -> Iterator[Segment]:
    """What the run's library puts into whole TCP segments."""
    return (entry for entry in catalogue().segments if _applies(entry, mpi, path))


def _applies(entry: Setting | Segment, mpi: dict[str, Any], path: str) -> bool:
    cvars = mpi.get("cvars", {})
    return (
        mpi_name(mpi.get("library", "")).startswith(tuple(entry.library))
        and (entry.path == "any" or path in {"unknown", entry.path})
        and re.search(entry.built_with, mpi.get("description", "")) is not None
        and entry.netmod in {None, network_module(mpi)}
        and all(
            re.fullmatch(pattern, str(cvars.get(name, "")))
            for name, pattern in entry.only_with.items()
        )
    )


def network_module(mpi: dict[str, Any]) -> str | None:
    """Return MPICH's network module: the requested one, or the first that it was built with.

    Old records have no description. Their MPICH is that of Debian 12, which only has UCX.
    """
    description = mpi.get("description", "")
    if not description:
        return "ucx"
    built = re.search(r"\bch4:(\w+)", description)
    # MPI_T shows it as empty even if it is set.
    name = "MPIR_CVAR_CH4_NETMOD"
    asked = mpi.get("cvars", {}).get(name) or mpi.get("environment", {}).get(name)
    return asked or (built[1] if built else None)
