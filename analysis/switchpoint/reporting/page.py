"""Writes the report: one HTML page that works offline and from a file.

`figures` draws the curves, `tables` describes the facts, and `templates/index.html` is the page.
"""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from switchpoint import __name__ as _package
from switchpoint.comparison.baselines import baseline_runs, pairings
from switchpoint.comparison.ladder import ladder
from switchpoint.errors import InputError
from switchpoint.explanation.causes import detect
from switchpoint.explanation.notes import note
from switchpoint.explanation.switches import explain
from switchpoint.reporting import tables
from switchpoint.reporting.figures.activity import draw_activity
from switchpoint.reporting.figures.curves import draw, draw_again, draw_pairing
from switchpoint.reporting.figures.ladder import draw_ladders
from switchpoint.reproduction.again import runs_again
from switchpoint.tables.curves import noise_warnings, summarise
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import percent, significant, size_text
from switchpoint.whole_files import write_whole


def report(
    measurements: Measurements,
    folder: str | os.PathLike[str] = "report",
    findings: pd.DataFrame | None = None,
) -> Path:
    """Write `index.html` into a folder, completely or not at all.

    Parameters
    ----------
    measurements
        The measurements to report.
    folder
        It is created if it does not exist. An older page in it is replaced.
    findings
        As from `detect`, which is called if they are not given.

    Returns
    -------
    Path
        The path of the page.
    """
    found = detect(measurements) if findings is None else findings
    page = render(measurements, found, explain(measurements, found))
    target = Path(folder) / "index.html"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, page.encode())
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); choose another folder"
        ) from None
    return target


def render(measurements: Measurements, findings: pd.DataFrame, switches: pd.DataFrame) -> str:
    """Render the page as text. Every name from a record is escaped."""
    findings = note(findings, switches)
    rungs = ladder(measurements, findings=findings)
    curves = summarise(measurements)
    found = pairings(measurements)
    pairs = [
        {
            "figure": draw_pairing(f"baseline-{index}", pairing),
            "ratios": tables.ratio_table(pairing),
        }
        for index, pairing in enumerate(found)
    ]
    activities = [
        draw_activity(f"activity-{index}", title, table, hosts)
        for index, (title, table, hosts) in enumerate(tables.activities(measurements))
    ]
    again = _runs_beside_their_first(measurements, curves)
    drawn_beside = baseline_runs(found) | {shown["pair"].second for shown in again}
    drawn = curves[~curves["run_id"].isin(drawn_beside)]
    return _template().render(
        written=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        plotly=Markup(get_plotlyjs()),  # noqa: S704, it is the library's own script
        figures=draw(drawn, findings),
        pairs=pairs,
        again=again,
        activities=activities,
        summary=tables.summary(measurements, findings),
        findings=tables.finding_table(findings),
        switches=tables.switch_table(switches),
        # The drawing escapes every name.
        ladders=Markup(draw_ladders(rungs)) if len(rungs) else "",  # noqa: S704
        sizes=tables.size_table(curves),
        tools=tables.tool_tables(measurements),
        runs=tables.run_rows(measurements),
        warnings=measurements.warnings,
        noisy=noise_warnings(curves),
    )


def _runs_beside_their_first(
    measurements: Measurements, curves: pd.DataFrame
) -> list[dict[str, Any]]:
    """Draw each run that repeats another one beside that one."""
    return [
        {
            "figure": draw_again(
                f"again-{index}",
                tables.again_title(measurements, pair),
                curves,
                {pair.first: f"{pair.first[:8]}, first", pair.second: f"{pair.second[:8]}, again"},
            ),
            "pair": pair,
        }
        for index, pair in enumerate(runs_again(measurements))
    ]


def _template() -> jinja2.Template:
    """Load the page's template with its filters."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(_package, "reporting/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": size_text,
        "number": significant,
        "percent": percent,
    }
    return environment.get_template("index.html")
