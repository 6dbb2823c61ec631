"""Which MPI settings of a run record are a person's, and which the launcher's own bookkeeping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BOOKKEEPING = re.compile(
    r"OMPI_(?!MCA_)|OMPI_MCA_(orte|ess|pmix|shmem_RUNTIME|initial_wdir|mpi_oversubscribe)"
    r"|PMIX_|PRTE_MCA_(?!hwloc)"
)


def mpi_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Variables of a record's `mpi.environment` that somebody set to steer the MPI library."""
    return {k: str(v) for k, v in environment.items() if not _BOOKKEEPING.match(k)}
