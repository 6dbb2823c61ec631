"""Writes what of the documentation's site follows from the code, when MkDocs builds it.

Each is built from what the code itself says: help texts, docstrings, the kernels' descriptions, the
checks' classes, and the catalogue of causes.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import switchpoint
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from switchpoint import limits
from switchpoint.cli.command import app
from switchpoint.comparison.compare import RANGE_COLUMNS, SIZE_COLUMNS
from switchpoint.comparison.ladder import RUNG_COLUMNS
from switchpoint.comparison.reach import LIMIT_COLUMNS
from switchpoint.data_warnings import KINDS as WARNING_KINDS
from switchpoint.explanation.catalogue import catalogue
from switchpoint.explanation.places import EXPLANATION_COLUMNS
from switchpoint.gating.kinds import KINDS as GATE_KINDS
from switchpoint.gating.kinds import GateFinding
from switchpoint.models.kernels import KERNELS, Options
from switchpoint.models.site_model import (
    ComputeRate,
    Curve,
    LogGP,
    Measured,
    ModelError,
    NotFitted,
    Segment,
    SendCall,
    Sender,
    SiteModel,
)
from switchpoint.records.footer import Footer
from switchpoint.records.header import Conditions, Header
from switchpoint.sites.placements import Placement
from switchpoint.tables import columns
from switchpoint.tables.findings import COLUMNS, FINDING_COLUMNS, KINDS
from typing_extensions import is_typeddict

from testbed.cli import command_line
from testbed.shape import Shape, Uplink

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages. MkDocs calls this."""
    pages = {
        "options": _options,
        "functions": _functions,
        "columns": _columns,
        "kernels": _kernels,
        "catalogue": _catalogue,
    }
    for name, write in pages.items():
        text = "\n".join(write()) + "\n"
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in the tables of a page, each in place of a link to its source. MkDocs calls this."""
    tables = {
        "fields of a finding": _fields,
        "kinds of findings": _kinds,
        "kinds of the gate": _gate_kinds,
        "kinds of warnings": _warning_kinds,
        "fields of the gate": lambda: _fields_of(_commented(GateFinding)),
        "columns of runs": lambda: _fields_of(_commented(columns.Run)),
        "predicted kernels": _predicted_kernels,
        "options of predicted kernels": _predicted_options,
        "fields of a placement": _placement,
        "fields of a site model": _site_model,
        "fields of a shape": _shape,
        "limits": _limits,
        "header of a record": lambda: _record_part(Header),
        "conditions of a rank": lambda: _record_part(Conditions),
        "stack of a record": lambda: _record_part(_part_in(_part_in(Header, "mpi"), "stack")),
        "footer of a record": lambda: _record_part(Footer),
        "searches of a record": lambda: _record_part(_part_in(Footer, "switches")),
    }

    def table(link: re.Match[str]) -> str:
        name, source = link[1], link[2].lstrip("./")
        if source.endswith(".md"):  # what a benchmark printed
            return (ROOT / source).read_text(encoding="utf-8")
        return "\n".join(tables[name]())

    return re.sub(r"^\[Table: (.*?)\]\((.*?)\)$", table, markdown, flags=re.MULTILINE)


def _table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Write a table; a bar in a text would end its cell."""
    heads = [*headings]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        cells = (" ".join(str(cell or "").split()).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""


def _options() -> Iterator[str]:
    """Describe every command with its arguments and options."""
    yield from ("# All options", "", "From the help texts of the command.", "")
    yield from _command(typer.main.get_command(app), "switchpoint")
    [verbs] = [one for one in command_line()._actions if isinstance(one.choices, dict)]
    for name, verb in verbs.choices.items():
        yield from (f"## testbed {name}", "", verb.description or "", "")
        yield from _table(("argument or option", "meaning"), _arguments(verb))


def _command(command: Any, name: str) -> Iterator[str]:
    """Describe a command, or those of a group. Typer may have a Click of its own."""
    if below := getattr(command, "commands", None):
        for word, one in below.items():
            yield from _command(one, f"{name} {word}")
        return
    yield from (f"## {name}", "", command.help or "", "")
    rows = []
    for parameter in command.params:
        meaning = getattr(parameter, "help", "") or ""
        metavar = parameter.metavar or ""
        if parameter.param_type_name == "option":
            words = ", ".join(f"`{word}`" for word in parameter.opts)
            rows.append((f"{words} {metavar}".strip(), meaning))
        else:
            rows.append((f"`{metavar or parameter.name}`", meaning))
    yield from _table(("argument or option", "meaning"), rows)


def _arguments(verb: Any) -> Iterator[tuple[str, str]]:
    """Describe the arguments of a command of argparse."""
    for one in verb._actions:
        words = " ".join([", ".join(one.option_strings), one.metavar or ""]).strip() or one.dest
        if one.dest != "help":
            yield f"`{words}`", one.help or ""


def _functions() -> Iterator[str]:
    """Describe each function and class of the package with its docstring."""
    yield from ("# The Python functions", "", "`import switchpoint`; from the docstrings.", "")
    for name in switchpoint.__all__:
        thing: Any = getattr(switchpoint, name)
        signature = "" if inspect.isclass(thing) else str(inspect.signature(thing))
        signature = re.sub(r"'([^']*)'", r"\1", signature)
        yield from (f"## {name}", "", "```text", f"{name}{signature}", "")
        yield from (inspect.getdoc(thing) or "", "```", "")


def _columns() -> Iterator[str]:
    """List the columns of each table."""
    yield from ("# The columns of every table", "", "In their order.", "")
    tables = {
        "identity of a curve": columns.IDENTITY,
        "samples, after the identity": columns.MEASURES,
        "curves, after the identity": columns.CURVE_COLUMNS,
        "runs": columns.RUN_COLUMNS,
        "findings, after the identity": FINDING_COLUMNS,
        "switches (`explain`), after the identity": EXPLANATION_COLUMNS,
        "rungs (`ladder`), after the identity": RUNG_COLUMNS,
        "what places reach (`reach`)": LIMIT_COLUMNS,
        "ranges (`compare`)": RANGE_COLUMNS,
        "sizes (`compare`)": SIZE_COLUMNS,
        "single values": columns.VALUE_COLUMNS,
    }
    rows = ((name, ", ".join(f"`{one}`" for one in those)) for name, those in tables.items())
    yield from _table(("table", "columns"), rows)


def _fields() -> Iterator[str]:
    """Describe the fields of a finding in JSON."""
    rows = [(f"`{one.name}`", one.json_type, one.unit, one.meaning) for one in COLUMNS]
    rows.append(("`curve`", "object", "", "what identifies the curve: its columns and values"))
    rows.append(("`run_id`", "string", "", "the run that the curve is of"))
    yield from _table(("field", "type", "unit", "meaning"), rows)


def _kinds() -> Iterator[str]:
    """Describe the kinds of findings."""
    rows = ((f"`{one.name}`", one.asserts, one.evidence) for one in KINDS.values())
    yield from _table(("kind", "asserts", "evidence"), rows)


def _gate_kinds() -> Iterator[str]:
    """Describe the kinds of the gate's findings."""
    yield from _table(("kind", "asserts"), ((f"`{k}`", text) for k, text in GATE_KINDS.items()))


def _warning_kinds() -> Iterator[str]:
    """Describe the kinds of warnings."""
    yield from _table(("kind", "says"), ((f"`{k}`", text) for k, text in WARNING_KINDS.items()))


def _fields_of(fields: Iterable[tuple[list[str], str]]) -> Iterator[str]:
    """Describe fields that have their meaning beside them."""
    yield from _table(("field", "meaning"), ((_joined(names), text) for names, text in fields))


def _predicted_kernels() -> Iterator[str]:
    """List the kernels that can be predicted, with what is predicted if nobody says."""
    rows = (
        (f"`{name}`", _joined(one.modes), one.ranks, ", ".join(f"{b:,}" for b in one.sizes_bytes))
        for name, one in KERNELS.items()
    )
    yield from _table(("kernel", "modes", "ranks", "sizes in bytes"), rows)


def _predicted_options() -> Iterator[str]:
    """Describe the options of these kernels with their defaults."""
    rows = (
        (_joined(names), meaning, ", ".join(_written(getattr(Options, name)) for name in names))
        for names, meaning in _attributes(Options)
    )
    yield from _table(("option", "meaning", "default"), rows)


def _placement() -> Iterator[str]:
    """Describe the fields of a placement with the comments above them."""
    rows = []
    for [name], meaning in _commented(Placement):
        one = Placement.model_fields[name]
        default = "required" if one.is_required() else _written(one.default)
        rows.append((f"`{name}`", meaning, default))
    yield from _table(("field", "meaning", "default"), rows)


def _site_model() -> Iterator[str]:
    """Describe the fields of a site model file with the comments above them."""
    parts = {
        "": [SiteModel],
        "curves": [Curve, Measured],
        "segments": [Segment],
        "not_fitted": [NotFitted],
        "compute_rates": [ComputeRate, Measured],
        "senders": [Sender],
        "calls": [SendCall],
        "loggp": [LogGP],
        "errors": [ModelError],
    }
    rows = (
        (f"`{part}`" if part else "", _joined(names), meaning)
        for part, owners in parts.items()
        for owner in owners
        for names, meaning in _commented(owner)
    )
    yield from _table(("each of", "fields", "meaning"), rows)


def _shape() -> Iterator[str]:
    """Describe the fields of a testbed's shape with their defaults."""
    rows = (
        (f"`{before}{name}`", meaning, _written(getattr(owner, name)))
        for owner, before in ((Shape, ""), (Uplink, "uplink."))
        for names, meaning in _attributes(owner)
        for name in names
        if name != "uplink"
    )
    yield from _table(("field", "meaning", "default"), rows)


def _limits() -> Iterator[str]:
    """List the limits with the comments above them."""
    rows = (
        (meaning, ", ".join(_amount(name, getattr(limits, name)) for name in names))
        for names, meaning in _commented(limits)
    )
    yield from _table(("what", "limit"), rows)


def _amount(name: str, limit: float) -> str:
    """Write a limit with its unit."""
    if name.endswith("BYTES"):
        return f"{limit / 2**20:,g} MiB"
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g} us"


