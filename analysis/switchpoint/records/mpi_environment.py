"""Separates the MPI settings that a user set from the launcher's internal variables.

Records come from anywhere. So only variables that steer an MPI library count, and those that name
programs, libraries or files are known: nobody should set them because a record says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The variables that kernels write to records, see src/machine/environment.c.
_STEERING = re.compile(
    r"(OMPI_|PMIX_MCA_|PRTE_|MPICH_|MPIR_|MV2_|MVP_|I_MPI_|UCX_|FI_|PSM|HFI_|HCOLL_|IBV_|CXI_|RDMAV_|MLX5_)"
    r"\w+",
    re.ASCII,
)

_BOOKKEEPING = re.compile(
    r"OMPI_(?!MCA_)|OMPI_MCA_(orte|ess|pmix|shmem_RUNTIME|initial_wdir|mpi_oversubscribe)"
    r"|PMIX_|PRTE_MCA_(?!hwloc)|(MV2|MVP)_COMM_WORLD_"
    r"|(MPICH|MPIR_CVAR_CH3)_INTERFACE_HOSTNAME$"
)

#: Parts of the names of settings and of launchers' options with which a program is started, a
#: library is loaded, a file is written, or any other variable is set.
_RUNS_CODE = frozenset(
    """
    agent app appfile args bcast bootstrap cc chdir cmd command configfile container cxx dbg
    debugger dest dir directory env envlist epilog error exec export f77 f90 fc file filename files
    genv genvlist hook hostfile input launcher lib libraries library libs output path paths plm
    prefix preload profile prog prolog rsh script ssh tmpdir tool tune uenv wd wdir wrap
    wrapper wrappers
    """.split()  # noqa: SIM905, a list of so many words
)

_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")


def is_setting(name: str) -> bool:
    """Return whether an environment variable steers an MPI library."""
    return _STEERING.fullmatch(name) is not None


def mpi_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's `mpi.environment` that a user set."""
    return {
        name: str(value)
        for name, value in environment.items()
        if is_setting(name) and not _BOOKKEEPING.match(name)
    }


def runs_code(name: str) -> bool:
    """Return whether a setting or option may name a program, library or file.

    >>> runs_code("UCX_TLS"), runs_code("OMPI_MCA_plm_rsh_agent"), runs_code("--task-prolog")
    (False, True, True)
    """
    parts = _SEPARATORS.split(name.lower())
    return name == "I_MPI_ROOT" or not _RUNS_CODE.isdisjoint(parts)
