"""The `switchpoint` command: what a person types, what is printed, and the exit code.

Exit codes: 0 done; 1 problems of a site, findings that fail a gate; 2 bad usage or bad data.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from switchpoint.errors import InputError
from switchpoint.printable import printable

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.sites.doctor import Fact
    from switchpoint.tables.measurements import Measurements

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_WAIT_S = 60.0  # of `doctor --site`, for a job to start
_FAILED = 1
_BAD = 2

_Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Run records, tidy CSV, output of OSU, IMB or NetPIPE, plain or gzipped, or folders"
        " of such. Without: the store.",
        show_default=False,
    ),
]
_Store = Annotated[
    str, typer.Option("--store", metavar="URL", help="The store: a folder or an fsspec URL.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def main() -> None:
    """Run the command."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `switchpoint detect | head` ends quietly
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" for {error.filename}" if error.filename else ""
        _say(f"{error.strerror}{where}: free some space and run the command again")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # no second complaint
        sys.exit(_BAD)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"switchpoint {version('switchpoint')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find protocol switches in curves of MPI time against message size."""


@app.command("import")
def import_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="What to keep.", show_default=False)
    ],
    store: _Store = "results",
    paths: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            metavar="PATTERN",
            help="Name files by where they lie below a folder given, such as"
            " '{site}/{environ}/{test}'. Repeat it for other layouts.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every file left out, and every warning.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Recognise FILEs, and files in folders, by content and keep them; a run counts once."""
    with _user_mistakes():
        from switchpoint.importing.layout import PathPattern
        from switchpoint.importing.reading import find_files
        from switchpoint.reporting.terminal import import_lines, progress
        from switchpoint.store.importing import import_found
        from switchpoint.store.store import Store

        patterns = [PathPattern.parse(text) for text in paths or []]
        kept = Store(store)
        found = find_files(files, patterns, kept.folders)
        with progress("importing", len(found.found)) as advance:
            outcome = import_found(found, kept, advance)
        _list_failures(outcome.failures, files, found.count, verbose=verbose)
        if outcome.nothing:
            raise typer.Exit(_BAD)
        _warn(outcome.warnings, verbose=verbose)
        if as_json:
            failed = [str(failure) for failure in outcome.failures]
            _print_json(
                {
                    "added": outcome.added,
                    "already_stored": outcome.already_stored,
                    "values_added": outcome.values_added,
                    "values_already_stored": outcome.values_already_stored,
                    "failed": failed,
                }
            )
        else:
            for line in import_lines(outcome, store):
                print(printable(line))


