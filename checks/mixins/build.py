"""Builds what the checks run, once for each programming environment, with CMake or with Spack.

`BuildsEnded` keeps whatever is measured waiting until all builds of the session have ended.
"""

import fcntl
import re
import shlex
import shutil
import sys
from pathlib import Path

import reframe as rfm
import reframe.core.runtime as rt
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function, variable
from reframe.core.exceptions import ReframeError, SanityError
from reframe.core.logging import getlogger
from switchpoint.cores import free_cores
from switchpoint.errors import InputError
from switchpoint.shipped import in_checkout, shipped
from switchpoint.sites.doctor import noise
from switchpoint.spack.lock import NAME as LOCK
from switchpoint.spack.lock import read_lock
from switchpoint.spack.specs import parse

from .image import image_of, in_image
from .session import OwnStageMixin, leave_slots

#: The program that makes Spack's environments.
ENVIRONMENT = Path(__file__).with_name("spack_environment.py")

#: File in the folder of the build trees that every build holds a shared lock of while it lasts.
BUILDING = ".building"

#: Said in place of waiting for other builds where files cannot be locked.
NO_LOCKS = "echo 'this file system has no locks: build in one session at a time'"


class ProgramBuild(rfm.CompileOnlyRegressionTest, OwnStageMixin):
    """Builds programs against the environment's own MPI.

    Build trees and Spack environments stay between sessions, one for each system and environment,
    so that a second session compiles nothing. A child defines ``spack_spec``, what else than Spack
    may build it in ``prepare_other_build``, and where the programs then are.
    """

    build_system = "CustomBuild"
    sourcesdir = None
    valid_systems = ["*"]
    valid_prog_environs = ["+mpi"]

    #: What builds: ``cmake`` with the environment's ``cc``, or ``spack`` with the MPI of the same
    #: name (or the environment's ``extras['spack_mpi']``) from the site's ``packages.yaml``. An
    #: environment whose ``spack_mpi`` is None is left out by ``spack``.
    #:
    #: :type: :class:`str`
    builder = variable(str, value="cmake")

    #: Spec to install when Spack builds.
    #:
    #: :type: :class:`str`
    spack_spec = variable(str)

    #: A spack.lock to build from, such as the one that is kept with each result, instead of a spec;
    #: environments of another MPI, and other packages, are then left out.
    #:
    #: :type: :class:`str`
    spack_lock = variable(str, value="")

    #: Name of the option that gives `spack_spec`, for messages.
    spec_option = "spack_spec"

    #: Builds of this session, from their setup phase on.
    of_session = []

    #: Whether this build's turn has come; until then it waits for one of ReFrame's local slots.
    begun = False

    #: Where the build trees are; empty for ``build`` in the checkout, or, where the package is
    #: installed, beside ReFrame's own ``stage``.
    #:
    #: :type: :class:`str`
    build_root = variable(str, value="")

    @run_after("setup", always_last=True)
    def join_session(self):
        """Let `BuildsEnded` know of this build before any build of the session starts.

        Last, because a build that fails before would never end.
        """
        self.of_session.append(self)

    @run_before("compile")
    def prepare_build(self):
        """Hand over to the builder that was chosen, and to no other."""
        self.begun = True
        if self.builder not in ("cmake", "spack"):
            raise ReframeError(f"there is no builder '{self.builder}': -S builder=cmake or spack")
        if self.by_spack:
            self.prepare_spack_build()
        else:
            self.prepare_other_build()
        # Held until the script ends, however it does; see `other_sessions_build`.
        self.build_system.commands = [
            # NFS locks a file for readers only if it is open for reading.
            f"mkdir -p {quoted(self.builds)} && exec 8<>{quoted(self.builds / BUILDING)}",
            f"flock --shared 8 || {NO_LOCKS}",
            *self.build_system.commands,
        ]

    @property
    def has_ended(self):
        """Whether the build's script has ended, or never started since something was wrong."""
        return self.begun and (
            self.build_job.jobid is None or self.build_job.completion_time is not None
        )

    @property
    def builds(self):
        """Folder of the build trees, from the setup phase on."""
        if self.build_root:
            return Path(self.build_root).resolve()
        if in_checkout():
            return shipped("build")
        # The stage folder is PREFIX/stage/SYSTEM/PARTITION/ENVIRON/TEST.
        return Path(self.stagedir).resolve().parents[4] / "build"

    @property
    def environments(self):
        """Folder of this environment's Spack environments, from the setup phase on."""
        return self.builds / "spack" / self.current_system.name / self.current_environ.name

    @property
    def other_sessions_build(self):
        """Whether a build of any session that has this folder of build trees is under way."""
        try:
            with Path(self.builds, BUILDING).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        except OSError:  # no locks on this file system
            return False
        return False

    @property
    def by_spack(self):
        """Whether Spack builds this."""
        return self.builder == "spack"

    def prepare_spack_build(self):
        """Complete the site's externals, then install an environment of the build's own.

        Both programs say in one line what they lack. ReFrame's own word for a failed job is its
        exit code, so failing is left to `validate_build`, which has that line.
        """
        here = self.current_system.name, self.current_environ.name
        extras = self.current_environ.extras
        mpi = extras.get("spack_mpi", extras["mpi"])
        self.skip_if(image_of(self), "Spack does not build in images: -S builder=cmake")
        self.skip_if(
            mpi is None,
            f"environment '{here[1]}' has no MPI that Spack can take (its extras['spack_mpi'] is "
            "None): -S builder=cmake",
        )
        try:
            wanted = self.spec_words(mpi)
        except InputError as error:
            raise ReframeError(error) from None
        externals = self.builds / "spack" / here[0] / "externals"
        complete = [
            *(sys.executable, "-m", "switchpoint", "doctor", "--json", "--spack"),
            *(f"--site={site_folder()}", f"--write={externals}", f"--mpi={mpi}"),
        ]
        install = [
            *(sys.executable, str(ENVIRONMENT), f"--site={externals}", f"--mpi={mpi}"),
            *(f"--environments={self.environments}", *wanted),
        ]
        self.build_system.commands = [
            f"if {shlex.join(complete)} && {shlex.join(install)}; then echo 'Spack is done'; fi"
        ]

    def spec_words(self, mpi):
        """What is to be installed, as options; skips what is not of the lock that was given."""
        package = parse(self.spack_spec, self.spec_option).package
        if not self.spack_lock:
            return [f"--spec={self.spack_spec}", f"--option={self.spec_option}"]
        path = Path(self.spack_lock).absolute()
        lock = read_lock(path)
        locked = lock.provider("mpi")
        self.skip_if(
            lock.root.name != package, f"{path} is of {lock.root.name}, and not of {package}"
        )
        self.skip_if(
            locked is None or locked.name != parse(mpi, "spack_mpi").package,
            f"{path} is for {locked.name if locked else 'no MPI'}, and not for {mpi}",
        )
        return [f"--lock={path}"]

    @sanity_function
    def validate_build(self):
        """Spack must have ended well, and the programs must be there."""
        if self.by_spack:
            self.directory = self.installed_environment()
        return sn.assert_true(
            any(self.programs.glob("*")), f"the build left no program in {self.programs}"
        )

    def installed_environment(self):
        """Folder of Spack's environment, or the one line that says why not; pass warnings on."""
        said = Path(self.stagedir, sn.evaluate(self.stdout)).read_text()
        installed = re.search(r"^installed in (.*)$", said, re.MULTILINE)
        if installed is None:
            complaint = Path(self.stagedir, sn.evaluate(self.stderr)).read_text().strip()
            raise SanityError(complaint.splitlines()[-1] if complaint else "Spack was ended")
        for line in said.splitlines():
            if line.startswith("warning: "):
                getlogger().warning(line.removeprefix("warning: "))
        return Path(installed[1])

    @property
    def provenance(self):
        """What is known of the build beyond what the programs say, as labels."""
        if not self.by_spack:
            return {}
        lock = read_lock(self.lockfile)
        return {"spack_spec": lock.spec, "spack_hash": lock.root.hash}

    @property
    def files_to_keep(self):
        """Files that belong to each result."""
        return [str(self.lockfile)] if self.by_spack else []

    @property
    def lockfile(self):
        """What Spack concretized."""
        return self.directory / LOCK


