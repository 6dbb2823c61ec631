"""The sources that a run was built from, out of this checkout, if it is one."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.shipped import in_checkout, shipped

#: Folder of the sources in the written folder.
SOURCES = "switchpoint"


def has_commit(commit: str) -> bool:
    """Return whether this is a checkout that contains a commit."""
    if not in_checkout():
        return False
    return _git(shipped("."), "cat-file", "-e", f"{commit}^{{commit}}").returncode == 0


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(folder), *words],
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def check_out(commit: str, folder: Path) -> None:
    """Copy the kernels and Spack's recipe at a commit, as a repository with only that commit."""
    folder.mkdir()
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("fetch", "--quiet", "--depth=1", shipped(".").resolve().as_uri(), commit),
        ("sparse-checkout", "set", "src", "spack_repo"),
        ("reset", "--quiet", "--hard", commit),
    ):
        done = _git(folder, *words)
        if done.returncode:
            raise InputError(folder.name, f"cannot be made {_reason(words[0], done.stderr)}")


def _reason(word: str, said: str) -> str:
    """Return why git failed, and the fix."""
    lines = said.strip().splitlines() or ["without a message"]
    for full in (errno.ENOSPC, errno.EDQUOT):
        if os.strerror(full) in said:
            return f"(git {word}: {os.strerror(full)}); free some space and run the command again"
    return f"(git {word}: {lines[-1]}); see `git --version`"
