"""Reads what a check says of another tool's output: in a comment of the file, or beside it.

The comment is `# switchpoint: {...}`, the file beside `CURVE` is `CURVE.labels.json`; both hold a
JSON object of texts, as the labels of a run record. See docs/reference/command.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from switchpoint.errors import InputError

SUFFIX = ".labels.json"

#: Labels that become part of the curve's identity.
IDENTITY_LABELS = ["site", "partition", "mpi", "environ", "placement"]

_COMMENT = re.compile(rb"^# switchpoint: (?P<json>.*)$", re.MULTILINE)


def read_labels(path: Path, data: bytes) -> dict[str, str]:
    """Labels of a tool's output file, given with its unpacked content; raises InputError.

    Those in the file beside it count where both name one.
    """
    labels: dict[str, str] = {}
    for comment in _COMMENT.finditer(data):
        line = data[: comment.start()].count(b"\n") + 1
        labels |= _parse(path, comment["json"], line)
    for name in dict.fromkeys((path.name, path.name.removesuffix(".gz"))):
        sidecar = path.with_name(name + SUFFIX)
        if sidecar.is_file():
            return labels | _parse(sidecar, sidecar.read_bytes())
    return labels


def _parse(path: Path, text: bytes, line: int | None = None) -> dict[str, str]:
    try:
        labels = json.loads(text)
    except ValueError as error:
        raise InputError(path, f"labels are no JSON ({error}); correct them", line) from None
    if not isinstance(labels, dict):
        raise InputError(path, 'labels are no JSON object; write {"site": "NAME", ...}', line)
    for name, value in labels.items():
        if not isinstance(value, str | None):
            raise InputError(path, f"label {name} is {value!r}; labels are texts: quote it", line)
    return {name: value for name, value in labels.items() if value}
