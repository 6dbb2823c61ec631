"""Reads what a check says of another tool's output: `CURVE.labels.json` beside the file `CURVE`.

A JSON object of texts, as the labels of a run record; see docs/reference/command.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from switchpoint.errors import InputError

SUFFIX = ".labels.json"

#: Labels that become part of the curve's identity.
IDENTITY_LABELS = ["site", "partition", "mpi", "environ", "placement"]

#: Labels that become columns of the run.
RUN_LABELS = ["session", "start_utc", "builder", "spec_hash", "spack_spec", "spack_hash"]


def read_labels(path: Path) -> dict[str, str]:
    """Labels of a tool's output file, empty where nobody wrote any; raises InputError."""
    for name in dict.fromkeys((path.name, path.name.removesuffix(".gz"))):
        sidecar = path.with_name(name + SUFFIX)
        if sidecar.is_file():
            return _parse(sidecar)
    return {}


def _parse(sidecar: Path) -> dict[str, str]:
    try:
        labels = json.loads(sidecar.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(sidecar, f"is not JSON ({error}); correct or remove it") from None
    if not isinstance(labels, dict):
        raise InputError(sidecar, 'is no JSON object; write {"site": "NAME", ...}')
    for name, value in labels.items():
        if not isinstance(value, str | None):
            raise InputError(sidecar, f"{name} is {value!r}; labels are texts: quote it")
    return {name: value for name, value in labels.items() if value}
