"""Names settings of a run that may have caused a step, because their value lies in its bracket.

The catalogue (`catalogue.yaml`) describes each known setting. A suspicion is never a proof.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from switchpoint.explanation.applicable import segments_of, settings_of, value_of
from switchpoint.explanation.catalogue import Segment, Setting
from switchpoint.explanation.in_use import InUse, settings_in_use
from switchpoint.records.run_facts import Proof, prove
from switchpoint.tables.findings import SettingValue, Suspect
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.units import bytes_of

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header, Mpi

Suspects = Callable[[int, int], list[Suspect]]

#: A setting may lie this far above the last eager byte and still be suspected, because its value
#: includes the message's headers. All headers that were seen have 36 to 80 B. Three times that is
#: enough for new libraries, and less than the distance between limits that people set.
MOST_HEADER_BYTES = 256


#: What a setting governs of which only the run's own list says something.
_UNLISTED = "not in the catalogue"


def suspects_of_run(header: Header, footer: Footer | None) -> Suspects:
    """Prepare the settings of one run for matching.

    Parameters
    ----------
    header, footer
        Of a run record. An empty header (other formats) gives no suspects.

    Returns
    -------
    callable
        It takes the last size before a step and the first size after it, in bytes, and returns
        the suspects in the catalogue's order. Each is a dictionary: `name`, `value`, `set_by`
        (`MPI_T`, `UCX`, `libfabric`, `glibc`, `environment`, `default` or `interface`),
        `last_size`, `first_size` (the two sides, in bytes, that this setting predicts), `governs`,
        `reason` (one sentence), `source`, `ends_eager`; and for settings that can be set, otherwise
        None: `environment` (the variable that sets it) and `most_bytes` (larger values fail).
    """
    candidates: list[tuple[Suspect, int]] = []
    if header:
        proof = prove(header, footer)
        mpi = header.get("mpi", {})
        candidates = [
            *_settings(mpi, proof, footer),
            *((suspect, 0) for suspect in _segments(mpi, proof, footer)),
            *((suspect, 0) for suspect in _protocols(footer)),
        ]

    def within(last_size_before: int, size_bytes: int) -> list[Suspect]:
        return [
            suspect for suspect, later in candidates
            if (last := suspect["last_size"]) is not None
            and last_size_before - later <= last < size_bytes
        ]  # fmt: skip

    return within


def eager_suspects(header: Header, footer: Footer | None, last_eager: int) -> list[Suspect]:
    """Return settings that may end the eager protocol after a size that is known to the byte.

    Parameters
    ----------
    header, footer
        Of a run record. An empty header gives none.
    last_eager
        The last size, in bytes, that MPI_Send sent without waiting for its receiver.

    Returns
    -------
    list of dict
        As from `suspects_of_run`, the most likely first: settings that predict this size; settings
        of the catalogue whose value leaves room for a header; settings that leave the size to the
        library; settings that are not in the catalogue and leave room for a header.
    """
    if not header:
        return []
    mpi, proof = header.get("mpi", {}), prove(header, footer)
    exact = [
        suspect for suspect in suspects_of_run(header, footer)(last_eager, last_eager + 1)
        if suspect["ends_eager"]
    ]  # fmt: skip
    named = {suspect["name"] for suspect in exact}
    roomy = []
    for entry in _of_run(mpi, proof, footer):
        set_by, value = value_of(entry, mpi, proof.path)
        number = bytes_of(value)
        if number is None or entry.variable in named or not entry.ends_eager:
            continue
        if last_eager <= number <= last_eager + MOST_HEADER_BYTES:
            roomy.append(_roomy_suspect(entry, mpi, set_by, number, last_eager))
    known = [*exact, *roomy, *governing(header, footer)]
    names = {suspect["name"] for suspect in known}
    return [*known, *(one for one in _unlisted(header, last_eager) if one["name"] not in names)]


def governing(header: Header, footer: Footer | None) -> list[Suspect]:
    """Return settings that end the eager protocol and whose value the library chose.

    Parameters
    ----------
    header, footer
        Of a run record.

    Returns
    -------
    list of dict
        Like suspects, but `last_size` and `first_size` are null, because nothing is predicted.
    """
    settings = []
    mpi, proof = header.get("mpi", {}), prove(header, footer)
    for entry in _of_run(mpi, proof, footer):
        set_by, value = value_of(entry, mpi, proof.path)
        word = "unset" if value is None else value
        if entry.ends_eager and word in entry.automatic:
            said = "is not set" if value is None else f"= {value}"
            reason = f"{entry.variable} {said}: the library chooses the size itself"
            settings.append(_suspect(entry, word, set_by, None, f"{reason}{_not_seen(entry)}"))
    return settings


def series_of(mpi: Mpi) -> str:
    """Return the series of an MPI library's version, such as `5.0` for Open MPI 5.0.7."""
    match = re.search(r"(\d+\.\d+)", mpi_name(mpi.get("library", "")))
    return match[1] if match else ""


