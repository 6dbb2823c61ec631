"""What else changed between two sessions: versions, settings, hosts, links, builds.

Facts are read from the headers and footers of run records, and compared run by run of one curve.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from switchpoint.gating.kinds import ChangedFact
from switchpoint.records.terms import run_terms, variable_terms
from switchpoint.tables.columns import lasting_labels, records, values_of
from switchpoint.tables.identity import CurveIdentity

#: Runs with equal columns and lasting labels measured the same.
_ALIKE = ["site", "partition", "environ", "kernel", "placement"]


class SessionRun(CurveIdentity):
    """A run of a session, without its record."""

    complete: bool
    labels: str | None


#: The fact that tells which hosts a run used.
_HOSTS = "hosts"

#: More changes are not listed.
_MOST_LISTED = 12


def facts_of_runs(runs: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    """Return what the record of each run says of its circumstances, by run ID.

    Parameters
    ----------
    runs
        As from `Store.facts`. Runs without a record have no facts.
    """
    by_run: dict[str, Mapping[str, str]] = {}
    # Most runs of a session have the same facts, hundreds of control variables. They are kept once.
    variables: dict[str, dict[str, str]] = {}
    once: dict[tuple[Any, ...], Mapping[str, str]] = {}
    for run_id, text, end in zip(runs["run_id"], runs["header"], runs["footer"], strict=True):
        if not isinstance(text, str):
            continue
        header = json.loads(text)
        values = header["mpi"].pop("cvars", {})
        known = variables.setdefault(repr(values), {})
        if values and not known:
            known |= variable_terms(values)
        hosts = ", ".join(sorted({str(rank["host"]) for rank in header["ranks"]}))
        terms = run_terms(header, json.loads(end) if isinstance(end, str) else None)
        key = (id(known), hosts, *terms.items())
        if key not in once:
            once[key] = terms | {_HOSTS: hosts} | known
        by_run[str(run_id)] = once[key]
    return by_run


def nodes_of(facts: Mapping[str, str]) -> frozenset[str]:
    """Return the hosts that a run's ranks used."""
    return frozenset(filter(None, facts.get(_HOSTS, "").split(", ")))


def differences(
    current: pd.DataFrame, before: pd.DataFrame, facts: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, tuple[str, str]]]:
    """Compare each current run with those of a baseline session that measured the same.

    Returns
    -------
    dict
        By run ID of the current session: each fact that no earlier run has, with its value before
        and now.
    """
    earlier: dict[tuple[Any, ...], list[Mapping[str, str]]] = {}
    for run in records(before, SessionRun):
        if run["run_id"] in facts:
            earlier.setdefault(measured(run), []).append(facts[run["run_id"]])
    by_run = {}
    compared: dict[tuple[int, ...], dict[str, tuple[str, str]]] = {}
    for run in records(current, SessionRun):
        now, others = facts.get(run["run_id"]), earlier.get(measured(run))
        if now is not None and others:
            # Runs with the same facts are one object, see `facts_of_runs`.
            key = (id(now), *sorted({id(other) for other in others}))
            if key not in compared:
                compared[key] = dict(_changed(now, others))
            by_run[str(run["run_id"])] = compared[key]
    return by_run


def measured(run: SessionRun) -> tuple[Any, ...]:
    """Return what a run measured; equal for runs that can be compared."""
    return (*values_of(run, _ALIKE), lasting_labels(run["labels"]))


def _changed(
    current: Mapping[str, str], others: list[Mapping[str, str]]
) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in dict.fromkeys([*current, *(name for other in others for name in other)]):
        now = current.get(name, "not set")
        before = {other.get(name, "not set") for other in others}
        if now not in before:
            yield name, (min(before), now)


def ranked(
    changed: Mapping[str, Mapping[str, tuple[str, str]]], affected: set[str]
) -> list[ChangedFact]:
    """Rank the facts that changed: those of affected runs first that the others do not share.

    Parameters
    ----------
    changed
        As from `differences`.
    affected
        The run IDs of the curves that changed.

    Returns
    -------
    list of dict
        `fact`, `before`, `now`, and the shares `of_changed` and `of_unchanged` runs.
    """
    inside = Counter[tuple[str, str, str]]()
    outside = Counter[tuple[str, str, str]]()
    number = sum(run in affected for run in changed)
    rest = len(changed) - number
    for run, facts in changed.items():
        counts = inside if run in affected else outside
        counts.update((name, *values) for name, values in facts.items())
    rows: list[ChangedFact] = [
        {
            "fact": name,
            "before": before,
            "now": now,
            "of_changed": count / number,
            "of_unchanged": outside[name, before, now] / rest if rest else 0.0,
        }
        for (name, before, now), count in inside.items()
    ]
    rows.sort(key=lambda row: (row["of_unchanged"] - row["of_changed"], row["fact"]))
    return rows[:_MOST_LISTED]
