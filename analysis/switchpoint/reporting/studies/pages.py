"""Writes the pages of the studies: a template for each, filled with verdicts and figures."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pandas as pd

from switchpoint import __name__ as _package
from switchpoint.reporting.pages.writing import write_report
from switchpoint.reporting.studies.conditions import conditions
from switchpoint.reporting.studies.markdown import safe
from switchpoint.reporting.studies.results import results_of
from switchpoint.reporting.studies.verdicts import open_claims, verdict_table
from switchpoint.studies.claims import CLAIMS, claims
from switchpoint.studies.points import Data, data_of
from switchpoint.tables.measurements import Measurements


def write_studies(
    measurements: Measurements, folder: str | os.PathLike[str] = "studies", *, force: bool = False
) -> list[Path]:
    """Write a page for each study into a folder.

    Parameters
    ----------
    measurements
        As for `claims`, whose verdicts the pages have.
    folder
        It is created if it does not exist. Only what an earlier call wrote is replaced.
    force
        Whether the folder may contain other files.

    Returns
    -------
    list of Path
        The pages.

    Raises
    ------
    InputError
        If somebody else's files are in the folder.
    """
    write_report(Path(folder), _files(measurements), force=force)
    return [Path(folder) / f"{study}.md" for study in _numbers()]


def _numbers() -> list[str]:
    return [*dict.fromkeys(claim.study for claim in CLAIMS)]


def _files(measurements: Measurements) -> Iterator[tuple[str, bytes]]:
    found = claims(measurements)
    data = data_of(measurements)
    for study in _numbers():
        part = _used(data, study)
        own = _measured(found[found["study"] == study], part, study)
        results = results_of(study, part)
        text = _templates().get_template(f"{study}.md").render(
            number=study,
            tables=results.tables,
            drawings={name: safe(place) for name, (place, _) in results.drawings.items()},
            verdicts=verdict_table(own),
            still_open=open_claims(own),
            conditions=conditions(part, measurements),
        )  # fmt: skip
        yield f"{study}.md", text.encode("utf-8", "backslashreplace")
        for name, (_, drawing) in results.drawings.items():
            yield name, drawing


#: The kernels whose runs each study needs; places without the first are not on its page.
_KERNELS = {
    "000": ["mergesort", "pingpong"],
    "001": ["pingpong", "multipair"],
    "002": ["ring", "pingpong"],
    "003": ["alltoall", "pingpong"],
    "004": ["broadcast", "echo", "fft", "jpeg", "psrs", "backpropagation", "voting", "linear"],
}


def _measured(claims: pd.DataFrame, data: Data, study: str) -> pd.DataFrame:
    """Return the claims of places where the study was measured; of all, if it was nowhere.

    The simulated place of study 002 has the study's own constants, and decides no claim.
    """
    main = data.passes[data.passes["kernel"] == _KERNELS[study][0]]
    if study == "001":
        main = main[main["mode"] == "ssend"]
    simulated = main["mpi"].astype(str).str.startswith("SMPI")
    tools = {(site, None, None) for site in main["site"][~simulated]}
    if study == "002":
        main = main[~simulated]
    places = {*zip(main["site"], main["mpi"], main["environ"], strict=True), *tools}
    keys = zip(claims["site"], claims["mpi"], claims["environ"], strict=True)
    return claims[[key in places for key in keys]] if places else claims


def _used(data: Data, study: str) -> Data:
    passes = data.passes[data.passes["kernel"].isin(_KERNELS[study])]
    runs = set(passes["run_id"])
    return Data(
        passes,
        data.facts[data.facts.index.isin(runs)],
        data.samples[data.samples["run_id"].isin(runs)],
    )


@functools.lru_cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader(_package, "reporting/templates/studies"),
        autoescape=False,  # noqa: S701 (Markdown; what records contain is escaped for it)
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
