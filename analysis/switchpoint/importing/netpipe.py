"""Reads NetPIPE's files `np.out` of versions 3 and 5, and what version 3 prints.

The files have no heading. Times are one-way, in seconds or microseconds. A Mbit is 2^20 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.external import check_sizes, check_times, content, known_repeats
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed import as_runs
from switchpoint.importing.printed_lines import Line, printed_lines
from switchpoint.importing.printed_tables import other_tool
from switchpoint.importing.problems import CUT_ROW, ODD_ROW, SAME_ROW, Problem
from switchpoint.importing.rate_checks import DISAGREES, SWAPPED, are_swapped, disagreeing
from switchpoint.importing.row_forms import is_whole, odd_rows
from switchpoint.importing.same_curves import Part, in_order
from switchpoint.limits import ROW_CHARACTERS
from switchpoint.tables.measurements import Measurements

NAME = "NetPIPE's output"


@dataclass(frozen=True)
class _Form:
    """One format of a row.

    Attributes
    ----------
    row
        An expression with groups `size`, `rate`, `time` and perhaps `iterations`.
    rate_unit_bits, time_unit_us
        The unit of the rate in bits per second, and the unit of the time in microseconds.
    rate_step, time_step
        The step of the last written digit.
    ends_in_time
        Whether a row ends in its time, so that a file can end within it.
    """

    row: re.Pattern[str]
    rate_unit_bits: float
    rate_step: float
    time_unit_us: float
    time_step: float
    ends_in_time: bool = True


_VERSION_3 = _Form(
    re.compile(r"\s*(?P<size>\d+)\s+(?P<rate>\d+\.\d+)\s+(?P<time>\d+\.\d{6,})\s*"),
    2**20, 1e-6, 1e6, 1e-8,
)  # fmt: skip
#: The rates are the mean, the minimum and the maximum. The time is the mean. More may follow.
_VERSION_5 = _Form(
    re.compile(
        r"\s*(?P<size>\d+)\s+(?P<rate>\d+\.\d{3})(?:\s+\d+\.\d{3}){2}"
        r"\s+(?P<time>\d+\.\d\d)(?:\s+[\d.]+ \w+(?:/sec)?)?\s*"
    ),
    1e9, 1e-3, 1.0, 1e-2,
)  # fmt: skip


def _printed(time: str, unit: str, unit_us: float, step: float) -> _Form:
    """Return the format of a row that version 3 prints."""
    return _Form(
        re.compile(
            r"(?:\d+:\s+)+(?P<size>\d+) bytes\s+(?P<iterations>\d+) times -->\s+"
            rf"(?P<rate>[\d.]+) Mbps in\s+(?P<time>{time}) {unit}"
        ),
        2**20, 1e-2, unit_us, step, ends_in_time=False,
    )  # fmt: skip


#: Older releases print seconds.
_PRINTED_BY_3 = [_printed(r"[\d.]+", "usec", 1.0, 1e-2), _printed(r"\d+\.\d{9,}", "sec", 1e6, 1e-9)]

_PRINTED = re.compile(rb"\d times -->")

#: A row of `np.out` behind a number sign.
_COMMENTED_ROW = re.compile(r"#\s*\d+(?:\s+\d+\.\d+){2,}.*")

#: What a printed row begins with or contains.
_BROKEN_ROW = re.compile(r"(?:\d+:\s+)+\d|.*times -->|.*\bbytes\b.*\d|.*\d Mbps in\b")

#: The end of a printed row, as where something else was printed in the middle of it.
_REST = re.compile(r"[\d.]+ Mbps in\b")


def recognises(head: bytes) -> bool:
    """Return whether the first lines without comments are rows, or some are NetPIPE's output."""
    return _PRINTED.search(head) is not None or _form_of_file(head) is not None