class BuildsEnded(rfm.RunOnlyRegressionTest, OwnStageMixin, special=True):
    """Ends when all builds of the session have ended, well or not, and those of other sessions too.

    What measures has this as a fixture of scope ``session``: where nodes are shared, a build beside
    a measurement would be measured with it. ReFrame sets up all tests without dependencies, which
    builds are, before it starts any; from then on this test takes part in nothing but being polled,
    so however many builds there are, and however short, none is missed, and nothing is left behind
    by a session that is killed.
    """

    descr = "wait for the builds to end"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    local = True
    executable = "true"

    @run_after("init")
    def choose_existing_partition(self):
        """Wait on a partition that has the environment.

        With ``-p``, ReFrame gives a fixture of scope ``session`` the last partition, although only
        an earlier one may have the environment that is left (4.10.4); then no test would run.
        """
        if any(rt.valid_sysenv_comb(self.valid_systems, self.valid_prog_environs).values()):
            return
        for partition, environs in rt.valid_sysenv_comb(["*"], self.valid_prog_environs).items():
            if environs:
                self.valid_systems = [partition.fullname]

    @run_before("run")
    def leave_a_slot(self):
        """Refuse a site where this test would keep the builds from starting."""
        leave_slots(1)

    def run_complete(self):
        """Return whether there is nothing more to wait for; ReFrame asks again and again."""
        builds = ProgramBuild.of_session
        return (
            super().run_complete()
            and all(build.has_ended for build in builds)
            and not any(build.other_sessions_build for build in builds[-1:])
        )

    @run_before("sanity")
    def say_if_the_machine_is_busy(self):
        """Warn before anything is measured, where the ranks run on this machine."""
        partitions = self.current_system.partitions
        if not any("most_ranks" in partition.extras for partition in partitions):
            return
        # One interruption is no busy machine: all of three looks must say so.
        if all((found := noise()).state != "ok" for _ in range(3)):
            getlogger().warning(
                f"this machine is busy ({found.found}): {found.fix}, or expect fewer findings"
            )

    @sanity_function
    def validate_wait(self):
        """Take builds that failed for what they are: a reason for their own tests to fail."""
        return True


