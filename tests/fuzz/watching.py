"""Sees what the verbs of this process start, and which files they change.

Python itself tells of both (PEP 578), so that nothing which a verb calls can hide them. What
libraries in C write is seen by comparing folders.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Events that start a program, and the place of its name and its words among their arguments.
_STARTS = {
    "subprocess.Popen": (0, 1), "os.exec": (0, 1), "os.posix_spawn": (0, 1), "os.system": (0, 0)
}  # fmt: skip

#: Events that change files, and the places of their names among the arguments.
_CHANGES = {
    "os.mkdir": (0,), "os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.link": (1,),
    "os.symlink": (1,), "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,),
    "shutil.copyfile": (1,), "shutil.move": (0, 1), "shutil.rmtree": (0,),
    "shutil.unpack_archive": (1,),
}  # fmt: skip

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

#: Python's own places: its byte code and what reads it.
_PYTHON = [*{sysconfig.get_path(name) for name in ("stdlib", "purelib")}, sys.prefix]


@dataclass
class Seen:
    """What happened while this process was watched.

    Attributes
    ----------
    started : list of list of str
        The words of each program.
    changed : list of str
        Names of files and folders, outside those for temporary files.
    """

    started: list[list[str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


_watched: list[Seen] = []
_hooked: list[bool] = []


@contextmanager
def watching() -> Iterator[Seen]:
    """Record what this process starts and changes."""
    if not _hooked:  # a hook stays for the life of a process
        sys.addaudithook(_hook)
        _hooked.append(True)
    seen = Seen()
    _watched.append(seen)
    try:
        yield seen
    finally:
        _watched.remove(seen)


def _hook(event: str, values: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event in _STARTS:
        name, words = (values[place] for place in _STARTS[event])
        started = [os.fsdecode(name), *map(os.fsdecode, words if name is not words else ())]
        _watched[-1].started.append(started[1:] if started[1:] else started)
    elif event == "open" and isinstance(values[2], int) and values[2] & _WRITES:
        _note(values[0])
    for place in _CHANGES.get(event, ()):
        _note(values[place])


def _note(path: object) -> None:
    if isinstance(path, str | bytes | os.PathLike):
        name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  links stay as they are
        if not _is_of_python(name):
            _watched[-1].changed.append(name)


def _is_of_python(name: str) -> bool:
    return "__pycache__" in name or any(name.startswith(f"{place}/") for place in _PYTHON)


def outside(changed: Sequence[str], places: Sequence[Path]) -> list[str]:
    """Return the names that lie neither in one of these places nor among temporary files.

    A file that is written completely or not at all is beside its place for a moment.
    """
    allowed = [os.path.abspath(place) for place in places]  # noqa: PTH100
    scratch = os.path.join(tempfile.gettempdir(), "tmp")  # noqa: PTH118
    return sorted(
        {
            name
            for name in changed
            if not any(name == place or name.startswith(f"{place}/") for place in allowed)
            and not name.startswith(scratch)
            and name != os.devnull
        }
    )


def contents(folder: Path, without: Sequence[Path] = ()) -> dict[str, str]:
    """Return a digest of each file in a folder, and the names of folders and links in it."""
    found = {}
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if here / name not in without]
        for name in [*folders, *files]:
            path = here / name
            if path in without:
                continue
            if path.is_symlink() or not path.is_file():
                found[str(path)] = str(path.readlink()) if path.is_symlink() else "folder"
            else:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
