"""Compares versions as Spack's specs do: ``@4.1``, ``@=4.1.4``, ``@4:5``, ``@4.1,5``."""

from __future__ import annotations

import re

_PART = re.compile(r"\d+|[a-zA-Z]+")

#: Versions that are newer than all numbers, as Spack has it.
_BRANCHES = ("develop", "main", "master", "head", "trunk", "stable")


def satisfies(version: str, constraint: str) -> bool:
    """Return whether a version is one of those that a constraint, without ``@``, allows.

    >>> [satisfies("4.1.4", text) for text in ("4.1", "=4.1", "4", "4:", ":4.0", "4.0:4.1", "5,4")]
    [True, False, True, True, False, True, True]
    """
    return any(_in_one(version, part.strip()) for part in constraint.split(","))


def _in_one(version: str, part: str) -> bool:
    if part.startswith("git."):  # resolved by Spack alone: `git.REF=VERSION`
        part = part.partition("=")[2] or version
    if part.startswith("="):
        return version == part[1:]
    low, colon, high = part.partition(":")
    if not colon:
        return version == low or _within(version, low)
    above = not low or _key(version) >= _key(low)
    below = not high or _key(version) <= _key(high) or _within(version, high)
    return above and below


def _within(version: str, prefix: str) -> bool:
    """Whether a version begins with all parts of another: 4.1.4 with 4.1, but not with 4.10."""
    parts = _PART.findall(prefix)
    return bool(parts) and _PART.findall(version)[: len(parts)] == parts


def _key(version: str) -> list[tuple[int, int, str]]:
    """Order of versions: words such as ``rc`` before the end, numbers after, branches last."""
    return [
        (2, 0, part)
        if part in _BRANCHES
        else (1, int(part), "")
        if part.isdigit()
        else (0, 0, part)
        for part in _PART.findall(version)
    ] + [(0, 1, "")]
