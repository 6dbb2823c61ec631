"""Reads b_eff of the HPC Challenge: ping-pongs and rings of 8 B and of 2,000,000 B.

The summary has more digits than the details above it, which a paste may have alone. MB/s are
10^6 B/s. As for other bandwidths, the time is the size divided by the average bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from switchpoint.errors import InputError
from switchpoint.importing.column_plan import STATISTIC
from switchpoint.importing.external import are_times, content
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import as_runs
from switchpoint.importing.printed_lines import Line, printed_lines
from switchpoint.importing.problems import CUT_ROW, Problem
from switchpoint.importing.same_curves import Part
from switchpoint.tables.measurements import Measurements

NAME = "HPCC's b_eff"

_RECOGNISED = re.compile(
    rb"\bLatency-Bandwidth-Benchmark R|\b(?:Min|Avg|Max)PingPongLatency_usec="
    rb"|^(?:\xef\xbb\xbf)?This is the DARPA/DOE HPC Challenge Benchmark",
    re.MULTILINE,
)

_SIZES = {"Latency": 8, "Bandwidth": 2_000_000}

_NUMBER = r"(?P<{}>\d{{1,12}}(?:\.\d{{1,12}})?(?:e[-+]\d\d)?)"
_SUMMARY = re.compile(
    r"(?:(?P<statistic>Min|Avg|Max)PingPong|(?P<ring>Naturally|Randomly)OrderedRing)"
    rf"(?P<what>Latency|Bandwidth)_(?:usec|GBytes)={_NUMBER.format('value')}"
)
_PROCESSES = re.compile(
    r"CommWorldProcs=(?P<summary>\d{1,9})"
    r"|The ring communication was done in both directions on (?P<details>\d{1,9}) processes"
)

#: The lines with the last details. Those above are estimates, and of single steps.
_DETAILS = "Detailed benchmark results:"
_PINGPONG = re.compile(
    r"(?P<what>Latency|Bandwidth)\s+min / avg / max:\s+"
    + r"\s*/\s*".join(_NUMBER.format(name) for name in ("Min", "Avg", "Max"))
    + r" (?:msecs|MByte/s)"
)
_RING = re.compile(
    rf"On (?P<ring>naturally|randomly)\s+ordered ring: latency=\s*{_NUMBER.format('Latency')} msec,"
    rf"\s+bandwidth=\s*{_NUMBER.format('Bandwidth')} MB/s"
)

#: The larger bandwidth is of the shorter time.
_OF_BANDWIDTHS = {"Min": "Max", "Avg": "Avg", "Max": "Min"}

#: A curve: the ring's order or nothing, and the statistic of its times.
_Curve = tuple[str, str]


@dataclass
class _Run:
    """The results of one run: for each curve and size the time, its line and whether it is whole.

    Attributes
    ----------
    summary, details
        The results from each part.
    processes : str
        Their number; empty if it is not known.
    """

    summary: dict[tuple[_Curve, str], tuple[float, Line]] = field(default_factory=dict)
    details: dict[tuple[_Curve, str], tuple[float, Line]] = field(default_factory=dict)
    processes: str = ""


def recognises(head: bytes) -> bool:
    """Return whether a line is the title of the HPC Challenge, of its b_eff, or of its summary."""
    return b"\0" not in head and _RECOGNISED.search(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read the output; identity: `kernel` = hpcc_pingpong or hpcc_ring, its `mode`, `processes`."""
    data = content(path) if data is None else data
    wanted = {"": "Avg", "avg": "Avg", "min": "Min", "max": "Max"}.get(around.choices.statistic)
    parts: list[Part] = []
    problems: list[Problem] = []
    for run in _runs(printed_lines(path, data)):
        of_run = list(_parts(run, wanted or "", problems))
        if not of_run and (values := [*run.summary.values(), *run.details.values()]):
            what = f"the results have no {around.choices.statistic} of times: they are skipped"
            problems.append(Problem(values[0][1].number, what))
        parts += of_run
    if not parts and not problems:
        what = "has no latency or bandwidth of HPCC's b_eff; let the benchmark run to its end"
        raise InputError(path, what)
    return as_runs(path, around, "hpcc", "HPCC", data, parts, problems)


