"""Writes the folder that builds and runs a run again."""

from __future__ import annotations

import json
import os
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
from switchpoint.whole_files import hidden_beside


def lay_out(
    recipe: Recipe, folder: str | os.PathLike[str], differences: list[Difference] | None = None
) -> Path:
    """Write a folder that builds and runs the run again, completely or not at all.

    `found` are the `differences`, if they are known already.

    The folder contains README.md, run.sh and header.json. If this checkout has the commit that was
    built, ``switchpoint/`` contains the sources and Spack's recipe at that commit. If there is a
    lock, there is also a complete Spack environment: spack.yaml, spack.lock, and in ``site/`` the
    externals that the lock names.

    Raises
    ------
    InputError
        If the folder exists and is not empty, or cannot be written.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(folder, "exists and is not empty; name a new folder")
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        with hidden_beside(target.absolute(), folder=True) as whole:
            if has_commit(recipe.commit):
                check_out(recipe.commit, whole / SOURCES)
            if recipe.lock_text is not None and recipe.lock is not None:
                (whole / LOCK).write_text(recipe.lock_text, encoding="utf-8")
                (whole / "spack.yaml").write_text(spack_manifest(recipe.lock), encoding="utf-8")
                (whole / "site").mkdir()
                externals = yaml.safe_dump(spack_packages(recipe.lock), sort_keys=False)
                (whole / "site/packages.yaml").write_text(externals, encoding="utf-8")
            (whole / "README.md").write_text(readme_text(recipe, differences), encoding="utf-8")
            (whole / "header.json").write_text(json.dumps(recipe.header, indent=1) + "\n")
            script = whole / "run.sh"
            script.write_text(script_text(recipe), encoding="utf-8")
            script.chmod(0o755)
            whole.replace(target)
    except OSError as error:
        raise InputError(
            folder, f"cannot be written ({error.strerror}); name another folder"
        ) from None
    return target
