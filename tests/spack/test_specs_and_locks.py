"""Specs and locks are read without Spack: what is asked for, and what was built."""

from pathlib import Path

import pytest
from switchpoint.errors import SpackError
from switchpoint.spack.lock import read_lock
from switchpoint.spack.specs import contradictions, not_default, parse
from switchpoint.spack.versions import satisfies

LOCKS = Path(__file__).parent / "locks"
COMMIT = "301dee895a3bd0a7cba54aa7ed51daa3053853c3"


@pytest.mark.parametrize(
    ("spec", "with_commit"),
    [
        ("switchpoint-kernels", "switchpoint-kernels@main commit=abc"),
        ("switchpoint-kernels@main", "switchpoint-kernels@main commit=abc"),
        ("switchpoint-kernels+linear~fft", "switchpoint-kernels@main+linear~fft commit=abc"),
        ("switchpoint-kernels@main%gcc@12", "switchpoint-kernels@main commit=abc %gcc@12"),
        (
            'switchpoint-kernels cflags="-g -O1 %x" %c,cxx=gcc@12 ^openmpi@4+legacy',
            'switchpoint-kernels@main cflags="-g -O1 %x" commit=abc %c,cxx=gcc@12 '
            "^openmpi@4+legacy",
        ),
        (
            "switchpoint.switchpoint-kernels build_type=Debug",
            "switchpoint.switchpoint-kernels@main build_type=Debug commit=abc",
        ),
    ],
)
def test_a_commit_goes_where_any_spec_stays_one(spec, with_commit):
    assert parse(spec, "spack_spec").with_commit("abc") == with_commit


def test_a_spec_is_read_in_its_parts():
    request = parse(
        "kernels@1.2: +a ~b c=d cflags='-g -O1' target=zen4 -e %gcc@12 %[virtuals=c] llvm ^mpi@3",
        "spack_spec",
    )
    assert request.package == "kernels"
    assert request.version == "1.2:"
    assert request.variants == {
        "a": "True", "b": "False", "c": "d", "cflags": "-g -O1", "e": "False"
    }  # fmt: skip
    assert request.architecture == {"target": "zen4"}
    assert request.compilers == [("gcc", "12"), ("llvm", None)]


@pytest.mark.parametrize("spec", ["", "@@", "+a", "kernels@@", "kernels+", "kernels a=", "k /abc"])
def test_what_is_no_spec_is_refused_by_the_name_of_its_option(spec):
    with pytest.raises(SpackError, match=r"-S osu_spec="):
        parse(spec, "osu_spec")


def test_a_lock_gives_the_spec_with_all_that_tells_builds_apart():
    assert read_lock(LOCKS / "debug.lock").spec == (
        "switchpoint-kernels@main ~fft~ipo~jpeg~linear build_system=cmake build_type=Debug "
        f"commit={COMMIT} generator=make target=x86_64 %gcc@12.2.0 ^openmpi@4.1.4"
    )


@pytest.mark.parametrize(
    ("spec", "contradiction"),
    [
        ("switchpoint-kernels@main", []),
        (f"switchpoint-kernels@main commit={COMMIT} build_type=Release~fft %gcc@12", []),
        ("switchpoint-kernels target=x86_64 %c=gcc", []),
        ("switchpoint-kernels@1", ["@1, but @main"]),
        ("switchpoint-kernels build_type=Debug", ["build_type=Debug, but build_type=Release"]),
        ("switchpoint-kernels+fft", ["fft=True, but fft=False"]),
        ("switchpoint-kernels cflags=-g", ["cflags=-g, but cflags="]),
        ("switchpoint-kernels nosuch=1", ["nosuch=1, but nosuch=no such variant"]),
        ("switchpoint-kernels target=zen4", ["target=zen4, but target=x86_64"]),
        ("switchpoint-kernels %gcc@13", ["%gcc@13, but %gcc@12.2.0"]),
        ("switchpoint-kernels %llvm", ["%llvm, but %gcc"]),
        ("switchpoint-kernels commit=abc", [f"commit=abc, but commit={COMMIT}"]),
        ("osu-micro-benchmarks", ["osu-micro-benchmarks, but switchpoint-kernels"]),
    ],
)
def test_a_lock_is_compared_with_the_request(spec, contradiction):
    lock = read_lock(LOCKS / "release.lock")
    assert list(contradictions(parse(spec, "spack_spec"), lock)) == contradiction


def test_a_lock_is_compared_with_the_defaults():
    lock = read_lock(LOCKS / "debug.lock")
    defaults = {"build_type": "Release", "fft": "False"}
    plain = parse("switchpoint-kernels", "spack_spec")
    asked = parse("switchpoint-kernels build_type=Debug", "spack_spec")
    assert list(not_default(plain, lock, defaults)) == ["build_type=Debug (default Release)"]
    assert list(not_default(asked, lock, defaults)) == []


@pytest.mark.parametrize(
    ("version", "constraint", "within"),
    [
        ("4.1.4", "4.1", True),
        ("4.10.1", "4.1", False),
        ("4.1.4", "=4.1", False),
        ("4.1.4", "=4.1.4", True),
        ("4.1.4", "4:", True),
        ("4.1.4", ":4.1", True),
        ("4.1.4", ":4.0", False),
        ("5.0.0rc2", "5.0.0:", False),
        ("4.1.4", "5,4.1", True),
        ("main", "main", True),
        ("main", "4:", True),
    ],
)
def test_versions_are_compared_as_spack_does(version, constraint, within):
    assert satisfies(version, constraint) is within
