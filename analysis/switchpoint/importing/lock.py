"""Keeps the Spack lock that lies beside a result, whole, with the runs of that result."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import zlib
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.measurements import Measurements

NAME = "spack.lock"


def attach(measurements: Measurements, folder: Path) -> Measurements:
    """Fill the runs' `lock` and `lock_hash` from the folder's spack.lock, where there is one.

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
    runs = measurements.runs.assign(lock=pack(text), lock_hash=lock_hash(text))
    return dataclasses.replace(measurements, runs=runs)


def lock_hash(text: str) -> str:
    """First 32 digits of the SHA-256 of a lock's text, as `sha256sum spack.lock` prints them."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(text: str) -> str:
    """Compress a lock into text (zlib, base64)."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(packed: str) -> str:
    """Lock that `pack` compressed."""
    return zlib.decompress(base64.b64decode(packed)).decode()
