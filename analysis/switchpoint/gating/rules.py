"""Rules of `switchpoint tune` beside the session: what they hold for, and which win no more."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating.circumstances import nodes_of
from switchpoint.gating.current import Current, Draft
from switchpoint.gating.sessions import span_of
from switchpoint.models.confirmation import Checked
from switchpoint.models.kernels import LIBRARY
from switchpoint.models.rules_files import RULES_LABEL
from switchpoint.store.store import Store
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.mpi_names import mpi_family
from switchpoint.tables.units import significant
from switchpoint.tuning.checked import check_tuning
from switchpoint.tuning.facts import Group, SizeRange, Tuning, Winner, read_tuning


def drafts(
    current: Current, store: Store, folders: Sequence[str | os.PathLike[str]]
) -> Iterator[Draft]:
    """Yield the rules that win no more. What else limits them is added to `current.limits`.

    Parameters
    ----------
    current
        The current session.
    store
        Where its runs are.
    folders
        As `switchpoint tune` wrote them.

    Raises
    ------
    InputError
        If a folder has no rules.
    """
    for folder in folders:
        tuning, name = read_tuning(folder), os.fspath(folder)
        runs = _runs_of(tuning, current.current_runs)
        if not tuning.rules():
            what = "has no rule that could win; leave out --rules"
            current.limits.append(DataWarning("rules", what, name))
        elif runs.empty:
            where = f" at the site {tuning.site}" if tuning.site else ""
            what = (
                f"has rules for {tuning.mpi}{where}, and the session has no run of"
                f" {tuning.library} there: nothing is known of them"
            )
            current.limits.append(DataWarning("rules", what, name))
        else:
            changed = _changed(tuning, runs, current.facts)
            launches = _launches(store, runs)
            if changed:
                what = _now_others(tuning, changed, measured=launches is not None)
                current.limits.append(DataWarning("rules", what, name))
            if launches is not None:
                fix = "tune again" if "MPI" in changed else _withdrawing(current, store, name)
                yield from _lost(current, name, tuning, launches, changed.get("MPI"), fix)


def _runs_of(tuning: Tuning, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of the rules' library at their site."""
    if runs.empty:
        return runs
    of_library = runs["mpi"].map(lambda mpi: mpi_family(str(mpi)) == tuning.library).astype(bool)
    here = (runs["site"] == tuning.site) | (tuning.site is None)
    return runs[of_library & here]


