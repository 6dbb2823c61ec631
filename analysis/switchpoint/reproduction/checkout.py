"""The sources that a run was built from, out of this checkout, if it is one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import in_checkout, shipped

#: Folder of the sources in what is laid out.
SOURCES = "switchpoint"


def has_commit(commit: str) -> bool:
    """Whether this checkout, if it is one, has a commit."""
    return in_checkout() and _git(shipped("."), "cat-file", "-e", f"{commit}^{{commit}}")


def _git(folder: Path, *words: str) -> bool:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    return done.returncode == 0


def check_out(commit: str, folder: Path) -> None:
    """Copy the kernels and Spack's recipe at a commit, as a repository with that commit alone."""
    folder.mkdir()
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("fetch", "--quiet", "--depth=1", shipped(".").resolve().as_uri(), commit),
        ("sparse-checkout", "set", "src", "spack_repo"),
        ("reset", "--quiet", "--hard", commit),
    ):
        if not _git(folder, *words):
            raise InputError(folder.name, f"cannot be made (git {words[0]}); see `git --version`")