#: Objects of a record that have tables of their own, or are described on the page.
_APART = {"before", "after", "stack", "points", "switches"}


def _record_part(part: Any) -> Iterator[str]:
    """Describe the fields of an object in a record's header, and of the objects in it."""
    yield from _table(("field", "meaning"), _record_fields(part, ""))


def _record_fields(part: Any, path: str) -> Iterator[tuple[str, str]]:
    for names, meaning in _commented(part):
        yield _joined(path + name for name in names), meaning
        for name in names:
            inside = _part_in(part, name)
            if inside and name not in _APART:
                yield from _record_fields(inside, f"{path}{name}.")


def _part_in(part: Any, name: str) -> Any:
    """Return the class of the objects in a field, if it contains objects."""
    kinds = [get_type_hints(part)[name]]
    while kinds:
        kind = kinds.pop()
        if is_typeddict(kind):
            return kind
        kinds += get_args(kind)
    return None


def _commented(thing: type | ModuleType) -> Iterator[tuple[list[str], str]]:
    """Give the names in a class or module, together those that follow one comment, and it."""
    lines = inspect.getsource(thing).splitlines()
    tree = ast.parse("\n".join(lines))
    groups: list[tuple[list[str], str]] = []
    for line in tree.body if inspect.ismodule(thing) else getattr(tree.body[0], "body", []):
        if not isinstance(line, ast.Assign | ast.AnnAssign):
            continue
        name = ast.unparse(line.target if isinstance(line, ast.AnnAssign) else line.targets[0])
        if name.startswith(("_", "model_config")):
            continue
        if comment := _comment_above(lines, line.lineno):
            groups.append(([], comment))
        groups[-1][0].append(name)
    yield from groups


