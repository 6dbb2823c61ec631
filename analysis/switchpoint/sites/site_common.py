"""What all sites share: ReFrame's general options and logs, and how placements become extras.

A site's ``settings.py`` is an ordinary ReFrame configuration; ``switchpoint init site`` writes one.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from switchpoint.sites.launching import interface_of
from switchpoint.sites.marks import marked_places
from switchpoint.sites.placements import PlacementError, Placements, load_placements

#: A poll that starts programs disturbs ranks that are being timed. Our scheduler therefore asks
#: Slurm rarely, so ReFrame's own loop can be fast without cost.
GENERAL = {
    "check_search_recursive": True,
    "poll_rate_max": 20,
    "poll_rate_min": 5,
    "report_file": "output/reports/run-report-{sessionid}.json",
}

#: Path of the Intel MPI Benchmarks of the wheel `impi-rt`, within a Python environment.
_IMB = "bin/IMB-MPI1"

#: Errors of `placed` while a site is examined; otherwise it raises them.
_COMPLAINTS: ContextVar[list[PlacementError] | None] = ContextVar("complaints", default=None)


def placed(
    placements_file: Path,
    *,
    features: Sequence[str] = (),
    extras: Mapping[str, Any] | None = None,
    **more_extras: Any,
) -> dict[str, Any]:
    """Return features and extras of a partition that offers the placements of a file.

    Each placement is a feature, so that a check selects partitions with ``+one_node``. The call
    ``**placed(...)`` sets both keys, so pass a partition's own features and extras to it::

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
        With one line: the file cannot be used, or it or the ``settings.py`` beside it contains a
        mark.
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


def logging() -> dict[str, Any]:
    """Return ReFrame's own configuration of its logs, with ``debug`` messages only under ``-v``.

    For each message ReFrame reads all variables of its check: two fifths of the time of its own.
    """
    from reframe.core.settings import site_configuration

    verbose = os.environ.get("RFM_VERBOSE", "0") != "0" or any(
        re.fullmatch(r"-[A-Za-z]*v[A-Za-z]*|--verbose", word) for word in sys.argv[1:]
    )
    [own] = site_configuration["logging"]
    return own if verbose else {**own, "level": "info"}


@contextmanager
def collected_complaints() -> Iterator[list[PlacementError]]:
    """Let settings load with wrong placements, and collect the errors of `placed`."""
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
            f"still to be edited: {places[0].wanted}; all such lines are listed by "
            f"`switchpoint doctor --site {placements_file.parent}`",
            places[0].line,
        )


def mpich_program(name: str) -> str:
    """Return a program of Debian's or Ubuntu's MPICH, or of PyPI's if that replaces it.

    Slurm 23.11 starts an MPICH with PMIx (4.2.0 of Ubuntu 24.04) on one node only, and its own
    mpiexec does not start it. ``make install`` then adds PyPI's MPICH to this Python.

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
    """Return extras that name NetPIPE, if the system has it."""
    return {"netpipe": program} if shutil.which(program) else {}


def intel_mpi(variables: Mapping[str, str] | None = None, **extras: Any) -> list[dict[str, Any]]:
    """Return the programming environment ``intelmpi`` if the extra `intelmpi` is installed.

    It is Intel MPI from PyPI, beside this Python, with its own IMB-MPI1. Spack cannot build with
    it, because the recipe needs oneAPI's folders.

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


def more_mpis(started: Callable[[str], dict[str, Any]] = lambda cc: {}) -> list[dict[str, Any]]:
    """Return a programming environment for each MPI in the variable ``SWITCHPOINT_MPIS``.

    The variable lists folders with an installed MPI, separated by colons. The environment is
    called like the folder, with ``_`` in place of periods. Spack does not build with these MPIs.

    Parameters
    ----------
    started
        Returns extras that say how ranks are started, for the path of a compiler wrapper.

    Raises
    ------
    reframe.core.exceptions.ConfigError
        With one line: a folder holds neither MPICH nor Open MPI, or its name is in use.
    """
    environments: dict[str, dict[str, Any]] = {}
    for word in filter(None, os.environ.get("SWITCHPOINT_MPIS", "").split(":")):
        programs = Path(word).resolve() / "bin"
        families = [
            family
            for family, program in (("mpich", "mpichversion"), ("openmpi", "ompi_info"))
            if (programs / program).exists() and (programs / "mpicc").exists()
        ]
        name = programs.parent.name.replace(".", "_")  # ReFrame allows no period in a name
        wrong = (
            "has neither bin/mpichversion nor bin/ompi_info beside bin/mpicc"
            if not families
            else "its last part must begin with a letter, and have letters, digits and -_. only"
            if not re.fullmatch(r"[A-Za-z_][\w-]*", name, re.ASCII)
            else f"another environment is called {name}"
            if name in environments or name in {"openmpi", "mpich", "intelmpi"}
            else None
        )
        if wrong:
            from reframe.core.exceptions import ConfigError

            raise ConfigError(f"SWITCHPOINT_MPIS: {word}: {wrong}")
        wrapper = str(programs / "mpicc")
        environments[name] = {
            "name": name,
            "cc": wrapper,
            "features": ["mpi"],
            "extras": {"mpi": families[0], "spack_mpi": None, **started(wrapper)},
        }
    return list(environments.values())


def intel_imb_with(mpi_library: str) -> dict[str, str]:
    """Return extras of an MPICH that can run Intel MPI's IMB-MPI1, if that is installed.

    `mpi_library` is MPICH's own libmpi. Both have the same binary interface.
    """
    program = Path(sys.prefix, _IMB)
    if not (program.exists() and Path(mpi_library).exists()):
        return {}
    return {"imb": str(program), "imb_mpi_library": mpi_library}
