"""What all sites share: ReFrame's general options, and how placements become extras.

A site's ``settings.py`` stays a plain ReFrame configuration; ``switchpoint init site`` writes one.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from switchpoint.sites.launching import interface_of
from switchpoint.sites.marks import marked_places
from switchpoint.sites.placements import PlacementError, Placements, load_placements

#: A poll that starts programs disturbs ranks that are being timed, so our scheduler asks Slurm
#: rarely; ReFrame's own loop may then turn fast without cost.
GENERAL = {
    "check_search_recursive": True,
    "poll_rate_max": 20,
    "poll_rate_min": 5,
    "report_file": "output/reports/run-report-{sessionid}.json",
}

#: Where the wheel `impi-rt` puts the Intel MPI Benchmarks, within a Python environment.
_IMB = "bin/IMB-MPI1"

#: Where `placed` puts its complaints while a site is examined; else it raises them.
_COMPLAINTS: ContextVar[list[PlacementError] | None] = ContextVar("complaints", default=None)


def placed(
    placements_file: Path,
    *,
    features: Sequence[str] = (),
    extras: Mapping[str, Any] | None = None,
    **more_extras: Any,
) -> dict[str, Any]:
    """Features and extras of a partition that offers the placements of a file.

    Each placement is a feature, so that a check selects partitions with ``+one_node``. Written as
    ``**placed(...)`` it brings both keys, so a partition's own features and extras are given here::

        **placed(HERE / "placements.yaml", features=["gpu"], extras={"vendor": "x"})

    Parameters
    ----------
    placements_file
        The site's ``placements.yaml``.
    features
        The partition's own features.
    extras
        The partition's own extras.
    **more_extras
        More extras by their names, such as ``references``.

    Raises
    ------
    reframe.core.exceptions.ConfigError
        In one line: a file that cannot be used, or a place in it or in the ``settings.py`` beside
        it that is still to be edited.
    """
    complaints = _COMPLAINTS.get()
    try:
        site = load_placements(placements_file)
        if complaints is None:
            _refuse_unedited(placements_file)
    except PlacementError as error:
        if complaints is None:
            from reframe.core.exceptions import ConfigError

            raise ConfigError(str(error)) from None  # ReFrame prints it as one line
        complaints.append(error)
        site = Placements(placements={})
    return {
        "features": [*features, *site.placements],
        "extras": {
            **(extras or {}),
            **more_extras,
            "placements": {name: p.model_dump() for name, p in site.placements.items()},
            "switch_from_node_name": site.switch_from_node_name,
        },
    }


@contextmanager
def collected_complaints() -> Iterator[list[PlacementError]]:
    """Let settings load whatever their placements are like; give what `placed` had to say."""
    complaints: list[PlacementError] = []
    token = _COMPLAINTS.set(complaints)
    try:
        yield complaints
    finally:
        _COMPLAINTS.reset(token)


def _refuse_unedited(placements_file: Path) -> None:
    files = (placements_file.with_name("settings.py"), placements_file)
    places = [place for file in files for place in marked_places(file)]
    if places:
        raise PlacementError(
            places[0].file,
            f"still to be edited: {places[0].wanted}; every such place is listed by "
            f"`switchpoint doctor --site {placements_file.parent}`",
            places[0].line,
        )


def mpich_program(name: str) -> str:
    """A program of Debian's or Ubuntu's MPICH, or of PyPI's where that takes its place.

    One that speaks PMIx (MPICH 4.2.0 of Ubuntu 24.04) is started by Slurm 23.11 on one node only,
    and by its own mpiexec not at all; ``make install`` then adds PyPI's to this Python.

    Parameters
    ----------
    name
        Such as ``mpicc`` or ``mpiexec``.
    """
    from_pypi = Path(sys.prefix, "bin", name)
    if from_pypi.exists() and interface_of("mpicc.mpich") in {"pmix", None}:
        return str(from_pypi)
    return f"{name}.mpich"


def netpipe(program: str) -> dict[str, str]:
    """Extras that name NetPIPE, on systems that have it."""
    return {"netpipe": program} if shutil.which(program) else {}


def intel_mpi(variables: Mapping[str, str] | None = None, **extras: Any) -> list[dict[str, Any]]:
    """Programming environment ``intelmpi``, if the extra `intelmpi` is installed; else none.

    It is Intel MPI from PyPI, beside this Python, with its own IMB-MPI1. Spack leaves it out: the
    recipe needs oneAPI's folders.

    Parameters
    ----------
    variables
        More environment variables, such as ``I_MPI_PMI_LIBRARY``.
    **extras
        More extras, such as ``launcher_options``.
    """
    prefix = Path(sys.prefix)
    if not (prefix / _IMB).exists():
        return []
    environment = {
        "name": "intelmpi",
        "cc": str(prefix / "bin/mpigcc"),
        "features": ["mpi"],
        "env_vars": [
            ["I_MPI_ROOT", str(prefix)],
            ["FI_PROVIDER_PATH", str(prefix / "lib")],
            ["LD_LIBRARY_PATH", f"{prefix}/lib:$LD_LIBRARY_PATH"],
            *map(list, (variables or {}).items()),
        ],
        "extras": {"mpi": "intelmpi", "spack_mpi": None, "imb": str(prefix / _IMB), **extras},
    }
    return [environment]


def intel_imb_with(mpi_library: str) -> dict[str, str]:
    """Extras of an MPICH that can run Intel MPI's IMB-MPI1, where the extra is installed.

    `mpi_library` is MPICH's own libmpi: the two have one binary interface.
    """
    program = Path(sys.prefix, _IMB)
    if not (program.exists() and Path(mpi_library).exists()):
        return {}
    return {"imb": str(program), "imb_mpi_library": mpi_library}
