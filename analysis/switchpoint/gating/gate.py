"""Compares a session with its baseline sessions and says what changed: `switchpoint gate`."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating import absences, accepted, changes, presence, values
from switchpoint.gating.by_curve import by_curve
from switchpoint.gating.circumstances import facts_of_runs
from switchpoint.gating.continuity import continued, reported, settled
from switchpoint.gating.current import Current, Draft
from switchpoint.gating.kept import (
    keep_verdict,
    kept_findings,
    kept_verdicts,
    parameters_of_launches,
)
from switchpoint.gating.kinds import ABSENCES, GateFinding
from switchpoint.gating.points import (
    NO_POINTS,
    POINT_COLUMNS,
    points_of,
    since_accepted,
    without_repaired,
)
from switchpoint.gating.policy import Policy, maintenance_at
from switchpoint.gating.rules import drafts as rule_drafts
from switchpoint.gating.sessions import Sessions, span_of
from switchpoint.gating.value_sessions import calendar
from switchpoint.gating.verdict import Verdict, in_order
from switchpoint.store.lost_runs import lost_warnings
from switchpoint.store.not_taken import not_taken_of
from switchpoint.store.store import Store

#: So many sessions are read at once.
_SESSIONS_AT_ONCE = 8


def gate(
    store: Store | str,
    session: str | None = None,
    *,
    site: str | None = None,
    policy: Policy | None = None,
    history: int | None = None,
    failed_checks: Sequence[tuple[str, str]] = (),
    rules: Sequence[str | os.PathLike[str]] = (),
    keep: bool = False,
) -> Verdict:
    """Compare a session with the sessions before it.

    Parameters
    ----------
    store
        The store, or its folder or URL.
    session
        Label `session` of the runs to judge; by default the session that was stored last.
    site
        Judge only runs of this site.
    policy
        What matters at this site; see `load_policy`.
    history
        Number of baseline sessions, by default the policy's.
    failed_checks
        Name and reason of each check that failed or was skipped.
    rules
        Folders with rules of `switchpoint tune`: whether they suit the session, and which of them
        its launches with rules and without show to win no more.
    keep
        Store the verdict, its findings, and the parameters of the session's launches. If the store
        cannot be written, a warning says so.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        If there is no such session or store, or a folder has no rules.
    """
    store = store if isinstance(store, Store) else Store(store)
    policy = policy or Policy()
    single = store.single_values(site=site)
    most = history or policy.baseline_sessions
    chosen = calendar(store, single, session, site, most, policy.maintenance)
    sessions = chosen.sessions
    current, not_taken = _read(store, sessions, site)
    curves = None
    if current.sessions.current and len(current.curves):
        curves = by_curve(current.points)
    drafts = [
        *absences.drafts(current, failed_checks),
        *rule_drafts(current, store, rules),
        *(changes.drafts(current, curves, policy) if len(current.curves) else []),
        *values.drafts(chosen.values, chosen.starts_utc, policy, current.acceptances),
    ]
    rows = _decided(store, current, drafts, chosen.starts_utc, policy)
    window = maintenance_at(sessions.starts_utc[-1], policy.maintenance)
    what = f"the session ran during maintenance, so nothing fails ({window})"
    excused = [DataWarning("maintenance", what)] if window else []
    verdict = Verdict(
        current.sessions.session,
        current.sessions.starts_utc[-1],
        current.sessions.current,
        current.current_curves,
        in_order([row | {"fails": False} for row in rows] if window else rows),
        list(
            dict.fromkeys(
                [
                    *excused,
                    *not_taken_of(single),
                    *current.sessions.warnings,
                    *not_taken,
                    *current.limits,
                ]
            )
        ),
        pd.DataFrame() if curves is None else parameters_of_launches(current, curves),
        policy.maintenance,
        chosen.site,
        current.power,
    )
    if keep:
        try:
            keep_verdict(store, verdict)
        except InputError as error:
            what = f"the findings of this session were not kept: {error}"
            verdict.warnings.append(DataWarning("not_kept", what))
    return verdict


def _decided(
    store: Store, current: Current, drafts: list[Draft], starts_utc: list[str], policy: Policy
) -> list[GateFinding]:
    """Return findings as rows, with what earlier gates reported of the same curves."""
    earlier = reported(store, current.sessions.starts_utc[-1])
    rows = continued(map(current.described, drafts), earlier, starts_utc)
    rows = [current.decided(row, policy) for row in rows]
    current.limits.extend(settled(rows, earlier, starts_utc, policy.settled_after_sessions))
    return rows


def judged_last(store: Store) -> list[Verdict]:
    """Return what the gate said last of the session that was stored last, of each site.

    That gate may have had another policy, the results of checks, and the launches of `--confirm`.
    What no gate judged, the session or one of its sites, is judged now, by the defaults. A session
    that no gate judged may be a few checks that somebody ran by hand, so nothing is missing there.

    Returns
    -------
    list of Verdict
        In the order of the names of their sites. One verdict without a site is of all those that
        were not judged alone.

    Raises
    ------
    InputError
        If there is no session.
    """
    chosen = calendar(store, store.single_values(), None, None, 1)
    session, sites = chosen.sessions.session, chosen.sites
    known = kept_verdicts(store, session, sites)
    if not known:
        verdict = gate(store)
        earlier = kept_findings(store, session, None)
        if earlier:
            return [replace(verdict, findings=in_order(earlier))]
        present = ~verdict.findings["kind"].isin(ABSENCES)
        return [replace(verdict, findings=verdict.findings[present])]
    judged = {verdict.site for verdict in known}
    others = [site for site in sites if site not in judged] if None not in judged else []
    known += [gate(store, session, site=site) for site in others]
    return sorted(known, key=lambda verdict: verdict.site or "")


def _read(store: Store, sessions: Sessions, site: str | None) -> tuple[Current, list[DataWarning]]:
    """Read the points of the session and its baseline sessions, and the facts of two sessions.

    Return also what could not be read.
    """
    acceptances, not_taken = accepted.read(store)
    if sessions.runs.empty:
        return Current(sessions, NO_POINTS, sessions.runs, {}, acceptances), not_taken
    not_taken += lost_warnings(store.files, store.without_runs().lost)
    tables = _tables(store, sessions, site, not_taken)
    points = points_of(tables, sessions.runs, sessions.current + 1)
    if points.launches.empty:
        raise InputError(
            store.url,
            "the runs of these sessions have no curves; `switchpoint store verify` names the files"
            " that are missing or damaged",
        )
    absent = presence.absent(points)
    points = since_accepted(points, acceptances, sessions.starts_utc)
    points = without_repaired(points, sessions.confirmed, sessions.starts_utc)
    before = sessions.runs_of(max(sessions.sound(), default=0))
    facts = _facts(store, before, not_taken)
    facts |= _facts(store, sessions.runs_of(sessions.current), not_taken)
    for _, runs in (
        sessions.elsewhere.groupby("site", observed=True) if len(sessions.elsewhere) else ()
    ):
        facts |= _facts(store, runs, not_taken)
    return Current(sessions, points, before, facts, acceptances, absent), not_taken


def _tables(
    store: Store, sessions: Sessions, site: str | None, not_taken: list[DataWarning]
) -> Iterator[pd.DataFrame]:
    """Read the points of some sessions at a time, which needs less memory than all at once.

    What could not be read is added to `not_taken`.
    """
    edges = [*sessions.starts_utc[::_SESSIONS_AT_ONCE], None]
    for since, until in itertools.pairwise(edges):
        if since != until:
            table = store.curves(POINT_COLUMNS, since=since, until=until, site=site)
            not_taken += not_taken_of(table)
            yield table


def _facts(
    store: Store, runs: pd.DataFrame, not_taken: list[DataWarning]
) -> dict[str, Mapping[str, str]]:
    """Read the facts of a session's runs. What could not be read is added to `not_taken`."""
    facts = store.facts(**span_of(runs))
    not_taken += not_taken_of(facts)
    return facts_of_runs(facts[facts["run_id"].isin(runs["run_id"])])
