"""Prints tables for people in the terminal, short and clear."""

from __future__ import annotations

import functools
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress
from rich.table import Column, Table
from rich.text import Text

from switchpoint.comparison.tools import missing_tools
from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.explanation.switches import notable
from switchpoint.printable import printable
from switchpoint.reporting.digest import (
    PLACE,
    Line,
    digest,
    first_of_each_place,
    sort_findings,
    sort_lines,
)
from switchpoint.reproduction.recipe import Difference, Recipe
from switchpoint.sites.doctor import Fact
from switchpoint.store.importing import Imported
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.naming import other_curve
from switchpoint.tables.units import percent, place_text, range_text, significant, size_text

#: Nobody reads more lines than these; --all prints the rest.
MOST_LINES = 36

#: So many lines of files that cannot be read, and so many ends of names, are printed.
_LINES = 12
_SUFFIXES = 6

#: What is counted where a folded line has more values of it than a few.
_FOLDED = {"kernel": "benchmarks", "placement": "placements", "mode": "modes"}
_FEW_WORDS = 4

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_STATE_STYLES = {"ok": "green", "poor": "yellow", "missing": "red"}

#: Columns that head a group of findings; the rest of the identity is a table's columns.
_HEADING = ["site", "partition", "mpi", "environ", "kernel"]


_VERDICT_STYLES = {"holds": "green", "does not hold": "red", "not testable here": "yellow"}

#: So many figures of a claim, and of their runs, are printed; --json has them all.
_FIGURES = 4
_RUNS = 8

#: Fewer steps than these are done before a bar could be read.
_WORTH_A_BAR = 50


@contextmanager
def progress(task: str, total: int) -> Iterator[Callable[[], object]]:
    """Show a bar on standard error while a long task runs at a terminal; yields its advance."""
    console = Console(stderr=True)
    hidden = total < _WORTH_A_BAR or not console.is_terminal
    with Progress(console=console, disable=hidden, transient=True) as bar:
        number = bar.add_task(task, total=total)
        yield lambda: bar.advance(number)


def import_lines(outcome: Imported, store: str) -> list[str]:
    """Say how many runs and single values were kept."""
    again = f"; {outcome.already_stored:,} already there" if outcome.already_stored else ""
    lines = [f"{_count(outcome.added, 'run')} added to {store}{again}"]
    if outcome.values_added or outcome.values_already_stored:
        tests = f" of {_count(outcome.values_tests, 'test')}" if outcome.values_added else ""
        known = outcome.values_already_stored
        again = f"; {known:,} already there" if known else ""
        lines.append(f"{_count(outcome.values_added, 'single value')}{tests} kept{again}")
    return lines


def failure_lines(
    failures: Iterable[InputError], given: Iterable[Path], *, verbose: bool = False
) -> list[str]:
    """Word what could not be read: a line for each file, but one for all that is no result.

    A folder of results holds scripts and logs too: those are counted by the reason, and what a user
    named is not. Of more than `_LINES` lines the rest is counted as well, unless `verbose`.
    """
    asked = {str(path) for path in given}
    lines: dict[str, int] = {}
    skipped: dict[Reason, Counter[str]] = {}
    for failure in failures:
        reason = failure.reason if isinstance(failure, NotRecognisedError) else None
        if reason is None or verbose or failure.source in asked:
            lines[str(failure)] = lines.get(str(failure), 0) + 1
        else:
            skipped.setdefault(reason, Counter())[Path(failure.source).suffix] += 1
    words = [
        f"{line} ({_count(number, 'file')})" if number > 1 else line
        for line, number in lines.items()
    ]
    if len(words) > _LINES and not verbose:
        more = sum(list(lines.values())[_LINES:])
        words[_LINES:] = [f"and {_count(more, 'file')} more that cannot be read; see --verbose"]
    if skipped:
        counted = [_skipped(reason, skipped[reason]) for reason in Reason if reason in skipped]
        words.append(f"skipped: {', '.join(counted)}")
    return words


def _skipped(reason: Reason, suffixes: Counter[str]) -> str:
    """Count the files that are no results for one reason, with the ends of their names."""
    one, several = reason.value
    number = suffixes.total()
    words = f"{number:,} {one if number == 1 else several}"
    names = [suffix for suffix, _ in suffixes.most_common() if suffix]
    if reason not in {Reason.NO_RESULT, Reason.BINARY} or not names:
        return words
    more = ", ..." if len(names) > _SUFFIXES else ""
    return f"{words} ({', '.join(names[:_SUFFIXES])}{more})"


