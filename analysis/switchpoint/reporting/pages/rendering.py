"""Renders pages as HTML, with their values as CSV."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Iterator, Sequence

import jinja2

from switchpoint import __name__ as _package
from switchpoint.reporting.figures.figure import DARK
from switchpoint.reporting.pages.page import Page
from switchpoint.reporting.pages.spreadsheets import protected_table

#: Nothing may come from elsewhere, and nothing may be sent. `file:` is for browsers that do not
#: take files in the page's own folder for its own.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline';"
    " img-src data: blob:; form-action 'self' file:; base-uri 'none'"
)

#: Files that pages load, beside Plotly.
_ASSETS = ("report.css", "report.js", "list-2.3.1.min.js", "list-2.3.1.LICENSE")


def files_of(page: Page, menu: Sequence[tuple[str, str]]) -> list[tuple[str, bytes]]:
    """Return path and content of the files of a page: its values, then itself.

    `menu` has the path and the title of each page to which every page has a link.
    """
    files = [*_values(page), (page.path, render(page, menu))]
    return [(name, text.encode("utf-8", "backslashreplace")) for name, text in files]


def assets() -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file that several pages load."""
    from plotly.offline import get_plotlyjs  # importing it takes long

    folder = importlib.resources.files(_package) / "reporting/assets"
    for name in _ASSETS:
        yield f"assets/{name}", (folder / name).read_bytes()
    yield "assets/plotly.min.js", get_plotlyjs().encode()


def render(page: Page, menu: Sequence[tuple[str, str]]) -> str:
    """Render a page as text. Every name from a record is escaped."""
    top = "../" * page.path.count("/")
    return _template().render(
        page=page, menu=menu, top=top, policy=POLICY, dark=DARK, csv_path=_csv_path
    )


def _values(page: Page) -> Iterator[tuple[str, str]]:
    """Yield path and content of the CSV of each plot and table."""
    plots = {plot.name: plot.values for section in page.shown for plot in section.plots}
    for name, values in plots.items():
        text = protected_table(values).to_csv(index=False, float_format="%.6g", lineterminator="\n")
        yield _csv_path(page, name), text
    for section in page.shown:
        for table in section.tables:
            yield _csv_path(page, table.name), table.csv


def _csv_path(page: Page, name: str) -> str:
    return f"data/{page.slug}-{name}.csv"


@functools.lru_cache
def _template() -> jinja2.Template:
    """Load the template of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(_package, "reporting/templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template("page.html")
