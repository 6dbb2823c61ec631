"""The verdicts of `switchpoint claims` on one study, as Markdown: a table, and what stays open."""

from __future__ import annotations

import re

import pandas as pd

from switchpoint.reporting.studies.markdown import place_name, safe, table
from switchpoint.studies.claims import OPEN, Figure
from switchpoint.tables.units import significant

_PLACE = ["site", "mpi", "environ"]


def verdict_table(claims: pd.DataFrame) -> str:
    """Write each claim with the study's figure, and each place's verdict with its deciding figure.

    Claims that compare tools have one verdict for all MPIs of a site.
    """
    places = claims[_PLACE].drop_duplicates().sort_values(_PLACE, na_position="last")
    rows = []
    for number, group in claims.groupby("number", sort=True):
        first = group.iloc[0]
        figures = [figure for found in group["evidence"] if (figure := _deciding(found))]
        what = f"{figures[0]['what']}, wanted {figures[0]['wanted']}" if figures else ""
        cells = [
            _cell(group.merge(place.to_frame().T, on=_PLACE), figures)
            for _, place in places.iterrows()
        ]
        rows.append(
            [f"{number}", safe(first["claim"]), safe(first["published"]), safe(what), *cells]
        )
    names = [safe(place_name(place)) for place in places.to_dict("records")]
    return table(["", "claim", "the study", "our figure", *names], rows)


def open_claims(claims: pd.DataFrame) -> str:
    """Write a line for each reason why claims are not testable, with what would decide them."""
    undecided = claims[claims["verdict"] == OPEN]
    lines = []
    for (reason, fix), group in undecided.groupby(["reason", "fix"], sort=False):
        numbers = ", ".join(map(str, sorted(set(group["number"]))))
        sites = ", ".join(safe(site) for site in dict.fromkeys(group["site"]) if site)
        lines.append(f"- Claim {numbers}{f' on {sites}' if sites else ''}: {safe(reason)}. "
                     f"It needs: {safe(fix)}.")  # fmt: skip
    return "\n".join(lines)


def _deciding(evidence: list[Figure]) -> Figure | None:
    """Return the figure that contradicts, or is not clear, or the last one."""
    order = [False, None, True]
    return min(reversed(evidence), key=lambda one: order.index(one["holds"]), default=None)


def _cell(rows: pd.DataFrame, figures: list[Figure]) -> str:
    if rows.empty:
        return ""
    figure = _deciding(rows["evidence"].iloc[0])
    words = f"**{rows['verdict'].iloc[0]}**"
    if figure is None:
        return words
    value, low, high = (significant(figure[name]) for name in ("value", "low", "high"))
    same = _without_numbers(figure["what"]) == _without_numbers(figures[0]["what"])
    other = "" if same else f"{safe(figure['what'])}: "
    return f"{words}: {other}{value} [{low}, {high}] {safe(figure['unit'])}".rstrip()


def _without_numbers(text: str) -> str:
    return re.sub(r"[\d.,]+", "", text)
