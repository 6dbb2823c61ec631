"""Commands of the documentation that read files of the repository print what their page shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from switchpoint.cli.command import app
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]

#: Files that examples read. Other paths are the reader's own.
OURS = ("tests/", "docs/examples/")

#: Lines that differ from run to run.
VARIES = re.compile(r"SHA-256|kB$")


def examples() -> Iterator[Any]:
    """Give each such command with the lines that its page shows below it."""
    for page in sorted(ROOT.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        blocks = [
            (match.end(), match[1], match.start())
            for match in re.finditer(r"^```\w*\n(.*?)^```\n?", text, re.MULTILINE | re.DOTALL)
        ]
        for number, (end, block, _) in enumerate(blocks):
            parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
            for place, part in enumerate(parts):
                command, _, shown = part.partition("\n")
                words = shlex.split(command, comments=True)
                if words[0] != "switchpoint" or not any(w.startswith(OURS) for w in words):
                    continue
                following = blocks[number + 1 : number + 2]
                if not shown.strip() and place == len(parts) - 1 and following:
                    _, other, start = following[0]
                    if not text[end:start].strip() and "$ " not in other:
                        shown = other
                lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
                yield pytest.param(words[1:], lines, id=f"{page.stem}: {' '.join(words[1:3])}")


@pytest.mark.slow
@pytest.mark.parametrize(("words", "shown"), list(examples()))
def test_the_page_shows_what_the_command_prints(
    words: list[str], shown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tests", "docs/examples"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs/images").mkdir()
    monkeypatch.chdir(tmp_path)

    done = CliRunner().invoke(app, words)

    assert done.exit_code == 0, done.output
    printed = {line.rstrip() for line in [*done.stdout.splitlines(), *done.stderr.splitlines()]}
    told = [line for line in shown if line.strip() != "..." and not VARIES.search(line)]
    # The page may wrap a long sentence.
    joined = " ".join(" ".join(printed_line.split()) for printed_line in done.stdout.splitlines())
    missing = [
        line for line in told if line not in printed and " ".join(line.split()) not in joined
    ]
    assert missing == []


def test_there_are_examples() -> None:
    assert len(list(examples())) > 8
