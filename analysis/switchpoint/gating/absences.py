"""Findings about what is missing in the current session, or cannot be trusted."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.gating.circumstances import SessionRun, measured, nodes_of
from switchpoint.gating.current import Current, Draft
from switchpoint.gating.factors import groups_of
from switchpoint.gating.words import named, shared_by
from switchpoint.models.rules_files import DIGEST_LABEL
from switchpoint.tables.columns import records
from switchpoint.tables.sweeps import Indices
from switchpoint.tables.units import counted

#: What curves of one test have in common.
_OF_TEST = ["site", "partition", "environ", "mpi", "kernel"]


def drafts(current: Current, failed_checks: Sequence[tuple[str, str]]) -> Iterator[Draft]:
    """Yield what is missing, failed, incomplete, elsewhere, or at the wrong time.

    Parameters
    ----------
    current
        The current session.
    failed_checks
        Name and reason of each check that failed or was skipped.
    """
    yield from _clock(current)
    yield from _machine(current)
    yield from _failed(failed_checks)
    _tell_of_other_rules(current)
    yield from _missing(current)
    yield from _incomplete(current)
    yield from _misplaced(current)


def _clock(current: Current) -> Iterator[Draft]:
    if back := current.sessions.clock_back:
        yield Draft(
            "clock_went_back",
            "",
            f"session `{current.sessions.session}` starts before `{back[-1]}`, which was stored"
            " earlier: the clock went back, or old results were imported (then judge the newest:"
            f" --session {shlex.quote(back[-1])})",
            key=(back[-1],),  # the same for all sessions before it
            shared=_site(current),
        )


def _machine(current: Current) -> Iterator[Draft]:
    """Yield that the hosts and processors are others than before, or those of another site."""
    hosts, models = _hosts(current, current.current_runs)
    old_hosts, old_models = _hosts(current, current.before)
    now = _in_words(hosts, models)
    if hosts and old_hosts and not hosts & old_hosts and not models & old_models:
        before = _in_words(old_hosts, old_models)
        yield Draft(
            "wrong_site",
            "",
            f"ran on {now}, but baseline sessions of this site on {before}; no host is the same",
            key=(now,),
            shared=_site(current),
            facts=({"fact": "machine", "before": before, "now": now},),
        )
    others = current.sessions.elsewhere
    for site, runs in others.groupby("site", observed=True) if len(others) else ():
        other_hosts, other_models = _hosts(current, runs)
        if (common := hosts & other_hosts) and models == other_models:
            yield Draft(
                "wrong_site",
                "",
                f"ran on {_in_words(common, models)} as baseline sessions of the site `{site}` did,"
                " and the site of this session has no baseline session: it may have a new name",
                key=(str(site),),
                shared=_site(current),
            )
            return


def _hosts(current: Current, runs: pd.DataFrame) -> tuple[set[str], set[str]]:
    """Return the hosts and processors of some runs."""
    known = [current.facts[run] for run in runs["run_id"] if run in current.facts]
    hosts = {node for facts in known for node in nodes_of(facts)}
    return hosts, {facts["CPU model"] for facts in known if facts.get("CPU model")}


def _in_words(hosts: set[str], models: set[str]) -> str:
    more = f" and {len(hosts) - 3} more" if len(hosts) > 3 else ""
    return f"{', '.join(sorted(hosts)[:3])}{more} ({', '.join(sorted(models))})"


def _failed(failed_checks: Sequence[tuple[str, str]]) -> Iterator[Draft]:
    for name, reason in failed_checks:
        yield Draft("failed_check", "", f"check `{name}` {reason}", key=(name,))


def _missing(current: Current) -> Iterator[Draft]:
    """Yield a finding for each group of curves that are missing together."""
    why = ""
    if current.absent.all_new:
        why = (
            "; no curve of this session was measured before, so a partition, an environment, a"
            " placement or a label may have a new name"
        )
    for curves in _covered(current.curves, current.absent.missing):
        shared = shared_by(current.curves, curves)
        words = named(current.curves, curves, shared)
        is_are = "is" if len(curves) == 1 else "are"
        yield Draft(
            "missing_curve",
            "",
            f"{counted(len(curves), 'curve')} of {words} {is_are} missing{why}",
            curves,
            shared=shared,
        )


def _tell_of_other_rules(current: Current) -> None:
    """Say once which curves go on under other rules of `switchpoint tune`."""
    curves, going_on = current.curves, current.absent.other_rules
    changes: dict[tuple[str, str], list[int]] = {}
    for curve, other in going_on.items():
        before, now = (str(curves[DIGEST_LABEL].iloc[row]) for row in (curve, other))
        changes.setdefault((before, now), []).append(curve)
    for (before, now), rows in changes.items():
        which = np.array(rows, dtype=np.intp)
        name = named(curves, which, shared_by(curves.drop(columns=DIGEST_LABEL), which))
        goes = "goes" if len(rows) == 1 else "go"
        what = (
            f"{counted(len(rows), 'curve')} of {name} {goes} on under other rules ({DIGEST_LABEL}"
            f" {before} -> {now}): times with these rules are compared from the next session on"
        )
        current.limits.append(DataWarning("rules", what))


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
    for _, of_test in rest.groupby(same, dropna=False) if len(rest) else ():
        yield of_test.index.to_numpy()


def _incomplete(current: Current) -> Iterator[Draft]:
    if not current.sessions.current:
        return
    session = current.sessions.session
    cut = current.current_runs[~current.current_runs["complete"].astype(bool)]
    for site, runs in cut.groupby("site", dropna=False, observed=True) if len(cut) else ():
        number = counted(len(runs), "run")
        yield Draft(
            "incomplete_session",
            "runs",
            f"{number} of `{session}` ended early: the records are truncated",
            # The runs have no curves to tell them by, and those of another session are others.
            key=("truncated", session, number),
            shared={} if pd.isna(site) else {"site": str(site)},
        )
    for fewer in current.absent.fewer:
        shared = shared_by(current.curves, fewer.curves)
        name = named(current.curves, fewer.curves, shared)
        yield Draft(
            "incomplete_session",
            fewer.what,
            f"only {fewer.now} {fewer.what} of {name} instead of {fewer.before}"
            f" ({counted(len(fewer.curves), 'curve')})",
            fewer.curves,
            shared=shared,
            effect=fewer.change,
        )


def _site(current: Current) -> dict[str, str]:
    """Return the site of the session as what a finding's runs share; empty without one site."""
    runs = current.current_runs
    sites = runs["site"].dropna().unique().tolist() if len(runs) else []
    return {"site": str(sites[0])} if len(sites) == 1 else {}


