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
from switchpoint.proof import prove

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
        catalogue's order, each a dictionary: `name`, `value`, `set_by` (`MPI_T` or `environment` or
        `interface`), `last_size`, `first_size` (the two sides, in bytes, that this setting
        predicts), `governs`, `reason` (one sentence), `source`.
    """
    candidates = list(_candidates(header, footer)) if header else []

    def within(last_size_before: int, size_bytes: int) -> list[dict[str, Any]]:
        return [
            suspect for suspect in candidates
            if last_size_before <= suspect["last_size"] < size_bytes
        ]  # fmt: skip

    return within


@functools.cache
def catalogue() -> dict[str, Any]:
    """Return the catalogue's content: `settings` and `segments`."""
    text = resources.files("switchpoint").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def bytes_of(value: object) -> int | None:
    """Parse a setting's value in bytes, with UCX's or Open MPI's suffixes; None if it has none.

    >>> bytes_of("64k"), bytes_of(65536), bytes_of("auto")
    (65536, 65536, None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKmMgG]?)[iI]?[bB]?", str(value).strip())
    if found is None:
        return None
    scale = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}[found[2].lower()]
    return int(float(found[1]) * scale)


def _candidates(header: dict[str, Any], footer: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    proof = prove(header, footer)
    mpi = header.get("mpi", {})
    library = mpi_name(mpi.get("library", ""))
    for entry in catalogue()["settings"]:
        if not library.startswith(entry["library"]) or not _on_path(entry["path"], proof.path):
            continue
        set_by, value = _value(entry, mpi)
        number = bytes_of(value)
        if number is None:
            continue
        last = number + entry["last_eager_offset"]
        yield {
            "name": entry["variable"],
            "value": value,
            "set_by": set_by,
            "last_size": last,
            "first_size": last + 1,
            "governs": entry["governs"],
            "reason": f"{entry['variable']} = {value} {entry['offset_is']}:"
            f" last eager byte {last}, first rendezvous byte {last + 1}",
            "source": entry["source"],
        }
    for entry in catalogue()["segments"]:
        if library.startswith(entry["library"]) and proof.path == "network" and proof.mtu:
            segment = min(proof.mtu, entry["largest_packet"]) - entry["headers"]
            last = segment - entry["message_header"]
            yield {
                "name": f"TCP segment on {proof.interface}",
                "value": segment,
                "set_by": "interface",
                "last_size": last,
                "first_size": last + 1,
                "governs": entry["governs"],
                "reason": f"a TCP segment on {proof.interface} (MTU {proof.mtu}) holds {segment} B,"
                f" {entry['message_header']} B of them header: last size in one segment {last}",
                "source": entry["source"],
            }


def _on_path(where: str, path: str) -> bool:
    return where == "any" or path in {"unknown", where}


def _value(entry: dict[str, Any], mpi: dict[str, Any]) -> tuple[str, object]:
    cvars = mpi.get("cvars", {})
    if entry["variable"] in cvars:
        return "MPI_T", cvars[entry["variable"]]
    return "environment", mpi.get("environment", {}).get(entry["environment"])
