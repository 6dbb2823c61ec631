"""The catalogue of causes (`catalogue.yaml`): its schema and its reader.

It contains settings that move a switch or a step, steps from a network's segments, and origins of
steps that no setting explains. The comments in the file say what each field means.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from switchpoint.errors import InputError
from switchpoint.strict_yaml import NotYamlError, read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    return pattern


Pattern = Annotated[str, AfterValidator(_compiled)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: str
    verified: str | None = None


class _OfLibrary(_Entry):
    """An entry for some MPI libraries only."""

    library: Annotated[
        list[str], BeforeValidator(lambda names: [names] if isinstance(names, str) else names)
    ]
    governs: str
    path: Literal["shared_memory", "network", "any"] = "any"
    only_with: dict[str, Pattern] = {}
    built_with: Pattern = ""
    netmod: Literal["ucx", "ofi"] | None = None


class Setting(_OfLibrary):
    """A setting of an MPI library that moves a switch or a step."""

    variable: str
    environment: str
    ends_eager: bool
    header_bytes: dict[str, int] | None = Field(default=None, min_length=1)
    last_size_offset: int | None = None
    offset_is: str = ""
    default: int | None = None
    automatic: list[int | str] = []
    most_bytes: int | None = None
    only_down: bool = False
    multiple_of: int = Field(default=1, ge=1)

    @model_validator(mode="after")
    def _one_way_to_the_last_size(self) -> Setting:
        if (self.header_bytes is None) == (self.last_size_offset is None):
            raise ValueError("needs either 'header_bytes' or 'last_size_offset'")
        return self


class Segment(_OfLibrary):
    """Message headers for whole TCP segments."""

    message_header: int = Field(ge=0)
    most_segments: int = Field(ge=1)


class Origin(_Entry):
    """A possible origin of a step that no limit of a protocol explains. It has one rule."""

    origin: str
    path: Literal["shared_memory", "network"]
    means: str
    setting: str | None = None
    whole: Literal["tcp_segment", "tcp_bundle"] | None = None
    most: int = 0
    message_header: int = 0
    bandwidth_drop: float | None = None
    least_size_bytes: int = 0

    @model_validator(mode="after")
    def _one_whole_rule(self) -> Origin:
        given = self.model_fields_set - {"origin", "path", "means", "source", "verified"}
        if given not in _RULES:
            rules = "; or ".join(", ".join(sorted(rule)) for rule in _RULES)
            raise ValueError(f"needs the fields of one rule: {rules}")
        return self


#: Fields of each rule that recognises an origin.
_RULES = [
    {"setting"},
    {"whole", "most", "message_header"},
    {"bandwidth_drop", "least_size_bytes"},
]


class Catalogue(BaseModel):
    """All known causes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    settings: list[Setting]
    segments: list[Segment]
    origins: list[Origin]


@functools.cache
def catalogue() -> Catalogue:
    """Return the catalogue that comes with Switchpoint."""
    return read_catalogue(Path(__file__).with_name("catalogue.yaml"))


def read_catalogue(file: Path) -> Catalogue:
    """Read a catalogue.

    Raises
    ------
    InputError
        If something in it is wrong. The text names the file, the entry, the field and the fix.
    """
    try:
        content = read_yaml(file)
        return Catalogue.model_validate(content)
    except NotYamlError as error:
        raise InputError(file, f"is not YAML ({error.problem}); correct it", error.line) from None
    except ValidationError as error:
        raise InputError(file, _problem(error.errors()[0], content)) from None


def _problem(error: ErrorDetails, content: Any) -> str:
    """Return the place, the problem and the fix of an error in a catalogue."""
    parts = ", ".join(Catalogue.model_fields)
    if not error["loc"]:
        return f"is not a mapping; write the parts {parts} in it"
    part, *rest = error["loc"]
    where = [f"part '{part}'"]
    if rest:
        entry = content[part][rest[0]]
        names = entry if isinstance(entry, dict) else {}
        name = names.get("variable") or names.get("origin") or names.get("library") or "no name"
        where.append(f"entry {int(rest[0]) + 1} ({name})")
    if rest[1:]:
        where.append(f"field '{rest[1]}'")
    problem = _PLAIN.get(error["type"])
    if problem is None:
        message = error["msg"].removeprefix("Value error, ")
        problem = f"{message[0].lower()}{message[1:]}; correct it"
    return f"{', '.join(where)}: {problem}"


#: Kinds of problems, in words for the author of the file.
_PLAIN = {
    "missing": "is missing; add it",
    "extra_forbidden": "is not known; correct its name or remove it",
}
