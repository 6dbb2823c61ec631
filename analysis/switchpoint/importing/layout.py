"""Reads names from a file's path: from ReFrame's own folders, and with patterns of the user.

A pattern such as `{site}/{environ}/{test}` has one part for each folder below the given folder.
See docs/reference/command.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from switchpoint.errors import InputError
from switchpoint.importing.labels import problem_of_label
from switchpoint.printable import path_text, printable
from switchpoint.tables.columns import NO_LABELS

#: ReFrame's folders for files and logs of tests.
_OUTPUT, _LOGS = "output", "perflogs"

#: The folder that ReFrame's `--timestamp` adds between `output` and the system.
_TIME_STAMP = re.compile(r"\d{2,4}-?\d\d-?\d\dT[\d:]+([+-]\d{4})?")
_RETRY = re.compile(r"_retry\d+$")
_LOG = re.compile(r"(?P<test>.+)\.log(\.h\d+)?(\.gz)?")

_FIELD = re.compile(r"\{(?P<name>[^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_]\w*")


def reframe_names(path: Path) -> dict[str, str]:
    """Read site, partition, environment and test from ReFrame's folders anywhere in a path.

    >>> reframe_names(Path("/old/output/alpha/batch/gnu/OsuLatency_0fbd9ad4/osu_latency.out"))
    {'site': 'alpha', 'partition': 'batch', 'environ': 'gnu', 'test': 'OsuLatency_0fbd9ad4'}
    >>> reframe_names(Path("/old/perflogs/alpha/batch/Stream.log.h0"))
    {'site': 'alpha', 'partition': 'batch', 'test': 'Stream'}

    Parameters
    ----------
    path
        An absolute path.
    """
    *folders, name = map(path_text, path.parts)
    for start in reversed(range(len(folders))):
        below = folders[start + 1 :]
        if below and _TIME_STAMP.fullmatch(below[0]):
            del below[0]
        if folders[start] == _OUTPUT and len(below) >= 4:
            site, partition, environ, test = below[:4]
            test = _RETRY.sub("", test)
            return {"site": site, "partition": partition, "environ": environ, "test": test}
        if folders[start] == _LOGS and len(below) == 2 and (log := _LOG.fullmatch(name)):
            return {"site": below[0], "partition": below[1], "test": log["test"]}
    return {}


@dataclass(frozen=True)
class PathPattern:
    """One `--path` pattern.

    Attributes
    ----------
    text : str
        As the user wrote it.
    parts : tuple of Pattern
        The form of each folder's name, with the fields as groups.
    names_file : bool
        Whether the last part is for the file's name.
    """

    text: str
    parts: tuple[re.Pattern[str], ...]
    names_file: bool

    @classmethod
    def parse(cls, text: str) -> PathPattern:
        """Read a pattern; raises InputError."""
        if text.startswith("/"):
            raise _error(text, "begins with '/'; begin with a folder below the one that you import")
        parts = text.removesuffix("/").split("/")
        fields: list[str] = []
        for part in parts:
            fields += _fields(text, part)
        named = [field for field in fields if field != "_"]
        if not named:
            raise _error(text, "contains no name; write a name in braces, such as {site}/{environ}")
        if twice := {field for field in named if named.count(field) > 1}:
            raise _error(text, f"has {{{min(twice)}}} twice; skip one with {{_}}")
        literal = _FIELD.sub("", parts[-1])
        names_file = "." in literal and not text.endswith("/")
        return cls(text, tuple(map(_compiled, parts)), names_file)

    def names(self, relative: PurePath) -> dict[str, str] | None:
        """Return the names in a path below the given folder, or None if it does not match.

        ReFrame's folders name themselves, unless the pattern contains `output` or `perflogs`.
        """
        parts = [path_text(part) for part in relative.parts]
        of_reframe = {_OUTPUT, _LOGS}.intersection(parts)
        if of_reframe - {*self.text.split("/")} and reframe_names(Path("/", relative)):
            return None
        folders, name = parts[:-1], parts[-1]
        if self.names_file and len(parts) != len(self.parts):
            return None
        candidates = [folders]
        if self.names_file:
            candidates = [[*folders, name.removesuffix(".gz")], [*folders, name]]
        for candidate in candidates:
            if len(candidate) < len(self.parts):
                continue
            pairs = zip(self.parts, candidate, strict=False)  # deeper folders do not matter
            matches = [match for part, text in pairs if (match := part.fullmatch(text))]
            if len(matches) == len(self.parts):
                return {name: text for match in matches for name, text in match.groupdict().items()}
        return None


def names_by_pattern(
    files: Iterable[tuple[Path, PurePath]], patterns: Sequence[PathPattern]
) -> dict[Path, dict[str, str]]:
    """Return the names of each file. The first pattern that matches is used.

    Parameters
    ----------
    files
        Each with its path below the given folder.
    patterns
        They are tried in this order.

    Raises
    ------
    InputError
        If a pattern matches no file, or reads an impossible value. Then nothing is imported, so
        that no run is stored without its names.
    """
    files = list(files)
    unused = dict.fromkeys(patterns)
    by_path: dict[Path, dict[str, str]] = {}
    for path, relative in files:
        for pattern in patterns:
            if (names := pattern.names(relative)) is not None:
                unused.pop(pattern, None)
                if path not in by_path:
                    by_path[path] = names
                    _check_names(pattern, relative, names)
    for pattern in unused:
        raise _error(pattern.text, _why_unused(pattern, [relative for _, relative in files]))
    return by_path


def _check_names(pattern: PathPattern, relative: PurePath, names: dict[str, str]) -> None:
    for name, text in names.items():
        if problem := problem_of_label(name, text):
            place = printable(path_text(relative))
            raise _error(pattern.text, f"reads {{{name}}} from {place}, but {problem}")


def _why_unused(pattern: PathPattern, files: list[PurePath]) -> str:
    if not files:
        return "matches nothing: there is no file"
    first = files[0]
    if pattern.names_file:
        has = (
            f"{len(first.parts)} parts including its name, but the pattern has {len(pattern.parts)}"
        )
    else:
        folders = len(first.parts) - 1
        has = f"{folders} folder{'s' * (folders != 1)}, but the pattern has {len(pattern.parts)}"
    return (
        f"matches none of {len(files)} file{'s' * (len(files) != 1)}, so nothing was read;"
        f" the first, {printable(path_text(first))}, has {has}"
    )


def _fields(text: str, part: str) -> list[str]:
    """Return the names of one part's fields; raises InputError."""
    if part in ("", ".", ".."):
        raise _error(text, f"has {part!r} as a folder; write {{_}} to skip a folder")
    if set(_FIELD.sub("", part)) & set("{}"):
        raise _error(text, f"has an unmatched brace in {part!r}; write {{site}}")
    if re.search(r"(\}|\*)(\{|\*)", part):
        raise _error(text, f"has two adjacent fields in {part!r}; put text between them")
    fields = _FIELD.findall(part)
    for field in fields:
        if not _NAME.fullmatch(field):
            raise _error(text, f"has {{{field}}}; a name may contain letters, digits and '_'")
        if field in NO_LABELS:
            raise _error(text, f"has {{{field}}}, which is a reserved name; choose another")
    return fields


def _compiled(part: str) -> re.Pattern[str]:
    """Return the expression of one part. A field and `*` match any text that is not empty."""
    wild = re.compile(r"\{(\w+)\}|\*")
    expression, place = "", 0
    for match in wild.finditer(part):
        expression += re.escape(part[place : match.start()])
        field = match[1]
        expression += "(?:.+?)" if field in (None, "_") else f"(?P<{field}>.+?)"
        place = match.end()
    return re.compile(expression + re.escape(part[place:]), re.DOTALL)


def _error(text: str, problem: str) -> InputError:
    return InputError("--path", f"'{text}' {problem}")
