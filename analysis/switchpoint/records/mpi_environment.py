"""Separates the MPI settings that a user set from the launcher's internal variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BOOKKEEPING = re.compile(
    r"OMPI_(?!MCA_)|OMPI_MCA_(orte|ess|pmix|shmem_RUNTIME|initial_wdir|mpi_oversubscribe)"
    r"|PMIX_|PRTE_MCA_(?!hwloc)"
)


def mpi_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's `mpi.environment` that a user set."""
    return {k: str(v) for k, v in environment.items() if not _BOOKKEEPING.match(k)}