def _attributes(thing: type) -> Iterator[tuple[list[str], str]]:
    """Give names and meaning of the attributes in a docstring."""
    _, _, text = (inspect.getdoc(thing) or "").partition("Attributes\n----------\n")
    attribute = r"^(\w+(?:, \w+)*) : .*\n((?:    .*\n?)+)"
    for names, meaning in re.findall(attribute, text, re.MULTILINE):
        yield names.split(", "), meaning.replace("``", "`")


def _joined(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _written(default: object) -> str:
    """Write a default as people do."""
    if isinstance(default, tuple) and default:
        return f"`[{', '.join(default)}]`"
    return "none" if default in (None, (), {}) else f"`{str(default).lower()}`"


def _kernels() -> Iterator[str]:
    """List the kernels, then the checks that run them."""
    yield from ("# Kernels and checks", "", "From the sources of both.", "", "## Kernels", "")
    rows = []
    for path in sorted((ROOT / "src").rglob("*.c")):
        text = path.read_text(encoding="utf-8")
        if match := re.search(r'\.name = "(\w+)",\s*\.summary =\s*"(.*?)",\n', text, re.DOTALL):
            rows.append((f"`{match[1]}`", _whole(match[2]), f"`{path.relative_to(ROOT)}`"))
    yield from _table(("kernel", "measures", "source"), rows)
    yield from ("## Modes of the kernels", "", "`--mode` chooses them.", "")
    yield from _table(("mode", "what it does", "from", "source"), _modes())
    yield from ("## Checks", "")
    rows = []
    for path in sorted((ROOT / "checks").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and (tags := _tags(node)):
                summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
                rows.append(
                    (f"`{node.name}`", summary, ", ".join(tags), f"`{path.relative_to(ROOT)}`")
                )
    yield from _table(("check", "measures", "tags", "source"), rows)
    yield from ("## Variables of the checks", "", "Set one with `-S name=value`.", "")
    yield from _table(("variable", "of", "meaning", "default"), _variables())


def _modes() -> Iterator[tuple[str, str, str, str]]:
    """Describe each mode of each kernel in the words of its source."""
    text = r'"((?:[^"\\]|\\.|"\s*\n\s*")*)"'
    mode = rf'\{{\.name = "(\w+)",\s*\.summary =\s*{text},(?:\s*\.source =\s*{text},)?'
    for path in sorted((ROOT / "src").rglob("*.c")):
        source = path.read_text(encoding="utf-8")
        for name, summary, origin in re.findall(mode, source):
            place = f"`{path.relative_to(ROOT)}`"
            yield f"`{name}`", _whole(summary), _whole(origin), place


def _whole(text: str) -> str:
    """Join a string of C, and lines in it."""
    return re.sub(r'"\s*\n\s*"|\\n\s*', lambda gap: " " if gap[0][0] == "\\" else "", text)


def _variables() -> Iterator[tuple[str, str, str, str]]:
    """Describe each variable of a check with the comment above it."""
    for path in sorted((ROOT / "checks").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.parse(text).body:
            for line in node.body if isinstance(node, ast.ClassDef) else []:
                if not (isinstance(line, ast.Assign) and isinstance(line.value, ast.Call)):
                    continue
                if ast.unparse(line.value.func) != "variable":
                    continue
                comment = _comment_above(lines, line.lineno)
                defaults = [ast.unparse(w.value) for w in line.value.keywords if w.arg == "value"]
                default = f"`{defaults[0]}`" if defaults else "set by each check"
                meaning = comment.partition(":type:")[0]
                yield f"`{ast.unparse(line.targets[0])}`", f"`{node.name}`", meaning, default


def _comment_above(lines: list[str], number: int) -> str:
    """Return the comment above a line, which is counted from 1."""
    first = number - 1
    while lines[first - 1].lstrip().startswith("#:"):
        first -= 1
    comment = " ".join(part.strip()[2:] for part in lines[first : number - 1])
    return comment.replace("``", "`")


def _tags(node: ast.ClassDef) -> list[str]:
    """Return the tags that a check's class sets."""
    for line in node.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "tags":
            return sorted(ast.literal_eval(line.value))
    return []


def _catalogue() -> Iterator[str]:
    """List the settings that are known to move a switch."""
    yield from ("# The catalogue of causes", "", "Settings that move a switch or a step.", "")
    rows = (
        (
            f"`{one.variable}`", one.layer, ", ".join([*one.transport, *one.library]), one.path,
            one.governs, one.source, one.verified or "not seen here",
        )
        for one in catalogue().settings
    )  # fmt: skip
    headings = ("setting", "layer", "only with", "path", "changes", "source", "verified with")
    yield from _table(headings, rows)
