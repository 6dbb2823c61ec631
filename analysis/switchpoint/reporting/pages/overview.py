"""The first page: the answer in three sentences and one picture, then all sites and kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from switchpoint.explanation.places import Explained
from switchpoint.reporting.digest import PLACE, Line, digest
from switchpoint.reporting.disturbed import disturbed_text
from switchpoint.reporting.figures.ladder import draw_ladders
from switchpoint.reporting.figures.switch_curve import draw_switch_curve
from switchpoint.reporting.pages.contents import Contents, kernel_path, site_path
from switchpoint.reporting.pages.page import Page, Row, Section, Table, whole_number, word
from switchpoint.reporting.pages.tables import with_nulls
from switchpoint.tables.columns import records
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.naming import worded
from switchpoint.tables.units import range_text, significant

#: What a sentence names of a ladder.
_PLACE = ("site", "partition", "mpi", "environ", "placement")

#: The picture shows at most so many ladders; the page of the ladders has all.
_MOST_LADDERS = 8


def overview(contents: Contents) -> Page:
    """Return the first page."""
    measurements = contents.measurements
    line = _most_confident_line(contents)
    return Page(
        "index.html",
        "Switchpoint report",
        [
            *filter(None, [disturbed_text(measurements).replace("`", "")]),
            *(_causes(contents), _changes(contents), _most_confident(contents, line)),
        ],
        _picture(contents, line),
        [
            Section("sites", "Sites", tables=[_sites(contents)] if contents.sites else []),
            Section("kernels", "Kernels", tables=[_kernels(contents)]),
        ],
        [*map(str, [*measurements.warnings, *contents.curve_warnings])],
    )


def _causes(contents: Contents) -> str:
    """Say how many causes of switches are confirmed, and one of them."""
    switches = contents.switches
    exact = switches[switches["exact"].astype(bool)] if len(switches) else switches
    confirmed = _confirmed(switches)
    if confirmed.empty:
        return (
            f"{_counted(len(exact), 'switch', 'switches')} located to the byte, and no cause is"
            " confirmed yet: a cause is confirmed if the switch follows its setting by a law."
        )
    row = records(confirmed, Explained)[0]
    where = ", ".join(filter(None, [row.get("mpi"), row.get("placement")]))
    return (
        f"{_counted(len(confirmed), 'switch has', 'switches have')} a confirmed cause, such as"
        f" {row['cause']} for the switch from {row['last_size_bytes']:,} to"
        f" {row['first_size_bytes']:,} B of {where}."
    )


def _confirmed(switches: pd.DataFrame) -> pd.DataFrame:
    return switches[switches["status"] == "confirmed"] if len(switches) else switches


def _changes(contents: Contents) -> str:
    """Say what changed since the last time."""
    verdicts = contents.verdicts
    if not verdicts:
        return "There is no earlier session of the same curves to compare with."
    sessions = max(verdict.sessions for verdict in verdicts)
    since = f"Compared with {_counted(sessions, 'baseline session')}"
    failing = [
        (verdict.site, str(sentence).replace("`", ""))
        for verdict in verdicts
        for sentence in verdict.findings.loc[verdict.findings["fails"].astype(bool), "sentence"]
    ]
    if not failing:
        return f"{since}, nothing became worse."
    fails = "fails" if len(failing) == 1 else "fail"
    site, first = failing[0]
    where = f"at {site}, " if len(verdicts) > 1 and site else ""
    return (
        f"{since}, {_counted(len(failing), 'finding')} of the newest session {fails}:"
        f" {where}{first}."
    )


def _most_confident(contents: Contents, line: Line | None) -> str:
    """Say which step has the highest confidence; of equal ones the costliest."""
    if line is None:
        return "No step costs time."
    place = _place(line, _labels(contents))
    return (
        f"The step with the highest confidence adds {significant(line.cost_us)} µs to a"
        f" message or call from {range_text(line.last_size_before, line.size_bytes)}: {place}"
        f" (confidence {100 * line.confidence:.0f} %)."
    )


def _most_confident_line(contents: Contents) -> Line | None:
    told = digest(contents.findings, contents.curves)
    lines = [line for line in told if line.costs_us and line.cost_us > 0]
    return next((line for line in lines if line.notable), lines[0] if lines else None)


def _labels(contents: Contents) -> list[str]:
    """Return the labels, such as a fabric, that distinguish two curves."""
    others = {*_PLACE, *PLACE, "kernel", "placement", "mode", "run_id"}
    return [
        name
        for name in contents.identity
        if name not in others and len(contents.curves[name].unique()) > 1
    ]


def _place(line: Line, labels: list[str]) -> str:
    told = [value for value in line.place.values() if value]
    curve = next(iter(line.curves.values()))
    told += [
        worded(name, curve[name])
        for name in ("kernel", "placement", "mode", *labels)
        if curve.get(name)
    ]
    return ", ".join(dict.fromkeys(told)) or "the only place"


def _picture(contents: Contents, line: Line | None) -> str:
    """Draw the curve of the switch that the sentences name, then its ladder beside others."""
    named = with_nulls(_confirmed(contents.switches))[:1]
    if line is not None:
        sizes = {
            "last_size_bytes": line.last_size_before,
            "first_size_bytes": line.size_bytes,
        }
        named.append(line.place | next(iter(line.curves.values())) | sizes)
    curve = _curve(contents, named[0]) if named else ""
    return curve + _ladders(contents.rungs, named)


def _curve(contents: Contents, switch: Mapping[Any, Any]) -> str:
    """Draw the curve of a switch, all launches with its names."""
    points = contents.curves
    told = []
    labels = [name for name in _labels(contents) if name in switch]
    for name in (*_PLACE, "kernel", "mode", *labels):
        value = switch.get(name)
        if isinstance(value, str):
            told.append(worded(name, value))
        if name in points:
            same = points[name] == value if isinstance(value, str) else points[name].isna()
            points = points[same]
    cause = f"{switch['cause']} = {switch['value']}" if isinstance(switch.get("cause"), str) else ""
    last, first = int(switch["last_size_bytes"]), int(switch["first_size_bytes"])
    return draw_switch_curve(points, last, first, ", ".join(dict.fromkeys(told)), cause)


def _ladders(rungs: pd.DataFrame, named: Sequence[Mapping[Any, Any]]) -> str:
    """Draw the ladders that the sentences name, then those with the most rungs."""
    if rungs.empty:
        return ""
    curve = (rungs["last_size_before"].isna()).cumsum()
    ladders = [own for _, own in rungs.groupby(curve, sort=False)]

    def priority(own: pd.DataFrame) -> tuple[bool, int]:
        row = own.iloc[0].to_dict()
        return any(_same_place(row, one) for one in named), len(own)

    chosen = sorted(ladders, key=priority, reverse=True)[:_MOST_LADDERS]
    shown = [own for own in ladders if any(own is one for one in chosen)]
    return draw_ladders(pd.concat(shown), dark=True)


def _same_place(rung: Mapping[Any, Any], named: Mapping[Any, Any]) -> bool:
    """Return whether a ladder is of the site, MPI and placement that a sentence names."""
    return all(word(rung.get(name)) == word(named.get(name)) for name in _PLACE)


def _sites(contents: Contents) -> Table:
    rows = []
    for site in contents.sites:
        runs = [run for run in contents.runs if run["site"] == site]
        mpis = sorted({run["mpi"] for run in runs if isinstance(run["mpi"], str)})
        dates = [run["date"] for run in runs if isinstance(run["date"], str)]
        rows.append(
            Row(
                [
                    word(site, site_path(site)),
                    whole_number(len(runs)),
                    word(", ".join(mpis)),
                    word(max(dates, default="")),
                ]
            )
        )
    return Table("sites-table", ["site", "runs", "MPI", "newest run"], rows)


def _kernels(contents: Contents) -> Table:
    counts = _counts(contents.curves, contents.identity)
    found = _counts(contents.findings, None)
    rows = [
        Row(
            [
                word(kernel or "curves without a kernel", kernel_path(kernel, mode)),
                word(mode),
                whole_number(counts.get((kernel, mode), 0)),
                whole_number(found.get((kernel, mode), 0)),
            ]
        )
        for kernel, mode in contents.kernels
    ]
    return Table("kernels-table", ["kernel", "mode", "curves", "findings"], rows)


def _counts(table: pd.DataFrame, distinct: list[str] | None) -> dict[tuple[Any, Any], int]:
    """Count rows, or distinct curves, of each kernel and mode."""
    own = table if distinct is None else table.drop_duplicates(distinct)
    counts: dict[tuple[Any, Any], int] = {}
    for row in records(own[[name for name in ("kernel", "mode") if name in own]], CurveIdentity):
        key = row.get("kernel"), row.get("mode")
        counts[key] = counts.get(key, 0) + 1
    return counts


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
