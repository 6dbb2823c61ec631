"""Reads the kernels' own options from a record or from what a user typed."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.limits import COUNT
from switchpoint.models.kernels import Options
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import bytes_of

if TYPE_CHECKING:
    from switchpoint.records.header import Header

_NAMES = [field.name for field in dataclasses.fields(Options)]


def options_of(header: Header) -> Options:
    """Return the options with which a run was started; the kernels' defaults for others.

    Raises
    ------
    InputError
        If the record has one that no kernel takes.
    """
    arguments = header.get("arguments", [])
    words = {name.replace("_", "-"): name for name in _NAMES}
    known: dict[str, Any] = {}
    for word, after in zip(arguments, [*arguments[1:], ""], strict=False):
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in words:
            known[words[name]] = _recorded(words[name], value if equals else after)
    if windows := header.get("plan", {}).get("windows"):
        known["window"] = _recorded("window", str(next(iter(windows.values()))))
    return Options(**known)


def options_by_run(
    measurements: Measurements,
) -> tuple[dict[str, Options], list[DataWarning]]:
    """Return the options of each run, and warnings of runs whose options cannot be.

    Parameters
    ----------
    measurements
        Runs of any kernels; those that are no run records count as without options.

    Returns
    -------
    tuple
        The options by run ID; and a warning for each run that has an option that no kernel takes,
        as an untrusted record may.
    """
    found: dict[str, Options] = {}
    warnings = []
    runs = measurements.runs
    for run_id, header in zip(runs["run_id"].astype("str"), runs["header"], strict=True):
        try:
            found[run_id] = options_of(json.loads(header)) if isinstance(header, str) else Options()
        except InputError as error:  # noqa: PERF203
            what = (
                f"{error.problem}; it is left out of comparisons with predictions and simulations"
            )
            warnings.append(DataWarning("unknown_option", what, f"run {run_id[:8]}"))
    return found, warnings


def _recorded(name: str, text: str) -> Any:
    """Return the value of an option of a record, which may be untrusted."""
    try:
        return _value(name, text)
    except ValueError:
        problem = f"has the option {name} '{text}', which no kernel takes"
        raise InputError("a run", problem) from None


def options_from(words: Sequence[str]) -> Options:
    """Return the options that a user gave, such as `grain=2000`; raises InputError."""
    known: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.replace("-", "_")
        if not equals:
            raise InputError("--option", f"'{word}' is not NAME=VALUE")
        if name not in _NAMES:
            raise InputError("--option", f"'{name}' is not known; use one of {', '.join(_NAMES)}")
        try:
            known[name] = _value(name, value)
        except ValueError:
            raise InputError("--option", f"'{word}': '{value}' is not a possible number") from None
    return Options(**known)


def sizes_from(text: str) -> list[int]:
    """Return the sizes of a list such as `1K,64K` in bytes; raises InputError."""
    sizes = []
    for word in filter(None, text.split(",")):
        size = bytes_of(word)
        if size is None or size > COUNT:
            raise InputError("--sizes", f"'{word}' is not a size; write such as 1024 or 64K")
        sizes.append(size)
    return sizes


def _value(name: str, text: str) -> Any:
    """Return an option's value; raises ValueError if it has none."""
    if name == "tree":
        return tuple(int(parent) for parent in text.split(","))
    if name in ("grain", "serial"):
        number = float(text)
        if not 0 <= number <= (100 if name == "serial" else math.inf) or math.isinf(number):
            raise ValueError(text)
        return number
    size = bytes_of(text)
    if size is None or size > COUNT or (size == 0 and name != "send_window"):
        raise ValueError(text)
    return size
