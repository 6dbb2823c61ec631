"""Makes Spack environments from the project's spack.yaml and installs them; twice costs nothing.

A program of its own, which the builds run; every lack is one line on standard error.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from switchpoint.cores import free_cores
from switchpoint.errors import InputError, SpackError
from switchpoint.spack.installation import ask_spack, find_spack
from switchpoint.spack.lock import NAME as LOCK
from switchpoint.spack.lock import Lock, read_lock
from switchpoint.spack.lock_programs import prefixes_of_site, unsafe_part
from switchpoint.spack.packages import KERNELS, problem_of_external, read_packages
from switchpoint.spack.specs import Request, contradictions, not_default, parse

ROOT = Path(__file__).resolve().parents[2]

#: Spack solves these specs in seconds; where it does not, something of its configuration is wrong,
#: such as a compiler that is not there, which makes it search for ever.
CONCRETIZE_LIMIT_S = 600


@dataclass(frozen=True)
class Wanted:
    """What a build asks for.

    Attributes
    ----------
    mpi : str
        Spec of the MPI.
    spec : str
        Spec of what is to be installed; with a `lock`, empty.
    option : str
        The option that gave the spec, for messages.
    lock : Path or None
        A spack.lock to install from, instead of concretizing.
    concretize_limit_s : float
        After so long in seconds concretizing is ended.
    """

    mpi: str
    spec: str
    option: str = "spack_spec"
    lock: Path | None = None
    concretize_limit_s: float = CONCRETIZE_LIMIT_S


def install(site: Path, environments: Path, wanted: Wanted) -> Path:
    """Make the environment that follows from what is wanted, and install it.

    Parameters
    ----------
    site
        Folder with the packages.yaml, and what else of Spack's configuration the site has.
    environments
        Folder of the environments. Each has a name that follows from everything it was made from,
        so that none is ever changed: jobs that still wait for their turn keep their programs.
    wanted
        What to install.

    Returns
    -------
    Path
        The environment's folder; the `bin` and `libexec` of its `view` hold the programs.

    Raises
    ------
    InputError
        One sentence: what is wrong, and the fix.
    """
    spack, version = find_spack()
    if not (ROOT / "spack.yaml").exists():
        raise SpackError(
            f"{ROOT} has no spack.yaml: an installed package does not build with Spack; use the "
            "checks of a clone of the project, or -S builder=cmake"
        )
    lock = read_lock(wanted.lock) if wanted.lock else None
    spec = pinned(wanted) if lock is None else lock.requested
    request = parse(spec, wanted.option)
    if lock is not None:
        check_lock(lock, wanted, site)
    manifest = manifest_for(site, wanted.mpi, spec)
    text = "" if wanted.lock is None else wanted.lock.read_text(encoding="utf-8")
    directory = environments / f"{request.package}-{fingerprint(manifest, site, version, text)}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(directory, f"cannot be made ({error.strerror}); -S build_root") from None
    with one_at_a_time(directory / "lock"):
        if not (directory / "concretized").exists():
            concretize(spack, directory, manifest, text, wanted)
            check_concretized(directory, request, wanted)
            (directory / "concretized").touch()
        # Two installs that fetch the same commit would both write its archive in Spack's cache.
        with one_at_a_time(Path(tempfile.gettempdir(), f"switchpoint-spack-{os.getuid()}.lock")):
            run(spack, directory, wanted, "install", f"--jobs={free_cores()}")
        if not (directory / "view").is_dir():
            raise InputError(
                directory, "has no view after `spack install`; remove the folder, and build again"
            )
    return directory


def concretize(spack: str, directory: Path, manifest: str, lock: str, wanted: Wanted) -> None:
    """Begin an environment: from a lock's text, or by letting Spack concretize."""
    for leftover in ("view", LOCK):
        (directory / leftover).unlink(missing_ok=True)
    # Spack does not overwrite what a build that failed left of its view.
    shutil.rmtree(directory / "._view", ignore_errors=True)
    (directory / "spack.yaml").write_text(manifest)
    if lock:
        (directory / LOCK).write_text(lock, encoding="utf-8")
    else:
        run(spack, directory, wanted, "concretize", "--force", limit_s=wanted.concretize_limit_s)


def check_concretized(directory: Path, request: Request, wanted: Wanted) -> None:
    """Compare what was concretized with what was asked for and with the recipe's defaults."""
    lock = read_lock(directory / LOCK)
    if problems := list(contradictions(request, lock)):
        raise InputError(
            directory / LOCK,
            f"is not what {wanted.option} asks for: {'; '.join(problems)}; remove its folder, and "
            "build again",
        )
    defaults = ask_spack("defaults", request.package, options=("-e", str(directory)))
    if defaults is None:
        print(f"warning: Spack does not print the defaults of {request.package}: not compared")
        return
    for variant in not_default(request, lock, defaults):
        print(
            f"warning: {request.package} is built with {variant}, which {wanted.option} does not "
            "ask for: Spack's configuration does"
        )


