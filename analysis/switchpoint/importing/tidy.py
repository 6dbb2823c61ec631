"""Reads tidy CSV, the smallest input: `size_bytes`, `time_us` or `bandwidth_MBps`, optional `rep`.

Every other column is part of the curve's identity.
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

from switchpoint.errors import InputError
from switchpoint.importing.external import (
    as_measurements,
    check_positive,
    check_sizes,
    check_times,
    content,
)
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.passing_columns import passing_columns
from switchpoint.importing.problems import CUT_ROW, Problem, in_words
from switchpoint.importing.row_forms import is_whole
from switchpoint.importing.same_curves import TABLE
from switchpoint.importing.tidy_curves import curve_of_rows, lonely_rows, tables_apart
from switchpoint.limits import COLUMNS, HEADING_CHARACTERS, TABLE_BYTES, TABLE_ROWS
from switchpoint.tables.columns import MEASURES, RESERVED
from switchpoint.tables.measurements import Measurements

NAME = "tidy CSV (with a size_bytes column)"

_METRICS = ("time_us", "bandwidth_MBps")

_FIRST_LINE = re.compile(rb"[^\r\n]*")

#: Separators of spreadsheets that use the comma for decimals.
_OTHER_SEPARATOR = re.compile(r"[;\t]")

#: The message of pandas for an unclosed quotation mark; rows count from 0.
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (?P<row>\d+)")


def recognises(head: bytes) -> bool:
    """Return whether the first line is a heading with `size_bytes` or one of our metrics."""
    if b"\0" in head:
        return False
    words = {word.strip() for name in _heading(head) for word in _OTHER_SEPARATOR.split(name)}
    return bool({"size_bytes", *_METRICS} & words)


def read(path: Path, around: Surroundings) -> Measurements:
    """Read a tidy CSV file.

    Rows with an empty or NaN metric, or with too few fields, are skipped with a warning. Any other
    value that cannot be a size, time or bandwidth raises InputError with its line.
    """
    data = content(path, TABLE_BYTES)
    names = _heading(data)
    metric = _check_heading(path, names)
    table, problems = _whole_rows(_parse(path, data, names), data)
    if table.empty and problems:
        problem = problems[0]
        raise InputError(path, f"{problem.what}; there is no other row", problem.line)
    absent = table[metric].str.strip().str.lower().isin(["", "nan", "na", "null", "none"])
    lines = pd.Series(table.index + 2, index=table.index)
    problems += [Problem(line, f"no {metric}: the row is skipped") for line in lines[absent]]
    table, lines = table[~absent], lines[~absent]
    if table.empty:
        raise InputError(path, f"has no rows with {metric}; add measurements, one per row")

    size = _numbers(path, table, "size_bytes", lines)
    value = _numbers(path, table, metric, lines)
    check_sizes(path, size, lines.to_numpy())
    check_positive(path, value, lines.to_numpy(), metric)
    if metric == "bandwidth_MBps":
        check_positive(path, size, lines.to_numpy(), "size_bytes")
        with np.errstate(over="ignore"):
            value = size / value
    check_times(path, value, lines.to_numpy())
    samples, told = _curves(table, size, value, lines.to_numpy())
    warnings = [f"{path}: {sentence}" for sentence in [*in_words(problems), *told]]
    return as_measurements(path, around, "tidy", data, samples, warnings)


def _curves(
    table: pd.DataFrame,
    size: npt.NDArray[np.float64],
    time_us: npt.NDArray[np.float64],
    lines: npt.NDArray[np.int64],
) -> tuple[pd.DataFrame, list[str]]:
    """Return samples with the names of their curves, and what to say of them."""
    samples = table.drop(columns=[*MEASURES, *_METRICS, "rep", "run_id"], errors="ignore")
    samples = samples.apply(lambda column: column.astype("category"))
    passing = list(passing_columns(samples, size))
    samples = samples.drop(columns=[name for name, left_out, _ in passing if left_out])
    curve = curve_of_rows(samples)
    told = [what for _, _, what in passing]
    told += in_words(lonely_rows(curve, lines))
    samples["size_bytes"] = size.astype("int64")
    samples["time_us"] = time_us
    if "rep" in table:
        samples["pass"] = pd.factorize(table["rep"])[0]
    elif (apart := tables_apart(samples, curve, lines)) is not None:
        samples[TABLE] = apart[0]
        told += apart[1]
    return samples.reset_index(drop=True), told


def _heading(data: bytes) -> list[str]:
    """Return the names in the first line; none if it is no heading."""
    line = _FIRST_LINE.match(data.removeprefix(b"\xef\xbb\xbf"))
    assert line is not None  # it may be empty
    if len(line[0]) > HEADING_CHARACTERS:
        return []
    text = line[0].decode("utf-8", errors="replace")
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _check_heading(path: Path, names: list[str]) -> str:
    """Return the metric's column; raises InputError if the heading cannot be used."""
    if not names:
        problem = f"has a first line of more than {HEADING_CHARACTERS:,} characters; shorten names"
        raise InputError(path, problem, 1)
    if len(names) > COLUMNS:
        raise InputError(path, f"has {len(names)} columns; keep at most {COLUMNS}", 1)
    if len(names) == 1 and (other := _OTHER_SEPARATOR.search(names[0])):
        raise InputError(
            path,
            f"separates its columns by {other[0]!r}; separate them by commas, and write decimals"
            " with a point",
            1,
        )
    if "size_bytes" not in names:
        raise InputError(
            path, "has no column size_bytes; give the column of the message size this name", 1
        )
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise InputError(path, f"has column {min(repeated)!r} twice; rename one", 1)
    if "" in names:
        raise InputError(
            path, f"has no name for column {names.index('') + 1}; name or remove it", 1
        )
    taken = {*names} & (RESERVED - {"size_bytes", *_METRICS, *MEASURES})
    if taken:
        raise InputError(path, f"has column {min(taken)!r}, which is a reserved name; rename it", 1)
    for metric in _METRICS:
        if metric in names:
            return metric
    raise InputError(
        path, "has neither column time_us nor bandwidth_MBps; give the metric one of these names", 1
    )


