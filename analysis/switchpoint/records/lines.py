"""Opens a record, plain or gzipped, and finds its first and last line."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from switchpoint.errors import RecordError
from switchpoint.limits import JSON_BYTES, RECORD_BYTES
from switchpoint.regular_files import open_regular

_GZIP_MAGIC = b"\x1f\x8b"

#: Bytes that are read of a header or footer. One more than the limit shows that it is too long.
LONGEST_END = JSON_BYTES + 1

_PART_BYTES = 2**22


def open_maybe_gzip(path: Path) -> io.BufferedIOBase:
    """Open a file for reading bytes, and unpack gzip; raises RecordError."""
    try:
        stream = open_regular(path)
    except OSError as error:
        raise RecordError(path, f"{error.strerror}; check the path") from None
    if stream.peek(2)[:2] == _GZIP_MAGIC:
        return gzip.open(stream)
    return stream


def guarded(path: Path, read: Callable[[int], bytes], count: int) -> bytes:
    """Read bytes; raises RecordError if the file cannot be read or unpacked."""
    try:
        return read(count)
    except (OSError, EOFError, zlib.error) as error:  # rows of a truncated gzip cannot be trusted
        raise RecordError(path, f"cannot be read ({error}); copy it again") from None


def first_line(path: Path) -> bytes:
    """Return a record's first line, which is its header."""
    with open_maybe_gzip(path) as stream:
        return guarded(path, stream.readline, LONGEST_END).rstrip(b"\n")


def last_line(path: Path) -> bytes:
    """Return a record's last line if it is a footer, otherwise nothing."""
    with open_maybe_gzip(path) as stream:
        if not isinstance(stream, io.BufferedReader):
            return split_footer(_end_of_gzip(path, stream))[1]
        length = stream.seek(0, os.SEEK_END)
        tail, step = b"", 2**16
        while len(tail) < min(length, LONGEST_END) and tail.rstrip(b"\n").count(b"\n") == 0:
            start = max(0, length - step)
            stream.seek(start)
            tail = stream.read(length - start)
            step *= 8
    return split_footer(tail)[1]


def _end_of_gzip(path: Path, stream: io.BufferedIOBase) -> bytes:
    """Read a gzip file to its end, and return what follows the last row but one."""
    tail, size_bytes = b"", 0
    while part := guarded(path, stream.read, _PART_BYTES):
        size_bytes += len(part)
        check_size(path, size_bytes)
        tail = split_last_line(tail + part)[1]
        if len(tail) > LONGEST_END:
            return b""
    return tail


def check_size(path: Path, size_bytes: int) -> None:
    """Raise RecordError if a record has more unpacked bytes than are read."""
    if size_bytes > RECORD_BYTES:
        raise RecordError(
            path, f"is larger than {RECORD_BYTES // 2**20} MiB; measure with a smaller --kept"
        )


def split_last_line(text: bytes) -> tuple[bytes, bytes]:
    """Separate the last line, with the line ends after it."""
    start = text.rfind(b"\n", 0, len(text.rstrip(b"\n"))) + 1
    return text[:start], text[start:]


def split_footer(rest: bytes) -> tuple[bytes, bytes]:
    """Separate complete CSV rows from the footer line, which is empty if the record has none."""
    rows, last = split_last_line(rest)
    if last.startswith(b"{"):
        return rows, last.rstrip(b"\n")
    # Truncated: a last row without its newline may have lost digits, so it goes.
    return rest[: rest.rfind(b"\n") + 1], b""