def _runs(lines: Iterable[Line]) -> Iterator[_Run]:
    """Yield the results of each run: HPCC appends to its file."""
    run, is_detail = _Run(), False
    for line in lines:
        if line.text == _DETAILS:
            is_detail = True
        elif line.text.startswith("Begin of "):
            is_detail = False
        elif processes := _PROCESSES.fullmatch(line.text):
            if run.summary:
                yield run
                run = _Run()
            run.processes = processes["summary"] or processes["details"]
        results = _results(line.text, is_detail)
        for place, time in results.items():
            of_summary = "=" in line.text and not is_detail
            known = run.summary if of_summary else run.details
            if place in known or (run.summary and not of_summary):
                yield run
                run = _Run()
                known = run.summary if of_summary else run.details
            known[place] = (time, line)
    yield run


def _results(text: str, is_detail: bool) -> dict[tuple[_Curve, str], float]:
    """Return the times in microseconds that a line says, by curve and kind."""
    if match := _SUMMARY.fullmatch(text):
        curve = _curve(match["ring"] or "", match["statistic"] or "Avg", match["what"])
        unit = 1.0 if match["what"] == "Latency" else 1e3
        return _timed(curve, match["what"], float(match["value"]) * unit)
    if is_detail and (match := _PINGPONG.fullmatch(text)):
        times: dict[tuple[_Curve, str], float] = {}
        for statistic in _OF_BANDWIDTHS:
            unit = 1e3 if match["what"] == "Latency" else 1.0
            curve = _curve("", statistic, match["what"])
            times |= _timed(curve, match["what"], float(match[statistic]) * unit)
        return times
    if is_detail and (match := _RING.fullmatch(text)):
        curve = _curve(match["ring"], "Avg", "Latency")
        latency = _timed(curve, "Latency", float(match["Latency"]) * 1e3)
        return latency | _timed(curve, "Bandwidth", float(match["Bandwidth"]))
    return {}


def _curve(ring: str, statistic: str, what: str) -> _Curve:
    return ring.lower().removesuffix("ly"), statistic if what == "Latency" else _OF_BANDWIDTHS[
        statistic
    ]


def _timed(curve: _Curve, what: str, value: float) -> dict[tuple[_Curve, str], float]:
    """Return the time of a latency in microseconds or of a bandwidth in 10^6 B/s."""
    if what == "Latency":
        return {(curve, what): value}
    return {(curve, what): _SIZES[what] / value if value else np.inf}


def _parts(run: _Run, wanted: str, problems: list[Problem]) -> Iterator[Part]:
    """Yield the curves of a run; add why results are skipped to `problems`."""
    known = run.details | run.summary
    for curve in dict.fromkeys(curve for curve, _ in known):
        ring, statistic = curve
        if statistic != wanted:
            continue
        names = {"kernel": "hpcc_ring", "mode": ring} if ring else {"kernel": "hpcc_pingpong"}
        if run.processes:
            names["processes"] = run.processes
        if statistic != "Avg":
            names[STATISTIC] = statistic.lower()
        sizes, times, lines = [], [], []
        for what, size in _SIZES.items():
            if (curve, what) not in known:
                continue
            time, line = known[curve, what]
            if not line.ended:
                problems.append(Problem(line.number, CUT_ROW, names["kernel"]))
            elif not are_times(np.array([time]))[0]:
                problems.append(Problem(line.number, "no usable time", names["kernel"]))
            else:
                sizes.append(size)
                times.append(time)
                lines.append(line.number)
        once = np.ones(len(sizes), dtype="int64")
        yield Part(names, np.array(sizes, dtype=float), np.array(times), once, np.array(lines))
