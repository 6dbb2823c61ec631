"""Separates the MPI settings that a user set from the launcher's internal variables.

Which of them may be set because a record says so, is in `switchpoint.untrusted.settings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The variables that kernels write to records, see src/machine/environment.c.
_STEERING = re.compile(
    r"(OMPI_|PMIX_MCA_|PRTE_|MPICH_|MPIR_|MV2_|MVP_|I_MPI_|UCX_|FI_|PSM|HFI_|HCOLL_|IBV_|CXI_"
    r"|RDMAV_|MLX5_|PSP_)\w+",
    re.ASCII,
)

_BOOKKEEPING = re.compile(
    r"OMPI_(?!MCA_)|OMPI_MCA_(orte|ess|pmix|shmem_RUNTIME|initial_wdir|mpi_oversubscribe)"
    r"|PMIX_|PRTE_MCA_(?!hwloc)|(MV2|MVP)_COMM_WORLD_"
    r"|(MPICH|MPIR_CVAR_CH3)_INTERFACE_HOSTNAME$"
)


def may_steer(name: str) -> bool:
    """Return whether an environment variable has the name of a setting of the stack."""
    return _STEERING.fullmatch(name) is not None


def mpi_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's `mpi.environment` that a user set."""
    return {
        name: str(value)
        for name, value in environment.items()
        if may_steer(name) and not _BOOKKEEPING.match(name)
    }
