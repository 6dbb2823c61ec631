"""Words that the project does not use are found, with their line and what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).with_name("check_prose.py")


def check(path: Path, text: str) -> subprocess.CompletedProcess[str]:
    path.write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, CHECK, path], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("One line.\nThe record says Whence it comes.\n", "2: 'Whence': write 'source"),
        ("# Both are held\n# against it.\n", "1: 'held # against': write 'compared with'"),
        ("3 problems to mend\n", "1: 'mend': write 'fix'"),
        ("Times on\ncrowded cores.\n", "2: 'crowded': write 'oversub"),
        ("'threads' is no executor\n", "1: 'is no executor': write 'unknown executor"),
    ],
)
def test_a_word_of_the_list_is_named_with_its_line_and_another(
    tmp_path: Path, text: str, message: str
) -> None:
    done = check(tmp_path / "page.md", text)
    assert done.returncode == 1
    assert f"page.md:{message}" in done.stdout
    assert done.stdout.count("\n") == 1


def test_some_words_are_looked_for_in_the_text_of_docs_alone(tmp_path: Path) -> None:
    text = "One.\n```\n2 nights\n```\nTwo nights.\n"
    (tmp_path / "docs").mkdir()

    assert "page.md:5: 'nights': write" in check(tmp_path / "docs/page.md", text).stdout
    assert check(tmp_path / "page.md", text).stdout == ""


def test_plain_words_and_names_in_back_quotes_pass(tmp_path: Path) -> None:
    done = check(tmp_path / "page.md", "A recommendation: the field `mend` is now `fix`.\n")
    assert (done.returncode, done.stdout) == (0, "")


SOURCES = {
    "checked.py": """told = {}
def judge(nights):
    \"\"\"Judge it.

    Parameters
    ----------
    told
        A name.
    \"\"\"
    return f"{told} tells"  # alike
""",
    "checked.c": """static void judge(int told); /* the name is fine,
 * but nothing is told here */
const char *text = "compared tonight";
""",
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [("checked.py", ["3: 'Judge'", "10: 'alike'", "10: 'tells'"]),
     ("checked.c", ["2: 'told'", "3: 'tonight'"])],
)  # fmt: skip
def test_comments_and_messages_of_code_have_the_fields_words_and_names_are_free(
    tmp_path: Path, name: str, lines: list[str]
) -> None:
    (tmp_path / "src").mkdir()
    for folder in ("src", "."):
        (tmp_path / folder / name).write_text(SOURCES[name], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, CHECK, f"src/{name}", name], cwd=tmp_path, capture_output=True, text=True
    )
    places = [line.partition(": write")[0] for line in done.stdout.splitlines()]
    assert places == [f"src/{name}:{line}" for line in lines]
