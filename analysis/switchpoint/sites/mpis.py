"""Tells which MPI a compiler wrapper compiles for, from the macros of its mpi.h."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Macros of mpi.h that tell an MPI and its version, the most specific first: others than MPICH
#: define MPICH_VERSION too.
MPI_MACROS = {
    "openmpi": ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"),
    "intel-oneapi-mpi": ("I_MPI_VERSION",),
    "mvapich": ("MVAPICH_VERSION",),
    "cray-mpich": ("CRAY_MPICH_VERSION",),
    "mpich": ("MPICH_VERSION",),
}


#: A program that includes MPI, and a wrapper's options that show what it then knows.
INCLUDE_MPI = "#include <mpi.h>\n"


PREPROCESS = ("-E", "-dD", "-x", "c", "-")


@dataclass(frozen=True)
class Mpi:
    """What a compiler wrapper compiles for: Spack's name of the MPI, its version, its mpi.h."""

    name: str
    version: str
    header: Path


def mpi_of(mpicc: Path) -> Mpi | None:
    """Ask a compiler wrapper which mpi.h it includes, and that which MPI it is of.

    None where it does not compile, or where its MPI is not one of `MPI_MACROS`.
    """
    try:
        completed = subprocess.run(
            [str(mpicc), *PREPROCESS],
            input=INCLUDE_MPI,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return mpi_in(completed.stdout)


def mpi_in(preprocessed: str) -> Mpi | None:
    """Tell the MPI from what a compiler wrapper makes of `INCLUDE_MPI` with `PREPROCESS`."""
    header = re.search(r'^# 1 "(/.*/mpi\.h)"', preprocessed, re.MULTILINE)
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]+)"?$', preprocessed, re.MULTILINE))
    for name, parts in MPI_MACROS.items():
        if header and all(part in macros for part in parts):
            version = ".".join(macros[part].strip() for part in parts)
            return Mpi(name, version, Path(header.group(1)))
    return None
