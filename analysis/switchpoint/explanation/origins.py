"""Guesses the origin of a step, if facts of the run and sibling curves support a guess.

The catalogue (`catalogue.yaml`) contains what is known of each origin. A guess is never a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from switchpoint.explanation.catalogue import Origin, catalogue
from switchpoint.records.run_facts import Proof, prove
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.findings import Origin as FoundOrigin
from switchpoint.tables.units import bytes_of, range_text, size_text

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer
    from switchpoint.records.header import Header

#: Returns the origin of a finding: `guess`, `means`, `evidence` (sentences), `source`; or None.
Origins = Callable[[Anomaly], FoundOrigin | None]

#: What the catalogue can count, by its name in the proof of a run, in singular and plural.
_WHOLES = {
    "tcp_segment": ("TCP segment", "TCP segments"),
    "tcp_bundle": ("bundle of TCP segments", "bundles of TCP segments"),
}


def origins_of_run(header: Header, footer: Footer | None) -> Origins:
    """Prepare one run's facts. An empty header (other formats) gives no guess."""
    if not header:
        return lambda finding: None
    proof = prove(header, footer)
    cvars = header.get("mpi", {}).get("cvars", {})
    between_switches = len(set(proof.hosts)) > 1 and (
        None in proof.switches or len(set(proof.switches)) > 1
    )

    def guess(finding: Anomaly) -> FoundOrigin | None:
        for entry in catalogue().origins:
            if entry.path not in {None, proof.path}:
                continue
            evidence = (
                _fills_cache(entry.cache_level, finding, header)
                if entry.cache_level
                else _supports(entry, finding, proof, cvars, between_switches)
            )
            if evidence:
                return {
                    "guess": entry.origin,
                    "means": entry.means,
                    "evidence": [evidence],
                    "source": entry.source,
                }
        return None

    return guess


def words_of(origin: FoundOrigin) -> str:
    """Return a guessed origin and its evidence in words."""
    return f"{origin['guess'].replace('_', ' ')}: {'; '.join(origin['evidence'])}"


def _fills_cache(level: int, finding: Anomaly, header: Header) -> str | None:
    """Return the sentence which says that a stream's buffers fill a cache in the bracket, or None.

    A stream has a buffer for each message in flight: rank 0 sends from them, and rank 1 receives
    in as many. Streams in both directions have both on each rank. A cache that a machine has once
    holds those of both its ranks.
    """
    window = header.get("plan", {}).get("windows", {}).get(finding.get("mode") or "")
    ranks = header["ranks"]
    topology = ranks[0].get("topology")
    if window is None or topology is None or finding["magnitude"] <= 0:
        return None
    together = len({rank["host"] for rank in ranks}) == 1
    last, first = finding["last_size_before"], finding["size_bytes"]
    for cache in topology["caches"]:
        shared = together and cache["count"] == 1
        sets = (2 if finding["mode"] == "bistream" else 1) * (2 if shared else 1)
        if cache["level"] < level or cache["type"] == "instruction":
            continue
        if last * window * sets <= cache["size_bytes"] < first * window * sets:
            return (
                f"the buffers of {window} messages in flight"
                + (f", {sets} sets of them," if sets > 1 else "")
                + f" fill the L{cache['level']} cache of {size_text(cache['size_bytes'])} in"
                f" {range_text(last, first)}"
            )
    return None


def _supports(
    entry: Origin,
    finding: Anomaly,
    proof: Proof,
    cvars: Mapping[str, Any],
    between_switches: bool,
) -> str | None:
    """Return the sentence that supports an origin, or None."""
    last, first = finding["last_size_before"], finding["size_bytes"]
    bracket = range_text(last, first)
    if entry.setting is not None:
        value = bytes_of(cvars.get(entry.setting))
        if value is not None and last <= value < first:
            return f"{entry.setting} = {value}: the first larger size lies in {bracket}"
    elif finding["magnitude"] <= 0:
        return None
    elif entry.whole is not None and (unit := getattr(proof, entry.whole)):
        one, several = _WHOLES[entry.whole]
        for count in range(1, entry.most + 1):
            if last <= count * unit and first > count * unit - entry.message_header:
                return (
                    f"{count} {several if count > 1 else one} on {proof.interface}"
                    f" (MTU {proof.mtu}) hold{'' if count > 1 else 's'} {count * unit} B less"
                    f" the message's header, which lies in {bracket}"
                )
    elif entry.bandwidth_drop is not None and between_switches:
        evidence = finding["evidence"]
        before, after = evidence["before"]["per_byte_us"], evidence["after"]["per_byte_us"]
        if first >= entry.least_size_bytes and after >= entry.bandwidth_drop * before > 0:
            return f"above {bracket} a byte takes {after / before:.1f} times as long"
    return None
