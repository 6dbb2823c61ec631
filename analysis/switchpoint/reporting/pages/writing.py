"""Writes the files of the report: only those that changed, each completely or not at all.

A list in the folder says which files a report wrote, and with which content. Nothing else in the
folder is replaced or removed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from switchpoint.errors import InputError
from switchpoint.whole_files import append_text, sweep, write_whole

#: Names the files of a report, one a line after its SHA-256, so that the next report knows what it
#: may replace and remove. The first line marks it.
LIST = ".switchpoint-report"
MARK = "# Files that a report of Switchpoint wrote, each after its SHA-256; it replaces no others."


def write_report(folder: Path, files: Iterable[tuple[str, bytes]], *, force: bool = False) -> None:
    """Write files, and remove those of an earlier report that are not among them.

    Only what an earlier report wrote, and nobody changed since, is replaced or removed. Each file
    is listed before it is written, so that also what a killed command left is known.

    Parameters
    ----------
    folder
        It is created if it does not exist.
    files
        Path below the folder, and content.
    force
        Whether the folder may contain other files, although no report was written there.

    Raises
    ------
    InputError
        If somebody else's files are in the folder, or in the place of one of these.
    OSError
        If a file cannot be written. Then those that were not there before are removed.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    before = _listed(folder)
    if before is None:
        _refuse_foreign(folder, force)
    written: dict[str, str] = {}
    try:
        if before is None:
            write_whole(folder / LIST, f"{MARK}\n".encode())
        _write(folder, files, before or {}, written)
    except OSError:
        _remove_new(folder, written, before)
        if is_new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _write(
    folder: Path,
    files: Iterable[tuple[str, bytes]],
    before: Mapping[str, set[str]],
    written: dict[str, str],
) -> None:
    """Write files, name them in `written` and in the list, and remove those of `before`."""
    swept = {folder}
    for name, content in files:
        path = folder / name
        if path.parent not in swept:
            _make_folder(path.parent)
            sweep(path.parent)
            swept.add(path.parent)
        written[name] = hashlib.sha256(content).hexdigest()
        if _is(path, content):
            continue
        _refuse_to_replace(folder, name, before)
        append_text(folder / LIST, f"{written[name]}  {name}\n")
        write_whole(path, content, swept=True)
    for name in before.keys() - written.keys():
        if _is_own(folder, name, before):
            (folder / name).unlink(missing_ok=True)
    lines = [MARK, *(f"{digest}  {name}" for name, digest in written.items())]
    whole = "".join(f"{line}\n" for line in lines).encode()
    if not _is(folder / LIST, whole):
        write_whole(folder / LIST, whole)


def _remove_new(
    folder: Path, written: Mapping[str, str], before: Mapping[str, set[str]] | None
) -> None:
    """Remove the files of a report that could not be written completely, such as on a full disk."""
    known = before or {}
    with contextlib.suppress(OSError):
        for name in written.keys() - known.keys():
            if _is_own(folder, name, {name: {written[name]}}):
                (folder / name).unlink()
        if before is None:
            (folder / LIST).unlink(missing_ok=True)
    parents = {parent for name in written for parent in _folders_between(folder, name)}
    for parent in sorted(parents, reverse=True):  # the inner ones first
        with contextlib.suppress(OSError):  # others are in it
            parent.rmdir()


def _listed(folder: Path) -> dict[str, set[str]] | None:
    """Return the hashes of each file that an earlier report wrote; None if there was no report.

    A file that a report was about to write when it was killed has two.
    """
    if not _is_file(folder / LIST):
        return None
    text = (folder / LIST).read_text(encoding="utf-8", errors="replace")
    first, *lines = text.splitlines() or [""]
    if first != MARK:
        return None
    found: dict[str, set[str]] = {}
    for line in lines:
        digest, _, name = line.partition("  ")
        path = PurePosixPath(name)
        if name and not path.is_absolute() and ".." not in path.parts:
            found.setdefault(name, set()).add(digest)
    return found


def _refuse_foreign(folder: Path, force: bool) -> None:
    """Raise InputError if a folder without a report contains anything that may not be replaced."""
    there = sorted(entry.name for entry in folder.iterdir())
    if LIST in there:
        raise InputError(folder / LIST, "is not the list of a report; choose another folder")
    if there and not force:
        raise InputError(
            folder,
            f"contains '{there[0]}', which is not of a report with a list {LIST}; choose"
            " another folder, or use `switchpoint report --force`, which replaces no such file",
        )


def _refuse_to_replace(folder: Path, name: str, before: Mapping[str, set[str]]) -> None:
    """Raise InputError if something that no report wrote is in the place of a file."""
    path = folder / name
    if os.path.lexists(path) and not (
        _is_own(folder, name, before) or _is_own(folder, name, _listed(folder) or {})
    ):
        raise InputError(
            path, "is not as a report wrote it; move it away, or choose another folder"
        )


def _is_own(folder: Path, name: str, listed: Mapping[str, set[str]]) -> bool:
    """Return whether a file inside the folder is as an earlier report wrote it."""
    path = folder / name
    inside = not any(part.is_symlink() for part in _folders_between(folder, name))
    return inside and _is_file(path) and _digest(path) in listed.get(name, ())


def _folders_between(folder: Path, name: str) -> Iterator[Path]:
    for parent in PurePosixPath(name).parents:
        if parent != PurePosixPath("."):
            yield folder / parent


def _make_folder(path: Path) -> None:
    """Make a folder of the report; raise OSError if there is a link to another."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} is a symbolic link", os.fspath(path))
    path.mkdir(exist_ok=True)


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _is_file(path: Path) -> bool:
    """Return whether a path is a file itself, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _is(path: Path, content: bytes) -> bool:
    """Return whether a file has this content."""
    try:
        return (
            _is_file(path) and path.stat().st_size == len(content) and path.read_bytes() == content
        )
    except OSError:
        return False
