"""Keeps the Spack lock that lies beside a result, whole, with the runs of that result."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import zlib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.spack.lock import NAME, Lock, parse_lock
from switchpoint.tables.measurements import Measurements


def attach(measurements: Measurements, folder: Path) -> Measurements:
    """Fill the runs' `lock`, `lock_hash` and `spack_spec` from the folder's spack.lock.

    A lock that a run's program was not built from is left out, and a warning kept with the run.

    Raises
    ------
    InputError
        If it cannot be read or is no lock of Spack's.
    """
    path = folder / NAME
    if not path.is_file():
        return measurements
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except OSError as error:
        raise InputError(path, f"{error.strerror}; check the path") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or not {"roots", "concrete_specs"} <= set(content):
        raise InputError(path, "is no lock of Spack's; copy the environment's again, or remove it")
    try:
        lock = parse_lock(text, path)
    except InputError:  # several roots, or of another Spack: it is kept, and says nothing
        lock = None
    rows = [_with_lock(run, text, lock, path) for run in measurements.runs.to_dict("records")]
    runs = pd.DataFrame(rows, columns=measurements.runs.columns)
    return dataclasses.replace(measurements, runs=runs)


def _with_lock(
    run: dict[Hashable, Any], text: str, lock: Lock | None, path: Path
) -> dict[Hashable, Any]:
    """A row of the runs table with what the lock adds."""
    # A run record's program names the spec that it was built from; of others a label does.
    is_record = run["format"] == "record"
    own = run["spec_hash"] if is_record else run["spack_hash"]
    told = isinstance(own, str)
    if lock is not None and own != lock.root.hash and (told or is_record):
        built = f"is /{own[:7]}" if told else f"was built by {run['builder']} without Spack"
        warning = (
            f"{path}: is the lock of /{lock.root.hash[:7]}, and the program of {run['source']}"
            f" {built}: the lock is not kept with the run"
        )
        return run | {"warnings": "\n".join(filter(None, [run["warnings"], warning]))}
    added = {"lock": pack(text), "lock_hash": lock_hash(text)}
    return run | added | ({} if lock is None else {"spack_spec": lock.spec})


def lock_hash(text: str) -> str:
    """First 32 digits of the SHA-256 of a lock's text, as `sha256sum spack.lock` prints them."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(text: str) -> str:
    """Compress a lock into text (zlib, base64)."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> str:
    """Lock that `pack` compressed."""
    return zlib.decompress(base64.b64decode(packed)).decode()
