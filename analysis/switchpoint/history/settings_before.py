"""Settings that tonight's runs have and the runs before did not, and how to take each back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from switchpoint.records.mpi_environment import mpi_settings
from switchpoint.tables.mpi_names import mpi_name

_VARIABLE = re.compile(r"[A-Za-z_]\w*")

#: Open MPI takes each control variable from an environment variable with this prefix. MPICH's
#: control variables have the name of theirs.
_OPEN_MPI = "OMPI_MCA_"


@dataclass(frozen=True)
class Setting:
    """A setting that changed between earlier nights and tonight.

    Attributes
    ----------
    name : str
        Of a control variable, or of an environment variable.
    environment : str
        The environment variable that sets it.
    before, tonight : str or None
        Its values; None if it was not set.
    """

    name: str
    environment: str
    before: str | None
    tonight: str | None

    def __str__(self) -> str:
        return f"{self.name} = {_shown(self.tonight)}, before {_shown(self.before)}"


def changed_settings(
    before: Sequence[dict[str, Any]], tonight: Sequence[dict[str, Any]]
) -> list[Setting]:
    """Return the settings with one value in all runs before and another in all runs of tonight.

    A value that differs between the runs of one night, such as a job's number, was not set by
    anybody.

    Parameters
    ----------
    before, tonight
        Headers of run records.
    """
    variables = list(_control_variables(before, tonight))
    known = {setting.environment for setting in variables}
    own = (
        Setting(name, name, *values)
        for name, values in _changed(
            [mpi_settings(header["mpi"].get("environment", {})) for header in before],
            [mpi_settings(header["mpi"].get("environment", {})) for header in tonight],
        )
    )
    return [*variables, *(setting for setting in own if setting.environment not in known)]


def _control_variables(
    before: Sequence[dict[str, Any]], tonight: Sequence[dict[str, Any]]
) -> Iterator[Setting]:
    libraries = {mpi_name(header["mpi"].get("library", "")) for header in [*before, *tonight]}
    if len(libraries) != 1:  # another library has other defaults, which nobody set
        return
    prefix = _OPEN_MPI if libraries.pop().startswith("Open MPI") else ""
    for name, (old, new) in _changed(
        [header["mpi"].get("cvars") or {} for header in before],
        [header["mpi"].get("cvars") or {} for header in tonight],
    ):
        if old is not None and new is not None:
            yield Setting(name, prefix + name, old, new)


def _changed(
    before: Sequence[dict[str, Any]], tonight: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """Yield name and both values of each entry that is constant on either side and differs."""
    names = dict.fromkeys(name for one in [*before, *tonight] for name in one)
    for name in filter(_VARIABLE.fullmatch, names):
        old, new = ({_text(one.get(name)) for one in side} for side in (before, tonight))
        if len(old) == len(new) == 1 and old != new:
            yield name, (old.pop(), new.pop())


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _shown(value: str | None) -> str:
    return "not set" if value is None else value or "empty"
