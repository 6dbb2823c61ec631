"""Which process-management interface an MPI library speaks, and which of them this Slurm offers.

A library that meets an interface that it does not speak starts a job of its own in each process.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

#: Where Debian, Red Hat and Slurm's own installation keep Slurm's plugins.
_PLUGIN_FOLDERS = [
    "/usr/lib/*/slurm*",
    "/usr/lib64/slurm",
    "/usr/lib/slurm",
    "/opt/slurm/lib*/slurm",
]


def interface_of(wrapper: str) -> str | None:
    """Process-management interface of the MPI library that a compiler wrapper links.

    Parameters
    ----------
    wrapper
        Name or path of an MPI compiler wrapper, such as ``mpicc.mpich``.

    Returns
    -------
    str or None
        ``pmix`` or ``pmi2``, as ``srun --mpi`` calls it; None where the library is not found or is
        none of Open MPI, MPICH, Intel MPI and MVAPICH.

    Notes
    -----
    Open MPI speaks PMIx from version 2 on. MPICH and what is derived from it speak PMI-1 and PMI-2,
    unless they were configured with PMIx, which shows as a library that they need.
    """
    return next(iter(interfaces_of(wrapper)), None)


def interfaces_of(wrapper: str) -> list[str]:
    """All interfaces that the MPI library speaks, as far as its files tell, the usual one first.

    Open MPI 4 may have been built with PMI-2 beside PMIx, which is then a plugin of its own.
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
    """Interfaces that the Slurm of this machine has plugins for; its daemons need not run."""
    folders = [folder for pattern in _PLUGIN_FOLDERS for folder in Path("/").glob(pattern[1:])]
    names = [path.stem for folder in folders for path in folder.glob("mpi_*.so")]
    return {name.removeprefix("mpi_").partition("_v")[0] for name in names}


def _library_of(wrapper: str) -> Path | None:
    """The MPI library's file: the first that the wrapper's own link command finds."""
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
    """What a program prints on standard output; empty when it fails or cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
