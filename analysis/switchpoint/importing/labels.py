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
from pathlib import Path

from switchpoint.errors import InputError

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
    try:
        labels = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"labels are no JSON ({error}); correct them", line) from None
    if not isinstance(labels, dict):
        raise InputError(path, 'labels are no JSON object; write {"site": "NAME", ...}', line)
    for name, value in labels.items():
        if not isinstance(value, str | None):
            raise InputError(path, f"label {name} is {value!r}; labels are texts: quote it", line)
    return labels