@app.command("detect")
def detect_command(
    files: _Files = None,
    store: _Store = "results",
    show_all: Annotated[
        bool,
        typer.Option("--all", help="Print each finding and each warning; --json always does."),
    ] = False,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="KEY",
            help="Order by cost (default), time, confidence, curves or size.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="KIND", help="Only this kind, such as step.", show_default=False
        ),
    ] = None,
    curve: Annotated[
        list[str] | None,
        typer.Option(
            "--curve",
            metavar="NAME=VALUE",
            help="Only these curves, such as mpi=MPICH; or any that have a word in their names.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FOLDER", help="Write the HTML page there too."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Find steps and other anomalies in the curves of FILEs, or of the store's newest runs."""
    with _user_mistakes():
        from switchpoint.detection.boundaries import FEWEST_SIZES, count_curves, detect
        from switchpoint.reporting.digest import SORTS, select_curves, select_kinds
        from switchpoint.reporting.terminal import progress
        from switchpoint.tables.curves import few_sizes_warning, noise_warnings, summarise

        if sort is not None and sort not in SORTS:
            raise InputError("--sort", f"'{sort}' is no order; use one of {', '.join(SORTS)}")
        measurements = _load(files, store, verbose=show_all)
        with progress("detecting", count_curves(measurements)) as advance:
            findings = detect(measurements, advance)
        curves = select_curves(summarise(measurements), curve or [])
        if curve and curves.empty:
            raise InputError("--curve", f"no curve matches {' and '.join(curve)}")
        shown = select_kinds(select_curves(findings, curve or []), only or [])
        warnings = [*measurements.warnings, *noise_warnings(curves)]
        _warn([*warnings, *few_sizes_warning(curves, FEWEST_SIZES)], verbose=show_all)
        if as_json:
            _print_json({"findings": findings_as_json(shown)})
        else:
            from switchpoint.explanation.switches import explain
            from switchpoint.reporting.terminal import print_findings
            from switchpoint.tables.measurements import ZOOM

            searched = (measurements.runs["kernel"] == ZOOM).any()
            switches = explain(measurements, findings) if searched else None
            if switches is not None:
                switches = select_curves(switches, curve or [])
            print_findings(shown, curves, switches, show_all=show_all, sort=sort)
        if report is not None:
            from switchpoint.reporting.page import report as write_report

            page = write_report(measurements, report, findings)
            if not as_json:
                print(page)


@app.command("claims")
def claims_command(
    files: _Files = None,
    store: _Store = "results",
    study: Annotated[
        str | None, typer.Option("--study", metavar="NUMBER", help="Only this one, such as 002.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Test what the five studies claim against the runs of FILEs, or all runs of the store."""
    with _user_mistakes():
        measurements = _read(files) if files else _everything(store)
        from switchpoint.studies.claims import claims, efficiencies

        found = claims(measurements, study)
        _warn(measurements.warnings)
        if as_json:
            tables = {"claims": found, "efficiency": efficiencies(measurements)}
            _print_json({name: table.to_dict("records") for name, table in tables.items()})
        else:
            from switchpoint.reporting.terminal import print_claims

            print_claims(found)


@app.command("explain")
def explain_command(
    files: _Files = None,
    store: _Store = "results",
    near: Annotated[
        str | None,
        typer.Option("--near", metavar="SIZE", help="Only switches within 10 % of SIZE, in words."),
    ] = None,
    placement: Annotated[
        str | None, typer.Option("--placement", metavar="NAME", help="Only this placement.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="NAME", help="Only this mode, such as send.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print small steps without a cause too; --json does.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Say where each switch is, to the byte, and why; from sweeps, zooms and interventions."""
    with _user_mistakes():
        from switchpoint.explanation.switches import explain, near_size, stayed_eager
        from switchpoint.tables.units import bytes_of

        size = None if near is None else bytes_of(near)
        if near is not None and size is None:
            raise InputError("--near", f"'{near}' is no size; write it as 65536 or 64k")
        measurements = _load(files, store)
        switches = explain(measurements)
        eager = stayed_eager(measurements)
        _warn(measurements.warnings)
        for column, wanted in (("placement", placement), ("mode", mode)):
            if wanted is not None:
                # A zoom tells of modes that it has no samples of.
                tables = (measurements.samples, switches, eager)
                there = sorted({v for table in tables if column in table
                                for v in table[column].dropna().unique()})  # fmt: skip
                if wanted not in there:
                    known = ", ".join(there) or "none"
                    raise InputError(
                        f"--{column}", f"no run has {column} '{wanted}'; they have: {known}"
                    )
                switches = switches[switches[column] == wanted]
                eager = eager[eager[column] == wanted]
        if size is not None:
            switches = near_size(switches, size)
        if as_json:
            _print_json(
                {"switches": switches_as_json(switches), "stayed_eager": eager_as_json(eager)}
            )
        else:
            from switchpoint.reporting.terminal import (
                print_sentences,
                print_stayed_eager,
                print_switches,
            )

            if size is None:
                print_switches(switches, show_all=show_all)
            elif eager.empty or not switches.empty:
                print_sentences(switches, size)
            print_stayed_eager(eager)


@app.command("report")
def report_command(
    files: _Files = None,
    store: _Store = "results",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where index.html goes.")
    ] = Path("report"),
    as_json: _Json = False,
) -> None:
    """Write one HTML page that works offline, from FILEs or the store's newest runs."""
    with _user_mistakes():
        measurements = _load(files, store)
        from switchpoint.reporting.page import report

        page = report(measurements, output)
        _warn(measurements.warnings)
        if as_json:
            _print_json({"report": str(page)})
        else:
            print(page)


@app.command("tools")
def tools_command(
    files: _Files = None,
    store: _Store = "results",
    as_json: _Json = False,
) -> None:
    """Hold MPI, TCP sockets and PVM against one another by their echo (study 004)."""
    with _user_mistakes():
        measurements = _load(files, store)
        from switchpoint.comparison.tools import missing_tools, tools

        table = tools(measurements)
        _warn(measurements.warnings)
        if as_json:
            rows = json.loads(table.to_json(orient="records"))
            _print_json({"tools": rows, "not_measured": missing_tools(table)})
        else:
            from switchpoint.reporting.terminal import print_tools

            print_tools(table)


@app.command("reproduce")
def reproduce_command(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A record's file, or a run's first digits in the store."
        ),
    ],
    store: _Store = "results",
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="DIR", help="Lay out a new folder with run.sh."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Print what is needed to run RUN again elsewhere, and what differs on this machine."""
    with _user_mistakes():
        from switchpoint.reproduction.recipe import differences, lay_out, reproduce

        recipe = reproduce(run, store)
        found = differences(recipe)
        if write is not None:
            lay_out(recipe, write, found)
        if as_json:
            _print_json(
                {
                    "run_id": recipe.run_id,
                    "facts": dict(recipe.facts()),
                    "arguments": recipe.arguments,
                    "environment": recipe.environment,
                    "differences": [vars(difference) for difference in found],
                    "written": None if write is None else str(write),
                }
            )
        else:
            from switchpoint.reporting.terminal import print_recipe

            print_recipe(recipe, found)
            if write is not None:
                print(f"Written: {write}/README.md, {write}/run.sh")


@app.command("doctor")
def doctor_command(
    site: Annotated[
        str | None,
        typer.Option(
            "--site",
            metavar="SITE",
            help="Check a site instead, by its name, folder or settings file; exit code 1 if there"
            " is a problem. With --spack: complete the site's packages.yaml.",
        ),
    ] = None,
    trial: Annotated[
        bool,
        typer.Option(
            "--trial/--no-trial", help="With --site: let a job of two ranks start in each MPI."
        ),
    ] = True,
    wait: Annotated[
        float | None,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=1,
            help="How long such a job may wait to start; default 60.",
        ),
    ] = None,
    spack: Annotated[
        bool, typer.Option("--spack", help="Look for what Spack may take from this machine.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", metavar="DIR", help="With --spack: write packages.yaml and prefixes there."
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi", metavar="SPEC", help="With --spack: fail unless this MPI is what it says."
        ),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Show what this machine, or a site, has and lacks for measuring MPI, with fixes."""
    with _user_mistakes():
        if not spack and (write or mpi):
            raise InputError("--write" if write else "--mpi", "goes with --spack; add that")
        if site is None and (wait is not None or not trial):
            raise InputError(
                "--no-trial" if wait is None else "--wait", "goes with --site; add that"
            )
        if spack:
            _doctor_spack(site, write, mpi, as_json)
        elif site is not None:
            _doctor_site(site, (wait or _WAIT_S) if trial else None, as_json)
        else:
            from switchpoint.sites.doctor import examine

            _print_facts(examine(), as_json)


def _doctor_site(site: str, wait_s: float | None, as_json: bool) -> None:
    from switchpoint.sites.examination import examine_site
    from switchpoint.sites.finding import find_settings
    from switchpoint.sites.printing import print_examination

    facts = examine_site(find_settings(site), wait_s)
    if not as_json:
        problems = print_examination(facts)
    else:
        listed = list(facts)
        _print_json({"facts": [vars(fact) for fact in listed]})
        problems = sum(fact.state == "missing" for fact in listed)
    if problems:
        raise typer.Exit(_FAILED)


def _doctor_spack(site: str | None, target: Path | None, mpi: str | None, as_json: bool) -> None:
    from switchpoint.sites.finding import find_settings
    from switchpoint.spack.externals import examine_spack, survey, write

    home = None
    if site is not None:
        home = Path(site) if Path(site).is_dir() else find_settings(site).parent
    surveyed = survey(home, mpi)
    facts = [*examine_spack(home), *surveyed.facts]
    _print_facts(facts, as_json)
    if target is not None:
        path = write(surveyed, target.absolute())
        if not as_json:
            print(path)
    missing = [fact for fact in facts if fact.state == "missing"]
    if missing:
        first = missing[0]
        more = f" (and {len(missing) - 1} more)" if missing[1:] else ""
        place = f"{first.place}: " if first.place else ""
        words = f"{place}{first.topic}: {first.found}; {first.fix}{more}"
        _say(words)
        raise typer.Exit(_FAILED)


def _print_facts(facts: Iterable[Fact], as_json: bool) -> None:
    if as_json:
        _print_json({"facts": [vars(fact) for fact in facts]})
    else:
        from switchpoint.reporting.terminal import print_facts

        print_facts(facts)


init = typer.Typer(no_args_is_help=True, help="Begin something new: a site.")
app.add_typer(init, name="init")


@init.command("site")
def init_site_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The system's name; it names its curves.")
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Where to, new or empty.  [default: site-configs/NAME]"
        ),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            "--partition", metavar="NAME", help="Slurm's partition.  [default: Slurm's own default]"
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask/--no-ask", help="Ask Slurm, modules and compilers what there is."),
    ] = True,
) -> None:
    """Write a site's settings: what Slurm and the MPIs here tell, the rest marked for editing."""
    with _user_mistakes():
        from switchpoint.sites.beginning import init_site

        for line in init_site(name, folder, partition, ask=ask):
            print(line)


@app.command("checks")
def checks_command() -> None:
    """Print the folder of the ReFrame checks, for `reframe -c "$(switchpoint checks)"`."""
    from switchpoint.shipped import shipped

    print(shipped("checks"))


def findings_as_json(findings: pd.DataFrame) -> list[dict[str, Any]]:
    """Shape findings as in docs/reference/findings.md, the curve as an object of its own."""
    from switchpoint.tables.columns import FINDING_COLUMNS, identity_columns

    curve_columns = [name for name in identity_columns(findings) if name != "run_id"]
    shaped = []
    for row in findings.to_dict("records"):
        finding = {name: row[name] for name in FINDING_COLUMNS}
        curve = {name: row[name] for name in curve_columns if isinstance(row[name], str)}
        shaped.append(finding | {"curve": curve, "run_id": row["run_id"]})
    return shaped


def switches_as_json(switches: pd.DataFrame) -> list[dict[str, Any]]:
    """Shape switches as in docs/reference/findings.md, the curve as an object of its own."""
    from switchpoint.explanation.switches import EXPLANATION_COLUMNS, curve_columns
    from switchpoint.tables.columns import none_for_nulls

    curve = curve_columns(switches)
    return [
        {"curve": {name: row[name] for name in curve if isinstance(row[name], str)}}
        | {name: row[name] for name in EXPLANATION_COLUMNS}
        for row in none_for_nulls(switches).to_dict("records")
    ]


def eager_as_json(eager: pd.DataFrame) -> list[dict[str, Any]]:
    """Shape what `stayed_eager` says as in docs/reference/findings.md."""
    from switchpoint.explanation.switches import CURVE, EAGER_COLUMNS

    return [
        {"curve": {name: row[name] for name in CURVE if isinstance(row[name], str)}}
        | {name: row[name] for name in EAGER_COLUMNS}
        for row in eager.to_dict("records")
    ]


def _load(files: list[Path] | None, store: str, *, verbose: bool = False) -> Measurements:
    """Return the measurements of the files given, or else the store's newest."""
    if files:
        return _read(files, verbose=verbose)
    from switchpoint.store.store import Store

    return Store(store).latest()


def _everything(store: str) -> Measurements:
    """Return all runs of the store: claims rest on repeated launches, not on the newest."""
    from switchpoint.store.store import Store

    return Store(store).read()


def _read(files: list[Path], *, verbose: bool = False) -> Measurements:
    """Read what can be read and name each file that cannot, on stderr; exit 2 if none can."""
    from switchpoint.importing.reading import find_files, read_found
    from switchpoint.reporting.terminal import progress
    from switchpoint.tables.builds import tell_builds

    found = find_files(files)
    with progress("reading", len(found.found)) as advance:
        gathered = read_found(found.found, advance)
    _list_failures([*found.failures, *gathered.failures], files, found.count, verbose=verbose)
    measurements = gathered.measurements
    if measurements is None:
        raise typer.Exit(_BAD)
    values = len(measurements.single_values)
    if measurements.samples.empty and values:
        raise InputError(
            files[0],
            f"holds no curve but {values} single value{'' if values == 1 else 's'};"
            " keep them with `switchpoint import`",
        )
    return tell_builds(measurements)


def _list_failures(
    failures: list[InputError], files: list[Path], found: int, *, verbose: bool = False
) -> None:
    """Say on stderr which of the files found could not be read, or that there are none."""
    from switchpoint.reporting.terminal import failure_lines

    for line in failure_lines(failures, given=files, verbose=verbose):
        _say(line)
    if not found:
        _say(f"{files[0]}: holds no file; measure first")


def _warn(warnings: list[str], *, verbose: bool = False) -> None:
    """Say warnings on stderr, those of one kind in one line."""
    from switchpoint.reporting.terminal import warning_lines

    for warning in warning_lines(warnings, verbose=verbose):
        _say(f"warning: {warning}")


def _say(message: str) -> None:
    """Print one line on stderr, whatever the names in it hold."""
    print(f"switchpoint: {printable(message)}", file=sys.stderr)


def _print_json(content: object) -> None:
    print(json.dumps(content, indent=2))


@contextmanager
def _user_mistakes() -> Iterator[None]:
    """Turn what a user can fix into one line and exit code 2."""
    try:
        yield
    except InputError as error:
        _say(str(error))
        raise typer.Exit(_BAD) from None