class KernelBuild(ProgramBuild):
    """Builds every kernel in ``src/``."""

    descr = "build the kernels"
    spack_spec = "switchpoint-kernels@main"

    def prepare_other_build(self):
        """Configure and build with CMake in a tree of the environment's own."""
        self.directory = self.builds / self.current_system.name / self.current_environ.name
        tree, sources = quoted(self.directory), shipped("src")
        folders = self.directory, shipped("") if in_checkout() else sources  # with its commit
        options = f"-DMPI_C_COMPILER={quoted(self.current_environ.cc)} -DBUILD_TESTING=OFF"
        self.build_system.commands = [
            # Two sessions may want the same tree; the lock lasts as long as the build script.
            f"mkdir -p {tree} && exec 9>{tree}/.lock",
            f"flock 9 || {NO_LOCKS}",
            # The environment's modules may bring another MPI than last time; CMake would keep the
            # one it knows. What stays the same is not compiled again.
            f"rm -f {tree}/CMakeCache.txt",
            in_image(self, f"cmake -S {quoted(sources)} -B {tree} {options}", *folders),
            in_image(self, f"cmake --build {tree} --parallel {free_cores()}", *folders),
        ]

    @property
    def programs(self):
        """Folder of the built programs."""
        return self.directory / "view/bin" if self.by_spack else self.directory / "bin"

    def program(self, name):
        """Path of a built program."""
        return str(self.programs / name)


