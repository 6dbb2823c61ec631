"""A real Spack, separate from the user's own: settings and installations lie under build/.

Without SPACK_ROOT the tests that need it are skipped; SWITCHPOINT_REQUIRE_SPACK=1 makes them fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MPIS = ("openmpi", "mpich")


@dataclass
class Spack:
    """A Spack with a configuration and an install tree of the tests' own."""

    folder: Path
    environment: dict[str, str]

    @property
    def store(self) -> Path:
        """Where it installs."""
        return self.folder / "store"

    @property
    def build_root(self) -> Path:
        """What the checks take for their ``build_root``."""
        return self.folder / "build"

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a program with this Spack in PATH."""
        return subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            env=self.environment,
            check=False,
            timeout=1800,
        )

    def settings_with_store(self, folder: Path, store: Path) -> str:
        """Copy the settings for another install tree: the variable that names them, for `env`."""
        shutil.copytree(self.environment["SPACK_USER_CONFIG_PATH"], folder)
        tree = {"config": {"install_tree": {"root": str(store)}}}
        (folder / "config.yaml").write_text(yaml.safe_dump(tree))
        return f"SPACK_USER_CONFIG_PATH={folder}"

    def externals(self) -> Path:
        """The testbed's packages.yaml, completed for this machine."""
        folder = self.build_root / "spack/testbed/externals"
        site = ROOT / "site-configs/testbed"
        words = ("-m", "switchpoint", "doctor", "--spack", "--site", site, "--write", folder)
        done = self.run(sys.executable, *words)
        assert done.returncode == 0, done.stderr
        return folder

    def environment_of(self, mpi: str) -> Path:
        """Where the checks keep the kernels' environment: the one there is for that MPI."""
        (found,) = self.environments_of(mpi).glob("switchpoint-kernels-*")
        return found

    def environments_of(self, mpi: str) -> Path:
        """Folder of an MPI's environments."""
        return self.build_root / "spack/testbed" / mpi

    def install(
        self,
        site: Path,
        environments: Path,
        mpi: str,
        spec: str = "switchpoint-kernels@main",
        checkout: Path = ROOT,
    ) -> subprocess.CompletedProcess[str]:
        """Install an environment as the checks do."""
        return self.run(
            *(sys.executable, checkout / "checks/mixins/spack_environment.py"),
            *("--site", site, "--environments", environments, "--mpi", mpi, "--spec", spec),
        )


@pytest.fixture(scope="session")
def lacking() -> Callable[[str], None]:
    """Skip for a reason, or fail for it where Spack is required."""

    def lack(reason: str) -> None:
        if os.environ.get("SWITCHPOINT_REQUIRE_SPACK") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)

    return lack


@pytest.fixture(scope="session")
def spack(tmp_path_factory, lacking) -> Spack:
    """Spack of SPACK_ROOT with the packages of SPACK_PACKAGES.

    SWITCHPOINT_SPACK_REPO may name one more package repository, which comes before Spack's own.
    """
    root = os.environ.get("SPACK_ROOT")
    if not root:
        lacking("no Spack: set SPACK_ROOT, and SPACK_PACKAGES to a clone of spack-packages")
    folder = tmp_path_factory.mktemp("spack")
    repos = {}
    if extra := os.environ.get("SWITCHPOINT_SPACK_REPO"):
        repos["extra"] = extra
    if packages := os.environ.get("SPACK_PACKAGES"):
        repos["builtin"] = f"{packages}/repos/spack_repo/builtin"
    settings = folder / "settings"
    settings.mkdir()
    # In this order Spack looks a package up.
    (settings / "repos.yaml").write_text(yaml.safe_dump({"repos": repos}, sort_keys=False))
    tree = {"config": {"install_tree": {"root": str(folder / "store")}}}
    (settings / "config.yaml").write_text(yaml.safe_dump(tree))
    environment = {
        **os.environ,
        "PATH": f"{root}/bin{os.pathsep}{os.environ['PATH']}",
        "SPACK_USER_CONFIG_PATH": str(settings),
        # Indices of thousands of packages: a minute to make, so they stay.
        "SPACK_USER_CACHE_PATH": str(ROOT / "build/spack-cache"),
        "SPACK_SYSTEM_CONFIG_PATH": str(folder / "none"),
        "XDG_DATA_HOME": str(folder / "data"),  # prefixes of MPIs
    }
    if os.geteuid() == 0:  # as in a container; Open MPI's mpiexec refuses root
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return Spack(folder, environment)


@pytest.fixture(scope="session")
def installed(spack) -> dict[str, subprocess.CompletedProcess[str]]:
    """The kernels, installed for each MPI side by side: what installing them said."""
    site = spack.externals()
    with ThreadPoolExecutor() as pool:
        jobs = {
            mpi: pool.submit(spack.install, site, spack.environments_of(mpi), mpi) for mpi in MPIS
        }
    results = {mpi: job.result() for mpi, job in jobs.items()}
    for result in results.values():
        assert result.returncode == 0, result.stdout + result.stderr
    return results
