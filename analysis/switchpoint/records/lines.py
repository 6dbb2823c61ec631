"""Opens a record, plain or gzipped, and finds its first and last line."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

from switchpoint.errors import RecordError

_GZIP_MAGIC = b"\x1f\x8b"
LONGEST_END = 64 * 2**20  # bytes; a header or footer beyond this is not one of ours


def open_maybe_gzip(path: Path) -> io.BufferedIOBase:
    """Open for reading bytes, unpacking gzip by its magic number; raises RecordError."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise RecordError(path, f"{error.strerror}; check the path") from None
    if stream.peek(2)[:2] == _GZIP_MAGIC:
        return gzip.open(stream)
    return stream


def guarded(path: Path, read: Callable[[int], bytes], count: int) -> bytes:
    """Read so many bytes; raises RecordError where the file cannot be read or unpacked."""
    try:
        return read(count)
    except (OSError, EOFError) as error:  # a gzip cut short cannot be trusted row by row
        raise RecordError(path, f"cannot be read ({error}); copy it again") from None


def first_line(path: Path) -> bytes:
    """Return a record's first line, which is its header."""
    with open_maybe_gzip(path) as stream:
        return guarded(path, stream.readline, LONGEST_END).rstrip(b"\n")


def last_line(path: Path) -> bytes:
    """Return a record's last line if it is a footer, else nothing."""
    with open_maybe_gzip(path) as stream:
        if not isinstance(stream, io.BufferedReader):  # gzip has no cheap way to its end
            return split_footer(guarded(path, stream.read, -1))[1]
        length = stream.seek(0, os.SEEK_END)
        tail, step = b"", 2**16
        while len(tail) < length and tail.rstrip(b"\n").count(b"\n") == 0:
            start = max(0, length - step)
            stream.seek(start)
            tail = stream.read(length - start)
            step *= 8
    return split_footer(tail)[1]


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
