"""Findings about what is missing tonight, or cannot be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from switchpoint.gating import presence
from switchpoint.gating.factors import groups_of
from switchpoint.gating.night import Draft, Night
from switchpoint.gating.words import counted, named, shared_by
from switchpoint.tables.sweeps import Indices

#: What curves of one test have in common.
_OF_TEST = ["site", "partition", "environ", "mpi", "kernel"]


def found(night: Night, failed_checks: Sequence[tuple[str, str]] = ()) -> Iterator[Draft]:
    """Yield what is missing, failed, incomplete, elsewhere, or at the wrong time.

    Parameters
    ----------
    night
        The judged session.
    failed_checks
        Name and reason of each check that failed or was skipped.
    """
    yield from _clock(night)
    yield from _machine(night)
    yield from _failed(night, failed_checks)
    yield from _missing(night)
    yield from _incomplete(night)
    yield from _misplaced(night)


def _clock(night: Night) -> Iterator[Draft]:
    if back := night.nights.clock_back:
        yield Draft(
            "clock_went_back",
            "",
            f"session `{night.nights.session}` starts before `{back[-1]}`, which was stored"
            " earlier: the clock went back, or old results were imported (then name the session to"
            " judge with --session)",
            place=(back[-1],),  # the same for all nights before it
            shared=_site(night),
        )


def _machine(night: Night) -> Iterator[Draft]:
    if other := presence.other_machine(night.nights, night.facts, night.before):
        before, now = other
        yield Draft(
            "wrong_site",
            "",
            f"ran on {now}, but earlier nights of this site on {before}; no host is the same",
            place=(now,),
            shared=_site(night),
            facts=({"fact": "machine", "before": before, "now": now},),
        )
    if same := presence.same_machine(night.nights, night.facts):
        site, machine = same
        yield Draft(
            "wrong_site",
            "",
            f"ran on {machine} as earlier nights of the site `{site}` did, and the site of this"
            " session has no earlier night: it may have a new name",
            place=(site,),
            shared=_site(night),
        )


def _failed(night: Night, failed_checks: Sequence[tuple[str, str]]) -> Iterator[Draft]:
    for name, reason in failed_checks:
        yield Draft("failed_check", "", f"check `{name}` {reason}", place=(name,))


def _missing(night: Night) -> Iterator[Draft]:
    """Yield a finding for each group of curves that are missing together."""
    why = ""
    if night.absent.all_new:
        why = (
            "; no curve of this session was measured before, so a partition, an environment, a"
            " placement or a label may have a new name"
        )
    for curves in _covered(night.curves, night.absent.missing):
        shared = shared_by(night.curves, curves)
        words = named(night.curves, curves, shared)
        is_are = "is" if len(curves) == 1 else "are"
        yield Draft(
            "missing_curve",
            "",
            f"{counted(len(curves), 'curve')} of {words} {is_are} missing{why}",
            curves,
            shared=shared,
        )


def _covered(curves: pd.DataFrame, missing: Indices) -> Iterator[Indices]:
    """Divide missing curves into those of a fact that are all missing, and the others by test."""
    left = set(missing.tolist())
    groups = groups_of(curves, [frozenset()] * len(curves)) if left else []
    groups.sort(key=lambda group: -len(group.curves))
    for group in groups:
        inside = set(group.curves.tolist())
        if len(group.shared) < 2 and inside <= left:
            left -= inside
            yield group.curves
    rest = curves.iloc[sorted(left)]
    same = [name for name in _OF_TEST if name in rest]
    for _, own in rest.groupby(same, dropna=False) if len(rest) else ():
        yield own.index.to_numpy()


def _incomplete(night: Night) -> Iterator[Draft]:
    if not night.nights.tonight:
        return
    session = night.nights.session
    cut = presence.truncated(night.nights)
    for site, runs in cut.groupby("site", dropna=False, observed=True) if len(cut) else ():
        number = counted(len(runs), "run")
        yield Draft(
            "incomplete_session",
            "runs",
            f"{number} of `{session}` ended early: the records are truncated",
            # The runs have no curves to tell them by, and those of another night are others.
            place=("truncated", session, number),
            shared={} if pd.isna(site) else {"site": str(site)},
        )
    for one in night.absent.fewer:
        shared = shared_by(night.curves, one.curves)
        name = named(night.curves, one.curves, shared)
        yield Draft(
            "incomplete_session",
            one.what,
            f"only {one.now} {one.what} of {name} instead of {one.before}"
            f" ({counted(len(one.curves), 'curve')})",
            one.curves,
            shared=shared,
            effect=one.change,
        )


def _site(night: Night) -> dict[str, str]:
    """Return the site of the session as what a finding's runs share; empty without one site."""
    runs = night.nights.runs_of(night.nights.tonight)
    sites = runs["site"].dropna().unique().tolist() if len(runs) else []
    return {"site": str(sites[0])} if len(sites) == 1 else {}


def _misplaced(night: Night) -> Iterator[Draft]:
    if not night.nights.tonight:
        return
    placed = presence.misplaced(night.nights, night.facts, night.before)
    launches = night.launches_tonight
    for sentence, runs in placed.items():
        curves = np.unique(launches.loc[launches["run_id"].isin(runs), "curve"])
        yield Draft("placement_unproved", "", sentence, curves, place=(sentence,))
