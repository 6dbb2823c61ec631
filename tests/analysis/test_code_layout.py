"""The page on the code's layout names real files, and modules and functions stay short."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/explanation/code.md"

FUNCTION_LINES = 50


def _sources() -> Iterator[Path]:
    for folder in ("analysis/switchpoint", "testbed"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def _paths_on_page() -> list[str]:
    """Words in code style that are paths from the root of the repository."""
    words = re.findall(r"`([^`\s]+)`", PAGE.read_text(encoding="utf-8"))
    return sorted({word for word in words if "/" in word and not word.startswith("sites/")})


def test_the_page_names_paths() -> None:
    assert len(_paths_on_page()) > 30


@pytest.mark.parametrize("path", _paths_on_page())
def test_each_path_on_the_page_exists(path: str) -> None:
    whole = ROOT / path

    assert whole.is_dir() if path.endswith("/") else whole.is_file()


def test_each_stage_is_on_the_page() -> None:
    package = ROOT / "analysis/switchpoint"
    stages = {f"analysis/switchpoint/{path.parent.name}/" for path in package.glob("*/__init__.py")}

    assert stages == {path for path in _paths_on_page() if path in stages}


def test_functions_are_short() -> None:
    """The lines of a function's body count; its parameters and docstring do not."""
    lines = {}
    for path in _sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = node.body[1:] if ast.get_docstring(node) and node.body[1:] else node.body
                length = (node.end_lineno or 0) - own[0].lineno + 1
                lines[f"{_name(path)}:{node.name}"] = length

    assert _too_long(lines, FUNCTION_LINES) == {}


def test_sessions_of_reframe_start_without_pandas() -> None:
    """It would cost each of them a second: nothing that a file of checks imports may need it."""
    sources = (ROOT / "checks").rglob("*.py")
    nodes = [node for path in sources for node in ast.parse(path.read_text()).body]
    imported = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    ours = sorted(name for name in imported if name.startswith("switchpoint."))
    program = f"import sys, {', '.join(ours)}; sys.exit('pandas' in sys.modules)"

    assert len(ours) > 5
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _too_long(lines: dict[str, int], most: int) -> dict[str, int]:
    return {name: count for name, count in lines.items() if count > most}
