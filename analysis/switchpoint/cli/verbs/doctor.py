"""`switchpoint doctor`: checks this machine, a site, or what Spack can take from here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError

if TYPE_CHECKING:
    from switchpoint.sites.doctor import Fact

_WAIT_S = 60.0  # how long a job of `doctor --site` may wait


@verb
def command(
    site: Annotated[
        str | None,
        typer.Option(
            "--site",
            metavar="SITE",
            help="Check a site instead of this machine: its name, folder or settings file. The exit"
            " code is 1 if there is a problem. With --spack: complete the site's packages.yaml.",
        ),
    ] = None,
    trial: Annotated[
        bool,
        typer.Option(
            "--trial/--no-trial", help="With --site: start a job of two ranks with each MPI."
        ),
    ] = True,
    wait: Annotated[
        float | None,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=1,
            help="With --site: how long a job may wait to start. Default: 60.",
        ),
    ] = None,
    spack: Annotated[
        bool, typer.Option("--spack", help="Check what Spack can take from this machine.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", metavar="DIR", help="With --spack: write packages.yaml into this folder."
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi",
            metavar="SPEC",
            help="With --spack: check only this MPI, and fail if it is not what SPEC says.",
        ),
    ] = None,
) -> Result:
    """Check what this machine or a site needs to measure MPI, and print a fix for each problem."""
    if not spack and (write or mpi):
        raise InputError("--write" if write else "--mpi", "needs --spack; add it")
    if site is None and (wait is not None or not trial):
        raise InputError("--no-trial" if wait is None else "--wait", "needs --site; add it")
    if spack:
        return _of_spack(site, write, mpi)
    if site is not None:
        return _of_site(site, (wait or _WAIT_S) if trial else None)
    from switchpoint.reporting.json import facts_as_json
    from switchpoint.reporting.terminal.doctor import print_facts
    from switchpoint.sites.doctor import examine

    facts = examine()
    return Result(lambda: print_facts(facts), lambda: facts_as_json(facts))


def _of_site(site: str, wait_s: float | None) -> Result:
    from switchpoint.reporting.json import facts_as_json
    from switchpoint.reporting.terminal.doctor import print_examination
    from switchpoint.sites.examination import examine_site
    from switchpoint.sites.settings_path import find_settings

    states: list[str] = []

    def facts() -> Iterator[Fact]:
        for fact in examine_site(find_settings(site), wait_s):  # each is shown when it is found
            states.append(fact.state)
            yield fact

    return Result(
        lambda: print_examination(facts()),
        lambda: facts_as_json(facts()),
        failed=lambda: "missing" in states,
    )


def _of_spack(site: str | None, target: Path | None, mpi: str | None) -> Result:
    from switchpoint.reporting.json import facts_as_json
    from switchpoint.reporting.terminal.doctor import print_facts
    from switchpoint.sites.settings_path import find_settings
    from switchpoint.spack.installation import examine_spack
    from switchpoint.spack.survey import survey, write

    home = None
    if site is not None:
        home = Path(site) if Path(site).is_dir() else find_settings(site).parent
    surveyed = survey(home, mpi)
    facts = [*examine_spack(home), *surveyed.facts]

    problems = []
    missing = [fact for fact in facts if fact.state == "missing"]
    if missing:
        first = missing[0]
        more = f" (and {len(missing) - 1} more)" if missing[1:] else ""
        place = f"{first.place}: " if first.place else ""
        problems = [f"{place}{first.topic}: {first.found}; {first.fix}{more}"]
    return Result(
        lambda: print_facts(facts),
        lambda: facts_as_json(facts),
        finish=lambda: [] if target is None else [write(surveyed, target.absolute())],
        problems=problems,
        failed=lambda: bool(missing),
    )
