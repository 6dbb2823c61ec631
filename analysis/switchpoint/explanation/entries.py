"""Lists the catalogue's settings: all of them, or those of a run with their values in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from switchpoint.errors import InputError
from switchpoint.explanation.applicable import settings_of, value_of
from switchpoint.explanation.catalogue import Setting, catalogue
from switchpoint.explanation.stack import Stack, stack_of
from switchpoint.importing.reading import read
from switchpoint.records.run_facts import prove

#: Fields of an entry that are listed.
_SHOWN = (
    "variable", "environment", "layer", "transport", "library", "path", "ends_eager", "governs",
    "source", "verified",
)  # fmt: skip


@dataclass(frozen=True)
class Entries:
    """Settings of the catalogue.

    Attributes
    ----------
    rows : list of dict
        Of each setting its fields as in `catalogue.yaml`. If they are of a run, also `value`, null
        if it is not known, and `set_by`, as from `applicable.value_of`.
    stack, path : Stack or None, str or None
        Of the run: the layers that carried messages, and the path that they took.
    """

    rows: list[dict[str, Any]]
    stack: Stack | None = None
    path: str | None = None


def all_entries() -> Entries:
    """Return every setting of the catalogue."""
    return Entries([_fields(entry) for entry in catalogue().settings])


def entries_of(record: str | os.PathLike[str]) -> Entries:
    """Return the settings that count for a run, with their values in it.

    Raises
    ------
    InputError
        If the file is not a run record, or cannot be read.
    """
    measurements = read(record)
    header, footer = measurements.facts(measurements.runs["run_id"].iloc[0])
    if not header:
        raise InputError(record, "is not a run record; give a record of our kernels")
    mpi, proof = header.get("mpi", {}), prove(header, footer)
    rows = []
    for entry in settings_of(mpi, proof.path, footer, counted=proof.interface is not None):
        set_by, value = value_of(entry, mpi, proof.path)
        rows.append(_fields(entry) | {"value": value, "set_by": None if value is None else set_by})
    return Entries(rows, stack_of(mpi, footer), proof.path)


def _fields(entry: Setting) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in _SHOWN}
