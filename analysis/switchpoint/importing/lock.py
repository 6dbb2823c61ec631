"""Stores the Spack lock beside a result with the runs of this result."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import zlib
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning, text_of_warnings, warnings_of_text
from switchpoint.errors import InputError
from switchpoint.limits import JSON_BYTES
from switchpoint.printable import path_text
from switchpoint.regular_files import read_limited
from switchpoint.spack.lock import NAME, Lock, parse_lock
from switchpoint.strict_json import parse_json
from switchpoint.tables.measurements import Measurements

#: Bytes of one lock: its characters have up to four.
_MOST_BYTES = 4 * JSON_BYTES

#: Characters of all locks of a file of unknown origin. Runs of one build have the same lock.
_MOST_CHARACTERS = 8 * JSON_BYTES


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
        text = read_limited(path, JSON_BYTES).decode("utf-8")
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None
    except ValueError:
        text = ""
    if not _is_lock(text):
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
    has_hash = isinstance(own, str)
    if lock is not None and own != lock.root.hash and (has_hash or is_record):
        built = f"is /{own[:7]}" if has_hash else f"was built by {run['builder']} without Spack"
        what = (
            f"is the lock of /{lock.root.hash[:7]}, but the program of {run['source']}"
            f" {built}: the lock is not stored with the run"
        )
        warning = DataWarning("other_lock", what, path_text(path))
        return run | {"warnings": text_of_warnings([*warnings_of_text(run["warnings"]), warning])}
    added = {"lock": pack(text), "lock_hash": lock_hash(text)}
    return run | added | ({} if lock is None else {"spack_spec": lock.spec})


def lock_hash(text: str) -> str:
    """Return the first 32 digits of the SHA-256 of a lock's text, as `sha256sum` prints them."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(text: str) -> str:
    """Compress a lock into text (zlib, base64)."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> str | None:
    """Return the lock that `pack` compressed; None if it is not one, or is too large."""
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(base64.b64decode(packed, validate=True), _MOST_BYTES)
        text = content.decode()
    except (ValueError, zlib.error):
        return None
    return text if unpacker.eof and _is_lock(text) else None


def locks_problem(packed: Iterable[object]) -> str | None:
    """Return what is wrong with packed locks of unknown origin, if anything is."""
    characters = 0
    for lock in {*packed}:
        text = unpack(lock) if isinstance(lock, str) else None
        if text is None:
            return "a lock is not a packed lock of Spack"
        characters += len(text)
        if characters > _MOST_CHARACTERS:
            return f"its locks have more than {_MOST_CHARACTERS // 2**20} Mi characters"
    return None


def _is_lock(text: str) -> bool:
    try:
        content = parse_json(text)
    except ValueError:
        return False
    return isinstance(content, dict) and {"roots", "concrete_specs"} <= {*content}
