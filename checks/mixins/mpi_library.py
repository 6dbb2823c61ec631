"""Prints the version string of the MPI library that the loader finds for a program, as a label.

A job runs this program on the nodes of the ranks. It does not start MPI.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import sys

#: Long enough for MPI_MAX_LIBRARY_VERSION_STRING of every MPI (8192 in MPICH).
TEXT_BYTES = 65536


def library_of(program: str) -> str | None:
    """Return the first line of the version string, as in run records; None without a library.

    `program` is a path or a name in PATH. MPI_Get_library_version may be called before MPI_Init
    (MPI 3.1, section 8.1.1).
    """
    completed = subprocess.run(
        ["ldd", shutil.which(program) or program], capture_output=True, text=True, check=False
    )
    for path in re.findall(r"^\s*libmpi\S* => (/\S+)", completed.stdout, re.MULTILINE):
        text = ctypes.create_string_buffer(TEXT_BYTES)
        try:
            ctypes.CDLL(path).MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
        except (OSError, AttributeError):
            continue
        return text.value.decode(errors="replace").splitlines()[0]
    return None


def main() -> int:
    """Command line of this program: ``mpi_library.py PROGRAM``."""
    program = sys.argv[1]
    library = library_of(program)
    if library is None:
        print(f"{program} is not linked to an MPI library that can be asked", file=sys.stderr)
        return 1
    print(f"# switchpoint: {json.dumps({'mpi': library})}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
