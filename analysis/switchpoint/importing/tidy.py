"""Reads tidy CSV, the smallest input: `size_bytes`, `time_us` or `bandwidth_MBps`, optional `rep`.

Every other column is part of the curve's identity. Comments may precede the heading.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.importing.cells import sizes_of, values_of
from switchpoint.importing.choices import Choices
from switchpoint.importing.column_plan import (
    METRICS,
    STATISTIC,
    NoPlanError,
    Plan,
    has_kind,
    plan_of,
)
from switchpoint.importing.external import (
    as_measurements,
    check_positive,
    check_sizes,
    check_times,
    content,
    known_repeats,
)
from switchpoint.importing.labels import COMMENT, Surroundings
from switchpoint.importing.passing_columns import passing_columns
from switchpoint.importing.problems import CUT_ROW, Problem, warnings_of
from switchpoint.importing.row_forms import is_whole
from switchpoint.importing.same_curves import TABLE
from switchpoint.importing.tidy_curves import curve_of_rows, lonely_rows, tables_apart
from switchpoint.importing.unit_columns import decimal_commas, without_units
from switchpoint.limits import COLUMNS, HEADING_CHARACTERS, TABLE_BYTES, TABLE_ROWS
from switchpoint.tables.columns import MEASURES, RESERVED
from switchpoint.tables.measurements import Measurements

NAME = "CSV with message sizes and times"

_FIRST_LINE = re.compile(rb"[^\r\n]*")

#: Lines that begin with a hash sign, at the start of a file.
_COMMENTS = re.compile(rb"(?:#[^\r\n]*(?:\r\n|\r|\n))+")

#: A line with labels, wherever it is.
_LABELS = re.compile(rb"^" + COMMENT + rb"[^\r\n]*", re.MULTILINE)

_BOM = b"\xef\xbb\xbf"

#: Separators of spreadsheets that use the comma for decimals.
_OTHER_SEPARATORS = ";\t"

#: The name of an index as pandas and R write it: none.
_INDEX = ""

#: What is left of a number, or of a row with a number, that is in two lines.
_PART_OF_NUMBER = re.compile(r"\s*[\d.]+\s*")

#: Repeats of so many rows never agree in all fields.
_LEAST_ROWS = 5

#: A table that begins again more often is no file that was joined with itself.
_MOST_COPIES = 16

#: The message of pandas for an unclosed quotation mark; rows count from 0.
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (?P<row>\d+)")


def recognises(head: bytes) -> bool:
    """Return whether there is a heading with our names, or one that says what it has."""
    if b"\0" in head:
        return False
    names = heading(without_comments(head))[0]
    if {"size_bytes", *METRICS.values()} & {*names}:
        return True
    return _is_planned(names, Choices())


def has_chosen(head: bytes, choices: Choices) -> bool:
    """Return whether there is a heading with a column that the user named."""
    return b"\0" not in head and bool({*heading(without_comments(head))[0]} & {*choices.columns})


def _is_planned(names: list[str], choices: Choices) -> bool:
    try:
        plan_of(names, choices)
    except NoPlanError:
        return has_kind(names, "size") and len(names) > 1 and _has_metric(names)
    return len(names) > 1


def _has_metric(names: list[str]) -> bool:
    return has_kind(names, "time") or has_kind(names, "bandwidth")


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a CSV file.

    Rows with an empty or NaN metric, or with too few fields, are skipped with a warning. Any other
    value that cannot be a size, time or bandwidth raises InputError with its line.
    """
    data = content(path, TABLE_BYTES)
    lines_of_table = without_comments(data)
    names, separator = heading(lines_of_table)
    line = len(_comments(data).splitlines()) + 1
    plan = _check_heading(path, names, around.choices, line)
    table = _parse(path, lines_of_table, plan.names, separator)
    table, problems = _whole_rows(path, table, lines_of_table, separator)
    table, again = _once(table)
    problems += again
    lines = pd.Series(table.index + 2, index=table.index)
    return measured(path, around, data, table, lines, plan, problems)


