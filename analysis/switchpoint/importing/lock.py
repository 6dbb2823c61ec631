"""Stores the Spack lock beside a result with the runs of this result."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import zlib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.limits import JSON_BYTES
from switchpoint.spack.lock import NAME, Lock, parse_lock
from switchpoint.strict_json import parse_json
from switchpoint.tables.measurements import Measurements


def attach(measurements: Measurements, folder: Path) -> Measurements:
    """Fill the runs' `lock`, `lock_hash` and `spack_spec` from the folder's spack.lock.

    If a run's program was not built from the lock, the run gets a warning instead of the lock.

    Raises
    ------
    InputError
        If it cannot be read or is not a lock of Spack.
    """
    path = folder / NAME
    if not path.is_file():
        return measurements
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            text = stream.read(JSON_BYTES + 1)
        content = parse_json(text)
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or not {"roots", "concrete_specs"} <= set(content):
        raise InputError(
            path, "is not a lock of Spack; copy the environment's lock again, or remove it"
        )
    try:
        lock = parse_lock(text, path)
    except InputError:  # several roots, or another Spack: the lock is stored but not used
        lock = None
    rows = [_with_lock(run, text, lock, path) for run in measurements.runs.to_dict("records")]
    runs = pd.DataFrame(rows, columns=measurements.runs.columns)
    return dataclasses.replace(measurements, runs=runs)


def _with_lock(
    run: dict[Hashable, Any], text: str, lock: Lock | None, path: Path
) -> dict[Hashable, Any]:
    """Add the lock to a row of the runs table."""
    # A run record's program names its own spec. For other tools a label does.
    is_record = run["format"] == "record"
    own = run["spec_hash"] if is_record else run["spack_hash"]
    told = isinstance(own, str)
    if lock is not None and own != lock.root.hash and (told or is_record):
        built = f"is /{own[:7]}" if told else f"was built by {run['builder']} without Spack"
        warning = (
            f"{path}: is the lock of /{lock.root.hash[:7]}, but the program of {run['source']}"
            f" {built}: the lock is not stored with the run"
        )
        return run | {"warnings": "\n".join(filter(None, [run["warnings"], warning]))}
    added = {"lock": pack(text), "lock_hash": lock_hash(text)}
    return run | added | ({} if lock is None else {"spack_spec": lock.spec})


def lock_hash(text: str) -> str:
    """Return the first 32 digits of the SHA-256 of a lock's text, as `sha256sum` prints them."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(text: str) -> str:
    """Compress a lock into text (zlib, base64)."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> str:
    """Return the lock that `pack` compressed."""
    return zlib.decompress(base64.b64decode(packed)).decode()
