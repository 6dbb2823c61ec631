"""Finds words that this project does not use, as `make lint` does over all files.

Usage: ``check_prose.py FILES...``. Prints file, line, word and what to write instead. The exit code
is 1 if it finds any. ``words.txt`` lists the words.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path

WORDS = Path(__file__).with_name("words.txt")

#: Folders whose comments and messages are written in the field's words. The gate's are not yet.
CODE = {"analysis", "bench", "checks", "setup", "src", "testbed"}
NOT_YET = {"gating", "gate"}


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
    return re.sub(block, lambda code: "\n" * code[0].count("\n"), page, flags=re.M | re.S)


def without_names(text: str, suffix: str) -> str:
    """Keep the comments and strings of a source file in their lines, and empty the rest."""
    if suffix != ".py":
        parts = re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', text, re.DOTALL)
        return _in_lines((text.count("\n", 0, part.start()), part[0]) for part in parts)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    kept = ((token.start[0] - 1, token.string) for token in tokens if token.type in kinds)
    return re.sub(r"^ *\w+(?: : .*)?$", "", _in_lines(kept), flags=re.MULTILINE)


def _in_lines(parts: Iterable[tuple[int, str]]) -> str:
    """Write each part in the line, counted from 0, in which it begins."""
    lines: dict[int, str] = {}
    for number, part in parts:
        for below, line in enumerate(re.sub(r"\{[^{}\n]*\}", "", part).split("\n")):
            lines[number + below] = f"{lines.get(number + below, '')} {line}"
    return "\n".join(lines.get(number, "") for number in range(max(lines, default=-1) + 1))


def find_words(text: str, words: dict[str, str]) -> list[tuple[int, str, str]]:
    """Find line, word and replacement of each word of the list; a phrase may span two lines."""
    # What stands in back quotes are names.
    text = re.sub(r"`[^`\n]*`", lambda name: " " * len(name[0]), text)
    matches = []
    for expression, instead in words.items():
        # A line break may be followed by the mark of a comment.
        spaced = expression.replace(" ", r"(?: |\s+(?:#:?|//|\*)?\s*)")
        for match in re.finditer(rf"\b(?:{spaced})\b", text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            matches.append((line, " ".join(match[0].split()), instead))
    return sorted(matches)


def main(files: list[str]) -> int:
    """Check files; return the exit code."""
    words, of_docs, of_code = read_words(), read_words("docs"), read_words("code")
    failed = False
    for file in files:
        text = Path(file).read_text("utf-8")
        matches = find_words(text, words)
        if file == "README.md" or (file.endswith(".md") and "docs" in Path(file).parts):
            matches += find_words(without_code(text), of_docs)
        top, *below = Path(file).parts
        if Path(file).suffix in {".py", ".c", ".h"} and top in CODE and not NOT_YET & {*below}:
            matches += find_words(without_names(text, Path(file).suffix), of_code)
        for line, word, instead in sorted(matches):
            print(f"{file}:{line}: '{word}': write '{instead}'")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
