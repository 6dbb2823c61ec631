"""Writes the verdict of the gate for CI systems: JUnit, GitLab, GitHub and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from switchpoint.gating.kinds import GateFinding
from switchpoint.printable import printable
from switchpoint.reporting.terminal.gate import details, last_line
from switchpoint.tables.columns import records

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.gating.verdict import Verdict

#: Columns that divide the curves of a session into JUnit's test cases.
_CASE = ["placement", "mpi", "kernel"]

#: Characters that Markdown would interpret in a table.
_MARKDOWN = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "\n": " "})

#: Characters that GitHub's commands need escaped.
_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


def junit_xml(verdict: Verdict) -> str:
    """Return JUnit XML: a failed test case for each finding that fails, the rest passed.

    The other test cases are the curves of one placement, MPI and kernel without such a finding.
    """
    failing = verdict.findings[verdict.findings["fails"].astype(bool)]
    passed = _passed(verdict, failing)
    suite = ElementTree.Element(
        "testsuite",
        name="switchpoint gate",
        tests=str(len(failing) + len(passed)),
        failures=str(len(failing)),
        errors="0",
        skipped="0",
        timestamp=verdict.start_utc[:19],
    )
    for row in records(failing, GateFinding):
        case = _case(suite, row["kind"], f"{row['finding_id']} {_subject(row)}".strip())
        failure = ElementTree.SubElement(
            case, "failure", message=printable(row["sentence"]), type=row["kind"]
        )
        failure.text = printable(" | ".join(details(row)))
    for name in passed:
        _case(suite, "curves", name)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, kind: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=f"switchpoint.gate.{kind}", name=printable(name), time="0"
    )


def _subject(row: GateFinding) -> str:
    shared = row["shared"]
    words = [row["metric"], *(shared[name] for name in ("placement", "mpi") if name in shared)]
    return " ".join(word for word in words if word)


def _passed(verdict: Verdict, failing: pd.DataFrame) -> list[str]:
    """Name the groups of curves without a finding that fails."""
    columns = [name for name in _CASE if name in verdict.curves]
    if not columns:
        return [] if len(failing) else ["all curves"]
    failed = {_group(curve, columns) for curves in failing["curves"] for curve in curves}
    every = (_group(curve, columns) for curve in records(verdict.curves))
    return sorted(name for name in set(every) if name not in failed)


def _group(curve: Mapping[str, Any], columns: list[str]) -> str:
    return " ".join(value for name in columns if isinstance(value := curve.get(name), str))


def gitlab_report(verdict: Verdict) -> str:
    """Return GitLab's code quality report: each finding that was not accepted."""
    return json.dumps(
        [
            {
                "description": printable("; ".join([row["sentence"], *details(row)])),
                "check_name": row["kind"],
                "fingerprint": row["finding_id"],
                "severity": "major" if row["fails"] else "info",
                "location": {"path": f"switchpoint/{row['kind']}", "lines": {"begin": 1}},
            }
            for row in _not_accepted(verdict)
        ],
        indent=2,
    )


def github_annotations(verdict: Verdict) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each finding that was not accepted."""
    for row in _not_accepted(verdict):
        level = "error" if row["fails"] else "notice"
        title = f"switchpoint gate {row['kind']}".replace("_", " ")
        text = "\n".join([row["sentence"], *details(row)])
        safe = "\n".join(map(printable, text.splitlines())).translate(_GITHUB)
        yield f"::{level} title={title}::{safe}"


def markdown(verdict: Verdict) -> str:
    """Return the verdict as Markdown, such as for a job summary or a pull request."""
    lines = [f"**{_escaped(last_line(verdict))}**", ""]
    if len(verdict.findings):
        lines += ["| | finding | what | more |", "|---|---|---|---|"]
    for row in records(verdict.findings, GateFinding):
        state = "fails" if row["fails"] else row["state"]
        more = "<br>".join(map(_escaped, details(row)))
        kind = row["kind"].replace("_", " ")
        lines.append(
            f"| {state} | `{row['finding_id']}` {kind} | {_escaped(row['sentence'])} | {more} |"
        )
    lines += [f"\n{_escaped(str(warning))}" for warning in verdict.warnings]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return printable(text).translate(_MARKDOWN)


def _not_accepted(verdict: Verdict) -> Iterator[GateFinding]:
    for row in records(verdict.findings, GateFinding):
        if row["state"] != "accepted":
            yield row