def _offset(entry: Setting, mpi: Mpi) -> tuple[int, str]:
    """Return the bytes from a setting's value to the last size before it acts; also in words."""
    if entry.last_size_offset is not None:
        return entry.last_size_offset, entry.offset_is
    headers = entry.header_bytes or {}
    series = series_of(mpi)
    if series in headers:
        return -headers[series], f"less {headers[series]} B header"
    newest = max(headers, key=lambda known: [int(number) for number in known.split(".")])
    return -headers[newest], f"less {headers[newest]} B header, as in {newest}"


def _suspect(
    entry: Setting, value: SettingValue, set_by: str, last: int | None, reason: str
) -> Suspect:
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
        "most_bytes": entry.most_bytes,
        "reason": reason,
    }


def _roomy_suspect(entry: Setting, mpi: Mpi, set_by: str, value: int, last: int) -> Suspect:
    """Return a suspect whose value less an unknown header is the last eager size."""
    reason = (
        f"{entry.variable} = {value} lies {value - last} B above the last eager byte {last}:"
        f" room for a header{_not_seen(entry)}"
    )
    return _suspect(entry, value, set_by, last, reason)


def _unlisted(header: Header, last: int) -> Iterator[Suspect]:
    """Return settings that are not in the catalogue and leave room for a header after a size.

    Settings that are named after the eager protocol come first.
    """
    mpi = header.get("mpi", {})
    near = [
        setting for setting in settings_in_use(header).values()
        if setting.sized and setting.number is not None
        and last <= setting.number <= last + MOST_HEADER_BYTES
    ]  # fmt: skip
    near.sort(key=lambda setting: re.search("eager|rndv|thresh", setting.name, re.I) is None)
    for setting in near:
        entry = _entry_of(setting)
        yield _roomy_suspect(entry, mpi, setting.source, setting.number or 0, last)


def unlisted_suspect(base: InUse | None, changed: InUse) -> Suspect:
    """Return a setting of which nothing is known but that it was changed, like a suspect.

    Parameters
    ----------
    base, changed
        The setting in the switch's run, if it is listed there, and in the run that changed it.
    """
    value = base.value if base else "unset"
    source = base.source if base else changed.source
    return _suspect(_entry_of(changed), value, source, None, "")


def _entry_of(setting: InUse) -> Setting:
    return Setting(
        variable=setting.name,
        environment=setting.environment,
        library=["any"],
        last_size_offset=0,
        ends_eager=True,
        governs=_UNLISTED,
        source=f"the run's own list of settings ({setting.source}); not in the catalogue",
    )


def _of_run(mpi: Mpi, proof: Proof, footer: Footer | None) -> Iterator[Setting]:
    """Return the entries of the catalogue that count for a run."""
    return settings_of(mpi, proof.path, footer, counted=proof.interface is not None)


def _not_seen(entry: Setting) -> str:
    """Return words for an entry that comes from documentation alone."""
    return "" if entry.verified or entry.governs == _UNLISTED else "; not seen here"


def _settings(mpi: Mpi, proof: Proof, footer: Footer | None) -> Iterator[tuple[Suspect, int]]:
    """Return what the run's settings predict, if they have values in bytes.

    With each comes by how many bytes the step may be above the size that is predicted.
    """
    for entry in _of_run(mpi, proof, footer):
        set_by, value = value_of(entry, mpi, proof.path)
        number = bytes_of(value)
        if number is None:
            continue
        offset, offset_is = _offset(entry, mpi)
        last = number + offset
        sides = (
            f"last eager byte {last}, first rendezvous byte {last + 1}"
            if entry.ends_eager
            else f"last size {last}, first size after it {last + 1}"
        )
        reason = f"{entry.variable} = {value} {offset_is}: {sides}{_not_seen(entry)}"
        yield _suspect(entry, value, set_by, last, reason), entry.later_bytes


def _segments(mpi: Mpi, proof: Proof, footer: Footer | None) -> Iterator[Suspect]:
    """Return sizes that fill whole TCP segments on the run's proved path, as suspects."""
    if segment := proof.tcp_segment:
        for entry in segments_of(mpi, proof.path, footer):
            for count in range(1, entry.most_segments + 1):
                yield _segment_suspect(entry, proof, segment, count)


def _protocols(footer: Footer | None) -> Iterator[Suspect]:
    """Return the sizes at which UCX says that it changes its protocol, as suspects."""
    for endpoint in (footer["ranks"][0].get("ucx_endpoints") or []) if footer else []:
        for before, after in pairwise(endpoint["tag_send"]):
            last = before["last_bytes"]
            if last is not None and last + 1 == after["first_bytes"]:
                yield _protocol_suspect(before["protocol"], after["protocol"], last)


def _protocol_suspect(before: str, after: str, last: int) -> Suspect:
    return {
        "name": f"UCX's change from '{before}' to '{after}'",
        "value": None,
        "set_by": "UCX",
        "last_size": last,
        "first_size": last + 1,
        "governs": "the protocol that UCX chooses by size",
        "reason": f"UCX lists that it sends up to {last} B by '{before}', and more by '{after}'",
        "source": "the running library's own table of protocols (ucp_ep_print_info)",
        "ends_eager": "rend" in after or "rndv" in after,
        "environment": None,
        "most_bytes": None,
    }


def _segment_suspect(entry: Segment, proof: Proof, segment: int, count: int) -> Suspect:
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
        "most_bytes": None,
    }
