"""Selects the entries of the catalogue that count for a run, and reads their values in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from switchpoint.explanation.catalogue import Segment, Setting, catalogue
from switchpoint.explanation.stack import Stack, listed_settings, stack_of
from switchpoint.explanation.transports import THROUGH_KERNEL
from switchpoint.records.mpi_environment import TUNABLES
from switchpoint.tables.findings import SettingValue

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer

#: Layers that have a shared memory of their own, and those that MPI libraries then only use between
#: nodes.
_OWN_SHARED_MEMORY = frozenset({"ch4", "intel", "cray"})
_BETWEEN_NODES = frozenset({"ofi", "psm2"})

#: Of a value with several parts, such as `intra:8K,inter:64K`, the part that counts on each path.
#: Messages are in the host's memory.
_PARTS = {"shared_memory": ("intra", "host"), "network": ("inter", "host"), "unknown": ("host",)}


def settings_of(
    mpi: Mapping[str, Any],
    path: str,
    footer: Footer | None = None,
    *,
    counted: bool = False,
) -> Iterator[Setting]:
    """Return settings of the catalogue that the run's stack has and that act on its path.

    Parameters
    ----------
    mpi
        `mpi` of the record's header.
    path
        `network`, `shared_memory` or `unknown`.
    footer
        The record's footer, which has UCX's endpoints.
    counted
        Whether an interface counted the payload. Then no transport past the kernel carried it.
    """
    stack, shown = stack_of(mpi, footer), mpi.get("cvars", {})
    return (
        entry
        for entry in catalogue().settings
        if _applies(entry, stack, path, counted)
        and (not shown or entry.variable in shown or not _is_control_variable(entry))
    )


def segments_of(
    mpi: Mapping[str, Any], path: str, footer: Footer | None = None
) -> Iterator[Segment]:
    """What the run's stack puts into whole TCP segments."""
    stack = stack_of(mpi, footer)
    return (entry for entry in catalogue().segments if _applies(entry, stack, path, True))


def _is_control_variable(entry: Setting) -> bool:
    """Return whether MPI_T shows a setting, if the library has it."""
    below = entry.environment in {entry.variable, f"{TUNABLES}={entry.variable}"}
    return not below or entry.variable.startswith("MPIR_CVAR_")


def _applies(entry: Setting | Segment, stack: Stack, path: str, counted: bool) -> bool:
    """Return whether an entry counts. A transport that is not known may be any."""
    if entry.library and not stack.library.startswith(tuple(entry.library)):
        return False
    if entry.path != "any" and path not in {"unknown", entry.path}:
        return False
    if entry.layer is not None and entry.layer not in _layers_on(path, stack):
        return False
    if not entry.transport or entry.layer is None:
        return True
    used = stack.transports[entry.layer]
    possible = {*entry.transport} if used is None else used.intersection(entry.transport)
    if counted and path == "network":
        possible = possible & THROUGH_KERNEL
    return bool(possible)


def _layers_on(path: str, stack: Stack) -> frozenset[str]:
    """Return the layers of a stack that may have carried messages on a path."""
    layers = frozenset(stack.transports)
    if path == "shared_memory" and layers & _OWN_SHARED_MEMORY:
        return layers - _BETWEEN_NODES
    return layers


def value_of(
    entry: Setting, mpi: Mapping[str, Any], path: str = "unknown"
) -> tuple[str, SettingValue]:
    """Return who set a setting in a run, and its value there.

    Returns
    -------
    set_by : str
        `MPI_T`; `UCX`, `libfabric` or `glibc`, if the library listed its settings in the run;
        `environment`; or `default`, if the catalogue knows it.
    value : int, float, str or None
        A number, a text such as `8K` or `auto`, or None if it is not known. Of a text with a part
        for each path or kind of memory, the part of this path.
    """
    cvars = mpi.get("cvars", {})
    if entry.variable in cvars:
        return "MPI_T", cvars[entry.variable]
    for source, listed in listed_settings(mpi).items():
        if listed.get(entry.variable) not in (None, ""):
            return source, _part(str(listed[entry.variable]), path)
    value = mpi.get("environment", {}).get(entry.environment)
    if value is None and entry.default is not None:
        return "default", entry.default
    return "environment", None if value is None else _part(value, path)


def _part(value: str, path: str) -> str:
    """Return the part of a value that counts on a path; the value itself if it has no parts.

    >>> _part("intra:8K,inter:64K", "network"), _part("host:512K,cuda:4M", "unknown")
    ('64K', '512K')
    """
    parts = dict(re.findall(r"(\w+):([^,]+)", value))
    return next((parts[name] for name in _PARTS.get(path, ()) if name in parts), value)
