"""Writes the folder that builds and runs a run again."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import yaml

from switchpoint.errors import InputError
from switchpoint.reproduction.checkout import SOURCES, check_out, has_commit
from switchpoint.reproduction.differences import Difference
from switchpoint.reproduction.readme import readme_text
from switchpoint.reproduction.recipe import Recipe
from switchpoint.reproduction.script import script_text
from switchpoint.reproduction.spack_environment import spack_manifest, spack_packages
from switchpoint.spack.lock import NAME as LOCK


def lay_out(
    recipe: Recipe, folder: str | os.PathLike[str], found: list[Difference] | None = None
) -> Path:
    """Write a folder that builds and runs the run again; all or nothing.

    `found` are the `differences`, where they are known already.

    It holds README.md, run.sh and header.json; ``switchpoint/``, the sources and Spack's recipe at
    the commit that was built, where this checkout has it; and where there is a lock, a whole Spack
    environment: spack.yaml, spack.lock, and in ``site/`` the externals that the lock names.

    Raises
    ------
    InputError
        If the folder is there and not empty, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(folder, "is there already and not empty; name a new folder")
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".") as hidden:
            whole = Path(hidden, "whole")
            whole.mkdir()
            if has_commit(recipe.commit):
                check_out(recipe.commit, whole / SOURCES)
            if recipe.lock_text is not None and recipe.lock is not None:
                (whole / LOCK).write_text(recipe.lock_text, encoding="utf-8")
                (whole / "spack.yaml").write_text(spack_manifest(recipe.lock), encoding="utf-8")
                (whole / "site").mkdir()
                externals = yaml.safe_dump(spack_packages(recipe.lock), sort_keys=False)
                (whole / "site/packages.yaml").write_text(externals, encoding="utf-8")
            (whole / "README.md").write_text(readme_text(recipe, found), encoding="utf-8")
            (whole / "header.json").write_text(json.dumps(recipe.header, indent=1) + "\n")
            script = whole / "run.sh"
            script.write_text(script_text(recipe), encoding="utf-8")
            script.chmod(0o755)
            whole.replace(target)
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror}); name another") from None
    return target
