"""The catalogue of causes (`catalogue.yaml`): its schema and its reader.

It contains settings that move a switch or a step, steps from a network's segments, and origins of
steps that no setting explains. The comments in the file say what each field means. A site can add
a file of its own.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from switchpoint.errors import InputError
from switchpoint.records.mpi_environment import may_steer
from switchpoint.strict_yaml import NotYamlError, read_yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


#: The environment variable that names a site's own catalogue.
VARIABLE = "SWITCHPOINT_CATALOGUE"

#: The parts of a communication stack that have settings of their own. `stack` recognises them.
Layer = Literal[
    "ob1", "ucx", "ofi", "psm2", "ch4", "ch4:ofi", "ch3", "nemesis", "mvapich2", "cray", "gni",
    "intel", "pscom", "glibc",
]  # fmt: skip

#: A list of names, of which one alone may be written without brackets.
Names = Annotated[
    list[str], BeforeValidator(lambda names: [names] if isinstance(names, str) else names)
]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    source: str
    verified: str | None = None


class _OfStack(_Entry):
    """An entry for some layers or some MPI libraries only."""

    governs: str
    layer: Layer | None = None
    transport: Names = []
    library: Names = []
    path: Literal["shared_memory", "network", "any"] = "any"

    @model_validator(mode="after")
    def _belongs_somewhere(self) -> _OfStack:
        if self.layer is None and not self.library:
            raise ValueError("needs 'layer' or 'library'")
        if self.transport and self.layer is None:
            raise ValueError("has 'transport' but no 'layer'")
        return self


class Setting(_OfStack):
    """A setting of an MPI library, or of a library below it, that moves a switch or a step."""

    variable: str
    environment: str
    ends_eager: bool
    header_bytes: dict[str, int] | None = Field(default=None, min_length=1)
    last_size_offset: int | None = None
    offset_is: str = ""
    later_bytes: int = Field(default=0, ge=0)
    default: int | None = None
    automatic: list[int | str] = []
    most_bytes: int | None = None

    @model_validator(mode="after")
    def _is_of_the_stack(self) -> Setting:
        """Refuse other variables: `prove` sets what a catalogue names."""
        if not may_steer(self.environment):
            raise ValueError("sets no variable of an MPI or of a layer below it")
        return self

    @model_validator(mode="after")
    def _one_way_to_the_last_size(self) -> Setting:
        if (self.header_bytes is None) == (self.last_size_offset is None):
            raise ValueError("needs either 'header_bytes' or 'last_size_offset'")
        return self


class Segment(_OfStack):
    """Message headers for whole TCP segments."""

    message_header: int = Field(ge=0)
    most_segments: int = Field(ge=1)


class Origin(_Entry):
    """A possible origin of a step that no limit of a protocol explains. It has one rule."""

    origin: str
    path: Literal["shared_memory", "network"] | None = None
    means: str
    setting: str | None = None
    cache_level: int = 0
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
    {"cache_level"},
    {"whole", "most", "message_header"},
    {"bandwidth_drop", "least_size_bytes"},
]


class Catalogue(BaseModel):
    """All known causes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    settings: list[Setting]
    segments: list[Segment]
    origins: list[Origin]


class OwnCatalogue(Catalogue):
    """The catalogue of a site. It may have fewer parts."""

    settings: list[Setting] = []
    segments: list[Segment] = []
    origins: list[Origin] = []


def catalogue() -> Catalogue:
    """Return the catalogue that comes with Switchpoint, joined with the site's own if it has one.

    A setting of the site's own that has the same variable, layer, transport and path as another
    one replaces it. What both know of headers and versions is joined.

    Raises
    ------
    InputError
        As `read_catalogue`; also if the environment variable names no file.
    """
    own = own_file()
    return _shipped() if own is None else _joined(own, own.stat().st_mtime_ns)


def own_file() -> Path | None:
    """Return the site's own catalogue, which `VARIABLE` names; None if it names none.

    Raises
    ------
    InputError
        If it names no file.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    if not Path(name).is_file():
        raise InputError(VARIABLE, f"'{name}' is no file; name your catalogue, or unset it")
    return Path(name)


@functools.cache
def _shipped() -> Catalogue:
    return read_catalogue(Path(__file__).with_name("catalogue.yaml"))


@functools.lru_cache(maxsize=1)
def _joined(file: Path, changed: int) -> Catalogue:
    """Join the shipped catalogue with a file. `changed` makes another file of the same name."""
    shipped, own = _shipped(), read_catalogue(file, OwnCatalogue)
    known = {_key(entry): entry for entry in shipped.settings}
    for entry in own.settings:
        known[_key(entry)] = with_earlier(entry, known.get(_key(entry)))
    return Catalogue(
        settings=[*known.values()],
        segments=[*shipped.segments, *own.segments],
        origins=[*shipped.origins, *own.origins],
    )


def _key(entry: Setting) -> tuple[object, ...]:
    return entry.variable, entry.layer, tuple(entry.transport), entry.path


def same_setting(entry: Setting, other: Setting) -> bool:
    """Return whether two entries describe one setting in one place."""
    return _key(entry) == _key(other)


def with_earlier(entry: Setting, earlier: Setting | None) -> Setting:
    """Return an entry with the headers and versions that an earlier one has in addition."""
    if earlier is None:
        return entry
    seen = [text for one in (earlier, entry) for text in (one.verified or "").split("; ") if text]
    joined: dict[str, Any] = {"verified": "; ".join(dict.fromkeys(seen)) or None}
    if earlier.header_bytes and entry.header_bytes:
        joined["header_bytes"] = earlier.header_bytes | entry.header_bytes
    return entry.model_copy(update=joined)


def read_catalogue(file: Path, kind: type[Catalogue] = Catalogue) -> Catalogue:
    """Read a catalogue.

    Raises
    ------
    InputError
        If something in it is wrong. The text names the file, the entry, the field and the fix.
    """
    try:
        content = read_yaml(file)
    except NotYamlError as error:
        raise InputError(file, f"is not YAML ({error.problem}); correct it", error.line) from None
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from None
    if content is None and kind is OwnCatalogue:
        content = {}  # a file that is still empty
    return validated(content, file, kind)


def validated(
    content: Mapping[str, Any], file: Path, kind: type[Catalogue] = Catalogue
) -> Catalogue:
    """Return the content of a file as a catalogue, or raise InputError as `read_catalogue`."""
    try:
        return kind.model_validate(content)
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
