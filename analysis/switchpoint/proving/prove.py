"""Finds and proves the cause of a switch by an experiment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.explanation.catalogue import Setting, catalogue
from switchpoint.explanation.own_catalogue import add_to_catalogue, learned
from switchpoint.explanation.switches import explain
from switchpoint.explanation.values import Candidate, candidates, chosen_candidates, governors
from switchpoint.explanation.zooms import probed, sides_of, stayed_eager
from switchpoint.importing.reading import read_files
from switchpoint.proving.launching import Launcher, NotStartedError
from switchpoint.proving.search import STAYED, Search, Target
from switchpoint.records.record import Facts, read_facts
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import ZOOM
from switchpoint.tables.units import bytes_of

#: The limit that a protocol without one is given: 64 KiB and a little, where nothing else switches.
_LIMIT_BYTES = 65573

#: How long the experiment may take, in seconds.
BUDGET_S = 180.0


@dataclass
class Proof:
    """What an experiment found.

    Attributes
    ----------
    switches : DataFrame
        As from `explain`, of the experiment's records.
    measurements : Measurements
        All records of the experiment.
    records : list of Path
        Their files, the base run first.
    trials : int
        How many launches were made, those that did not start included.
    seconds : float
        How long they took.
    """

    switches: pd.DataFrame
    measurements: Measurements
    records: list[Path]
    trials: int
    seconds: float

    def learn(self, file: Path) -> list[Setting]:
        """Add the settings that were confirmed to a site's catalogue, and return them.

        Raises
        ------
        InputError
            As `add_to_catalogue`.
        """
        facts = read_facts(self.records[0])
        entries = [
            learned(cause, facts.header, facts.footer)
            for causes in self.switches["causes"]
            for cause in causes
        ]
        return [add_to_catalogue(file, entry) for entry in entries if entry]


def prove(
    command: Sequence[str],
    folder: str | os.PathLike[str],
    setting: str | None = None,
    step: str | None = None,
    budget_s: float = BUDGET_S,
    options: Sequence[str] = (),
    progress: Callable[[str], object] = lambda line: None,
) -> Proof:
    """Locate the end of the eager protocol, or a step, and find the setting that causes it.

    Parameters
    ----------
    command
        The command that starts the kernel `zoom` on two ranks.
    folder
        Where the records are written.
    setting
        The setting to change first; by default the likeliest.
    step
        A step that timing shows, as MODE:LAST with the last size before it in bytes, such as
        `send:92`; by default the end of the eager protocol.
    budget_s
        No trial starts later than this, in seconds.
    options
        Further options of `zoom`, such as labels.
    progress
        Called with a line after each launch.

    Raises
    ------
    InputError
        If the command does not run `zoom`, or the run lists no such setting.
    """
    started = time.monotonic()
    catalogue()  # before anything is started
    launcher = Launcher(list(command), Path(folder), _of_one_session(options))
    target = Target(0) if step is None else _target(step)
    try:
        base = _base(launcher, target)
        searched = Search(launcher, base, target, [], started + budget_s, progress)
        _experiment(searched, setting)
    except InputError:
        if len(launcher.records) == 1:  # nothing was tried, and the folder can be used again
            launcher.records[0].unlink()
        raise
    measurements = read_files(launcher.records).measurements
    assert measurements is not None
    return Proof(
        explain(measurements),
        measurements,
        launcher.records,
        len(searched.found) + 1,
        time.monotonic() - started,
    )


def _of_one_session(options: Sequence[str]) -> list[str]:
    """Add the label by which a store reads all records of an experiment together."""
    if any(option.startswith("--label=session=") for option in options):
        return list(options)
    now = datetime.now(timezone.utc)
    return [*options, f"--label=session={now:%Y%m%dT%H%M%SZ}-proof"]


def _experiment(searched: Search, setting: str | None) -> None:
    """Find out what the base run shows, and search its cause."""
    base, target = searched.base, searched.target
    if target.mode is not None:
        located = target.outcome(base.footer) == (STAYED, target.last)
        shown = (
            f"time changes after {target.last:,} B"
            if located
            else _unfound(base, "no step was found there")
        )
    else:
        search = probed(base.footer)
        located = search is not None
        target.last = sides_of(search)[0] if search else 0
        shown = (
            f"the last eager byte is {target.last:,}"
            if located
            else _unfound(base, "no switch was found")
        )
    eager = target.mode is None and stayed_eager(base.footer) is not None
    searched.progress(f"as it is: {'MPI_Send stayed eager' if eager else shown}")
    if located:
        searched.listed = _listed(base, target, setting)
        searched.run()
    elif eager:
        searched.listed = governors(base.header, base.footer)
        searched.give_a_limit(_LIMIT_BYTES)


def _unfound(base: Facts, says: str) -> str:
    """Return that nothing was found, and why, if the kernel gave a reason."""
    searches = base.footer.get("switches", []) if base.footer else []
    return ": ".join(dict.fromkeys([says, *filter(None, (s.get("reason") for s in searches))]))


def _target(step: str) -> Target:
    mode, _, last = step.partition(":")
    size = bytes_of(last)
    if not mode or not size:
        raise InputError("--step", f"'{step}' is not MODE:LAST; write it as send:92")
    return Target(size, mode)


def _base(launcher: Launcher, target: Target) -> Facts:
    try:
        base = launcher.launch(target.searches(), {}, {})
    except NotStartedError as error:
        fix = "try it by hand"
        if " root" in str(error):
            fix = "for Open MPI: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
        raise InputError("COMMAND", f"wrote no record: {str(error).rstrip('.')}; {fix}") from None
    if base.header["kernel"]["name"] != ZOOM:
        name = base.header["kernel"]["name"]
        raise InputError("COMMAND", f"runs the kernel '{name}'; give the kernel 'zoom'")
    return base


def _listed(base: Facts, target: Target, setting: str | None) -> list[Candidate]:
    ends_eager = target.mode is None
    listed = candidates(base.header, base.footer, target.last, ends_eager=ends_eager)
    return listed if setting is None else chosen_candidates(listed, setting)