def _misplaced(current: Current) -> Iterator[Draft]:
    """Yield where ranks were elsewhere than before on the same placement, or nobody knows where."""
    if not current.sessions.current:
        return
    usual: dict[tuple[Any, ...], Counter[str]] = {}
    for run in records(current.before, SessionRun):
        if placed := _placed(current.facts.get(run["run_id"], {})):
            usual.setdefault(measured(run), Counter())[placed] += 1
    elsewhere: dict[str, list[str]] = {}
    for run in records(current.current_runs, SessionRun):
        known = usual.get(measured(run), Counter())
        placed = _placed(current.facts.get(run["run_id"], {}))
        if known and run["complete"] and placed not in known:
            words = f"ran {placed}" if placed else "has no record that proves where it ran"
            before = known.most_common(1)[0][0]
            sentence = f"`{run['placement']}` {words}; before, it ran {before}"
            elsewhere.setdefault(sentence, []).append(str(run["run_id"]))
    launches = current.current_launches
    for sentence, runs in elsewhere.items():
        curves = np.unique(launches.loc[launches["run_id"].isin(runs), "curve"])
        yield Draft("placement_unproved", "", sentence, curves, key=(sentence,))


def _placed(facts: Mapping[str, str]) -> str:
    """Write where the record of a run proves that its ranks were; empty if it does not."""
    if "path" not in facts:
        return ""
    return f"on {counted(len(nodes_of(facts)), 'node')} over {facts['path']}"
