"""Reads what benchmarks printed into strings of JSON and YAML, such as the output of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.data_warnings import text_of_warnings, warning_of_error, warnings_of_text
from switchpoint.errors import InputError
from switchpoint.importing.benchmarks import BENCHMARKS, BenchmarkReader
from switchpoint.importing.external import content
from switchpoint.importing.labels import Surroundings, problem_of_label
from switchpoint.limits import JSON_BYTES, YAML_BYTES
from switchpoint.printable import path_text
from switchpoint.strict_json import parse_json
from switchpoint.strict_yaml import NotYamlError, parse_yaml
from switchpoint.tables import measurements
from switchpoint.tables.columns import PASSING_LABELS
from switchpoint.tables.measurements import Measurements

NAME = "output of benchmarks in JSON and YAML"

#: The start of a string, and a title in it.
_RECOGNISED = re.compile(
    rb"""["'](?:[^"'\r\n]*\\n)?\s*(?:\#\s*OSU\ MPI|\#\s*Benchmarking\s|begin\ result\ \\")"""
    rb"""|\\n\s*(?:\#\s*size\s+count\s+type|(?:RDMA_\w+|Send)(?:\ \w+)*\ (?:BW|Latency)\ Test"""
    rb"""|test\s+nrep\s+count|\w+\s+Bytes:|Latency-Bandwidth-Benchmark\ R)""",
    re.VERBOSE,
)
#: The start of a text that may be JSON or YAML: a bracket, a name or an item of a list.
_START = re.compile(rb"^(?:\xef\xbb\xbf)?\s*(?:[\[{]|---|- |[\w.-]+:\s|\#)")

#: Values beside a text that say when or where it was printed, not what was measured.
_PASSING = re.compile(
    r"time|date|stamp|\bid\b|_id$|uuid|hash|seed|host|file|path|rep|iter|run|index|user|job", re.I
)
_LABEL_CHARACTERS = 64


@dataclass
class _Text:
    """A text in a file: its place, and the values beside it."""

    place: str
    text: str
    beside: dict[str, str] = field(default_factory=dict)


def recognises(head: bytes) -> bool:
    """Return whether strings of a text begin with a benchmark's title."""
    return b"\0" not in head and bool(_START.match(head)) and bool(_RECOGNISED.search(head))


def read(path: Path, around: Surroundings) -> Measurements:
    """Read each string that a benchmark printed.

    What differs between the objects that contain them is part of the identity: the name of the
    string (`text`), and short values beside it.
    """
    texts = [text for text in _texts(_values(path), "", {}) if _reader_of(text) is not None]
    if not texts:
        raise InputError(path, "has no string with a whole table; write its text to a file")
    parts, failures = [], []
    for text, labels in zip(texts, _labels(texts), strict=True):
        reader = _reader_of(text)
        assert reader is not None
        beside = replace(around, said={**around.said, **labels})
        try:
            measured = reader.read(path, beside, text.text.encode())
        except InputError as error:
            what = warning_of_error("skipped_part", error).message
            failures.append(InputError(path, f"in the text {text.place}: {what}"))
            continue
        place = f"{path_text(path)}: in the text {text.place}"
        told = [
            text_of_warnings(warning.at(place) for warning in warnings_of_text(text_of_run))
            for text_of_run in measured.runs["warnings"]
        ]
        measured.runs["warnings"] = pd.Series(told, measured.runs.index, dtype=object)
        parts.append(measured)
    if not parts:
        raise failures[0]
    measured = measurements.concat(parts)
    measured.not_taken.extend(warning_of_error("skipped_part", error) for error in failures)
    return measured


def _values(path: Path) -> Any:
    data = content(path, JSON_BYTES)
    try:
        return parse_json(data)
    except ValueError as json_error:
        if data.lstrip()[:1] in (b"{", b"["):
            what = f"is damaged JSON ({json_error}); copy it again"
            raise InputError(path, what) from None
    if len(data) > YAML_BYTES:
        raise InputError(path, f"is YAML of more than {YAML_BYTES // 2**20} MiB; split it")
    try:
        return parse_yaml(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError(path, "is not UTF-8 text; save it as UTF-8") from None
    except NotYamlError as error:
        raise InputError(path, f"is neither JSON nor YAML: {error.problem}", error.line) from None


def _texts(value: Any, place: str, beside: dict[str, str]) -> Iterator[_Text]:
    """Return all strings of more than one line; a list of lines is one string, as in notebooks."""
    if isinstance(value, str):
        if "\n" in value:
            yield _Text(place or "of the file", value, beside)
    elif isinstance(value, dict):
        near = {
            str(name): str(other)
            for name, other in value.items()
            if isinstance(other, str | int) and len(str(other)) <= _LABEL_CHARACTERS
        }
        for name, other in value.items():
            yield from _texts(other, f"{place}.{name}".lstrip("."), beside | near)
    elif isinstance(value, list) and value:
        if all(isinstance(line, str) and line.count("\n") <= 1 for line in value):
            lines = [line if line.endswith("\n") else f"{line}\n" for line in value]
            yield _Text(place or "of the file", "".join(lines), beside)
            return
        for number, other in enumerate(value, start=1):
            yield from _texts(other, f"{place}[{number}]", beside)


def _reader_of(text: _Text) -> BenchmarkReader | None:
    head = text.text[: 2**16].encode(errors="replace")
    return next((reader for reader in BENCHMARKS if reader.recognises(head)), None)


def _labels(texts: list[_Text]) -> list[dict[str, str]]:
    """Return what distinguishes each text: its name, and values beside it that differ."""
    names = [re.sub(r"\[\d+\]", "", text.place) for text in texts]
    several = len({*names}) > 1
    differing = {
        name
        for text in texts
        for name, value in text.beside.items()
        if name not in PASSING_LABELS
        and not _PASSING.search(name)
        and problem_of_label(name, value) is None
        and any(other.beside.get(name) != value for other in texts)
    }
    return [
        {name: text.beside[name] for name in sorted(differing) if name in text.beside}
        | ({"text": name} if several else {})
        for text, name in zip(texts, names, strict=True)
    ]
