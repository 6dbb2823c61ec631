"""Names settings of a run that may have caused a step: those whose value lies in its bracket.

The catalogue (`catalogue.yaml`) holds what is known of each setting. A suspicion is never a proof.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import yaml

from switchpoint.measurements import mpi_name
from switchpoint.proof import Proof, prove
from switchpoint.units import bytes_of

Suspects = Callable[[int, int], list[dict[str, Any]]]


def suspects_of_run(header: dict[str, Any], footer: dict[str, Any] | None) -> Suspects:
    """Prepare the settings of one run for matching.

    Parameters
    ----------
    header, footer
        Of a run record; an empty header (other formats) gives no suspects.

    Returns
    -------
    callable
        Given the last size before a step and the first past it, in bytes, the suspects in the
        catalogue's order, each a dictionary: `name`, `value`, `set_by` (`MPI_T`, `environment`,
        `default` or `interface`), `last_size`, `first_size` (the two sides, in bytes, that this
        setting predicts), `governs`, `reason` (one sentence), `source`, `ends_eager`; and of
        what can be set, else None: `environment` (the variable that sets it), `last_size_offset`
        (bytes from the value to `last_size`), `most_bytes` (larger values fail).
    """
    candidates: list[dict[str, Any]] = []
    if header:
        proof = prove(header, footer)
        mpi = header.get("mpi", {})
        candidates = [*_settings(mpi, proof.path), *_segments(mpi, proof)]

    def within(last_size_before: int, size_bytes: int) -> list[dict[str, Any]]:
        return [
            suspect for suspect in candidates
            if last_size_before <= suspect["last_size"] < size_bytes
        ]  # fmt: skip

    return within


def governing(header: dict[str, Any], footer: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Settings that end the eager protocol where the library itself chose the value.

    Parameters
    ----------
    header, footer
        Of a run record.

    Returns
    -------
    list of dict
        As suspects, but with null for `last_size` and `first_size`: nothing is predicted.
    """
    found = []
    mpi = header.get("mpi", {})
    for entry in _entries(mpi, prove(header, footer).path):
        set_by, value = _value(entry, mpi)
        word = "unset" if value is None else value
        if entry["ends_eager"] and word in entry.get("automatic", []):
            said = "is not set" if value is None else f"= {value}"
            found.append(
                _suspect(entry, word, set_by, None)
                | {"reason": f"{entry['variable']} {said}: the library chooses the size itself"}
            )
    return found


@functools.cache
def catalogue() -> dict[str, Any]:
    """Return the catalogue's content: `settings` and `segments`."""
    text = resources.files("switchpoint").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def _entries(mpi: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Settings of the catalogue that the run's library has and its path can meet."""
    library = mpi_name(mpi.get("library", ""))
    for entry in catalogue()["settings"]:
        names = entry["library"] if isinstance(entry["library"], list) else [entry["library"]]
        needed = entry.get("only_with", {})
        if (
            library.startswith(tuple(names))
            and _on_path(entry["path"], path)
            and re.search(entry.get("built_with", ""), mpi.get("description", ""))
            and all(
                re.fullmatch(pattern, str(mpi.get("cvars", {}).get(name, "")))
                for name, pattern in needed.items()
            )
        ):
            yield entry


def _suspect(entry: dict[str, Any], value: object, set_by: str, last: int | None) -> dict[str, Any]:
    return {
        "name": entry["variable"],
        "value": value,
        "set_by": set_by,
        "last_size": last,
        "first_size": None if last is None else last + 1,
        "governs": entry["governs"],
        "source": entry["source"],
        "ends_eager": entry["ends_eager"],
        "environment": entry["environment"],
        "last_size_offset": entry["last_size_offset"],
        "most_bytes": entry.get("most_bytes"),
    }


def _settings(mpi: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """What the run's settings predict, where they have values in bytes."""
    for entry in _entries(mpi, path):
        set_by, value = _value(entry, mpi)
        number = bytes_of(value)
        if number is None:
            continue
        last = number + entry["last_size_offset"]
        sides = (
            f"last eager byte {last}, first rendezvous byte {last + 1}"
            if entry["ends_eager"]
            else f"last size {last}, first past it {last + 1}"
        )
        yield _suspect(entry, value, set_by, last) | {
            "reason": f"{entry['variable']} = {value} {entry['offset_is']}: {sides}"
        }


def _segments(mpi: dict[str, Any], proof: Proof) -> Iterator[dict[str, Any]]:
    """What fills whole TCP segments on the path that the run is proved to have taken."""
    library = mpi_name(mpi.get("library", ""))
    for entry in catalogue()["segments"]:
        built = re.search(entry.get("built_with", ""), mpi.get("description", ""))
        if library.startswith(entry["library"]) and built and (segment := proof.tcp_segment):
            for count in range(1, entry["most_segments"] + 1):
                yield _segment_suspect(entry, proof, segment, count)


def _segment_suspect(
    entry: dict[str, Any], proof: Proof, segment: int, count: int
) -> dict[str, Any]:
    last = count * segment - entry["message_header"]
    segments = "a TCP segment" if count == 1 else f"{count} TCP segments"
    holds = "holds" if count == 1 else "hold"
    where = "one segment" if count == 1 else f"{count} segments"
    return {
        "name": f"TCP segment on {proof.interface}",
        "value": segment,
        "set_by": "interface",
        "last_size": last,
        "first_size": last + 1,
        "governs": entry["governs"],
        "reason": f"{segments} on {proof.interface} (MTU {proof.mtu}) {holds} {count * segment} B,"
        f" {entry['message_header']} B of them header: last size in {where} {last}",
        "source": entry["source"],
        "ends_eager": False,
        "environment": None,
        "last_size_offset": None,
        "most_bytes": None,
    }


def _on_path(where: str, path: str) -> bool:
    return where == "any" or path in {"unknown", where}


def _value(entry: dict[str, Any], mpi: dict[str, Any]) -> tuple[str, object]:
    cvars = mpi.get("cvars", {})
    if entry["variable"] in cvars:
        return "MPI_T", cvars[entry["variable"]]
    value = mpi.get("environment", {}).get(entry["environment"])
    if value is None and "default" in entry:
        return "default", entry["default"]
    return "environment", value
