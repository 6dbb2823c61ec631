"""`switchpoint gate`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.options import Scheduler, Store
from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError

if TYPE_CHECKING:
    from switchpoint.gating.verdict import Verdict
    from switchpoint.store.store import Store as Results


@verb
def command(
    store: Store = "results",
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="ID",
            help="The label `session` of the runs to compare. Default: the session stored last.",
            show_default=False,
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option("--site", metavar="SITE", help="Compare only this site.", show_default=False),
    ] = None,
    history: Annotated[
        int | None,
        typer.Option(
            "--history",
            metavar="SESSIONS",
            min=1,
            help="The number of baseline sessions. Default: 30, or what gate.yaml says.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="What matters at this site. Default: gate.yaml of the session's site.",
            show_default=False,
        ),
    ] = None,
    reframe_report: Annotated[
        Path | None,
        typer.Option(
            "--reframe-report",
            metavar="FILE",
            help="ReFrame's run report of the session: its failed and skipped checks are findings.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        list[Path] | None,
        typer.Option(
            "--rules",
            metavar="FOLDER",
            help="Rules of `switchpoint tune`: say if the session has another MPI, placement or"
            " hosts, and fail if launches with them and without show that they win no more.",
            show_default=False,
        ),
    ] = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="Measure suspected changes again; changes that are not reproduced pass. Submits"
            " jobs on the site.",
        ),
    ] = False,
    budget: Annotated[
        str,
        typer.Option("--budget", metavar="TIME", help="With --confirm: not longer than this."),
    ] = "30m",
    settings: Annotated[
        Path | None,
        typer.Option(
            "--settings",
            metavar="FILE",
            help="With --confirm: the site's settings.py. Default: that of the session's site.",
            show_default=False,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.", show_default=False),
    ] = None,
    gitlab: Annotated[
        Path | None,
        typer.Option(
            "--gitlab",
            metavar="FILE",
            help="Also write GitLab's code quality report.",
            show_default=False,
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Also write Markdown.", show_default=False),
    ] = None,
    github: Annotated[
        bool,
        typer.Option(
            "--github", help="Print annotations for GitHub Actions, and write the job's summary."
        ),
    ] = False,
    power: Annotated[
        bool,
        typer.Option("--power", help="Also print how small a change these sessions show."),
    ] = False,
    scheduler: Scheduler = None,
) -> Result:
    """Compare a session with those before it. Exit with 1 if something is worse or missing."""
    from switchpoint.cli.confirming import measured_again, seconds_of
    from switchpoint.gating.gate import gate
    from switchpoint.gating.kept import keep_verdict
    from switchpoint.gating.policy import Policy, load_policy
    from switchpoint.gating.presence import failures_of_report
    from switchpoint.reporting.json import verdict_as_json
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.store.store import Store

    problems: list[str] = []
    failed = [] if reframe_report is None else failures_of_report(reframe_report)
    if policy is not None and not policy.exists():
        raise InputError(policy, "there is no such file; leave --policy out for the defaults")
    budget_s = seconds_of(budget)
    results = Store(store)
    file = policy or _policy_file(results, session, site, settings)
    with progress("comparing with earlier sessions"):
        verdict = gate(
            results,
            session,
            site=site,
            policy=load_policy(file) if file else Policy(),
            history=history,
            failed_checks=failed,
            rules=rules or (),
        )
    if confirm:
        with _noted(problems, "the suspected changes were not measured again: "):
            verdict = measured_again(verdict, results, settings, budget_s, site)
    with _noted(problems, "the findings were not kept: "):
        keep_verdict(results, verdict)
    _write(verdict, problems, junit=junit, gitlab=gitlab, markdown=markdown, github=github)
    return Result(
        lambda: _print(verdict, github=github, power=power),
        lambda: verdict_as_json(verdict),
        warnings=verdict.warnings,
        verbose=True,
        problems=problems,
        failed=lambda: verdict.fails,
    )


@contextmanager
def _noted(problems: list[str], what: str = "") -> Iterator[None]:
    """Note what a user can fix, and go on: the verdict is printed first."""
    try:
        yield
    except (InputError, OSError) as error:
        problems.append(f"{what}{error}")


def _policy_file(
    results: Results, session: str | None, site: str | None, settings: Path | None
) -> Path | None:
    """Return the policy beside the site's settings; the site is named, or that of the session."""
    from switchpoint.gating.policy import GATE_FILE
    from switchpoint.gating.value_sessions import site_of
    from switchpoint.sites.settings_path import named_settings

    if settings is not None:
        return settings.with_name(GATE_FILE)
    try:
        site = site or site_of(results, session)
        return named_settings(site).with_name(GATE_FILE) if site else None
    except InputError:  # measurements may come from a machine whose settings are not here
        return None


def _print(verdict: Verdict, *, github: bool, power: bool) -> None:
    """Print the verdict; annotations of GitHub are printed already."""
    from switchpoint.reporting.terminal.gate import print_power, print_verdict

    if not github:
        print_verdict(verdict)
    if power:
        print_power(verdict)


def _write(
    verdict: Verdict,
    problems: list[str],
    *,
    junit: Path | None,
    gitlab: Path | None,
    markdown: Path | None,
    github: bool,
) -> None:
    """Write the verdict for other programs, and note what cannot be written."""
    from switchpoint.reporting import ci as forms

    for path, content in (
        (junit, forms.junit_xml),
        (gitlab, forms.gitlab_report),
        (markdown, forms.markdown),
    ):
        if path is not None:
            with _noted(problems):
                _write_text(path, content(verdict))
    if github:
        for line in forms.github_annotations(verdict):
            print(line)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with _noted(problems):
                _write_text(Path(summary), forms.markdown(verdict), append=True)


def _write_text(path: Path, text: str, *, append: bool = False) -> None:
    from switchpoint.whole_files import append_text, write_whole

    try:
        if append:
            append_text(path, text)
        else:
            write_whole(path, text.encode())
    except OSError as error:
        raise InputError(path, f"cannot be written: {error.strerror}") from None