def measured(
    path: Path,
    around: Surroundings,
    data: bytes,
    table: pd.DataFrame,
    lines: pd.Series[int],
    plan: Plan,
    problems: list[Problem],
) -> Measurements:
    """Convert a table of texts with our names to measurements.

    Parameters
    ----------
    path, around, data
        The file, what its path says, and its unpacked content.
    table, lines
        The texts, and the line of each row.
    plan
        How to read the columns.
    problems
        Why rows have been skipped already.
    """
    if table.empty and problems:
        problem = problems[0]
        raise InputError(path, f"{problem.what}; there is no other row", problem.line)
    if _INDEX in table:
        if not table[_INDEX].is_unique:
            raise InputError(path, "has no name for column 1; name or remove it", 1)
        table = table.drop(columns=[_INDEX])
    metric = plan.metric
    table = without_units(path, table, lines, plan)
    problems += decimal_commas(table, lines, metric)
    absent = table[metric].str.strip().str.lower().isin(["", "nan", "na", "null", "none"])
    problems += [Problem(line, f"no {metric}: the row is skipped") for line in lines[absent]]
    table, lines = table[~absent], lines[~absent]
    if table.empty:
        raise InputError(path, f"has no rows with {metric}; add measurements, one per row")
    size = _numbers(path, table, "size_bytes", lines) * plan.size_scale
    value = _numbers(path, table, metric, lines) * plan.metric_scale
    empty = (size == 0) & (value == 0) & (metric != "time_us")  # such a message has no bandwidth
    table, lines, size, value = table[~empty], lines[~empty], size[~empty], value[~empty]
    numbers: npt.NDArray[np.int64] = np.array(lines, dtype="int64")
    time_us = _checked_times(path, size, value, numbers, metric)
    table = table.drop(columns=[name for name in plan.left_out if name in table])
    if plan.statistic:
        table = table.assign(**{STATISTIC: plan.statistic})
    samples, of_curves = _curves(table, size, time_us, numbers)
    warnings = [*warnings_of(problems), *plan.warnings, *of_curves]
    return as_measurements(path, around, "tidy", data, samples, warnings)


def _checked_times(
    path: Path,
    size: npt.NDArray[np.float64],
    value: npt.NDArray[np.float64],
    lines: npt.NDArray[np.int64],
    metric: str,
) -> npt.NDArray[np.float64]:
    """Return the times of times or bandwidths; raises InputError at the first impossible value."""
    check_sizes(path, size, lines)
    check_positive(path, value, lines, metric)
    if metric == "bandwidth_MBps":
        check_positive(path, size, lines, "size_bytes")
        with np.errstate(over="ignore"):
            value = size / value
    check_times(path, value, lines)
    return value


