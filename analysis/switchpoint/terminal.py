"""Prints tables for people in the terminal, short and clear."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from switchpoint.detection import count_curves, prominent
from switchpoint.diagnosis import Fact
from switchpoint.errors import InputError, NotRecognisedError
from switchpoint.explanation import notable
from switchpoint.measurements import Measurements
from switchpoint.naming import other_curve
from switchpoint.reproduction import Difference, Recipe
from switchpoint.shapes import identity_columns
from switchpoint.tools import missing_tools
from switchpoint.units import bracket_text, percent, place_text, significant, size_text

_STATE_STYLES = {"ok": "green", "poor": "yellow", "missing": "red"}

#: Columns that head a group of findings; the rest of the identity is a table's columns.
_HEADING = ["site", "partition", "mpi", "environ", "kernel"]


_VERDICT_STYLES = {"holds": "green", "does not hold": "red", "not testable here": "yellow"}

#: So many figures of a claim, and of their runs, are printed; --json has them all.
_FIGURES = 4
_RUNS = 8

#: Fewer steps than these are done before a bar could be read.
_WORTH_A_BAR = 50

#: So many names of files that are no results are printed for each reason; --json has them all.
_NAMES = 8


@contextmanager
def progress(task: str, total: int) -> Iterator[Callable[[], object]]:
    """Show a bar on standard error while a long task runs at a terminal; yields its advance."""
    console = Console(stderr=True)
    hidden = total < _WORTH_A_BAR or not console.is_terminal
    with Progress(console=console, disable=hidden, transient=True) as bar:
        number = bar.add_task(task, total=total)
        yield lambda: bar.advance(number)


def failure_lines(failures: Iterable[InputError], given: Iterable[Path]) -> list[str]:
    """Word what could not be read: a line for each file, but one for all that is no result.

    A folder of results holds scripts and logs too: those are counted by name under their reason.
    """
    asked, lines = {str(path) for path in given}, []
    other: dict[str, Counter[str]] = {}
    for failure in failures:
        if isinstance(failure, NotRecognisedError) and failure.source not in asked:
            reason = failure.problem.split(";")[0].removeprefix("is ")
            other.setdefault(reason, Counter())[Path(failure.source).name] += 1
        else:
            lines.append(str(failure))
    for reason, names in other.items():
        shown = [
            name if number == 1 else f"{name} ({number} times)"
            for name, number in names.most_common(_NAMES)
        ]
        more = f" and {len(names) - _NAMES} more names" if len(names) > _NAMES else ""
        lines.append(f"left out, {reason}: {', '.join(shown)}{more}")
    return lines


def print_findings(
    findings: pd.DataFrame, measurements: Measurements, *, show_all: bool = False
) -> None:
    """Print findings as a table per MPI, then what is suspected behind them.

    Without `show_all` only the prominent ones; the last line counts the rest.
    """
    console = Console(highlight=False)
    curves = count_curves(measurements)
    if findings.empty:
        console.print(f"Nothing found in {_count(curves, 'curve')}.")
        return
    total, hidden = len(findings), 0
    if not show_all:
        findings = findings[prominent(findings)]
        hidden = total - len(findings)
    heading = [name for name in _HEADING if name in findings]
    groups = findings.groupby(heading, dropna=False, sort=False) if heading else [((), findings)]
    for values, group in groups:
        console.print(Text(", ".join(v for v in values if isinstance(v, str)), style="bold"))
        console.print(_table(group))
        _print_suspects(console, group)
        console.print()
    more = f", {hidden} of them minor: --all shows them" if hidden else ""
    console.print(f"{_count(total, 'finding')} in {_count(curves, 'curve')}{more}.")


def print_claims(claims: pd.DataFrame) -> None:
    """Print each place's claims with verdict, figures, and what is missing where it is open."""
    console = Console(highlight=False)
    for place, group in claims.groupby(["site", "partition", "mpi"], dropna=False, sort=False):
        words = [word for word in place if isinstance(word, str)]
        console.print(Text(", ".join(words) or "nowhere measured", style="bold"))
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for claim in group.to_dict("records"):
            verdict = Text(claim["verdict"], style=_VERDICT_STYLES[claim["verdict"]])
            table.add_row(f"{claim['study']}.{claim['number']}", verdict, Text(claim["claim"]))
            for line in _figures(claim["evidence"]):
                table.add_row("", "", Text(line, style="dim"))
            if claim["reason"] is not None:
                table.add_row("", "", Text(f"{claim['reason']}; mend: {claim['mend']}"))
        console.print(table)
        console.print()
    counts = claims["verdict"].value_counts()
    console.print(", ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in _VERDICT_STYLES))


def _figures(evidence: list[dict[str, Any]]) -> list[str]:
    """Lines for the figures of a claim, those first that speak against it; then their runs."""
    ordered = sorted(evidence, key=lambda figure: [False, None, True].index(figure["holds"]))
    lines = []
    for figure in ordered[:_FIGURES]:
        numbers = [significant(figure[name]) for name in ("value", "low", "high")]
        unit = f" {figure['unit']}" if figure["unit"] else ""
        interval = f"{numbers[0]} [{numbers[1]}, {numbers[2]}]{unit}"
        lines.append(f"{figure['what']}: {interval}, wanted {figure['wanted']}")
    if len(ordered) > _FIGURES:
        lines.append(f"and {len(ordered) - _FIGURES} more figures: --json has them all")
    runs = sorted({run[:8] for figure in evidence for run in figure["runs"]})
    if runs:
        more = f" and {len(runs) - _RUNS} more" if len(runs) > _RUNS else ""
        lines.append(f"runs {', '.join(runs[:_RUNS])}{more}")
    return lines


def print_switches(switches: pd.DataFrame, *, show_all: bool = False) -> None:
    """Print where each switch is and why, a table per MPI; without `show_all` the notable ones."""
    console = Console(highlight=False)
    total = len(switches)
    if not show_all:
        switches = switches[notable(switches)]
    for values, group in switches.groupby(_HEADING, dropna=False, sort=False):
        console.print(Text(", ".join(v for v in values if isinstance(v, str)), style="bold"))
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("placement", "mode"):
            table.add_column(heading, no_wrap=True)
        for heading in ("last / B", "first / B", "time"):
            table.add_column(heading, justify="right", no_wrap=True)
        for heading in ("kind", "cause"):
            table.add_column(heading, no_wrap=True)
        for row in group.to_dict("records"):
            table.add_row(
                Text(_cell("placement", row["placement"])),
                Text(_cell("mode", row["mode"])),
                f"{row['last_size_bytes']:,}",
                f"{row['first_size_bytes']:,}",
                "-" if pd.isna(row["magnitude"]) else percent(row["magnitude"]),
                row["kind"].replace("_", " "),
                Text(_cause(row)),
            )
        console.print(table)
        _print_reasons(console, group)
        console.print()
    hidden = total - len(switches)
    more = f", {hidden} of them small and without a cause: --all shows them" if hidden else ""
    console.print(f"{total} switch{'' if total == 1 else 'es'} and steps{more}.")


def print_sentences(switches: pd.DataFrame, size_bytes: int) -> None:
    """Print what is known of the switches near a size, one paragraph for each."""
    console = Console(highlight=False)
    if switches.empty:
        console.print(f"No switch and no step near {size_text(size_bytes)}.")
    for row in switches.to_dict("records"):
        words = [row[name] for name in (*_HEADING, "placement", "mode") if name in row]
        console.print(Text(", ".join(v for v in words if isinstance(v, str)), style="bold"))
        last, first = f"{row['last_size_bytes']:,} B", f"{row['first_size_bytes']:,} B"
        if row["kind"] == "protocol_switch" and row["exact"]:
            says = f"the protocol switches after {last}: {first} is the first past it"
        elif row["exact"]:
            says = f"a step after {last}: {first} is the first past it"
        else:
            says = f"a step somewhere between {last} and {first}"
        time = "" if pd.isna(row["magnitude"]) else f", time {percent(row['magnitude'])}"
        console.print(Text(f"  {says}{time}"), soft_wrap=True)
        console.print(Text(f"  cause {row['status']}: {row['reason']}"), soft_wrap=True)


def _print_reasons(console: Console, switches: pd.DataFrame) -> None:
    """Print each reason once, with the runs that it rests on."""
    runs: dict[str, dict[str, None]] = {}
    for row in switches.to_dict("records"):
        if row["cause"] is not None or row["status"] == "refuted":
            told = [f"{word['method']} {word['run_id'][:8]}" for word in row["evidence"]]
            runs.setdefault(row["reason"], {}).update(dict.fromkeys(told))
    for reason, evidence in runs.items():
        words = ", ".join(word.replace("_", " ") for word in evidence)
        console.print(Text(f"{reason} ({words})"), soft_wrap=True)


def _cause(row: Mapping[Any, Any]) -> str:
    if row["cause"] is None:
        return "-" if row["status"] == "unknown" else f"{row['status']}"
    return f"{row['cause']}, {row['status']}"


def print_facts(facts: Iterable[Fact]) -> None:
    """Print what `doctor` found as a table, each fix under its problem."""
    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    problems = 0
    for fact in facts:
        table.add_row(
            Text(fact.state, style=_STATE_STYLES[fact.state]), Text(fact.topic), Text(fact.found)
        )
        if fact.fix:
            problems += 1
            table.add_row("", "", Text(f"fix: {fact.fix}", style="bold"))
    console.print(table)
    console.print(f"{_count(problems, 'problem')} found." if problems else "No problem found.")


def print_tools(table: pd.DataFrame) -> None:
    """Print round trips as a table for each placement: a row for each tool, the fastest first."""
    console = Console(highlight=False)
    for place, part in table.groupby(["site", "placement"], sort=False):
        console.print(Text(", ".join(map(str, place)), style="bold"))
        printed = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        printed.add_column("round trip / us", no_wrap=True)
        for size in sorted(part["size_bytes"].unique()):
            printed.add_column(size_text(size), justify="right", no_wrap=True)
        cells = part.assign(cell=part["round_trip_us"].map(significant)).pivot_table(
            index="tool", columns="size_bytes", values="cell", aggfunc="first"
        )
        order = part.groupby("tool")["median_us"].sum().sort_values().index
        for tool, row in cells.loc[order].fillna("-").iterrows():
            printed.add_row(str(tool), *row)
        console.print(printed)
        console.print()
    console.print("Mean without the best and the worst of each run; of several runs the median.")
    missing = missing_tools(table)
    if missing:
        console.print(f"Not measured: {', '.join(missing)}.")


def print_recipe(recipe: Recipe, differences: Iterable[Difference]) -> None:
    """Print what a run needs, then what is not here as it was there."""
    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for term, text in recipe.facts():
        table.add_row(Text(term), Text(text))
    console.print(table)
    found = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("differs here", "there", "here"):
        found.add_column(heading, overflow="fold")
    for difference in differences:
        found.add_row(*map(Text, (difference.topic, difference.there, difference.here)))
    console.print()
    console.print(found if found.row_count else "Nothing that is known differs on this machine.")


def _table(findings: pd.DataFrame) -> Table:
    curve_columns = [
        name for name in identity_columns(findings)
        if name not in {*_HEADING, "run_id"} and findings[name].notna().any()
    ]  # fmt: skip
    if _curves_repeat(findings, curve_columns):
        curve_columns.append("run_id")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in curve_columns:
        table.add_column(name.removesuffix("_id"), no_wrap=True)
    table.add_column("finding", no_wrap=True)
    table.add_column("between sizes / B", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("sure", justify="right", no_wrap=True)
    for row in findings.to_dict("records"):
        table.add_row(
            *(Text(_cell(name, row[name])) for name in curve_columns),
            row["kind"].replace("_change", "").replace("_", " "),
            _place(row),
            Text(percent(row["magnitude"]), style="red" if row["magnitude"] > 0 else "green"),
            f"{100 * row['confidence']:.0f} %",
        )
    return table


def _place(row: Mapping[Any, Any]) -> str:
    last_size = row["evidence"].get("last_size_bytes")
    return place_text(row["kind"], row["last_size_before"], row["size_bytes"], last_size)


def _print_suspects(console: Console, findings: pd.DataFrame) -> None:
    """Print each suspicion once, with the placements and steps that it would explain.

    Then what is guessed of steps without a suspect, and what inverted curves are slower than.
    """
    explained: dict[str, dict[str, None]] = {}
    for row in findings.to_dict("records"):
        for suspect in row["suspects"]:
            step = f"step at {bracket_text(row['last_size_before'], row['size_bytes'])}"
            if isinstance(row.get("placement"), str):
                step = f"{row['placement']}, {step}"
            explained.setdefault(suspect["reason"], {})[step] = None
    for reason, steps in explained.items():
        console.print(Text(f"{'; '.join(steps)}: suspect {reason}"), soft_wrap=True)
    for row in findings.to_dict("records"):
        where = f"{row['kind'].replace('_', ' ')} at {_place(row)}"
        if isinstance(row.get("placement"), str):
            where = f"{row['placement']}, {where}"
        if row["origin"] and not row["suspects"]:
            guess = row["origin"]["guess"].replace("_", " ")
            evidence = "; ".join(row["origin"]["evidence"])
            console.print(Text(f"{where}: perhaps {guess}: {evidence}"), soft_wrap=True)
        if other := other_curve(row["evidence"]):
            console.print(Text(f"{where} B: slower than {other}"), soft_wrap=True)


def _curves_repeat(findings: pd.DataFrame, columns: list[str]) -> bool:
    """Whether several runs hold a curve of the same name."""
    named = findings[[*columns, "run_id"]].drop_duplicates()
    return bool(named.duplicated(columns).any()) if columns else len(named) > 1


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, str):
        return "-"
    return value[:8] if name == "run_id" else value


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_stayed_eager(eager: pd.DataFrame) -> None:
    """Print a sentence for each place where MPI_Send never waited for its receiver."""
    console = Console(highlight=False)
    for row in eager.to_dict("records"):
        words = [row[name] for name in (*_HEADING, "placement", "mode") if name in row]
        console.print(Text(", ".join(v for v in words if isinstance(v, str)), style="bold"))
        console.print(Text(f"  {row['reason']}"), soft_wrap=True)
