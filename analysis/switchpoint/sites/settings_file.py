"""Loads a site's settings and placements, and finds the line of each of their parts."""

from __future__ import annotations

import ast
import re
import socket
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from switchpoint.errors import InputError
from switchpoint.limits import YAML_BYTES
from switchpoint.regular_files import read_limited
from switchpoint.sites.doctor import Fact
from switchpoint.sites.marks import marked_places
from switchpoint.sites.placements import PlacementError, load_placements
from switchpoint.sites.site_common import collected_complaints
from switchpoint.strict_yaml import FieldLines


@dataclass
class Site:
    """A site's files, to find the line of a part.

    Attributes
    ----------
    settings : Path
        The site's ``settings.py``.
    content : dict
        Its ``site_configuration``; empty if it does not load.
    placements_load : bool
        Whether its placements load.
    """

    settings: Path
    content: Mapping[str, Any] = field(default_factory=dict)
    placements_load: bool = True

    def __post_init__(self) -> None:
        self.placements = self.settings.with_name("placements.yaml")
        try:
            text = read_limited(self.settings, YAML_BYTES).decode("utf-8", errors="replace")
        except OSError as error:
            raise InputError(self.settings, f"{error.strerror}; check the path") from None
        self._lines = text.splitlines()
        self._fields = FieldLines(self.placements)

    def line(self, *texts: object) -> str:
        """Return the first line of the settings that contains one of `texts`."""
        for text in filter(None, map(str, texts)):
            if number := self._first(re.escape(text)):
                return f"{self.settings}:{number}"
        return str(self.settings)

    def named(self, name: object) -> str:
        """Return the first line of the settings that contains a name in quotes."""
        return self.line(f'"{name}"', f"'{name}'")

    def entry(self, name: object, *keys: object) -> str:
        """Return the line of a partition's or environment's entry, or of a key in it."""
        start = self._first(rf"""["']name["']\s*:\s*["']{re.escape(str(name))}["']""")
        if start is None:
            return self.named(name)
        for key in keys:
            if number := self._first(rf"""["']{re.escape(str(key))}["']""", start):
                return f"{self.settings}:{number}"
        return f"{self.settings}:{start}"

    def _first(self, pattern: str, start: int = 1) -> int | None:
        for number, line in enumerate(self._lines[start - 1 :], start):
            if re.search(pattern, line.partition("  #")[0]):
                return number
        return None

    def placement(self, name: str, key: str = "") -> str:
        """Return the line of a placement or of one of its fields."""
        line = self._fields.of("placements", name, key)
        return f"{self.placements}:{line}" if line else self.named(name)


def problem(place: object, found: str, fix: str, topic: str = "site") -> Fact:
    """Return a problem at a file and line, with its fix."""
    return Fact(topic, "missing", found, fix, str(place))


def file_problems(site: Site) -> Iterator[Fact]:
    """Load the settings into `site`, and find the problems of the files themselves.

    Marked lines and files that do not load have the topic ``files``. Values of a wrong type, which
    prevent further checks, have the topic ``shape``.
    """
    for file in (site.settings, site.placements):
        for place in marked_places(file):
            yield problem(place, "still to be edited", f"{place.wanted}; delete the mark", "files")
    yield from _load(site)
    if site.content:
        yield from _replaced_keys(site)
        shape = list(_shape_problems(site))
        yield from shape
        if all(fact.topic != "shape" for fact in shape):
            yield from _host_names(site)


def _load(site: Site) -> Iterator[Fact]:
    """Load the settings as ReFrame does, and find problems in them or their placements."""
    complaints: list[PlacementError] = []
    try:
        from reframe.utility import import_module_from_file

        with collected_complaints() as complaints:
            module = import_module_from_file(str(site.settings.resolve()), load_parents=True)
        content = getattr(module, "site_configuration", None)
        if isinstance(content, dict):
            site.content = content
        else:
            fix = "compare with those of `switchpoint init site`"
            yield problem(site.settings, "defines no dict site_configuration", fix, "files")
    except (Exception, SystemExit) as error:  # a site's own Python may raise anything
        yield _does_not_load(site, error)
    if not site.content and not complaints and site.placements.exists():
        try:
            load_placements(site.placements)
        except PlacementError as error:
            complaints = [error]
    site.placements_load = not complaints
    for complaint in complaints:
        for line, message in complaint.each:
            same = complaint.file.resolve() == site.placements.resolve()
            file = site.placements if same else complaint.file  # with the user's name for it
            place = file if line is None else f"{file}:{line}"
            problem_text, _, fix = message.partition("; ")
            yield problem(place, problem_text, fix or "see the reference of placements", "files")