def warning_lines(warnings: Iterable[str], *, verbose: bool = False) -> list[str]:
    """Give each kind of warning one line: the first, with how many more there are.

    Warnings are of one kind if they differ in nothing but numbers and what stands before the first
    colon, which names a file or a curve.
    """
    warnings = list(warnings)
    if verbose:
        return warnings
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        kind = _NUMBER.sub("", warning.partition(": ")[2] or warning)
        kinds.setdefault(kind, []).append(warning)
    return [
        some[0] if len(some) == 1 else f"{some[0]} ({len(some) - 1:,} more of this kind)"
        for some in kinds.values()
    ]


def print_findings(
    findings: pd.DataFrame,
    curves: pd.DataFrame,
    switches: pd.DataFrame | None = None,
    *,
    show_all: bool = False,
    sort: str | None = None,
) -> None:
    """Print confirmed causes, then the findings: folded, in at most `MOST_LINES` lines.

    Parameters
    ----------
    findings, curves
        As from `detect` and `summarise`.
    switches
        As from `explain`, where anything is known of them.
    show_all
        Print each finding of each curve instead, with what is suspected.
    sort
        One of `digest.SORTS`.
    """
    console = Console(highlight=False)
    searched = _count(_curve_count(curves), "curve")
    if findings.empty:
        console.print(f"Nothing found in {searched}.")
        return
    confirmed = _confirmed(switches)
    if show_all:
        _show_confirmed(console, confirmed)
        _print_each(console, sort_findings(findings, sort) if sort else findings)
        console.print(f"{_count(len(findings), 'finding')} in {searched}.")
        return
    lines = sort_lines(digest(findings, curves), sort or "cost")
    notable = [line for line in lines if line.notable]
    # Confirmed causes have at most a third of the lines; then whatever fits, notes last.
    del confirmed[MOST_LINES // 3 :]
    printed = _rendered(console, lambda target: _show_confirmed(target, confirmed))
    left = MOST_LINES - printed - 3
    shown = first_of_each_place(notable, left)
    while True:
        notes = _notes(shown)
        needed = _rendered(console, functools.partial(_show_lines, lines=shown, curves=curves))
        if needed <= left or not shown:
            break
        shown = first_of_each_place(notable, len(shown) - max(1, (needed - left) // 3))
    _show_confirmed(console, confirmed)
    _show_lines(console, shown, curves)
    for note in notes:
        needed += _height(console, note)
        if needed > left:
            break
        console.print(_text(note), soft_wrap=True)
    folded = sum(len(line.magnitudes) for line in shown)
    rest = len(findings) - folded
    more = f"; {rest:,} of them not shown: --all prints every finding" if rest else ""
    console.print(f"{_count(len(findings), 'finding')} in {searched}{more}.")


def _curve_count(curves: pd.DataFrame) -> int:
    identity = identity_columns(curves)
    return len(curves[identity].drop_duplicates()) if identity else min(len(curves), 1)


def _rendered(console: Console, show: Callable[[Console], None]) -> int:
    """How many lines something takes on the console."""
    text = io.StringIO()
    target = Console(
        highlight=False,
        width=console.width,
        file=text,
        force_terminal=console.is_terminal,
        color_system=None,
    )
    show(target)
    return sum(_height(console, line) for line in text.getvalue().splitlines())


def _height(console: Console, line: str) -> int:
    """How many lines a terminal makes of one."""
    return max(1, -(-cell_len(line) // console.width)) if console.is_terminal else 1


def _confirmed(switches: pd.DataFrame | None) -> list[dict[Any, Any]]:
    """Switches whose cause is proved, those of one place, bracket and cause together."""
    if switches is None or switches.empty:
        return []
    known = switches[switches["status"] == "confirmed"]
    by = [*(name for name in PLACE if name in known), "placement", "last_size_bytes", "cause"]
    rows = []
    for _, group in known.groupby(by, dropna=False, sort=False):
        row = group.iloc[0].to_dict()
        row["modes"] = sorted({mode for mode in group["mode"] if isinstance(mode, str)})
        row["magnitudes"] = group["magnitude"].dropna().tolist()
        rows.append(row)
    return sorted(rows, key=lambda row: -max(map(abs, row["magnitudes"]), default=0.0))


def _show_confirmed(console: Console, rows: list[dict[Any, Any]]) -> None:
    if not rows:
        return
    console.print(_text("Confirmed causes", style="bold"))
    for row in rows:
        place = _place_words({name: row.get(name) for name in PLACE})
        where = ", ".join(word for word in (place, row["placement"], _listed(row["modes"])) if word)
        size = range_text(row["last_size_bytes"], row["first_size_bytes"])
        time = f", time {_range(row['magnitudes'])}" if row["magnitudes"] else ""
        value = "" if row["value"] is None else f" = {row['value']}"
        console.print(_text(f"{where}: {size}{time}: {row['cause']}{value}"), soft_wrap=True)
    console.print()


def _place_words(place: Mapping[str, str | None]) -> str:
    """Name a place: the MPI library or, where it is not known, the environment."""
    return ", ".join(word for word in place.values() if isinstance(word, str))


def _show_lines(console: Console, lines: list[Line], curves: pd.DataFrame) -> None:
    """Print folded findings as a table or, where that is too wide, each as two lines."""
    if not lines:
        return
    varying = _varying(curves)
    named = _naming([line.place for line in lines])
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in named:
        table.add_column(_heading(name), no_wrap=True)
    for heading in ("finding", "between sizes", "time", "costs", "confidence", "curves"):
        right = heading not in {"finding", "curves"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    table.add_column("in", no_wrap=True)
    rows = []
    for line in lines:
        numbers = (
            range_text(line.last_size_before, line.size_bytes),
            _range(line.magnitudes),
            f"{significant(line.cost_us)} us" if line.costs_us else "-",
            f"{100 * line.confidence:.0f} %",
            f"{len(line.curves):,} of {line.of_curves:,}",
        )
        place = [line.place[name] or "-" for name in named]
        rows.append((place, _kind(line.kind), numbers, _where(line, varying)))
    for place, kind, (size, time, cost, confidence, count), where in rows:
        style = "green" if time.startswith("-") and " to " not in time else "red"
        table.add_row(
            *map(_text, place), kind, size, _text(time, style=style), cost, confidence, count,
            _text(where),
        )  # fmt: skip
    if not console.is_terminal or _width(table) <= console.width:
        _show(console, table)
        return
    for place, kind, (size, time, cost, confidence, count), where in rows:
        words = ", ".join(word for word in [*place, where] if word not in ("", "-"))
        costs = f", {cost}" if cost != "-" else ""
        told = f"{size}, {time}{costs}, confidence {confidence}, {count} curves"
        console.print(_text(words or "all", style="bold"))
        console.print(_text(f"  {kind} {told}"))


def _naming(places: list[dict[str, str | None]]) -> list[str]:
    """Columns that name places: always site and MPI, the others where they tell places apart."""
    named: list[str] = []
    for name in PLACE:
        values = [place[name] for place in places]
        others = [tuple(place[other] for other in named) for place in places]
        tells = len({*zip(others, values, strict=True)}) > len({*others})
        if any(values) and (name in {"site", "mpi"} or tells):
            named.append(name)
    if "environ" not in named and any(p["environ"] and not p["mpi"] for p in places):
        named.append("environ")
    return named


def _heading(column: str) -> str:
    return {"mpi": "MPI"}.get(column, column)


def _varying(curves: pd.DataFrame) -> list[str]:
    """Columns that a folded line names: `_FOLDED`, and what else tells these curves apart."""
    columns = [name for name in identity_columns(curves) if name not in {*PLACE, "run_id"}]
    return [name for name in columns if name in _FOLDED or len(set(curves[name])) > 1]


def _where(line: Line, varying: list[str]) -> str:
    """Name the benchmark, placement and mode of a line's curves, or how many of each there are."""
    words = []
    for name in varying:
        values = list(dict.fromkeys(curve.get(name) for curve in line.curves.values()))
        known = [value for value in values if isinstance(value, str)]
        if name in _FOLDED and known:
            few = len(known) <= _FEW_WORDS
            words.append(_listed(known) if few else f"{len(known)} {_FOLDED[name]}")
        elif len(values) == 1 and known:
            words.append(f"{name}={known[0]}")
    return ", ".join(words)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _range(magnitudes: list[float]) -> str:
    """Write relative changes: one, or the smallest and the largest."""
    low, high = percent(min(magnitudes)), percent(max(magnitudes))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _kind(kind: str) -> str:
    return kind.replace("_change", "").replace("_", " ")


def _notes(lines: list[Line]) -> list[str]:
    """What is suspected behind lines, each suspicion once with the sizes that it would explain."""
    sizes: dict[str, dict[str, None]] = {}
    for line in lines:
        size = f"{_kind(line.kind)} at {range_text(line.last_size_before, line.size_bytes)}"
        for note in line.notes:
            sizes.setdefault(note, {})[size] = None
    return [f"{'; '.join(where)}: {note}" for note, where in sizes.items()]


def _print_each(console: Console, findings: pd.DataFrame) -> None:
    """Print every finding of every curve, a table for each MPI and benchmark."""
    heading = [name for name in _HEADING if name in findings]
    groups = findings.groupby(heading, dropna=False, sort=False) if heading else [((), findings)]
    for values, group in groups:
        console.print(_text(", ".join(v for v in values if isinstance(v, str)), style="bold"))
        _show(console, _table(group))
        _print_suspects(console, group)
        console.print()


def print_claims(claims: pd.DataFrame) -> None:
    """Print each place's claims with verdict, figures, and what is missing where it is open."""
    console = Console(highlight=False)
    for place, group in claims.groupby(["site", "partition", "mpi"], dropna=False, sort=False):
        words = [word for word in place if isinstance(word, str)]
        console.print(_text(", ".join(words) or "nowhere measured", style="bold"))
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for claim in group.to_dict("records"):
            verdict = _text(claim["verdict"], style=_VERDICT_STYLES[claim["verdict"]])
            table.add_row(f"{claim['study']}.{claim['number']}", verdict, _text(claim["claim"]))
            for line in _figures(claim["evidence"]):
                table.add_row("", "", _text(line, style="dim"))
            if claim["reason"] is not None:
                table.add_row("", "", _text(f"{claim['reason']}; mend: {claim['mend']}"))
        _show(console, table)
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
        console.print(_text(", ".join(v for v in values if isinstance(v, str)), style="bold"))
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("placement", "mode"):
            table.add_column(heading, no_wrap=True)
        for heading in ("last / B", "first / B", "time"):
            table.add_column(heading, justify="right", no_wrap=True)
        for heading in ("kind", "cause"):
            table.add_column(heading, no_wrap=True)
        for row in group.to_dict("records"):
            table.add_row(
                _text(_cell("placement", row["placement"])),
                _text(_cell("mode", row["mode"])),
                f"{row['last_size_bytes']:,}",
                f"{row['first_size_bytes']:,}",
                "-" if pd.isna(row["magnitude"]) else percent(row["magnitude"]),
                row["kind"].replace("_", " "),
                _text(_cause(row)),
            )
        _show(console, table)
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
        console.print(_text(", ".join(v for v in words if isinstance(v, str)), style="bold"))
        last, first = f"{row['last_size_bytes']:,} B", f"{row['first_size_bytes']:,} B"
        if row["kind"] == "protocol_switch" and row["exact"]:
            says = f"the protocol switches after {last}: {first} is the first past it"
        elif row["exact"]:
            says = f"a step after {last}: {first} is the first past it"
        else:
            says = f"a step somewhere between {last} and {first}"
        time = "" if pd.isna(row["magnitude"]) else f", time {percent(row['magnitude'])}"
        console.print(_text(f"  {says}{time}"), soft_wrap=True)
        console.print(_text(f"  cause {row['status']}: {row['reason']}"), soft_wrap=True)


def _print_reasons(console: Console, switches: pd.DataFrame) -> None:
    """Print each reason once, with the runs that it rests on."""
    runs: dict[str, dict[str, None]] = {}
    for row in switches.to_dict("records"):
        if row["cause"] is not None or row["status"] == "refuted":
            told = [f"{word['method']} {word['run_id'][:8]}" for word in row["evidence"]]
            runs.setdefault(row["reason"], {}).update(dict.fromkeys(told))
    for reason, evidence in runs.items():
        words = ", ".join(word.replace("_", " ") for word in evidence)
        console.print(_text(f"{reason} ({words})"), soft_wrap=True)


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
            _text(fact.state, style=_STATE_STYLES[fact.state]), _text(fact.topic), _text(fact.found)
        )
        if fact.fix:
            problems += 1
            table.add_row("", "", _text(f"fix: {fact.fix}", style="bold"))
    _show(console, table)
    console.print(f"{_count(problems, 'problem')} found." if problems else "No problem found.")


def print_tools(table: pd.DataFrame) -> None:
    """Print round trips as a table for each placement: a row for each tool, the fastest first."""
    console = Console(highlight=False)
    for place, part in table.groupby(["site", "placement"], sort=False):
        console.print(_text(", ".join(map(str, place)), style="bold"))
        printed = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        printed.add_column("round trip / us", no_wrap=True)
        for size in sorted(part["size_bytes"].unique()):
            printed.add_column(size_text(size), justify="right", no_wrap=True)
        cells = part.assign(cell=part["round_trip_us"].map(significant)).pivot_table(
            index="tool", columns="size_bytes", values="cell", aggfunc="first"
        )
        order = part.groupby("tool")["median_us"].sum().sort_values().index
        for tool, row in cells.loc[order].fillna("-").iterrows():
            printed.add_row(_text(str(tool)), *row)
        _show(console, printed)
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
        table.add_row(_text(term), _text(text))
    _show(console, table)
    found = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("differs here", "there", "here"):
        found.add_column(heading, overflow="fold")
    for difference in differences:
        found.add_row(*map(_text, (difference.topic, difference.there, difference.here)))
    console.print()
    if found.row_count:
        _show(console, found)
    else:
        console.print("Nothing that is known differs on this machine.")


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
    for heading in ("between sizes", "time", "confidence"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in findings.to_dict("records"):
        table.add_row(
            *(_text(_cell(name, row[name])) for name in curve_columns),
            _kind(row["kind"]),
            _place(row),
            _text(percent(row["magnitude"]), style="red" if row["magnitude"] > 0 else "green"),
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
            step = f"step at {range_text(row['last_size_before'], row['size_bytes'])}"
            if isinstance(row.get("placement"), str):
                step = f"{row['placement']}, {step}"
            explained.setdefault(suspect["reason"], {})[step] = None
    for reason, steps in explained.items():
        console.print(_text(f"{'; '.join(steps)}: suspect {reason}"), soft_wrap=True)
    for row in findings.to_dict("records"):
        where = f"{row['kind'].replace('_', ' ')} at {_place(row)}"
        if isinstance(row.get("placement"), str):
            where = f"{row['placement']}, {where}"
        if row["origin"] and not row["suspects"]:
            guess = row["origin"]["guess"].replace("_", " ")
            evidence = "; ".join(row["origin"]["evidence"])
            console.print(_text(f"{where}: perhaps {guess}: {evidence}"), soft_wrap=True)
        if other := other_curve(row["evidence"]):
            console.print(_text(f"{where}: slower than {other}"), soft_wrap=True)


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
        console.print(_text(", ".join(v for v in words if isinstance(v, str)), style="bold"))
        console.print(_text(f"  {row['reason']}"), soft_wrap=True)


def _text(words: str, style: str = "") -> Text:
    """Text for the terminal: what data hold is shown, never obeyed, neither control nor markup."""
    return Text(printable(words), style)


def _show(console: Console, table: Table) -> None:
    """Print a table whose numbers are never cut: words fold, or lines become longer.

    Where nobody sees how wide the output is, as in a pipe, each row is one line.
    """
    width = _width(table)
    if console.is_terminal:
        least = sum(map(_least_width, table.columns)) + 2 * len(table.columns)
        width = min(width, max(console.width, least))
    for column in table.columns:
        column.overflow = "fold"
    before, console.width = console.width, width
    console.print(table)
    console.width = before


def _width(table: Table) -> int:
    """How wide a table is with each row on one line."""
    return sum(max(map(cell_len, _lines_of(column))) + 2 for column in table.columns)


def _least_width(column: Column) -> int:
    """How narrow a column can be without a cut through a word."""
    lines = _lines_of(column)
    if column.no_wrap:
        return max(map(cell_len, lines))
    return max(cell_len(word) for line in lines for word in line.split() or [""])


def _lines_of(column: Column) -> list[str]:
    cells = [column.header, *column.cells]
    texts = (cell.plain if isinstance(cell, Text) else str(cell) for cell in cells)
    return [line for text in texts for line in text.splitlines() or [""]]