def check_lock(lock: Lock, wanted: Wanted, site: Path) -> None:
    """Refuse a lock for another MPI, or that names programs which are not of this machine."""
    assert wanted.lock is not None
    if unsafe := unsafe_part(lock):
        raise InputError(wanted.lock, f"is not used: {unsafe}; concretize here")
    mpi = lock.provider("mpi")
    name = parse(wanted.mpi, "spack_mpi").package
    if mpi is None or mpi.name != name:
        locked = "no MPI" if mpi is None else mpi.name
        raise InputError(wanted.lock, f"is for {locked}, not for {name}; choose with -p ENVIRON")
    commit = lock.root.variants.get("commit", "")
    if lock.root.name == KERNELS and git("cat-file", "-e", f"{commit}^{{commit}}").returncode:
        raise InputError(
            wanted.lock, f"is of commit {commit[:12]}, which {ROOT} does not have; fetch it"
        )
    own = prefixes_of_site(read_packages(site))
    missing = [problem for node in lock.nodes() if (problem := problem_of_external(node, own))]
    if missing:
        raise InputError(
            wanted.lock,
            f"{missing[0]}{f' (and {len(missing) - 1} more)' if missing[1:] else ''}; concretize "
            "here: leave -S spack_lock out",
        )


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made if missing."""
    # Others may write to the folder of temporary files: what they lay there is not followed.
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(file, flags, 0o600), "r+") as lock:  # noqa: PTH123
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pinned(wanted: Wanted) -> str:
    """Name the commit that is checked out, where a spec of our kernels names none.

    Without it Spack would take a branch's head, which need not be what is checked out. It is the
    commit of the checkout, not the last one that changed the sources, which a shallow clone cannot
    know: clones of one commit give one hash.
    """
    request = parse(wanted.spec, wanted.option)
    named = request.version is not None and request.version not in ("main", "=main")
    if request.package != KERNELS or "commit" in request.variants or named:
        return wanted.spec
    completed = git("rev-parse", "HEAD")
    commit = completed.stdout.strip()
    if completed.returncode or not commit:
        raise SpackError(
            f"{ROOT} is no git checkout ({first_error(completed.stderr)}), and Spack builds from "
            "commits; clone the project"
        )
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src").stdout
    if changed:
        print(f"warning: src/ has changes that are not committed; Spack builds {commit[:12]}")
    return request.with_commit(commit)


def manifest_for(site: Path, mpi: str, spec: str) -> str:
    """The project's spack.yaml with absolute paths, one MPI and one spec."""
    spack = yaml.safe_load((ROOT / "spack.yaml").read_text(encoding="utf-8"))["spack"]
    spack["include"] = [str(site)]
    spack["repos"] = {name: str(ROOT / path) for name, path in spack["repos"].items()}
    spack["packages"]["mpi"]["require"] = [mpi]
    spack["specs"] = [spec]
    spack["view"] = "view"
    return str(yaml.safe_dump({"spack": spack}, sort_keys=False))


def fingerprint(manifest: str, site: Path, *texts: str) -> str:
    """First digits of a hash of all that an environment follows from."""
    recipes = sorted(ROOT.glob("spack_repo/*/packages/switchpoint_kernels/package.py"))
    parts = [text.encode() for text in (manifest, *texts)]
    parts += [path.read_bytes() for path in [*sorted(site.glob("*.yaml")), *recipes]]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def run(
    spack: str,
    directory: Path,
    wanted: Wanted,
    action: str,
    *options: str,
    limit_s: float | None = None,
) -> None:
    """Run a command of Spack's in an environment, and show what it says."""
    process = subprocess.Popen(
        [spack, "--color=never", "-e", str(directory), action, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    ended_late = threading.Event()

    def end() -> None:
        ended_late.set()
        process.terminate()

    timer = threading.Timer(limit_s or 0, end)
    if limit_s:
        timer.start()
    assert process.stdout is not None
    output = []
    for line in process.stdout:
        print(line, end="", flush=True)
        output.append(line)
    failed = process.wait() != 0
    timer.cancel()
    if ended_late.is_set():
        raise SpackError(
            f"spack {action} took more than {limit_s:.0f} s and was ended; run `switchpoint doctor "
            "--spack --site ...`: a compiler or repository that is not there makes Spack search"
        )
    if failed:
        raise SpackError(explain(action, "".join(output), wanted))


def explain(action: str, output: str, wanted: Wanted) -> str:
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
            f"the spec does not concretize: {error}; correct -S {wanted.option}=..., or the site's "
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


def main() -> int:
    """Command line of this program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, required=True, help="folder with a packages.yaml")
    parser.add_argument("--environments", type=Path, required=True, help="where to make them")
    parser.add_argument("--mpi", required=True, help="spec of the MPI")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--spec", help="spec of what to install")
    what.add_argument("--lock", type=Path, help="spack.lock to install from")
    parser.add_argument("--option", default="spack_spec", help="what messages call the spec")
    parser.add_argument(
        "--concretize-limit", type=float, default=CONCRETIZE_LIMIT_S, help="seconds for it"
    )
    given = parser.parse_args()
    wanted = Wanted(given.mpi, given.spec or "", given.option, given.lock, given.concretize_limit)
    try:
        directory = install(given.site.resolve(), given.environments.resolve(), wanted)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"installed in {directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
