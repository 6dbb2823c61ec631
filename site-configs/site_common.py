"""What all sites share: ReFrame's general options, and how placements become extras.

A site's ``settings.py`` stays a plain ReFrame configuration; see ``template-slurm/settings.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from switchpoint.placements import load_placements

#: A poll that starts programs disturbs ranks that are being timed, so the schedulers below ask
#: Slurm rarely; ReFrame's own loop may then turn fast without cost.
GENERAL = {
    "check_search_recursive": True,
    "poll_rate_max": 20,
    "poll_rate_min": 5,
    "report_file": "output/reports/run-report-{sessionid}.json",
}

#: Where the wheel `impi-rt` puts the Intel MPI Benchmarks, within a Python environment.
_IMB = "bin/IMB-MPI1"


def placed(placements_file: Path, **extras: Any) -> dict[str, Any]:
    """Features and extras of a partition that offers the placements of a file.

    Each placement is a feature, so that a check selects partitions with ``+one_node``.

    Parameters
    ----------
    placements_file
        The site's ``placements.yaml``.
    **extras
        More extras, such as ``references``.
    """
    site = load_placements(placements_file)
    return {
        "features": list(site.placements),
        "extras": {
            "placements": {name: p.model_dump() for name, p in site.placements.items()},
            "switch_from_node_name": site.switch_from_node_name,
            **extras,
        },
    }


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