class PeerBuild(ProgramBuild):
    """Builds programs of other projects with Spack, or uses those that the site already has.

    A child gives its spec to ``spack_spec`` and finds the site's programs in
    ``prepare_other_build``.
    """

    @property
    def labels(self):
        """What made the programs, as labels of their output."""
        return {"builder": "spack" if self.by_spack else "site", **self.provenance}


class OsuBuild(PeerBuild):
    """The OSU Micro-Benchmarks."""

    descr = "build the OSU Micro-Benchmarks"

    #: Spec of the OSU Micro-Benchmarks; apart from the kernels' own.
    #:
    #: :type: :class:`str`
    osu_spec = variable(str, value="osu-micro-benchmarks")

    spec_option = "osu_spec"

    @run_before("setup")
    def take_osu_spec(self):
        """Give the spec to the builder under the name that it knows."""
        self.spack_spec = self.osu_spec

    def prepare_other_build(self):
        """Build nothing: the environment names a folder with ``pt2pt`` and ``collective`` in it."""
        folder = self.current_environ.extras.get("osu")
        self.skip_if(
            folder is None,
            f"no OSU: build it with -S builder=spack, or name its folder (with pt2pt and "
            f"collective in it) in extras['osu'] of environment '{self.current_environ.name}'",
        )
        self.directory = Path(folder)
        self.build_system.commands = [f"ls {folder}/pt2pt {folder}/collective"]

    @property
    def programs(self):
        """Folder with the programs' folders."""
        if self.by_spack:
            return self.directory / "view/libexec/osu-micro-benchmarks/mpi"
        return self.directory

    def program(self, name):
        """Path of a program, named with its folder: ``pt2pt/osu_latency``."""
        return str(self.programs / name)


class ImbBuild(PeerBuild):
    """IMB-MPI1 of the Intel MPI Benchmarks."""

    descr = "build the Intel MPI Benchmarks"

    #: Spec of the Intel MPI Benchmarks; apart from the kernels' own. The recipe builds IMB-MT too,
    #: whose Makefile knows how to ask for OpenMP only of compilers named without a path.
    #:
    #: :type: :class:`str`
    imb_spec = variable(str, value="intel-mpi-benchmarks cxxflags=-fopenmp")

    #: Path of an IMB-MPI1 to take whatever the builder; else the environment's ``extras['imb']``
    #: where Spack does not build it.
    #:
    #: :type: :class:`str`
    imb = variable(str, value="")

    spec_option = "imb_spec"

    @run_before("setup")
    def take_imb_spec(self):
        """Give the spec to the builder under the name that it knows."""
        self.spack_spec = self.imb_spec

    @property
    def by_spack(self):
        """Whether Spack builds this: a program that was named is taken instead."""
        return self.builder == "spack" and not self.imb

    def prepare_other_build(self):
        """Build nothing: take the program that was named."""
        environ = self.current_environ
        named = self.imb or environ.extras.get("imb")
        self.skip_if(
            named is None,
            f"no IMB-MPI1 for environment '{environ.name}': build it with -S builder=spack, or "
            f"name it with -S imb=PATH or in the environment's extras['imb']",
        )
        program = shutil.which(named)
        if program is None:
            raise ReframeError(f"there is no program {named}: correct -S imb or extras['imb']")
        self.directory = Path(program).parent
        self.build_system.commands = [f"ls {quoted(program)}"]

    @property
    def programs(self):
        """Folder of the program."""
        return self.directory / "view/bin" if self.by_spack else self.directory

    @property
    def program(self):
        """Path of IMB-MPI1."""
        return str(self.programs / "IMB-MPI1")


def quoted(path):
    """Return a path as one word of the shell."""
    return shlex.quote(str(path))


def site_folder():
    """Folder of the site: where its ReFrame configuration lies, beside its ``packages.yaml``."""
    sources = [Path(source) for source in rt.runtime().site_config.sources]
    folders = [path.resolve().parent for path in sources if path.exists()]
    with_packages = [folder for folder in folders if (folder / "packages.yaml").exists()]
    return (with_packages or folders)[-1]
