"""Proposes `--path` patterns for a tree of results, from the names of its folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.importing.files import find_files
from switchpoint.importing.layout import reframe_names
from switchpoint.importing.reading import is_recognised
from switchpoint.printable import path_text
from switchpoint.tables.mpi_names import is_library

#: What folders of a level are called, and the label for it.
_WORDS = {
    "fabric": re.compile(
        r"(?:ib|infiniband|roce|rocev2|opa|omni-?path|psm2|eth|ethernet|\d+gbe?|tcp|sockets?|cxi|"
        r"slingshot\d*|ss1[01]|efa|verbs|shm|ucx|ofi|hdr|edr|ndr|fdr)(?:[-_].*)?", re.I),
    "nodes": re.compile(r"(?:n|nodes?)?[-_=]?\d+[-_]?(?:n|nodes?)|nodes?[-_=]?\d+", re.I),
    "processes": re.compile(r"(?:np|procs?|ranks?|tasks?)[-_=]?\d+|\d+[-_]?(?:p|procs?|ranks?)",
                            re.I),
    "hardware": re.compile(r"cpu|gpu|host|device|[hd][-_]?[hd]|cuda|rocm|[avh]100|mi\d+x?", re.I),
    "date": re.compile(r"\d{4}[-_.]?\d\d[-_.]?\d\d(?:[T_-].*)?"),
    "suite": re.compile(r"(?:osu|imb|netpipe|nccl|rccl|perftest|omb|intel-mpi-bench\w*)[-_.\d]*",
                        re.I),
    "test": re.compile(r"(?:osu_|imb[-_]|ib_)\w+|.*(?:latency|bandwidth|_bw|pingpong).*", re.I),
    "environ": re.compile(r"(?:gcc|gnu|intel|icc|icx|oneapi|llvm|clang|nvhpc|pgi|cce|cray|aocc|arm)"
                          r"[-_.\d]*.*", re.I),
}  # fmt: skip

#: So large a share of a level's folders shows what all are.
_SHARE = 0.6

_EXAMPLES = 4


@dataclass(frozen=True)
class Level:
    """One level of folders: its part of the pattern, its folders' names and their files."""

    part: str
    names: dict[str, int]


@dataclass(frozen=True)
class Suggestion:
    """A pattern, the number of results that it fits, and its levels."""

    pattern: str
    files: int
    levels: list[Level]


def suggest(paths: Iterable[Path]) -> list[Suggestion]:
    """Return a pattern for each depth of folders with results, the most frequent first.

    Raises
    ------
    InputError
        If a path is not a folder, or nothing is found below folders that need names.
    """
    by_depth: dict[int, Counter[tuple[str, ...]]] = {}
    paths = list(paths)
    for root in paths:
        if not root.is_dir():
            raise InputError(root, "is not a folder; --suggest proposes patterns for folders")
        for file in find_files([root]).found:
            below = file.path.relative_to(root)
            if len(below.parts) < 2 or reframe_names(Path("/", below)):
                continue
            if is_recognised(file.path):
                folders = tuple(map(path_text, below.parts[:-1]))
                by_depth.setdefault(len(folders), Counter())[folders] += 1
    suggestions = [each for each in map(_suggestion, by_depth.values()) if "{" in each.pattern]
    if not suggestions:
        what = "has no result in a folder that needs a name: `switchpoint import` without --path"
        raise InputError(paths[0], what)
    return sorted(suggestions, key=lambda each: -each.files)


def _suggestion(folders: Counter[tuple[str, ...]]) -> Suggestion:
    depth = len(next(iter(folders)))
    levels: list[Level] = []
    taken: set[str] = set()
    for level in range(depth):
        names: Counter[str] = Counter()
        for parts, number in folders.items():
            names[parts[level]] += number
        label = _label(list(names), taken)
        if label is None and len(names) == 1:
            part = "{_}" if "{" in next(iter(names)) else next(iter(names))
        else:
            label = label or ("site" if level == 0 and "site" not in taken else f"level{level + 1}")
            taken.add(label)
            part = f"{{{label}}}"
        levels.append(Level(part, dict(names.most_common())))
    pattern = "/".join(level.part for level in levels)
    return Suggestion(f"{pattern}/", folders.total(), levels)


def _label(names: Sequence[str], taken: set[str]) -> str | None:
    """Return what most names of a level mean, if it is known."""
    if "mpi" not in taken and sum(map(is_library, names)) >= _SHARE * len(names):
        return "mpi"
    for label, words in _WORDS.items():
        fitting = sum(words.fullmatch(name) is not None for name in names)
        if label not in taken and fitting >= _SHARE * len(names):
            return "_" if label == "date" else label
    return None


def shown(level: Level) -> str:
    """Return the names of a level, the most frequent first."""
    names = list(level.names)
    more = f" and {len(names) - _EXAMPLES} more" if len(names) > _EXAMPLES else ""
    return ", ".join(names[:_EXAMPLES]) + more
