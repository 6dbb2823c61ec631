"""Spack's recipe for the Python part, taken from the git checkout that this file lies in.

It installs the command `switchpoint`, the checks and the testbed; `switchpoint-kernels` is the C
part.
"""

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import depends_on, license, variant, version


class PySwitchpoint(PythonPackage):
    """Measures MPI by placement; finds, explains and predicts protocol switches."""

    git = Path(__file__).resolve().parents[4].as_uri()

    license("Apache-2.0")

    # A branch moves: name a commit (`commit=...`) to install just that.
    version("main", branch="main")

    variant("checks", default=False, description="Bring ReFrame, which runs the checks")

    # The versions are those of pyproject.toml; a test compares the two.
    depends_on("python@3.10:3.13", type=("build", "run"))
    depends_on("py-hatchling@1.26:1", type="build")
    depends_on("py-fsspec@2024.10:2026", type=("build", "run"))
    depends_on("py-jinja2@3.1:3", type=("build", "run"))
    depends_on("py-numpy@1.26:2", type=("build", "run"))
    depends_on("py-pandas@2.2:3", type=("build", "run"))
    depends_on("py-plotly@6:7", type=("build", "run"))
    depends_on("py-pyarrow@17:26", type=("build", "run"))
    depends_on("py-pydantic@2.10:2", type=("build", "run"))
    depends_on("py-pyyaml@6", type=("build", "run"))
    depends_on("py-rich@13.9:15", type=("build", "run"))
    depends_on("py-scipy@1.13:1", type=("build", "run"))
    depends_on("py-typer@0.15:0", type=("build", "run"))
    depends_on("py-typing-extensions@4.12:4", type=("build", "run"))
    # Spack's own recipe ends at 4.9 so far, so this takes the branch `develop`.
    depends_on("reframe@4.10:", type="run", when="+checks")
