"""Reads YAML of unknown origin: whatever is wrong with it is one error with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

#: The fast parser, if PyYAML was built with it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class NotYamlError(ValueError):
    """A text is not YAML, or contains a value that Python does not have.

    Attributes
    ----------
    problem : str
    line : int or None
        Counted from 1; None if it is not known.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; None if it is empty.

    Raises
    ------
    OSError
        If the file cannot be read.
    NotYamlError
        If it is not text in UTF-8 or not YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NotYamlError("it is not text in UTF-8") from None
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 (a safe one)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "it cannot be read"
        # An end that comes too soon is on the last line, not after it.
        line = min(mark.line, text.count("\n")) + 1 if mark else None
        raise NotYamlError(problem, line) from None
    except yaml.YAMLError as error:
        raise NotYamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise NotYamlError("it is nested too deep") from None
    except ValueError as error:  # a number or a date that Python cannot have
        raise NotYamlError(f"a value in it is impossible: {str(error).partition(';')[0]}") from None