def _changed(
    tuning: Tuning, runs: pd.DataFrame, facts: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return what the session has in place of what the rules were measured with.

    A session may use any nodes of a machine: those are others if it used none of the rules' hosts.
    """
    changed = {}
    if tuning.placement is not None:
        there = runs[runs["placement"] == tuning.placement]
        if there.empty:
            changed["placement"] = _listed(runs["placement"])
        else:
            runs = there
    if not (runs["mpi"] == tuning.mpi).any():
        changed["MPI"] = _listed(runs["mpi"])
    hosts = {host for run in runs["run_id"] for host in nodes_of(facts.get(run, {}))}
    if hosts and not hosts & {*tuning.hosts}:
        changed["hosts"] = ", ".join(sorted(hosts))
    return changed


def _listed(names: pd.Series[str]) -> str:
    return ", ".join(sorted(names.dropna().unique())) or "none"


def _now_others(tuning: Tuning, changed: Mapping[str, str], *, measured: bool) -> str:
    """Say which facts of the rules no longer hold, and how they are checked again."""
    before = {"MPI": tuning.mpi, "placement": tuning.placement, "hosts": ", ".join(tuning.hosts)}
    what = "; ".join(f"{fact}: {before[fact]} -> {now}" for fact, now in changed.items())
    said = f"its rules were measured with something else than this session ({what})"
    if measured:
        return said
    first = "tune again, or " if "MPI" in changed else ""
    return (
        f"{said}; {first}measure with them and without (the check `Recommended`): this command then"
        " says which still win"
    )


def _withdrawing(current: Current, store: Store, name: str) -> str:
    """Name the command that withdraws rules, from this session: they may have won before."""
    since = current.sessions.starts_utc[-1]
    words = ["switchpoint", "tune", "--check", name, "--store", store.url, "--since", since]
    return f"`{shlex.join(words)}` withdraws it"


def _launches(store: Store, runs: pd.DataFrame) -> Measurements | None:
    """Return the launches with rules and without; None without any."""
    of_rules = runs[runs["labels"].map(_has_label).astype(bool)]
    if of_rules.empty:
        return None
    return store.read(run_id=[*of_rules["run_id"]], mode=LIBRARY, **span_of(of_rules))


def _has_label(labels: Any) -> bool:
    return isinstance(labels, str) and RULES_LABEL in json.loads(labels)


def _lost(
    current: Current, name: str, tuning: Tuning, launches: Measurements, mpi: str | None, fix: str
) -> Iterator[Draft]:
    """Yield the rules of a folder that surely gain less than they have to.

    Of those that may still win, or not, a sentence is added to `current.limits`.
    """
    try:
        checked = check_tuning(name, launches, current.sessions.session, mpi=mpi)
    except InputError as error:
        what = f"its rules were not measured again: {error}"
        current.limits.append(DataWarning("rules", what, name))
        return
    for before, group in zip(tuning.groups, checked.groups, strict=True):
        pairs = zip(before.winners, group.winners, strict=True)
        found = [now for then, now in pairs if now.withdrawn and not then.withdrawn]
        sure = [one for one in found if _gains_less(one.checked, tuning.least_gain)]
        for part in _ranges(group, [one for one in found if one not in sure]):
            what = f"{_where(group, part)} may win no more: {_again(part)}; measure more launches"
            current.limits.append(DataWarning("rules", what, name))
        for part in _ranges(group, sure):
            yield _draft(tuning, group, part, mpi, fix)


def _gains_less(checked: Checked | None, least_gain: float) -> bool:
    return checked is not None and checked.gain_interval[1] < 1 + least_gain


def _ranges(group: Group, winners: list[Winner]) -> Iterator[SizeRange]:
    alone = group.model_copy(update={"winners": winners})
    return (part for part in alone.ranges() if part.winners)


def _draft(tuning: Tuning, group: Group, part: SizeRange, mpi: str | None, fix: str) -> Draft:
    first, last = part.sizes_bytes[0], part.sizes_bytes[-1]
    algorithm = part.winners[0].algorithm
    low, high = _gain_interval(part)
    place = {
        "site": tuning.site, "mpi": mpi or tuning.mpi, "placement": tuning.placement,
        "kernel": group.kernel,
    }  # fmt: skip
    return Draft(
        "rule_no_longer_wins",
        "time",
        f"{_where(group, part)} wins no more: {_again(part)} (before {part.gains}); {fix}",
        key=(algorithm, group.ranks, group.nodes, first, last),
        shared={fact: value for fact, value in place.items() if value is not None},
        first_size_bytes=first,
        last_size_bytes=last,
        effect=1 / min(one.checked.gain for one in part.winners if one.checked is not None) - 1,
        low=1 / high - 1,
        high=1 / low - 1,
        facts=({"fact": "MPI", "before": tuning.mpi, "now": mpi},) if mpi else (),
    )


def _where(group: Group, part: SizeRange) -> str:
    algorithm = part.winners[0].algorithm
    return f"`{algorithm}` of `{group.kernel}` on {group.ranks} ranks at {part.sizes}"


def _again(part: SizeRange) -> str:
    low, high = map(significant, _gain_interval(part))
    launches = min(one.checked.launches for one in part.winners if one.checked is not None)
    return (
        f"{part.gains_again} [{low}, {high}] times as fast as the library's choice in {launches}"
        " fresh launches"
    )


def _gain_interval(part: SizeRange) -> tuple[float, float]:
    """Return the least and the most gain in fresh launches at any size."""
    every = [one.checked.gain_interval for one in part.winners if one.checked is not None]
    return min(low for low, _ in every), max(high for _, high in every)