def _does_not_load(site: Site, error: BaseException) -> Fact:
    fix = "correct this line"
    if isinstance(error, ModuleNotFoundError):
        fix = "install it, or correct the import"
        if error.name == "reframe":
            return Fact("ReFrame", "missing", "not installed", "pip install 'switchpoint[checks]'")
        if error.name in ("site_common", "scontrol_scheduler"):
            fix = f"write `from switchpoint.sites import {error.name}`"
    return problem(_line_of(site, error), f"does not load: {_told(error)}", fix, "files")


def _told(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {' '.join(text.split())}"


def _line_of(site: Site, error: BaseException) -> str:
    """Return the line of the settings that raised an exception."""
    own = str(site.settings.resolve())
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == own else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == own:
            line = frame.lineno
    return f"{site.settings}:{line}" if line else str(site.settings)


def _replaced_keys(site: Site) -> Iterator[Fact]:
    """Find features and extras of a partition that ``**placed(...)`` after them replaces."""
    for node in ast.walk(ast.parse(site.settings.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Dict):
            continue
        brings_both = any(
            key is None and isinstance(value, ast.Call) and _called(value) == "placed"
            for key, value in zip(node.keys, node.values, strict=True)
        )
        for key in node.keys if brings_both else ():
            if isinstance(key, ast.Constant) and key.value in ("features", "extras"):
                yield problem(
                    f"{site.settings}:{key.lineno}",
                    f"'{key.value}' beside **placed(...): one of the two replaces the other",
                    f"pass them to it: **placed(..., {key.value}=...)",
                )


def _called(call: ast.Call) -> str | None:
    return getattr(call.func, "attr", getattr(call.func, "id", None))


def _shape_problems(site: Site) -> Iterator[Fact]:
    """Yield the problems that ReFrame's schema finds, such as a misspelt key."""
    import jsonschema  # comes with ReFrame
    from reframe.core.config import load_config

    whole = load_config()
    try:
        whole.update_config(site.content, str(site.settings))
        content = {key: whole[key] for key in whole}
    except Exception as unreadable:  # ReFrame reads names before it checks that they exist
        yield problem(
            site.settings, f"does not have the form of ReFrame's settings: {_told(unreadable)}",
            "compare with those of `switchpoint init site`", "shape",
        )  # fmt: skip
        return
    for error in jsonschema.Draft7Validator(whole.schema).iter_errors(content):
        names = re.findall(r"'(\w+)' was unexpected|'(\w+)', ", error.message)
        unexpected = next((name for pair in names for name in pair if name), "")
        where = "/".join(str(part) for part in _path_names(content, error.absolute_path))
        yield problem(
            site.named(unexpected) if unexpected else site.settings,
            f"{where}: {_shortened(error.message)}",
            "see ReFrame's configuration reference",
            "site" if error.validator in ("additionalProperties", "required") else "shape",
        )


def _path_names(content: Any, path: Iterable[Any]) -> Iterator[Any]:
    for part in path:
        content = content[part]
        yield content.get("name", part) if isinstance(content, dict) else part


def _shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _host_names(site: Site) -> Iterator[Fact]:
    """Check that the system's patterns match this machine's name."""
    patterns = [str(p) for system in dicts(site.content["systems"]) for p in system["hostnames"]]
    wrong = [(pattern, error) for pattern in patterns if (error := _pattern_error(pattern))]
    for pattern, error in wrong:
        yield problem(
            site.line('"hostnames"', "'hostnames'"),
            f"hostnames: '{pattern}' is not a regular expression: {error}",
            "correct it",
        )
    if not wrong and not any(map(_is_here, dicts(site.content["systems"]))):
        yield problem(
            site.line('"hostnames"', "'hostnames'"),
            f"this machine, {socket.gethostname()}, matches none of the hostnames: "
            f"{', '.join(patterns) or 'none'}",
            "add a pattern for it, or run this on a machine of the site",
        )


def system_here(site: Site) -> dict[str, Any]:
    """Return the system that ReFrame selects on this machine, or the only one of a site."""
    systems = dicts(site.content.get("systems"))
    here = [system for system in systems if _is_here(system)]
    if not here and len(systems) == 1:
        here = systems
    return here[0] if here else {}


def _is_here(system: Mapping[str, Any]) -> bool:
    name = socket.gethostname()
    patterns = map(str, system.get("hostnames", []))
    return any(re.match(p, name) for p in patterns if not _pattern_error(p))


def _pattern_error(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return ""


def dicts(content: Any) -> list[dict[str, Any]]:
    """Return the dictionaries of a list in settings of any form."""
    return [item for item in content or [] if isinstance(item, dict)]
