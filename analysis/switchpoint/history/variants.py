"""Trials of a suspect without what may have caused its change: a setting, a build, a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from switchpoint.history.suspects import Suspect
from switchpoint.history.trials import Trial


def merged(trials: Iterable[Trial]) -> list[Trial]:
    """Return one trial for each variant of each job on the same nodes, with all modes and sizes."""
    found: dict[object, Trial] = {}
    for trial in trials:
        key = (*trial.where, trial.avoided, trial.variant)
        known = found.get(key, trial)
        found[key] = replace(
            known,
            modes=tuple(sorted({*known.modes, *trial.modes})),
            sizes_bytes=tuple(sorted({*known.sizes_bytes, *trial.sizes_bytes})),
        )
    return [*found.values()]


def without_settings(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same with each changed setting as before."""
    base = suspect.trials[0]
    undone = [
        replace(base, variant=str(setting), environment={setting.environment: setting.before})
        for setting in suspect.settings
    ]
    return [base, *undone] if undone else []


def with_lock_before(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same as Spack built it before."""
    base = suspect.trials[0]
    if not suspect.lock_before:
        return []
    old = replace(base, variant="Spack's lock", lock=suspect.lock_before, built_before=True)
    return [base, old]


def without_nodes(suspect: Suspect) -> list[Trial]:
    """Return the first trial of a suspect, and the same with another in place of each node."""
    base = suspect.trials[0]
    others = [
        replace(
            base,
            variant=f"node {node}",
            nodes=tuple(other for other in base.nodes if other != node),
            avoided=(node,),
        )
        for node in base.nodes
    ]
    return [base, *others] if others else []
