"""Reads the sessions in ReFrame's database of results, a SQLite file of unknown origin."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from switchpoint.errors import InputError, NotRecognisedError, Reason
from switchpoint.limits import JSON_BYTES, LOG_VALUES

START = b"SQLite format 3\0"

#: Steps of the database's machine, which a large honest file needs: some for each session.
_STEPS = 10_000_000
_STEPS_AT_ONCE = 100_000

#: Ends of the names of files with changes that a database does not contain yet, or no longer.
_BESIDE = ("-wal", "-journal")

_TABLE = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'sessions'"
_SESSIONS = "SELECT json_blob FROM sessions ORDER BY session_start_unix LIMIT ?"


def sessions_of(path: Path) -> Iterator[bytes]:
    """Return the report of each session as JSON, oldest first; raises InputError.

    The file is opened to be read only, and no view, trigger or function of it runs. SQLite's files
    beside it are not opened, so it has to be complete without them.
    """
    for beside in (path.with_name(f"{path.name}{end}") for end in _BESIDE):
        if beside.is_file() and beside.stat().st_size:
            raise InputError(
                path,
                f"has changes in {beside.name} that are not in it yet; end what writes to it, and"
                " import it again",
            )
    try:
        uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True)
    except sqlite3.Error as error:
        raise InputError(path, f"cannot be opened ({error}); copy it again") from None
    steps = 0

    def too_many() -> bool:
        nonlocal steps
        steps += _STEPS_AT_ONCE
        return steps > _STEPS

    try:
        connection.set_authorizer(_only_reads)
        connection.set_progress_handler(too_many, _STEPS_AT_ONCE)
        table = connection.execute(_TABLE).fetchone()
        if (
            table is None
            or "json_blob" not in str(table[0])
            or "generated" in str(table[0]).lower()
        ):
            what = "is a database, but not ReFrame's: it has no table of sessions with reports"
            raise NotRecognisedError(path, what, Reason.BINARY)
        for (blob,) in connection.execute(_SESSIONS, (LOG_VALUES,)):
            data = blob if isinstance(blob, bytes) else str(blob).encode(errors="replace")
            if len(data) > JSON_BYTES:
                raise InputError(path, "has a session that is too large; export its report")
            yield data
    except sqlite3.Error as error:
        raise InputError(path, f"is a damaged database ({error}); copy it again") from None
    finally:
        connection.close()


def _only_reads(action: int, *_: str | None) -> int:
    allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
