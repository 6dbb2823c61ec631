"""Names settings of a run that may have caused a step: those whose value lies in its bracket.

The catalogue (`catalogue.yaml`) holds what is known of each setting. A suspicion is never a proof.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from switchpoint.explanation.applicable import segments_of, settings_of
from switchpoint.explanation.catalogue import Segment, Setting
from switchpoint.records.run_facts import Proof, prove
from switchpoint.tables.measurements import mpi_name
from switchpoint.tables.units import bytes_of

Suspects = Callable[[int, int], list[dict[str, Any]]]

#: A setting may be so far past the last eager byte and still be suspected of it: its value counts
#: the message's headers in. They took 36 to 80 B wherever they were seen; three times that leaves
#: room for libraries to come, and is less than what lies between limits that people set.
MOST_HEADER_BYTES = 256

#: What sets collectives alone, as Open MPI and MPICH name it.
_COLLECTIVE = re.compile(
    r"^coll_|_(I?(ALL|BCAST|BARRIER|GATHER|SCATTER|REDUCE|RED|SCAN|EXSCAN|NEIGHBOR))", re.IGNORECASE
)


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
        (bytes from the value to `last_size`), and what values it takes: `most_bytes`,
        `multiple_of`, and `only_down` (whether larger values than the one in use fail).
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


def eager_suspects(
    header: dict[str, Any], footer: dict[str, Any] | None, last_eager: int
) -> list[dict[str, Any]]:
    """Settings that may end the eager protocol past a size that is known to the byte.

    Parameters
    ----------
    header, footer
        Of a run record; an empty header gives none.
    last_eager
        The last size, in bytes, that MPI_Send sent without waiting for its receiver.

    Returns
    -------
    list of dict
        As of `suspects_of_run`, the likeliest first: settings that predict this size; settings of
        the catalogue whose value leaves room for a header past it, which is learned then
        (`learned`: its bytes); settings that leave the size to the library; and only where there
        are none of these, settings that the catalogue does not know and that leave such room.
    """
    if not header:
        return []
    mpi, path = header.get("mpi", {}), prove(header, footer).path
    exact = [
        suspect for suspect in suspects_of_run(header, footer)(last_eager, last_eager + 1)
        if suspect["ends_eager"]
    ]  # fmt: skip
    named = {suspect["name"] for suspect in exact}
    learned = []
    for entry in settings_of(mpi, path):
        set_by, value = _value(entry, mpi)
        number = bytes_of(value)
        if number is None or entry.variable in named or not entry.ends_eager:
            continue
        if last_eager <= number <= last_eager + MOST_HEADER_BYTES:
            learned.append(_learned_suspect(entry, mpi, set_by, number, last_eager))
    known = [*exact, *learned, *governing(header, footer)]
    return known or list(_unlisted(mpi, last_eager))


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
    for entry in settings_of(mpi, prove(header, footer).path):
        set_by, value = _value(entry, mpi)
        word = "unset" if value is None else value
        if entry.ends_eager and word in entry.automatic:
            said = "is not set" if value is None else f"= {value}"
            found.append(
                _suspect(entry, word, set_by, None, _offset(entry, mpi)[0])
                | {"reason": f"{entry.variable} {said}: the library chooses the size itself"}
            )
    return found


def _series(mpi: dict[str, Any]) -> str:
    """Series of versions that a library belongs to, such as `5.0` of Open MPI 5.0.7."""
    found = re.search(r"(\d+\.\d+)", mpi_name(mpi.get("library", "")))
    return found[1] if found else ""


def _offset(entry: Setting, mpi: dict[str, Any]) -> tuple[int, str]:
    """Bytes from a setting's value to the last size that goes the old way; the same in words."""
    if entry.last_size_offset is not None:
        return entry.last_size_offset, entry.offset_is
    headers = entry.header_bytes or {}
    series = _series(mpi)
    if series in headers:
        return -headers[series], f"less {headers[series]} B header"
    newest = max(headers, key=lambda known: [int(number) for number in known.split(".")])
    return -headers[newest], f"less {headers[newest]} B header, as in {newest}"


def _suspect(
    entry: Setting, value: object, set_by: str, last: int | None, offset: int
) -> dict[str, Any]:
    return {
        "name": entry.variable,
        "value": value,
        "set_by": set_by,
        "last_size": last,
        "first_size": None if last is None else last + 1,
        "governs": entry.governs,
        "source": entry.source,
        "ends_eager": entry.ends_eager,
        "environment": entry.environment,
        "last_size_offset": offset,
        "most_bytes": entry.most_bytes,
        "multiple_of": entry.multiple_of,
        "only_down": entry.only_down,
        "learned": None,
    }


