"""Makes one Spack environment from the project's spack.yaml and installs it; twice costs nothing.

A program of its own, which the builds run; every lack is one line on standard error.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from switchpoint.spack import SpackError, find_spack

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "switchpoint-kernels"


def install(site: Path, directory: Path, mpi: str, spec: str) -> Path:
    """Bring an environment up to date and install it.

    Parameters
    ----------
    site
        Folder with the packages.yaml that Spack is to read.
    directory
        The environment's folder, made if missing; its lockfile is kept as long as neither what is
        asked for nor recipe, site or Spack change.
    mpi, spec
        Specs of the MPI and of what is to be installed.

    Returns
    -------
    Path
        The view, whose `bin` and `libexec` are those of what was installed.

    Raises
    ------
    SpackError
        One sentence: what is wrong, and the fix.
    """
    spack, version = find_spack()
    if not (ROOT / "spack.yaml").exists():
        raise SpackError(
            f"{ROOT} has no spack.yaml: an installed package does not build with Spack; use the "
            "checks of a clone of the project, or -S builder=cmake"
        )
    directory.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(directory / "lock"):
        manifest = manifest_for(site, mpi, pinned(spec))
        inputs = fingerprint(manifest, site, version)
        kept = directory / "inputs.sha256"
        if not kept.exists() or kept.read_text() != inputs:
            kept.unlink(missing_ok=True)
            # What is there was built from something else, and must not pass for this.
            (directory / "view").unlink(missing_ok=True)
            # Spack does not overwrite what a build that failed left of its view.
            shutil.rmtree(directory / "._view", ignore_errors=True)
            (directory / "spack.yaml").write_text(manifest)
            run(spack, directory, "concretize", "--force")
            kept.write_text(inputs)
        # Two installs that fetch the same commit would both write its archive in Spack's cache.
        with one_at_a_time(Path(tempfile.gettempdir(), f"switchpoint-spack-{os.getuid()}.lock")):
            run(spack, directory, "install")
    return directory / "view"


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made if missing."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pinned(spec: str) -> str:
    """Name the commit that last changed our kernels, where the spec names none.

    Without it Spack would take a branch's head, which need not be what is checked out.
    """
    match = re.match(rf"{KERNELS}(@main)?(?![\w.@=-])", spec)
    if match is None or "commit=" in spec:
        return spec
    completed = git("log", "-1", "--format=%H", "--", "src")
    commit = completed.stdout.strip()
    if not commit:
        raise SpackError(
            f"{ROOT} is no git checkout ({first_error(completed.stderr)}), and Spack builds from "
            "commits; clone the project"
        )
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src").stdout
    if changed:
        print(f"warning: src/ has changes that are not committed; Spack builds {commit[:12]}")
    return f"{KERNELS}@main commit={commit}{spec[match.end() :]}"


def manifest_for(site: Path, mpi: str, spec: str) -> str:
    """The project's spack.yaml with absolute paths, one MPI and one spec."""
    spack = yaml.safe_load((ROOT / "spack.yaml").read_text(encoding="utf-8"))["spack"]
    spack["include"] = [str(site)]
    spack["repos"] = {name: str(ROOT / path) for name, path in spack["repos"].items()}
    spack["packages"]["mpi"]["require"] = [mpi]
    spack["specs"] = [spec]
    spack["view"] = "view"
    return str(yaml.safe_dump({"spack": spack}, sort_keys=False))


def fingerprint(manifest: str, site: Path, version: str) -> str:
    """Hash of all that an environment follows from."""
    recipes = sorted(ROOT.glob("spack_repo/**/package.py"))
    parts = [manifest.encode(), version.encode()]
    parts += [path.read_bytes() for path in [*sorted(site.glob("*.yaml")), *recipes]]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def run(spack: str, directory: Path, action: str, *options: str) -> None:
    """Run a command of Spack's in an environment, and show what it says."""
    process = subprocess.Popen(
        [spack, "--color=never", "-e", str(directory), action, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    output = []
    for line in process.stdout:
        print(line, end="", flush=True)
        output.append(line)
    if process.wait() != 0:
        raise SpackError(explain(action, "".join(output)))


def explain(action: str, output: str) -> str:
    """Why a command of Spack's failed, from what it said."""
    error = first_error(output)
    if "bootstrapping is currently disabled" in output or (
        "clingo" in output and "bootstrap" in output
    ):
        return (
            "Spack has no clingo and cannot fetch it; run `spack bootstrap now` where there is a "
            "network, or `pip install clingo` for the Python in SPACK_PYTHON"
        )
    if action == "concretize":
        return (
            f"the spec does not concretize: {error}; correct -S spack_spec=..., or the site's "
            "packages.yaml"
        )
    return f"spack {action} failed: {error}; the build's whole output is in its stage directory"


def first_error(output: str) -> str:
    """Spack's first complaint as one line."""
    lines = output.strip().splitlines()
    for number, line in enumerate(lines):
        if "Error: " in line:
            words = line.partition("Error: ")[2]
            following = lines[number + 1] if number + 1 < len(lines) else ""
            return " ".join(f"{words} {following}".split())
    return lines[-1] if lines else "no message"


def git(*words: str) -> subprocess.CompletedProcess[str]:
    """Run git in the checkout."""
    return subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
    )


def root_of(lockfile: Path) -> tuple[str, str]:
    """Hash and one-line description of the one root spec that a spack.lock holds."""
    lock = json.loads(lockfile.read_text(encoding="utf-8"))
    root = lock["roots"][0]["hash"]
    nodes = lock["concrete_specs"]
    node = nodes[root]
    words = [f"{node['name']}@{node['version']}"]
    for dependency in node.get("dependencies", []):
        on = nodes[dependency["hash"]]
        virtuals = dependency["parameters"]["virtuals"]
        if "c" in virtuals:
            words.append(f"%{on['name']}@{on['version']}")
        elif "mpi" in virtuals:
            words.append(f"^{on['name']}@{on['version']}")
    target = node["arch"]["target"]
    words.append(f"target={target['name'] if isinstance(target, dict) else target}")
    return root, " ".join(words)


def main() -> int:
    """Command line of this program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, required=True, help="folder with a packages.yaml")
    parser.add_argument("--directory", type=Path, required=True, help="the environment's folder")
    parser.add_argument("--mpi", required=True, help="spec of the MPI")
    parser.add_argument("--spec", required=True, help="spec of what to install")
    arguments = parser.parse_args()
    try:
        view = install(
            arguments.site.resolve(), arguments.directory.resolve(), arguments.mpi, arguments.spec
        )
    except SpackError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"installed in {view}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
