"""Finds words that this project does not use, as `make lint` does over all files.

Usage: ``check_prose.py FILES...``. Prints file, line, word and what to write instead. The exit code
is 1 if it finds any. ``words.txt`` lists the words.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WORDS = Path(__file__).with_name("words.txt")


def read_words(part: str = "", path: Path = WORDS) -> dict[str, str]:
    """Read a part of the list: expression to what to write instead."""
    parts = re.split(r"^\[(\w+)\]$", path.read_text("utf-8"), flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[::2], strict=True))[part]
    lines = (line for line in text.splitlines() if " = " in line and not line.startswith("#"))
    pairs = (line.rpartition(" = ")[::2] for line in lines)
    return {expression.strip(): instead.strip() for expression, instead in pairs}


def without_code(page: str) -> str:
    """Empty the blocks of code of a Markdown page; its lines keep their numbers."""
    block = r"^ *```.*?^ *```$"
    return re.sub(block, lambda one: "\n" * one[0].count("\n"), page, flags=re.M | re.S)


def find_words(text: str, words: dict[str, str]) -> list[tuple[int, str, str]]:
    """Find line, word and replacement of each word of the list; a phrase may span two lines."""
    # What stands in back quotes are names.
    text = re.sub(r"`[^`\n]*`", lambda name: " " * len(name[0]), text)
    found = []
    for expression, instead in words.items():
        # A line break may be followed by the mark of a comment.
        spaced = expression.replace(" ", r"(?: |\s+(?:#:?|//|\*)?\s*)")
        for match in re.finditer(rf"\b(?:{spaced})\b", text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            found.append((line, " ".join(match[0].split()), instead))
    return sorted(found)


def main(files: list[str]) -> int:
    """Check files; return the exit code."""
    words, of_docs = read_words(), read_words("docs")
    failed = False
    for file in files:
        text = Path(file).read_text("utf-8")
        found = find_words(text, words)
        if file == "README.md" or (file.endswith(".md") and "docs" in Path(file).parts):
            found += find_words(without_code(text), of_docs)
        for line, word, instead in sorted(found):
            print(f"{file}:{line}: '{word}': write '{instead}'")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