def _curves(
    table: pd.DataFrame,
    size: npt.NDArray[np.float64],
    time_us: npt.NDArray[np.float64],
    lines: npt.NDArray[np.int64],
) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Return samples with the names of their curves, and what to say of them."""
    samples = table.drop(columns=[*MEASURES, *METRICS.values(), "rep", "run_id"], errors="ignore")
    samples = samples.apply(lambda column: column.astype("category"))
    passing = list(passing_columns(samples, size))
    samples = samples.drop(columns=[name for name, left_out, _ in passing if left_out])
    curve = curve_of_rows(samples)
    warnings = [DataWarning("columns", what) for _, _, what in passing]
    warnings += warnings_of(lonely_rows(curve, lines))
    samples["size_bytes"] = size.astype("int64")
    samples["time_us"] = time_us
    if "iterations" in table:
        samples["iterations"] = known_repeats(sizes_of(table["iterations"].tolist()))
    if "rep" in table:
        samples["pass"] = pd.factorize(table["rep"])[0]
    elif (apart := tables_apart(samples, curve, lines)) is not None:
        samples[TABLE] = apart[0]
        warnings += apart[1]
    return samples.reset_index(drop=True), warnings


def without_comments(data: bytes) -> bytes:
    """Return a table that begins with its heading: comments follow it as empty lines.

    So each row keeps its line.
    """
    data = data.removeprefix(_BOM)
    if comments := _comments(data):
        first = _FIRST_LINE.match(data, len(comments))
        assert first is not None  # it may be empty
        data = first[0] + b"\n" * len(comments.splitlines()) + data[first.end() :]
    return _LABELS.sub(b"", data) if COMMENT in data else data


def _comments(data: bytes) -> bytes:
    """Return the comments before the heading; none before numbers, which one of them names."""
    data = data.removeprefix(_BOM)
    comments = _COMMENTS.match(data)
    if comments is None:
        return b""
    names, _ = heading(data[comments.end() :])
    return b"" if any(map(_PART_OF_NUMBER.fullmatch, names)) else comments[0]


def heading(data: bytes) -> tuple[list[str], str]:
    """Return the names in the first line and what separates them; no names if it is too long."""
    line = _FIRST_LINE.match(data.removeprefix(_BOM))
    assert line is not None  # it may be empty
    if len(line[0]) > HEADING_CHARACTERS:
        return [], ","
    text = line[0].decode("utf-8", errors="replace")
    for separator in _OTHER_SEPARATORS:
        if text.count(separator) > text.count(","):
            return _names(text, separator), separator
    return _names(text, ","), ","


def _names(text: str, separator: str) -> list[str]:
    rows = csv.reader([text], skipinitialspace=True, delimiter=separator)
    return [name.strip() for name in next(rows, [])]


def _check_heading(path: Path, names: list[str], choices: Choices, line: int) -> Plan:
    """Return how to read the columns; raises InputError if the heading cannot be used."""
    if not names:
        problem = f"has a first line of more than {HEADING_CHARACTERS:,} characters; shorten names"
        raise InputError(path, problem, line)
    if len(names) > COLUMNS:
        raise InputError(path, f"has {len(names)} columns; keep at most {COLUMNS}", line)
    try:
        plan = plan_of(names, choices)
    except NoPlanError as error:
        raise InputError(path, str(error), line) from None
    names = plan.names
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(path, f"has column {min(repeated)!r} twice; rename one", line)
    if "" in names[1:]:
        raise InputError(
            path, f"has no name for column {names.index('', 1) + 1}; name or remove it", line
        )
    taken = {*names} & (RESERVED - {"size_bytes", *METRICS.values(), *MEASURES})
    taken -= {*plan.left_out}
    if taken:
        raise InputError(
            path, f"has column {min(taken)!r}, which is a reserved name; rename it", line
        )
    return plan


def _parse(path: Path, data: bytes, names: list[str], separator: str) -> pd.DataFrame:
    if data.count(b"\n") + data.count(b"\r") > TABLE_ROWS:
        problem = f"has more than {TABLE_ROWS:,} lines; split it, for example by curve"
        raise InputError(path, problem)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(path, "is not UTF-8 text; save it as UTF-8", line) from None
    beyond = "\0"  # receives the extra field of a row with one field too many
    try:
        with catch_warnings():  # for later fields, which are refused below
            simplefilter("ignore", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(text),
                names=[*names, beyond],
                sep=separator,
                skiprows=1,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                index_col=False,
            )
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=names, dtype=str)
    except pd.errors.ParserError as error:
        if "Calling read" in str(error):  # so pandas words Ctrl-C; a text in memory is always read
            raise KeyboardInterrupt from None
        if open_quote := _OPEN_QUOTE.search(str(error)):
            problem = "has a quotation mark that is never closed; close it, or remove it"
            raise InputError(path, problem, int(open_quote["row"]) + 1) from None
        problem = str(error).split("C error: ")[-1].strip()
        raise InputError(path, f"{problem}; each row needs {len(names)} fields") from None
    long = table.pop(beyond).fillna("").ne("")
    if long.any():
        line = int(long.to_numpy().argmax()) + 2
        problem = (
            f"has more than {len(names)} fields; name each column, write decimals with a point"
        )
        raise InputError(path, problem, line)
    return table[(table.fillna("") != "").any(axis=1)]


def _whole_rows(
    path: Path, table: pd.DataFrame, data: bytes, separator: str
) -> tuple[pd.DataFrame, list[Problem]]:
    """Return rows with all fields, and why others are skipped."""
    last, width = table.iloc[:, -1], len(table.columns)
    short = _short_rows(
        path, data, [int(row) + 1 for row in table.index[last == ""]], width, separator
    )
    what = f"fewer than {width} fields: the row is skipped"
    problems = [Problem(row + 1, what) for row in short]
    whole = last.drop([row - 1 for row in short])
    cut = _beside_parts(table, [row - 1 for row in short])
    what = "the line before or after it has a part of a row, so this one may be cut: it is skipped"
    problems += [Problem(row + 2, what) for row in cut if row in whole.index]
    whole = whole.drop([row for row in cut if row in whole.index])
    ended = data.endswith((b"\n", b"\r", b'"'))
    if len(whole) and not ended and whole.index[-1] == last.index[-1]:
        *others, cut = whole.tolist()
        if not is_whole(cut, others):
            problems.append(Problem(int(whole.index[-1]) + 2, CUT_ROW))
            whole = whole.iloc[:-1]
    return table.loc[whole.index], problems


def _beside_parts(table: pd.DataFrame, short: list[int]) -> list[int]:
    """Return the rows beside lines with one number alone, which is a part of a row in two lines."""
    lines = table.loc[short].fillna("")
    alone = (lines.iloc[:, 1:] == "").all(axis=1)
    parts = lines.index[alone & lines.iloc[:, 0].str.fullmatch(_PART_OF_NUMBER)]
    return sorted({row + step for row in parts for step in (-1, 1)})


def _once(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """Leave out copies of all rows, as of a file that was joined with itself."""
    begins = np.ones(len(table), dtype=bool)
    for name in table if len(table) else ():
        begins &= (table[name] == table[name].iloc[0]).to_numpy()
    for rows in np.flatnonzero(begins)[1 : _MOST_COPIES + 1].tolist():
        copies, rest = divmod(len(table), rows)
        if rest == 0 and rows >= _LEAST_ROWS and _repeats(table.to_numpy(), rows):
            what = f"the same {rows} rows begin again: they count once"
            lines = [int(table.index[rows * copy]) + 2 for copy in range(1, copies)]
            return table.iloc[:rows], [Problem(line, what) for line in lines]
    return table, []


def _repeats(values: npt.NDArray[np.object_], rows: int) -> bool:
    """Return whether all rows come again after so many, and are not all the same."""
    start = values[:_LEAST_ROWS]
    if not (values[rows : rows + _LEAST_ROWS] == start).all():
        return False
    several = len({tuple(row) for row in start.tolist()}) == _LEAST_ROWS
    return several and bool((values[rows:] == values[:-rows]).all())


def _short_rows(path: Path, data: bytes, rows: list[int], width: int, separator: str) -> list[int]:
    """Return which of some rows, whose last field is empty, lack it; row 0 is the heading."""
    if not rows:
        return []
    lines = re.split(rb"\r\n|\r|\n", data)
    texts = [lines[row].decode("utf-8", errors="replace") for row in rows]
    fields = csv.reader(texts, skipinitialspace=True, delimiter=separator)
    try:
        return [
            row
            for row, fields_of_row in zip(rows, fields, strict=False)
            if len(fields_of_row) < width
        ]
    except csv.Error as error:
        raise InputError(path, f"{error}; shorten it, or remove its row") from None


def _numbers(
    path: Path, table: pd.DataFrame, name: str, lines: pd.Series[int]
) -> npt.NDArray[np.float64]:
    texts = table[name].tolist()
    numbers = sizes_of(texts) if name == "size_bytes" else values_of(texts)
    bad = np.isnan(numbers)
    if bad.any():
        row = int(bad.argmax())
        text = str(texts[row])[:40]
        what = "not a number"
        if re.fullmatch(r"\d+,\d{3}", text.strip()):
            what = "which may be a thousand times more or less: write decimals with a point"
        raise InputError(
            path, f"{name} is {text!r}, {what}; correct or remove the row", int(lines.iloc[row])
        )
    return numbers
