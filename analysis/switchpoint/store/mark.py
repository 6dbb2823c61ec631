"""The file at a store's top that says what the folder is, and which layout it has."""

from __future__ import annotations

import json

from switchpoint.errors import InputError
from switchpoint.importing.files import STORE_MARK
from switchpoint.store.files import StoreFiles

#: The layout that this version writes.
LAYOUT = 2


def set_mark(files: StoreFiles) -> None:
    """Write the mark of a new store; of another layout it raises InputError."""
    check_mark(files)
    mark = f"{files.root}/{STORE_MARK}"
    if not files.exists(mark):
        files.check_access(files.root)
        files.write(mark, json.dumps({"store": "switchpoint", "layout": LAYOUT}).encode())


def check_mark(files: StoreFiles) -> None:
    """Raise InputError if a newer version wrote the store. A new store has no mark."""
    mark = f"{files.root}/{STORE_MARK}"
    try:
        if not files.exists(mark):
            return
        layout = json.loads(files.read(mark))["layout"]
    except (ValueError, KeyError, TypeError):
        raise InputError(mark, f'is damaged; write {{"layout": {LAYOUT}}} into it') from None
    if not isinstance(layout, int) or layout > LAYOUT:
        raise InputError(
            files.url,
            f"has the layout {layout} of a newer version; this one knows {LAYOUT}: install the"
            " newer Switchpoint",
        )
