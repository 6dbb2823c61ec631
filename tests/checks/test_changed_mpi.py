"""An environment that brings another MPI than in the last session."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sessions import BIN, ROOT

SITE = ROOT / "site-configs/local/settings.py"


def linked(folder: Path, wrapper: str) -> str:
    """Build with this wrapper in the same environment as before; return what is then needed."""
    settings = folder / "settings.py"
    settings.write_text(
        f"import runpy\nsite_configuration = runpy.run_path({str(SITE)!r})['site_configuration']\n"
        "for environment in site_configuration['environments']:\n"
        f"    environment['cc'] = {wrapper!r}\n"
    )
    done = subprocess.run(
        [
            *(BIN / "reframe", "-C", settings, "--nocolor", "-r", "-p", "mpich"),
            *("--system", "local:mpich", "-c", ROOT / "tests/checks/linked_mpi.py"),
            *("--prefix", folder, "--keep-stage-files", "-S", f"build_root={folder / 'build'}"),
        ],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    [output] = folder.glob("stage/**/LinkedMpi/rfm_job.out")
    return output.read_text()


def test_the_kernels_are_linked_with_the_new_one(tmp_path: Path) -> None:
    assert "libmpi.so" in linked(tmp_path, "mpicc.openmpi")
    after = linked(tmp_path, "mpicc.mpich")
    assert "libmpich.so" in after and "libmpi.so" not in after
