"""Reads YAML of unknown origin: whatever is wrong with it is one error with its line."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from switchpoint.limits import YAML_BYTES, YAML_LEVELS, YAML_VALUES
from switchpoint.regular_files import read_limited

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: The fast parser, if PyYAML was built with it.
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: Characters of a whole number: 64 bits in binary notation have 66.
_INTEGER_CHARACTERS = 100

#: Pydantic's kinds of problems, in words for the author of a YAML file.
_PLAIN = {
    "dict_type": "must be a mapping: lines of `name: value`, indented below it",
    "model_type": "must be a mapping: lines of `name: value`, indented below it",
    "list_type": "must be a list: [a, b]",
    "tuple_type": "must be a list: [a, b]",
    "frozen_set_type": "must be a list: [a, b]",
    "date_type": "must be a date, such as 2026-12-31",
    "date_from_datetime_parsing": "must be a date, such as 2026-12-31",
    "date_from_datetime_inexact": "must be a date, such as 2026-12-31",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "missing": "is missing",
}


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


class _Loader(_FASTEST):  # type: ignore[misc]
    """Refuses a field that is given twice, of which YAML's readers take the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return the fields of a mapping."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if lines.setdefault(key.value, line) != line:
                raise yaml.MarkedYAMLError(
                    problem=f"'{key.value}' is also on line {lines[key.value]}",
                    problem_mark=key.start_mark,
                )
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return a whole number; Python cannot write a much longer one in a message."""
        if len(node.value) > _INTEGER_CHARACTERS:
            raise ValueError(f"a number of {len(node.value):,} characters")
        return int(super().construct_yaml_int(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; None if it is empty.

    Raises
    ------
    OSError
        If the file cannot be read, or is too large.
    NotYamlError
        If it is not text in UTF-8 or not YAML.
    """
    return parse_yaml(_text(path))


def parse_yaml(text: str) -> Any:
    """Return the content of a YAML text; raises NotYamlError."""
    try:
        _check_size(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a safe one)
    except NotYamlError:
        raise
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
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        # A number or a date that Python cannot have, or a text that does not fit its `!!` tag.
        raise NotYamlError(f"a value in it is impossible: {str(error).partition(';')[0]}") from None


def _text(path: Path) -> str:
    try:
        return read_limited(path, YAML_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise NotYamlError("it is not text in UTF-8") from None


def _check_size(text: str) -> None:
    """Raise NotYamlError if values are too many or nested too deep; aliases count in full.

    The parser of events needs no stack, the one of values does.
    """
    values = 0
    open_since: list[tuple[str | None, int]] = []
    sizes: dict[str | None, int | None] = {}
    for event in yaml.parse(text, Loader=_FASTEST):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_since.pop()
            size: int | None = values - before
        elif isinstance(event, yaml.CollectionStartEvent):
            anchor, size = event.anchor, None  # until its end
            open_since.append((anchor, values))
            values += 1
        elif isinstance(event, yaml.AliasEvent):
            anchor, size = None, sizes.get(event.anchor, 0)
            if size is None:
                raise NotYamlError(f"*{event.anchor} contains itself", _line(event))
            values += size
        elif isinstance(event, yaml.ScalarEvent):
            anchor, size = event.anchor, 1
            values += 1
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        if values > YAML_VALUES:
            raise NotYamlError(f"it has more than {YAML_VALUES:,} values", _line(event))
        if len(open_since) > YAML_LEVELS:
            raise NotYamlError(f"it is nested deeper than {YAML_LEVELS} levels", _line(event))


def _line(event: yaml.Event) -> int | None:
    return event.start_mark.line + 1 if event.start_mark else None


def plain_problem(problem: ErrorDetails) -> str:
    """Return what pydantic found wrong with a field, in words for the author of a YAML file."""
    message = problem["msg"].removeprefix("Value error, ")
    return _PLAIN.get(problem["type"], message.replace("Input should be", "must be"))


class FieldLines:
    """Find the line of each field of a YAML file.

    Parameters
    ----------
    path
        The file. An unreadable file has no lines.
    """

    def __init__(self, path: Path) -> None:
        try:
            text = _text(path)
            _check_size(text)
            self._top = yaml.compose(text, Loader=_FASTEST)
        except (OSError, NotYamlError, yaml.YAMLError, RecursionError):
            self._top = None

    def of(self, *field: str | int) -> int | None:
        """Return the line of a field, or of its parent if the field is missing; counted from 1."""
        node, line = self._top, None
        for part in field:
            if isinstance(node, yaml.MappingNode):
                pairs = [pair for pair in node.value if pair[0].value == str(part)]
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
                pairs = [(item, item) for item in node.value[part : part + 1]]
            else:
                break
            if not pairs:
                break
            key, node = pairs[0]
            line = key.start_mark.line + 1
        return line
