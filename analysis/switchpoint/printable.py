"""Makes text from data safe to print: control characters are shown as escapes."""

from __future__ import annotations

import os
import unicodedata

#: Unicode's categories of characters that move the cursor, break lines or reorder text, and of
#: code points that are not characters.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def printable(text: str) -> str:
    r"""Write control characters and other invisible characters as their escapes.

    >>> printable("osu\x1b[31m\n"), printable("Größe 8 µs")
    ('osu\\x1b[31m\\n', 'Größe 8 µs')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode()
        if unicodedata.category(char) in _UNPRINTABLE
        else char
        for char in text
    )


def path_text(path: str | os.PathLike[str]) -> str:
    r"""Write a path as text that any file can contain: bytes that are not UTF-8 become escapes.

    >>> path_text("alpha\udce9.out")
    'alpha\\xe9.out'
    """
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")
