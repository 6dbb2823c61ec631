"""Guesses why a run is slower than another that should not be faster: what its cores did.

Two nodes of one host may have to share a core, or other work may run on their cores;
bench/placement_order.py changes these on the testbed, one at a time, and measures what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchpoint.records.core_use import CoreUse, core_uses
from switchpoint.records.run_facts import prove
from switchpoint.tables.findings import Origin
from switchpoint.tables.measurements import Facts

if TYPE_CHECKING:
    pass

#: Other work counts from this share of the ranks' cores on, if it is this many times that of the
#: faster run.
_LEAST_SHARE = 0.1
_TIMES_THE_OTHER = 2.0

_SOURCE = "counters of the cores in both records; bench/placement_order.py changes their causes"


def slower_because(slower: Facts, faster: Facts) -> Origin | None:
    """Compare what the cores of two runs did.

    Parameters
    ----------
    slower, faster
        Header and footer of the run records. Empty headers (other formats) give no guess.

    Returns
    -------
    dict or None
        As an origin: `guess` (`shared_core` or `other_work`), `means`, `evidence` (sentences),
        `source`.
    """
    slow, fast = core_uses(*slower), core_uses(*faster)
    if not slow or not fast:
        return None
    oversubscribed = [use for use in slow if use.too_few]
    if oversubscribed and not any(use.too_few for use in fast):
        return _guess(
            "shared_core",
            "ranks wait for each other's turn on a core, which they do not where each has its own",
            [_oversubscription(use) for use in oversubscribed] + _taken_off(slower, faster),
        )
    lost, least = max(use.others for use in slow), max(use.others for use in fast)
    if lost >= _LEAST_SHARE and lost >= _TIMES_THE_OTHER * least:
        busy = max(slow, key=lambda use: use.others)
        return _guess(
            "other_work",
            "other processes, or a hypervisor, use the ranks' cores",
            [
                f"other work used {lost:.0%} of {_cores(busy)} during the slower run,"
                f" {least:.0%} at most during the faster one",
                *_taken_off(slower, faster),
            ],
        )
    return None


def _guess(name: str, means: str, evidence: list[str]) -> Origin:
    return {"guess": name, "means": means, "evidence": evidence, "source": _SOURCE}


def _oversubscription(use: CoreUse) -> str:
    ranks = ", ".join(map(str, use.ranks))
    return f"in the slower run ranks {ranks} may only use {_cores(use)}"


def _cores(use: CoreUse) -> str:
    return f"core{'s' if len(use.cores) > 1 else ''} {', '.join(map(str, use.cores))}"


def _taken_off(slower: Facts, faster: Facts) -> list[str]:
    counts = [prove(*facts).involuntary_switches for facts in (slower, faster)]
    if None in counts:
        return []
    return [f"its ranks were taken off their cores {counts[0]:,} times, the others' {counts[1]:,}"]
