"""Finds which MPI a compiler wrapper compiles for, from the macros of its mpi.h."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

#: Macros of mpi.h that identify an MPI and its version, the most specific first, because MPICH's
#: derivatives also define MPICH_VERSION.
MPI_MACROS = {
    "openmpi": ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"),
    "intel-oneapi-mpi": ("I_MPI_VERSION",),
    "mvapich": ("MVAPICH_VERSION",),
    "cray-mpich": ("CRAY_MPICH_VERSION",),
    "mpich": ("MPICH_VERSION",),
}


#: A program that includes MPI, and a wrapper's options that print its macros.
INCLUDE_MPI = "#include <mpi.h>\n"


PREPROCESS = ("-E", "-dD", "-x", "c", "-")


@dataclass(frozen=True)
class Mpi:
    """The MPI of a compiler wrapper: Spack's name of it, its version, its mpi.h."""

    name: str
    version: str
    header: Path


def mpi_of(mpicc: Path) -> Mpi | None:
    """Ask a compiler wrapper for its mpi.h, and identify the MPI.

    The result is None if it does not compile, or if its MPI is not one of `MPI_MACROS`.
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
    """Identify the MPI from a compiler wrapper's output for `INCLUDE_MPI` with `PREPROCESS`."""
    header = re.search(r'^# 1 "(/.*/mpi\.h)"', preprocessed, re.MULTILINE)
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]+)"?$', preprocessed, re.MULTILINE))
    for name, parts in MPI_MACROS.items():
        if header and all(part in macros for part in parts):
            version = ".".join(macros[part].strip() for part in parts)
            return Mpi(name, version, Path(header.group(1)))
    return None
