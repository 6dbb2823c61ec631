"""The Spack environment that a lock describes: its spack.yaml and packages.yaml."""

from __future__ import annotations

from typing import Any

import yaml

from switchpoint.reproduction.checkout import SOURCES
from switchpoint.spack.lock import Lock


def spack_manifest(lock: Lock) -> str:
    """Return an environment with the one spec that the lock concretized."""
    mpi = lock.provider("mpi")
    packages = {} if mpi is None else {"mpi": {"require": [f"{mpi.name}@{mpi.version}"]}}
    content = {
        "include": [{"path": "site", "path_override_env_var": "SWITCHPOINT_SITE"}],
        "repos": {"switchpoint": f"{SOURCES}/spack_repo/switchpoint"},
        "concretizer": {"unify": True, "reuse": "dependencies"},
        "packages": packages,
        "specs": [lock.requested],
        "view": "view",
    }
    return (
        "# Installs the contents of spack.lock. site/ names what it took from its machine.\n"
        + str(yaml.safe_dump({"spack": content}, sort_keys=False))
    )


def spack_packages(lock: Lock) -> dict[str, Any]:
    """Return a packages.yaml with a lock's externals."""
    packages: dict[str, Any] = {}
    for node in lock.nodes():
        if node.external is None or node.name in ("glibc", "musl"):  # Spack finds these itself
            continue
        entry: dict[str, Any] = {
            "spec": f"{node.name}@{node.version}",
            "prefix": str(node.external),
        }
        if node.compilers:
            languages = ",".join("c++" if name == "cxx" else name for name in node.compilers)
            entry["spec"] += f" languages:='{languages}'"
            named = {language: str(path) for language, path in node.compilers.items()}
            entry["extra_attributes"] = {"compilers": named}
        packages[node.name] = {"externals": [entry], "buildable": False}
    return {"packages": packages}
