"""The settings that a run used, as its record lists them: of MPI, UCX, libfabric and glibc.

The catalogue plays no part: a setting that nobody has heard of is on the list too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from switchpoint.explanation.stack import listed_settings
from switchpoint.records.mpi_environment import TUNABLES, may_steer, single_settings
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.units import bytes_of

if TYPE_CHECKING:
    from switchpoint.records.header import Header, Mpi, Stack

#: Values that leave the choice to the library, besides negative numbers.
_AUTOMATIC = frozenset(["auto", "unset", "", "inf", "try"])

#: Names of settings that only concern collectives, in Open MPI and MPICH.
_COLLECTIVE = re.compile(
    r"^coll_|_(I?(ALL|BCAST|BARRIER|GATHER|SCATTER|REDUCE|RED|SCAN|EXSCAN|NEIGHBOR))|_COLL_",
    re.IGNORECASE,
)

#: Names of settings whose value may be a number of bytes, where their type does not say it.
_SIZED = re.compile(
    r"size|limit|thresh|eager|rndv|rdzv|rendezvous|inline|length|bytes|cutoff|short|long|_max$|_buf",
    re.IGNORECASE,
)

#: Smaller values are counts of something, not sizes of messages.
_SMALLEST_BYTES = 32

#: Larger values cannot decide at sizes that are probed, and raised ones could exhaust the memory.
_LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class InUse:
    """A setting with its value in one run.

    Attributes
    ----------
    name : str
        MPI_T control variable, tunable of glibc, or the environment variable.
    environment : str
        The environment variable that sets it.
    value : int, float, str or None
        As the record has it; None if nothing is set and the default is not known.
    source : str
        `MPI_T`, `UCX`, `libfabric`, `glibc` or `environment`.
    sized : bool
        Whether the value may be a number of bytes that matters to point-to-point messages.
    """

    name: str
    environment: str
    value: Any
    source: str
    sized: bool

    @property
    def number(self) -> int | None:
        """The value in bytes, if it is a number that can decide at a message size."""
        number = bytes_of(self.value)
        return (
            number if number is not None and _SMALLEST_BYTES <= number <= _LARGEST_BYTES else None
        )

    @property
    def automatic(self) -> bool:
        """Whether the value leaves the choice to the library."""
        word = "unset" if self.value is None else str(self.value).strip().lower()
        return word in _AUTOMATIC or re.fullmatch(r"-\d+(\.\d+)?", word) is not None


def settings_in_use(header: Header) -> dict[str, InUse]:
    """List the settings of a run by name. An empty header (other formats) gives none."""
    in_use: dict[str, InUse] = {}
    mpi = header.get("mpi", {})
    for setting in _listed(mpi):
        if may_steer(setting.environment):  # a record may list any names
            in_use.setdefault(setting.name, setting)
    return in_use


def canonical(environment: str, mpi: Mpi) -> str:
    """Return the name under which an environment variable's setting is listed."""
    variable, _, tunable = environment.partition("=")
    name = variable.removeprefix("OMPI_MCA_")
    return tunable or (name if name in mpi.get("cvars", {}) else environment)


def _listed(mpi: Mpi) -> Iterator[InUse]:
    library = mpi_name(mpi.get("library", ""))
    environment = single_settings(mpi.get("environment", {}))
    for name, value in mpi.get("cvars", {}).items():
        if variable := environment_of(library, name):
            yield InUse(name, variable, value, "MPI_T", _may_be_bytes(name, value))
    stack: Stack = mpi.get("stack") or {}
    layers = (stack.get("ucx"), stack.get("libfabric"), stack.get("glibc"))
    sizes = {name for layer in layers if layer for name in layer.get("sizes", [])}
    for source, listed in listed_settings(mpi).items():
        for name, value in listed.items():
            known = environment.get(name) if value is None else value
            variable = f"{TUNABLES}={name}" if source == "glibc" else name
            yield InUse(name, variable, known, source, name in sizes)
    for variable, value in environment.items():
        name = canonical(variable, mpi)
        yield InUse(name, variable, value, "environment", _may_be_bytes(name, value))


def environment_of(library: str, cvar: str) -> str | None:
    """Return the environment variable that sets a control variable, if the library has a rule."""
    if library.startswith("Open MPI"):
        return f"OMPI_MCA_{cvar}"
    return cvar if re.match(r"(MPIR|MVP|MV2)_|I_MPI_", cvar) else None


def _may_be_bytes(name: str, value: Any) -> bool:
    number = bytes_of(value)
    automatic = str(value).strip().lower() in _AUTOMATIC | {"-1"}
    return (number is not None or automatic) and _is_of_messages(name)


@functools.cache
def _is_of_messages(name: str) -> bool:
    return _SIZED.search(name) is not None and _COLLECTIVE.search(name) is None