def _parse(path: Path, data: bytes, names: list[str]) -> pd.DataFrame:
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


def _whole_rows(table: pd.DataFrame, data: bytes) -> tuple[pd.DataFrame, list[Problem]]:
    """Return rows with all fields, and why others are skipped."""
    last, width = table.iloc[:, -1], len(table.columns)
    short = _short_rows(data, [int(row) + 1 for row in table.index[last == ""]], width)
    what = f"fewer than {width} fields: the row is skipped"
    problems = [Problem(row + 1, what) for row in short]
    whole = last.drop([row - 1 for row in short])
    ended = data.endswith((b"\n", b"\r", b'"'))
    if len(whole) and not ended and whole.index[-1] == last.index[-1]:
        *others, cut = whole.tolist()
        if not is_whole(cut, others):
            problems.append(Problem(int(whole.index[-1]) + 2, CUT_ROW))
            whole = whole.iloc[:-1]
    return table.loc[whole.index], problems


def _short_rows(data: bytes, rows: list[int], width: int) -> list[int]:
    """Return which of some rows, whose last field is empty, lack it; row 0 is the heading."""
    if not rows:
        return []
    lines = re.split(rb"\r\n|\r|\n", data)
    texts = [lines[row].decode("utf-8", errors="replace") for row in rows]
    fields = csv.reader(texts, skipinitialspace=True)
    return [row for row, found in zip(rows, fields, strict=False) if len(found) < width]


def _numbers(
    path: Path, table: pd.DataFrame, name: str, lines: pd.Series[int]
) -> npt.NDArray[np.float64]:
    numbers = pd.to_numeric(table[name].str.strip(), errors="coerce")
    bad = numbers.isna()
    if bad.any():
        row = int(bad.to_numpy().argmax())
        text = str(table[name].iloc[row])[:40]
        raise InputError(
            path,
            f"{name} is {text!r}, not a number; correct or remove the row",
            int(lines.iloc[row]),
        )
    return numbers.to_numpy(dtype=float)
