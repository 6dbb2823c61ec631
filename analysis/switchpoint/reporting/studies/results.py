"""What each study's page shows beside the verdicts: tables as Markdown, and drawings."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from switchpoint.reporting.studies.drawings import draw_efficiency, draw_timelines
from switchpoint.reporting.studies.markdown import place_name, safe, table
from switchpoint.studies import study_000, study_002, study_003, study_004
from switchpoint.studies.claims import places_of
from switchpoint.studies.points import Data
from switchpoint.studies.simulated_switch import SCHEDULES, utilisations
from switchpoint.tables.units import significant, size_text


@dataclass
class Results:
    """Tables by name, and drawings by their file's name with the place that each is of."""

    tables: dict[str, str] = field(default_factory=dict)
    drawings: dict[str, tuple[str, bytes]] = field(default_factory=dict)


def results_of(study: str, data: Data) -> Results:
    """Return what the page of a study shows."""
    found = Results()
    if study in _OF_STUDY:
        _OF_STUDY[study](data, found)
    return found


def _maps(data: Data, found: Results) -> None:
    tables = [
        (place_name(place), maps) for place, own in places_of(data)
        if not (maps := study_000.maps(own)).empty
    ]  # fmt: skip
    rows = []
    for number, (layout, nodes) in enumerate(study_000.LAYOUTS):
        own = [maps.iloc[number] for _, maps in tables]
        cells = [f"{_ms(row['measured_us'])} / {_ms(row['predicted_us'])}" for row in own]
        rows.append([layout, nodes, f"{study_000.bytes_over_network(nodes):,}", *cells])
    head = ["layout", "map", "bytes between nodes", *(safe(name) for name, _ in tables)]
    found.tables["maps"] = table(head, rows) if tables else ""
    for number, (name, maps) in enumerate(tables):
        known = maps[maps["activity"].map(bool)]
        if len(known):
            title = f"Predicted activity of the seven processes, {name}"
            drawn = draw_timelines(title, zip(known["layout"], known["activity"], strict=True))
            found.drawings[f"000-timelines-{number + 1}.svg"] = name, drawn


def _efficiencies(data: Data, found: Results) -> None:
    columns: dict[str, dict[Any, str]] = {}
    literature: dict[Any, str] = {}
    for number, (place, own) in enumerate(places_of(data)):
        measured = study_002.parallel_efficiency(own)
        if measured.empty:
            continue
        name = place_name(place)
        even = study_002.break_even(measured).set_index(["ranks", "words"])
        literature |= {key: _ms(time) for key, time in even["literature_us"].items()}
        columns[name] = {
            key: f"{_measured_grain(row)} / {_ms(row['predicted_us'])}"
            for key, row in even.iterrows()
        }
        drawn = draw_efficiency(f"Efficiency over T, {name}", measured[measured["serial"] == 0])
        found.drawings[f"002-efficiency-{number + 1}.svg"] = name, drawn
    head = ["np", "L", "the study's constants", *map(safe, columns)]
    rows = [
        [f"{key[0]}", f"{key[1]:,}", literature[key],
         *(times.get(key, "") for times in columns.values())]
        for key in sorted(literature)
    ]  # fmt: skip
    found.tables["break_even"] = table(head, rows) if rows else ""


def _measured_grain(row: pd.Series) -> str:
    below = row["below_us"]
    return _ms(row["measured_us"]) if pd.isna(below) else f"below {_ms(below)}"


def _schedules(data: Data, found: Results) -> None:
    columns: dict[str, dict[str, str]] = {}
    for place, own in places_of(data):
        for row in study_003.shares(own).to_dict("records"):
            name = f"{place_name(place)}: {row['ranks']} ranks, {size_text(row['size_bytes'])}"
            share = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
            columns.setdefault(name, {})[row["mode"]] = share
    modes = sorted({mode for shares in columns.values() for mode in shares})
    rows = [[safe(mode), *(shares.get(mode, "") for shares in columns.values())] for mode in modes]
    found.tables["schedules"] = table(["schedule", *map(safe, columns)], rows) if rows else ""
    measured = (data.passes["kernel"] == "alltoall").any()
    found.tables["switch"] = _switch_table() if measured else ""


def _switch_table() -> str:
    return table(
        ["schedule", "ports", "buffers at the inputs", "at the outputs"],
        ([name, f"{ports}", *(f"{statistics.median(utilisations(schedule, ports, buffered)):.3f}"
                              for buffered in (True, False))]
         for ports in (8, 16) for name, schedule in SCHEDULES.items()),
    )  # fmt: skip


def _trees(data: Data, found: Results) -> None:
    rows = []
    for place, own in places_of(data):
        times = study_004.trees(own).set_index(["mode", "size_bytes"])["time_us"].to_dict()
        rows += list(_tree_rows(place_name(place), times))
    head = ["", "message", "binary, 31 ranks", "two-level, 21 ranks", "ratio", "the study's ratio"]
    found.tables["trees"] = table(head, rows) if rows else ""


def _tree_rows(name: str, times: Mapping[Hashable, float]) -> Iterator[list[str]]:
    for size, (adaptive_ms, binary_ms) in study_004.PUBLISHED_TREES_MS.items():
        binary, two_level = (times.get((mode, size)) for mode in ("binary_ack", "two_level_ack"))
        if binary and two_level:
            yield [safe(name), size_text(size), _ms(binary), _ms(two_level),
                   f"{binary / two_level:.2f}", f"{binary_ms / adaptive_ms:.2f}"]  # fmt: skip


def _ms(time_us: Any) -> str:
    return "-" if time_us is None or pd.isna(time_us) else f"{significant(time_us / 1000)} ms"


_OF_STUDY: dict[str, Callable[[Data, Results], None]] = {
    "000": _maps, "002": _efficiencies, "003": _schedules, "004": _trees,
}  # fmt: skip
