"""Finds the process-management interfaces of an MPI library and of this Slurm.

If a library does not support the interface of its launcher, each process starts its own job.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

#: Folders of Slurm's plugins in Debian, in Red Hat and in Slurm's own installation.
_PLUGIN_FOLDERS = [
    "/usr/lib/*/slurm*",
    "/usr/lib64/slurm",
    "/usr/lib/slurm",
    "/opt/slurm/lib*/slurm",
]


def interface_of(wrapper: str) -> str | None:
    """Return the process-management interface of the MPI library that a wrapper links.

    Parameters
    ----------
    wrapper
        Name or path of an MPI compiler wrapper, such as ``mpicc.mpich``.

    Returns
    -------
    str or None
        ``pmix`` or ``pmi2``, as for ``srun --mpi``; None if the library is not found or is not
        one of Open MPI, MPICH, Intel MPI and MVAPICH.

    Notes
    -----
    Open MPI supports PMIx from version 2 on. MPICH and its derivatives support PMI-1 and PMI-2. If
    they were configured with PMIx, they need its library.
    """
    return next(iter(interfaces_of(wrapper)), None)


def interfaces_of(wrapper: str) -> list[str]:
    """Return all interfaces of the MPI library according to its files, the usual one first.

    Open MPI 4 can be built with PMI-2 in addition to PMIx. PMI-2 is then a separate plugin.
    """
    library = _library_of(wrapper)
    if library is None:
        return []
    needed = _output("ldd", str(library))
    if not needed:
        return []
    if not re.search(r"libpmix\.so|libopen-pal|libopen-rte", needed):
        return ["pmi2"]
    folders = {library.parent, library.resolve().parent}
    plugins = [path for folder in folders for path in folder.glob("openmpi*/mca_pmix_*.so")]
    has_pmi2 = any(path.stem == "mca_pmix_s2" for path in plugins)
    return ["pmix", "pmi2"] if has_pmi2 else ["pmix"]


def offered_by_slurm() -> set[str]:
    """Return interfaces for which Slurm has plugins here; its daemons need not run."""
    folders = [folder for pattern in _PLUGIN_FOLDERS for folder in Path("/").glob(pattern[1:])]
    names = [path.stem for folder in folders for path in folder.glob("mpi_*.so")]
    return {name.removeprefix("mpi_").partition("_v")[0] for name in names}


def _library_of(wrapper: str) -> Path | None:
    """Return the MPI library's file: the first that the wrapper's link command finds."""
    if shutil.which(wrapper) is None:
        return None
    link = _output(wrapper, "-show")
    compiler = shutil.which("cc") or "gcc"
    for name in re.findall(r"(?:^|\s)-l(mpi(?:ch)?)(?=\s|$)", link):
        for folder in re.findall(r"(?:^|\s)-L(\S+)", link):
            if (path := Path(folder.strip('"'), f"lib{name}.so")).exists():
                return path
        found = Path(_output(compiler, f"-print-file-name=lib{name}.so").strip())
        if found.is_absolute() and found.exists():
            return found
    return None


def _output(*command: str) -> str:
    """Return what a program prints on standard output; empty if it fails or cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
