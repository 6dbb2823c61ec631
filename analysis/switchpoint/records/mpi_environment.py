"""Reads and sets the MPI settings of an environment, without the launcher's internal variables.

Which of them may be set because a record says so, is in `switchpoint.untrusted.settings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The variables that kernels write to records, see src/machine/environment.c.
_STEERING = re.compile(
    r"(OMPI_|PMIX_MCA_|PRTE_|MPICH_|MPIR_|MV2_|MVP_|I_MPI_|UCX_|FI_|PSM|HFI_|HCOLL_|IBV_|CXI_"
    r"|RDMAV_|MLX5_|PSP_|GLIBC_)\w+",
    re.ASCII,
)

#: What all tunables of glibc are set by: assignments with colons between them. One of them is
#: named as an assignment without the value: `GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold`.
TUNABLES = "GLIBC_TUNABLES"

#: One of them.
_TUNABLE = re.compile(rf"{TUNABLES}=glibc(\.\w+)+", re.ASCII)

_BOOKKEEPING = re.compile(
    r"OMPI_(?!MCA_)|OMPI_MCA_(orte|ess|pmix|shmem_RUNTIME|initial_wdir|mpi_oversubscribe)"
    r"|PMIX_|PRTE_MCA_(?!hwloc)|(MV2|MVP)_COMM_WORLD_"
    r"|(MPICH|MPIR_CVAR_CH3)_INTERFACE_HOSTNAME$"
)


def may_steer(name: str) -> bool:
    """Return whether an environment variable, or a tunable, may be a setting of the stack."""
    return any(names.fullmatch(name) for names in (_STEERING, _TUNABLE))


def mpi_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's `mpi.environment` that a user set."""
    return {
        name: str(value)
        for name, value in environment.items()
        if may_steer(name) and not _BOOKKEEPING.match(name)
    }


def single_settings(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a record's `mpi.environment` that a user set, each tunable alone.

    >>> single_settings({"UCX_TLS": "sm", "GLIBC_TUNABLES": "glibc.a.b=1:glibc.c.d=2"})
    {'UCX_TLS': 'sm', 'GLIBC_TUNABLES=glibc.a.b': '1', 'GLIBC_TUNABLES=glibc.c.d': '2'}
    """
    settings = mpi_settings(environment)
    for assignment in settings.pop(TUNABLES, "").split(":"):
        tunable, assigned, value = assignment.partition("=")
        if assigned:
            settings[f"{TUNABLES}={tunable}"] = value
    return settings


def variables_for(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make settings. Other tunables of an environment stay as they are.

    >>> variables_for(
    ...     {"UCX_TLS": "sm", "GLIBC_TUNABLES=glibc.rtld.nns": "8"},
    ...     {"GLIBC_TUNABLES": "glibc.rtld.nns=4:glibc.malloc.check=1"},
    ... )
    {'UCX_TLS': 'sm', 'GLIBC_TUNABLES': 'glibc.malloc.check=1:glibc.rtld.nns=8'}
    """
    variables: dict[str, str] = {}
    for setting, value in settings.items():
        name, inside, tunable = setting.partition("=")
        if not inside:
            variables[name] = value
            continue
        set_before = variables.get(name, environment.get(name, "")).split(":")
        others = [text for text in set_before if text and text.partition("=")[0] != tunable]
        variables[name] = ":".join([*others, f"{tunable}={value}"])
    return variables
