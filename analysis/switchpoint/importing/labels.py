"""Reads labels of another tool's output: in a comment, in a file beside it, in folders above it.

The comment is `# switchpoint: {...}`, the file beside `CURVE` is `CURVE.labels.json`, and the file
of a folder and all folders below it is `switchpoint.labels.json`. Each contains a JSON object of
strings, like the labels of a run record. See docs/reference/command.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.importing.choices import Choices
from switchpoint.limits import JSON_BYTES, LABELS, NAME_CHARACTERS
from switchpoint.printable import printable
from switchpoint.regular_files import open_regular
from switchpoint.strict_json import parse_json
from switchpoint.tables.columns import NO_LABELS
from switchpoint.tables.validity import is_start

SUFFIX = ".labels.json"

#: Labels of a folder and of all folders below it.
FOLDER_NAME = f"switchpoint{SUFFIX}"

#: Labels that become part of the curve's identity.
IDENTITY_LABELS = ["site", "partition", "mpi", "environ", "kernel", "placement", "mode"]

#: Labels as read: null removes a label from a folder above.
Labels = dict[str, str | None]

#: The start of a line that contains labels.
COMMENT = b"# switchpoint: "

_COMMENT = re.compile(rb"^(?:\xef\xbb\xbf)?" + COMMENT + rb"(?P<json>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Surroundings:
    """What the path of a file says about it, for everything that the file itself does not say.

    Attributes
    ----------
    said : dict
        From a `--path` pattern and, with priority, from the labels of folders.
    layout : dict
        From ReFrame's own folders, if no pattern matched.
    choices : Choices
        What the user says about columns.
    """

    said: Mapping[str, str | None] = field(default_factory=dict)
    layout: Mapping[str, str] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)

    def complete(self, own: Mapping[str, str | None]) -> dict[str, str]:
        """Complete a file's own labels. If the label `check` names the test, no folder names it."""
        layout = dict(self.layout)
        if own.get("check"):
            layout.pop("test", None)
        return {name: value for name, value in {**layout, **self.said, **own}.items() if value}


class FolderLabels:
    """Labels of folders. Each folder's file is read once."""

    def __init__(self) -> None:
        self._known: dict[Path, Labels] = {}

    def of(self, folder: Path) -> Labels:
        """Return the labels of an absolute folder and of all folders above; the nearest counts.

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
    """Return the labels of a tool's output file with this unpacked content; raises InputError.

    If both have a label, the one in the file beside it counts.
    """
    labels: Labels = {}
    line, place = 1, 0
    for number, comment in enumerate(_COMMENT.finditer(data)):
        if number == LABELS:
            raise InputError(path, f"has more than {LABELS} comments with labels; split it")
        line, place = line + data.count(b"\n", place, comment.start()), comment.start()
        more = _parse(path, comment["json"], line)
        for label in labels.keys() & more.keys():
            if labels[label] != more[label]:
                what = (
                    f"label {printable(label)} has another value than in a comment above, as where"
                    " files were joined; split the file"
                )
                raise InputError(path, what, line)
        labels |= more
    for name in dict.fromkeys((path.name, path.name.removesuffix(".gz"))):
        beside = path.with_name(name + SUFFIX)
        if beside.is_file():
            return labels | _read(beside)
    return labels


def _read(path: Path) -> Labels:
    try:
        with open_regular(path) as stream:
            return _parse(path, stream.read(JSON_BYTES + 1))
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None


def _parse(path: Path, text: bytes, line: int | None = None) -> Labels:
    twice: list[str] = []

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        twice.extend(
            name for name, count in Counter(name for name, _ in pairs).items() if count > 1
        )
        return dict(pairs)

    try:
        labels = parse_json(text, pairs=once)
    except ValueError as error:
        raise InputError(path, f"labels are not JSON ({error}); correct them", line) from None
    if not isinstance(labels, dict):
        raise InputError(path, 'labels are not a JSON object; write {"site": "NAME", ...}', line)
    if twice:
        raise InputError(path, f"label {printable(twice[0])} is given twice; remove one", line)
    if len(labels) > LABELS:
        raise InputError(path, f"has {len(labels)} labels; keep at most {LABELS}", line)
    for name, value in labels.items():
        if problem := problem_of_label(name, value):
            raise InputError(path, problem, line)
    return labels


def problem_of_label(name: str, value: object) -> str | None:
    """Return the problem of a label with its fix, or None."""
    if not name.strip():
        return "label '' has no name; name it or remove it"
    shown = printable(name)
    if name in NO_LABELS:
        return f"label {shown} has a reserved name; rename it"
    if max(len(name), len(value) if isinstance(value, str) else 0) > NAME_CHARACTERS:
        return f"label {shown[:40]} has more than {NAME_CHARACTERS:,} characters; shorten it"
    if not isinstance(value, str | None):
        return f"label {shown} is {repr(value)[:40]}, but labels are strings; write it in quotes"
    if name == "start_utc" and value and not is_start(value):
        return (
            f"label start_utc is '{printable(value[:40])}', which is not an ISO 8601 time in UTC;"
            " write it as 2026-11-21T10:00:00Z or 2026-11-21"
        )
    return None