def read(path: Path, around: Surroundings, data: bytes | None = None) -> Measurements:
    """Read NetPIPE output; the curve's identity is `kernel` = netpipe."""
    data = content(path) if data is None else data
    of_file = _form_of_file(data)
    rows, problems = _rows(printed_lines(path, data, tagged=False), of_file)
    if not rows:
        raise InputError(path, "contains no times of NetPIPE at exact sizes; import its np.out")
    lines = np.array([row.line.number for row in rows])
    fields = pd.DataFrame([row.match.groupdict() for row in rows])
    fields = fields.apply(pd.to_numeric, errors="coerce").astype(float)
    size = fields["size"].to_numpy()
    time_us, wrong = np.empty(len(rows)), np.zeros(len(rows), dtype=bool)
    for form in {id(row.form): row.form for row in rows}.values():
        mine = np.array([row.form is form for row in rows])
        own = fields[mine]
        rate, time = own["rate"].to_numpy(), own["time"].to_numpy()
        if are_swapped(size[mine], time, rate):
            raise InputError(path, SWAPPED, int(lines[mine][0]))
        steps = (np.full(len(own), step) for step in (form.time_step, form.rate_step))
        wrong[mine] = disagreeing(size[mine], time, rate, *steps)
        time_us[mine] = _times(form, size[mine], rate, time)
    problems += [Problem(int(line), DISAGREES) for line in lines[wrong]]
    fields, size, time_us, lines = fields[~wrong], size[~wrong], time_us[~wrong], lines[~wrong]
    check_sizes(path, size, lines)
    check_times(path, time_us, lines)
    repeats = fields["iterations"].to_numpy() if "iterations" in fields else np.ones(len(fields))
    part = Part({"kernel": "netpipe"}, size, time_us, known_repeats(repeats), lines)
    parts, out_of_order = in_order(part)
    return as_runs(path, around, "netpipe", None, data, parts, [*problems, *out_of_order])


@dataclass(frozen=True)
class _Row:
    line: Line
    form: _Form
    match: re.Match[str]


def _rows(lines: Iterator[Line], of_file: _Form | None) -> tuple[list[_Row], list[Problem]]:
    """Return the rows of a file, and which lines are skipped."""
    rows: list[_Row] = []
    problems: list[Problem] = []
    foreign = None
    for line in lines:
        forms = [of_file] if of_file else [*_PRINTED_BY_3, _VERSION_3]
        found = (_Row(line, form, m) for form in forms if (m := form.row.fullmatch(line.text)))
        if row := next(found, None):
            if rows and rows[-1].line.text == line.text:
                problems.append(Problem(line.number, SAME_ROW))
            else:
                rows.append(row)
        elif tool := other_tool(line.text, "NetPIPE"):
            if tool != foreign:
                what = f"a table of {tool} begins, which is skipped: import it from its own file"
                problems.append(Problem(line.number, what))
            foreign = tool
        elif foreign is None and _is_broken(line, of_file, problems[-1:]):
            what = f"'{line.text[:40]}' is no whole row and is skipped: measure again"
            problems.append(Problem(line.number, what))
    if rows and not rows[-1].line.ended and rows[-1].form.ends_in_time:
        *others, last = [row.match["time"] for row in rows]
        if not is_whole(last, others):
            problems.append(Problem(rows.pop().line.number, CUT_ROW))
    for place in sorted(odd_rows([[row.match["time"]] for row in rows]), reverse=True):
        what = f"'{rows[place].line.text[:40]}' {ODD_ROW}"
        problems.append(Problem(rows.pop(place).line.number, what))
    return rows, problems


def _is_broken(line: Line, of_file: _Form | None, last: list[Problem]) -> bool:
    """Return whether a line should be a row. Among what is printed, other words are expected."""
    if not line.text:
        return False
    if last and last[0].line == line.number - 1 and _REST.match(line.text):
        return False
    if line.text.startswith("#"):
        return bool(_BROKEN_ROW.match(line.text) or _COMMENTED_ROW.fullmatch(line.text))
    return bool(of_file or not line.ended or _BROKEN_ROW.match(line.text))


def _form_of_file(data: bytes) -> _Form | None:
    """Return the form of which each of the first lines of `np.out` is a row, except comments."""
    lines = data[: 2**16].removeprefix(b"\xef\xbb\xbf").splitlines()
    rows = [row.decode("latin-1").strip() for row in lines if not row.startswith(b"#")]
    rows = [row for row in rows if row][:20]
    rows = rows[:-1] if len(rows) > 1 else rows
    return next((form for form in (_VERSION_3, _VERSION_5) if rows and _fit(rows, form)), None)


def _fit(rows: list[str], form: _Form) -> bool:
    return all(len(row) <= ROW_CHARACTERS and form.row.fullmatch(row) for row in rows)


def _times(
    form: _Form,
    size: npt.NDArray[np.float64],
    rate: npt.NDArray[np.float64],
    time: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return times in microseconds, from the rate if it has more digits and is for one pair."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        of_rate = 1e6 * 8 * size / (rate * form.rate_unit_bits)
        rate_error = form.rate_step / rate
        time_error = form.time_step / time
    agree = np.abs(of_rate / (time * form.time_unit_us) - 1) <= rate_error + time_error
    return np.where(agree & (rate_error < time_error), of_rate, time * form.time_unit_us)
