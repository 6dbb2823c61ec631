"""Reads what people and checks say of another tool's output: in a comment, beside it, above it.

The comment is `# switchpoint: {...}`, the file beside `CURVE` is `CURVE.labels.json`, the file of a
folder and all below it `switchpoint.labels.json`; each holds a JSON object of texts, as the labels
of a run record. See docs/reference/command.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.printable import printable
from switchpoint.tables.columns import NO_LABELS

SUFFIX = ".labels.json"

#: Labels of a folder and of all below it.
FOLDER_NAME = f"switchpoint{SUFFIX}"

#: Labels that become part of the curve's identity.
IDENTITY_LABELS = ["site", "partition", "mpi", "environ", "kernel", "placement", "mode"]

#: As read: null takes back what a label farther off says.
Labels = dict[str, str | None]

#: How a line begins that holds labels.
COMMENT = b"# switchpoint: "

_COMMENT = re.compile(rb"^" + COMMENT + rb"(?P<json>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Surroundings:
    """What the place of a file says of it, for all that the file does not say itself.

    Attributes
    ----------
    said : dict
        By a `--path` pattern and, over it, by the labels of folders.
    layout : dict
        By ReFrame's own folders, where no pattern matched.
    """

    said: Mapping[str, str | None] = field(default_factory=dict)
    layout: Mapping[str, str] = field(default_factory=dict)

    def complete(self, own: Mapping[str, str | None]) -> dict[str, str]:
        """Complete a file's own labels. The label `check` names the test: no folder does it too."""
        layout = dict(self.layout)
        if own.get("check"):
            layout.pop("test", None)
        return {name: value for name, value in {**layout, **self.said, **own}.items() if value}


class FolderLabels:
    """Labels of folders, each folder's file read once."""

    def __init__(self) -> None:
        self._known: dict[Path, Labels] = {}

    def of(self, folder: Path) -> Labels:
        """Labels of an absolute folder and of all above it, the nearest counting.

        Raises
        ------
        InputError
            If one of their files cannot be used.
        """
        if folder not in self._known:
            above = {} if folder == folder.parent else self.of(folder.parent)
            path = folder / FOLDER_NAME
            self._known[folder] = above | _read(path) if path.is_file() else above
        return self._known[folder]


def read_labels(path: Path, data: bytes) -> Labels:
    """Labels of a tool's output file, given with its unpacked content; raises InputError.

    Those in the file beside it count where both name one.
    """
    labels: Labels = {}
    for comment in _COMMENT.finditer(data):
        line = data[: comment.start()].count(b"\n") + 1
        labels |= _parse(path, comment["json"], line)
    for name in dict.fromkeys((path.name, path.name.removesuffix(".gz"))):
        beside = path.with_name(name + SUFFIX)
        if beside.is_file():
            return labels | _read(beside)
    return labels


def _read(path: Path) -> Labels:
    try:
        return _parse(path, path.read_bytes())
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None


def _parse(path: Path, text: bytes, line: int | None = None) -> Labels:
    twice: list[str] = []

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        twice.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    try:
        labels = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"labels are no JSON ({error}); correct them", line) from None
    if not isinstance(labels, dict):
        raise InputError(path, 'labels are no JSON object; write {"site": "NAME", ...}', line)
    if twice:
        raise InputError(path, f"label {printable(twice[0])} is given twice; remove one", line)
    for name, value in labels.items():
        if problem := problem_of_label(name, value):
            raise InputError(path, problem, line)
    return labels


#: As in run records; what sorts by text sorts by time, and the first ten characters are the day.
_START = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(T(?P<time>\d\d:\d\d(:\d\d)?)(\.\d+)?(Z|\+00:00)?)?", re.ASCII
)


def problem_of_label(name: str, value: object) -> str | None:
    """Say what is wrong with a label, then the fix; None where it can be used."""
    if not name.strip():
        return "label '' has no name; name or remove it"
    shown = printable(name)
    if name in NO_LABELS:
        return f"label {shown} has a name that is taken; rename it"
    if not isinstance(value, str | None):
        return f"label {shown} is {value!r}; labels are texts: quote it"
    if name == "start_utc" and value and not _is_start(value):
        return (
            f"label start_utc is '{printable(value[:40])}', which is no ISO 8601 time in UTC;"
            " write it as 2026-11-21T10:00:00Z or 2026-11-21"
        )
    return None


def _is_start(text: str) -> bool:
    found = _START.fullmatch(text)
    if found is None:
        return False
    try:
        datetime.fromisoformat(f"{found['day']}T{found['time'] or '00:00'}")
    except ValueError:  # such as the 30th of February
        return False
    return True
