"""Short names of MPI libraries, and the names that they have for operations."""

from __future__ import annotations

import re

#: Each MPI library's short name, and how its version string, a module or a folder writes it,
#: without a group that captures. The first one that matches counts.
_LIBRARIES = {
    "Open MPI": r"open[ _-]?mpi|\bompi",
    "CRAY MPICH": r"cray[ _-]?mpich",
    "MPICH": r"mpich",
    "Intel MPI": r"intel(?:\(r\))?[ _-]?mpi|\bimpi",
    "MVAPICH-Plus": r"mvapich-plus",
    "MVAPICH2": r"mvapich2",
    "MVAPICH": r"mvapich",
    "Spectrum MPI": r"spectrum[ _-]?mpi",
    "ParaStation MPI": r"parastation[ _-]?mpi",
    "HPE MPT": r"hpe[ _-]mpt",
    "SMPI": r"\bsmpi(?= version)",
}

#: The operations in the libraries' variables, by kernel, where the kernel has another name.
OPERATION_NAMES = {"broadcast": "bcast", "reduce_scatter": "reduce_scatter_block"}

#: MPICH's algorithms that call the operation again, on parts of the communicator or without
#: blocking: they decide by size themselves, so that they change where the library's choice does.
DECIDING_ALGORITHMS = {"smp", "nb"}

#: A library's version string, or the name of a module or folder: with a version, or only a name.
_MPI = re.compile(
    f"(?:{'|'.join(f'({form})' for form in _LIBRARIES.values())})"
    r"(?:\D{0,40}?(?P<version>\d+(?:\.\d+)+(?:[a-z]+\d*)?)|\Z)",
    re.IGNORECASE,
)

#: Intel's versions up to 2019 in its own words: `2018 Update 3`.
_INTEL = re.compile(
    r"intel(?:\(r\))?[ _-]?mpi(?:[ _-]library)?[ _-](?P<year>20\d\d)(?: Update (?P<update>\d+))?"
    r"(?![\d.])",
    re.IGNORECASE,
)


#: A name with its version as folders have it: `OMPI4`, `impi19`, `MVAPICH231`, `openmpi-4`.
_GLUED = re.compile(
    r"(?P<name>open[ _-]?mpi|ompi|cray[ _-]?mpich|mpich|intel[ _-]?mpi|impi|mvapich|(?:hpe|sgi)"
    r"?[ _-]?mpt)[ _/-]?v?(?P<digits>\d{0,4})",
    re.IGNORECASE,
)


def _glued_name(library: str) -> str | None:
    """Return the name that a library's name and digits without points mean, if they do.

    Intel's digits are a year and an update, the others' are major, minor and patch.
    """
    match = _GLUED.fullmatch(library.strip())
    if match is None:
        return None
    digits = match["digits"]
    named = [name for name, form in _LIBRARIES.items() if re.fullmatch(form, match["name"], re.I)]
    name = named[0] if named else "HPE MPT"  # also SGI's, or without a company
    if name == "MPICH" and digits == "2":  # a library of its own, before MPICH 3
        return None
    if name == "MVAPICH" and digits.startswith("2"):  # its name ends in its major version
        name = "MVAPICH2"
        digits = digits[1:] if len(digits) in (1, 4) else digits
    if name == "Intel MPI":
        year = digits.removeprefix("20") if len(digits) == 4 else digits
        if len(year) > 1 and 17 <= int(year[:2]) <= 29:
            return f"{name} {'.'.join(filter(None, ('20' + year[:2], year[2:])))}"
    parts = [part for part in (digits[:1], digits[1:2], digits[2:]) if part]
    return " ".join([name, ".".join(parts)]) if parts else name


def mpi_name(library: str) -> str:
    r"""Shorten an MPI library's version string to the name that people use.

    >>> mpi_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4")
    'Open MPI 4.1.4'
    >>> mpi_name("MPICH Version:\t4.0.2")
    'MPICH 4.0.2'
    >>> mpi_name("SMPI Version 3.32. Copyright The SimGrid Team 2007-2022")
    'SMPI 3.32'
    >>> mpi_name("OpenMPI/4.1.5-GCC-12.3.0"), mpi_name("impi-2021.9"), mpi_name("mpich")
    ('Open MPI 4.1.5', 'Intel MPI 2021.9', 'MPICH')
    >>> mpi_name("ompi-4.0.3"), mpi_name("Intel(R) MPI Library 2018 Update 3 for Linux* OS")
    ('Open MPI 4.0.3', 'Intel MPI 2018.3')
    >>> [mpi_name(folder) for folder in ("OMPI4", "impi19", "IMPI182", "MVAPICH231", "mpt")]
    ['Open MPI 4', 'Intel MPI 2019', 'Intel MPI 2018.2', 'MVAPICH2 2.3.1', 'HPE MPT']
    """
    if glued := _glued_name(library):
        return glued
    if intel := _INTEL.search(library):
        return f"Intel MPI {'.'.join(filter(None, intel.groups()))}"
    match = _MPI.search(library)
    if match is None:
        return library.split(",")[0].strip()[:40] or "unknown MPI"
    name = next(name for name, found in zip(_LIBRARIES, match.groups(), strict=False) if found)
    return f"{name} {match['version']}" if match["version"] else name


def is_library(name: str) -> bool:
    """Return whether a name is that of an MPI library, in any form that `mpi_name` knows.

    >>> is_library("OMPI4"), is_library("Open MPI"), is_library("gcc9")
    (True, True, False)
    """
    return mpi_name(name) != name or name in _LIBRARIES


def mpi_family(name: str) -> str:
    """Return a library's short name without its version.

    >>> mpi_family("Open MPI 4.1.4"), mpi_family("MVAPICH2"), mpi_family("MVAPICH2 2.3.7")
    ('Open MPI', 'MVAPICH2', 'MVAPICH2')
    """
    return re.sub(r" \d\S*$", "", name)


def is_mpi(name: str, wanted: str) -> bool:
    """Return whether a library is the wanted one, named with all, a part or none of its version.

    >>> [is_mpi("Open MPI 4.1.4", wanted) for wanted in ("openmpi", "Open MPI 4.1", "openmpi-4")]
    [True, True, True]
    >>> is_mpi("Open MPI 4.1.4", "openmpi-4.1.40"), is_mpi("MPICH 4.0.2", "Open MPI")
    (False, False)
    """
    short = mpi_name(wanted)
    if major := re.fullmatch(r"(.*\D)[ /@-](\d+)", wanted):
        short = f"{mpi_name(major[1])} {major[2]}" if short == wanted else short
    return name in {wanted, short} or name.startswith((f"{short} ", f"{short}."))
