"""Keeps what a site learned of its settings in a catalogue of its own.

The file has the format of `catalogue.yaml`. The environment variable `SWITCHPOINT_CATALOGUE` names
it for all commands.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from switchpoint.errors import InputError
from switchpoint.explanation.applicable import settings_of
from switchpoint.explanation.catalogue import (
    Catalogue,
    OwnCatalogue,
    Setting,
    read_catalogue,
    same_setting,
    validated,
    with_earlier,
)
from switchpoint.explanation.suspects import series_of
from switchpoint.explanation.verdicts import CONFIRMED
from switchpoint.records.run_facts import prove
from switchpoint.tables.mpi_names import mpi_family, mpi_name
from switchpoint.whole_files import write_whole

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

_ABOUT = (
    "# Settings that were learned here. Switchpoint writes this file; it does not keep comments.\n"
)

#: What a reader wants to see first of an entry.
_FIRST = ("variable", "environment", "layer", "transport", "library", "path")


def add_to_catalogue(file: Path, entry: Mapping[str, Any]) -> Setting:
    """Add a learned setting to a catalogue, or write a new one with it.

    An entry of the same variable, layer, transport and path is replaced; the headers and versions
    that it has in addition are kept. Everything else in the file stays. The file is written
    completely or not at all, and two processes that add to it wait for each other.

    Parameters
    ----------
    file
        The site's catalogue.
    entry
        The fields of the entry, as in `catalogue.yaml`.

    Returns
    -------
    Setting
        The entry as it is now in the file.

    Raises
    ------
    InputError
        If the entry or the file is not valid, or the file cannot be written.
    """
    checked = validated({"settings": [dict(entry)]}, file, OwnCatalogue).settings[0]
    try:
        with _alone(file.absolute().parent):
            known = read_catalogue(file, OwnCatalogue) if file.exists() else OwnCatalogue()
            earlier = next((one for one in known.settings if same_setting(checked, one)), None)
            added = with_earlier(checked, earlier)
            others = [one for one in known.settings if one is not earlier]
            content = known.model_copy(update={"settings": [*others, added]})
            write_whole(file, (_ABOUT + as_yaml(content)).encode())
    except OSError as error:
        raise InputError(file, f"cannot be written ({error.strerror})") from None
    return added


def check_catalogue(file: Path) -> None:
    """Raise InputError unless a site's catalogue can be added to, or made."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise InputError(file, f"cannot be written: the folder {folder} does not exist; make it")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(file, "cannot be written (Permission denied); choose another file")
    if file.exists():
        read_catalogue(file, OwnCatalogue)


def learned(
    cause: Mapping[str, Any], header: Header, footer: Footer | None
) -> dict[str, Any] | None:
    """Return the catalogue's entry for a cause that an experiment confirmed.

    Parameters
    ----------
    cause
        Of a switch, as from `explain`.
    header, footer
        Of the run whose switch it is.

    Returns
    -------
    dict or None
        The fields of the entry; None if the cause is not confirmed alone, or if its law is no value
        plus or minus some bytes, for which the format has no field.
    """
    law = cause["law"]
    if cause["status"] != CONFIRMED or law is None:
        return None
    if law["factor"] != "1" or law["grain_bytes"] != 1:
        return None
    mpi, path = header["mpi"], prove(header, footer).path
    library, offset = mpi_name(mpi.get("library", "")), law["offset_bytes"]
    known = {entry.variable: entry for entry in settings_of(mpi, path, footer)}
    if entry := known.get(cause["name"]):
        fields = entry.model_dump(exclude_defaults=True)
    else:
        layer = {"UCX": "ucx", "libfabric": "ofi", "glibc": "glibc"}.get(cause["set_by"])
        fields = {
            "variable": cause["name"],
            "environment": cause["environment"],
            **({"layer": layer} if layer else {"library": mpi_family(library)}),
            "path": path if path in {"shared_memory", "network"} else "any",
            "ends_eager": cause["ends_eager"],
            "governs": "eager to rendezvous" if cause["ends_eager"] else "a step in time",
            "source": "an experiment of `switchpoint prove`",
        }
    if "header_bytes" in fields:
        fields["header_bytes"] = {series_of(mpi): -offset}
    else:
        fields["last_size_offset"] = offset
    return fields | {"verified": library}


def contribution(file: Path) -> Catalogue:
    """Return the settings of a catalogue that were verified, for the catalogue that is shipped.

    Raises
    ------
    InputError
        As `read_catalogue`; also if no setting was verified.
    """
    settings = [one for one in read_catalogue(file, OwnCatalogue).settings if one.verified]
    if not settings:
        raise InputError(
            file, "has no setting that was verified; confirm one first, see `switchpoint explain`"
        )
    return OwnCatalogue(settings=settings)


def as_yaml(content: Catalogue) -> str:
    """Write a catalogue in the format of `catalogue.yaml`. Empty parts are left out."""
    parts = {
        part: [_in_order(entry.model_dump(exclude_defaults=True)) for entry in entries]
        for part, entries in content
        if entries
    }
    return yaml.safe_dump(parts, sort_keys=False, allow_unicode=True, width=110)


def _in_order(fields: dict[str, Any]) -> dict[str, Any]:
    """Put the fields that name an entry first, and where it comes from last."""
    last = {name: fields.pop(name) for name in ("source", "verified") if name in fields}
    first = {name: fields.pop(name) for name in _FIRST if name in fields}
    return first | fields | last


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process adds to a catalogue in a folder."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # no locks here
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
