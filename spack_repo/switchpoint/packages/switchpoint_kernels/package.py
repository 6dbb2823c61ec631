"""Spack's recipe for the kernels in `src/`, taken from the git checkout that this file lies in.

Each MPI has a build tree of its own, and an installation that names the wrong MPI is refused.
"""

import os
import re
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import (
    Executable,
    InstallError,
    depends_on,
    license,
    microarchitecture_flags,
    on_package_attributes,
    run_after,
    variant,
    version,
)

#: Sonames of libmpi in Open MPI 3 to 5 and in its descendants.
OPEN_MPI = r"libmpi\.so\.40$"
OPEN_MPI_FAMILY = ("openmpi", "hpcx-mpi", "spectrum-mpi")
#: All others keep the MPICH ABI (https://www.mpich.org/abi/), under names such as Debian's
#: libmpich and Cray's libmpi_gnu.
MPICH_ABI = r"libmpi(ch)?(_\w+)?\.so\.12$"


class SwitchpointKernels(CMakePackage):
    """MPI kernels that measure one communication pattern each and write run records."""

    git = Path(__file__).resolve().parents[4].as_uri()

    license("Apache-2.0")

    # A branch moves: name a commit (`commit=...`) to build just that, as the checks do.
    version("main", branch="main")

    variant("fft", default=True, description="Build the application fft")
    variant("jpeg", default=True, description="Build the application jpeg")
    variant("linear", default=True, description="Build the application linear")
    variant("hwloc", default=True, description="Record the topology of the machine")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi")

    # The arithmetic of study 004's applications.
    depends_on("pkgconfig", type="build", when="+fft")
    depends_on("pkgconfig", type="build", when="+jpeg")
    depends_on("pkgconfig", type="build", when="+linear")
    depends_on("fftw@3: ~mpi precision=double", when="+fft")
    depends_on("libjpeg-turbo@2:", when="+jpeg")
    depends_on("openblas threads=none", when="+linear")

    # Sockets, caches and hardware threads in the record.
    depends_on("pkgconfig", type="build", when="+hwloc")
    depends_on("hwloc@2:", when="+hwloc")

    root_cmakelists_dir = "src"

    def flag_handler(self, name, flags):
        """Hand all flags to CMake, those of the target too: records show what CMake knows."""
        if name == "cflags":
            flags = [*flags, *microarchitecture_flags(self.spec, "c").split()]
        return None, None, flags

    def cmake_args(self):
        """Name the MPI, and what goes into every record."""
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("SWITCHPOINT_BUILDER", "spack"),
            self.define("SWITCHPOINT_SPEC_HASH", self.spec.dag_hash()),
            self.define("BUILD_TESTING", False),
            self.define_from_variant("SWITCHPOINT_FFT", "fft"),
            self.define_from_variant("SWITCHPOINT_JPEG", "jpeg"),
            self.define_from_variant("SWITCHPOINT_LINEAR", "linear"),
            self.define_from_variant("SWITCHPOINT_HWLOC", "hwloc"),
            self.define("SWITCHPOINT_PVM", False),  # no PVM of the machine's own gets in unasked
        ]

    @run_after("install")
    def assert_linkage(self):
        """Refuse programs that are linked to another MPI than the one in the spec."""
        provider = self.spec["mpi"].name
        expected = re.compile(OPEN_MPI if provider in OPEN_MPI_FAMILY else MPICH_ABI)
        readelf = Executable("readelf")
        programs = sorted(Path(self.prefix.bin).glob("*"))
        if not programs:
            raise InstallError("the build installed no program")
        for program in programs:
            dynamic = readelf("-d", str(program), output=str)
            needed = re.findall(r"\(NEEDED\).*\[(libmpi.*)\]", dynamic)
            if not any(expected.match(library) for library in needed):
                raise InstallError(
                    f"{program.name} is linked to {', '.join(needed) or 'no MPI library'}, which "
                    f"is not {provider}: {self.spec['mpi'].mpicc} is not what its name says"
                )

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def run_once(self):
        """`spack install --test=root`: the programs start and talk."""
        self.test_pingpong()

    def test_pingpong(self):
        """Two ranks exchange verified messages, and the record is complete."""
        mpiexec = Executable(self.spec["mpi"].prefix.bin.mpiexec)
        if os.geteuid() == 0:
            mpiexec.add_default_env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            mpiexec.add_default_env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        sweep = ["--sizes=8,65536", "--passes=1", "--samples=2", "--record=pingpong.record"]
        output = mpiexec("-n", "2", self.prefix.bin.pingpong, *sweep, output=str)
        if "switchpoint: complete kernel=pingpong" not in output:
            raise InstallError(f"pingpong wrote no end marker: {output}")
