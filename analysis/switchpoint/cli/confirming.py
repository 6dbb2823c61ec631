"""`switchpoint gate --confirm`: measures what is suspected again, with ReFrame, on this site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import InputError

if TYPE_CHECKING:
    from switchpoint.gating.trials import Trial
    from switchpoint.gating.verdict import Verdict
    from switchpoint.store.store import Store

_BUDGET = re.compile(r"(?P<number>\d+)(?P<unit>[smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

#: Where the plans, and what ReFrame writes, are kept; the nodes must be able to read it.
FOLDER = Path("build/confirm")

#: Characters of a folder's name; a file system allows 255 bytes.
_LONGEST_NAME = 60


def seconds_of(budget: str) -> float:
    """Return the seconds of a budget such as ``30m``.

    Raises
    ------
    InputError
        If it is not one.
    """
    found = _BUDGET.fullmatch(budget)
    if found is None:
        raise InputError("--budget", f"'{budget}' is not a time; write it as 90s, 30m or 2h")
    return float(found["number"]) * _SECONDS[found["unit"]]


def measured_again(
    verdict: Verdict, store: Store, settings: Path | None, budget_s: float, site: str | None
) -> Verdict:
    """Return the verdict after its suspected changes were measured again.

    Parameters
    ----------
    verdict, store
        As from `gate`, and the store that it compared.
    settings
        The site's ``settings.py``; by default that of the session's site in ``site-configs/``.
    budget_s
        Seconds for all of it.
    site
        The site that was compared, if only one was.
    """
    from switchpoint.gating.confirm import applied, confirm
    from switchpoint.gating.sessions import select_sessions
    from switchpoint.gating.suspects import suspects_of

    if not any(map(len, verdict.findings["curves"])):  # such as single values
        return verdict
    most = max(verdict.sessions, 1)
    sessions = select_sessions(store, verdict.session, site, most, verdict.maintenance)
    suspects = suspects_of(verdict.findings, store, sessions)
    if not suspects:
        return verdict
    chosen = settings or _settings_of(sessions.runs["site"].dropna().unique().tolist())
    folder = FOLDER / _as_folder(verdict.session)

    def measure(plan: Sequence[Trial], left_s: float) -> tuple[list[Path], list[str]]:
        return _measure(plan, left_s, chosen, folder, verdict.session)

    return applied(verdict, confirm(suspects, measure, budget_s))


def _as_folder(session: str) -> str:
    """Return a name for a session's folder: a session is named by records, such as `..`."""
    return re.sub(r"[^\w-]", "_", session)[:_LONGEST_NAME]


def _settings_of(sites: list[str]) -> Path:
    from switchpoint.sites.settings_path import named_settings

    if len(sites) != 1:
        raise InputError(
            "--confirm",
            f"cannot measure on {len(sites)} sites ({', '.join(sites)}); name one with --site",
        )
    return named_settings(sites[0])


def _measure(
    plan: Sequence[Trial], left_s: float, settings: Path, folder: Path, session: str
) -> tuple[list[Path], list[str]]:
    from switchpoint.gating.trials import write_plan
    from switchpoint.reporting.terminal.progress import status
    from switchpoint.sites.session import run_checks

    folder.mkdir(parents=True, exist_ok=True)
    number = len([*folder.glob("plan-*.json")])
    path = (folder / f"plan-{number}.json").resolve()
    write_plan(plan, path)
    with status(f"measuring again: {len(plan)} launches, at most {left_s / 60:.0f} minutes left"):
        ran = run_checks(
            settings,
            "confirm.py",
            folder / f"session-{number}",
            {"SWITCHPOINT_PLAN": str(path), "SWITCHPOINT_SESSION": f"{session}-confirm"},
            ["-n", "^Confirm"],
            left_s,
        )
    return ran.records, ran.failures
