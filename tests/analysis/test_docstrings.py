"""The examples in docstrings are what the functions do."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest
import switchpoint

PACKAGE = Path(switchpoint.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_print_what_they_say(module: str) -> None:
    result = doctest.testmod(import_module(module))

    assert result.attempted > 0
    assert result.failed == 0