def _learned_suspect(
    entry: Setting, mpi: dict[str, Any], set_by: str, value: int, last: int
) -> dict[str, Any]:
    """A setting whose value ends past a size, less a header that nobody has seen yet."""
    room = value - last
    return _suspect(entry, value, set_by, last, -room) | {
        "learned": room,
        "reason": f"{entry.variable} = {value} lies {room} B past the last eager byte {last}:"
        " room for a header",
        "reason_moved": f"{entry.variable} = {value} less {room} B header (learned:"
        f" {mpi_name(mpi.get('library', ''))}): last eager byte {last}, first rendezvous byte"
        f" {last + 1}",
    }


def _unlisted(mpi: dict[str, Any], last: int) -> Iterator[dict[str, Any]]:
    """Settings of the library, not of the catalogue, with room for a header past a size.

    Those that are named after the eager protocol come first.
    """
    library = mpi_name(mpi.get("library", ""))
    by_name = sorted(mpi.get("cvars", {}).items(), key=lambda item: "eager" not in item[0].lower())
    for name, value in by_name:
        environment = _environment_of(library, name)
        if environment is None or not isinstance(value, int):
            continue
        if last <= value <= last + MOST_HEADER_BYTES and not _COLLECTIVE.search(name):
            entry = Setting(
                variable=name,
                environment=environment,
                library=[library],
                last_size_offset=0,
                ends_eager=True,
                governs="not in the catalogue",
                source="the library's own list of settings (MPI_T); not in the catalogue",
            )
            yield _learned_suspect(entry, mpi, "MPI_T", value, last)


def _environment_of(library: str, cvar: str) -> str | None:
    """Environment variable that sets a control variable, where the library has such a rule."""
    if library.startswith("Open MPI"):
        return f"OMPI_MCA_{cvar}"
    return cvar if cvar.startswith("MPIR_CVAR_") else None


def _settings(mpi: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """What the run's settings predict, where they have values in bytes."""
    for entry in settings_of(mpi, path):
        set_by, value = _value(entry, mpi)
        number = bytes_of(value)
        if number is None:
            continue
        offset, offset_is = _offset(entry, mpi)
        last = number + offset
        sides = (
            f"last eager byte {last}, first rendezvous byte {last + 1}"
            if entry.ends_eager
            else f"last size {last}, first past it {last + 1}"
        )
        yield _suspect(entry, value, set_by, last, offset) | {
            "reason": f"{entry.variable} = {value} {offset_is}: {sides}"
        }


def _segments(mpi: dict[str, Any], proof: Proof) -> Iterator[dict[str, Any]]:
    """What fills whole TCP segments on the path that the run is proved to have taken."""
    if segment := proof.tcp_segment:
        for entry in segments_of(mpi, proof.path):
            for count in range(1, entry.most_segments + 1):
                yield _segment_suspect(entry, proof, segment, count)


def _segment_suspect(entry: Segment, proof: Proof, segment: int, count: int) -> dict[str, Any]:
    last = count * segment - entry.message_header
    segments = "a TCP segment" if count == 1 else f"{count} TCP segments"
    holds = "holds" if count == 1 else "hold"
    where = "one segment" if count == 1 else f"{count} segments"
    return {
        "name": f"TCP segment on {proof.interface}",
        "value": segment,
        "set_by": "interface",
        "last_size": last,
        "first_size": last + 1,
        "governs": entry.governs,
        "reason": f"{segments} on {proof.interface} (MTU {proof.mtu}) {holds} {count * segment} B,"
        f" {entry.message_header} B of them header: last size in {where} {last}",
        "source": entry.source,
        "ends_eager": False,
        "environment": None,
        "last_size_offset": None,
        "most_bytes": None,
        "multiple_of": 1,
        "only_down": False,
        "learned": None,
    }


def _value(entry: Setting, mpi: dict[str, Any]) -> tuple[str, object]:
    cvars = mpi.get("cvars", {})
    if entry.variable in cvars:
        return "MPI_T", cvars[entry.variable]
    value = mpi.get("environment", {}).get(entry.environment)
    if value is None and entry.default is not None:
        return "default", entry.default
    return "environment", value
