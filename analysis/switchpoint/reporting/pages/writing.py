"""Writes the files of the report: only those that changed, each completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from switchpoint.whole_files import sweep, write_whole

#: Names the files of a report, one a line, so that the next report knows what to remove.
LIST = "files.txt"


def write_report(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files, and remove those of an earlier report that are not among them.

    Only files that an earlier report wrote are removed. Each is listed before it is written, so
    that also what a killed command left is known.

    Raises
    ------
    OSError
        If one cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    swept: set[Path] = set()
    before = _files_before(folder)
    written: dict[str, None] = {}
    with (folder / LIST).open("a", encoding="utf-8") as listed:
        for name, content in files:
            path = folder / name
            written[name] = None
            if path.parent not in swept:
                path.parent.mkdir(exist_ok=True)
                sweep(path.parent)
                swept.add(path.parent)
            if _is(path, content):
                continue
            if name not in before:
                listed.write(f"{name}\n")
                listed.flush()
            write_whole(path, content, swept=True)
    for name in before - written.keys():
        (folder / name).unlink(missing_ok=True)
    whole = "".join(f"{name}\n" for name in written).encode()
    if not _is(folder / LIST, whole):
        write_whole(folder / LIST, whole)


def _files_before(folder: Path) -> set[str]:
    """Return what an earlier report wrote, as far as it lies inside the folder."""
    try:
        names = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    inside = folder.resolve()
    return {
        name
        for name in names
        if name and (folder / name).is_file() and (folder / name).resolve().is_relative_to(inside)
    }


def _is(path: Path, content: bytes) -> bool:
    """Return whether a file has this content."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:
        return False
