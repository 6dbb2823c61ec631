"""Machines that cannot hold a testbed: one line that names what is missing and the fix.

Each lack is made for real, in namespaces of the test's own, so the machine is not changed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from beds import TESTBED, Bed, Done

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide a file from itself")


def up_after(bed: Bed, preparation: str, *enter: str, within: str = "") -> Done:
    """Run `testbed up` in a shell in a mount namespace, after `preparation`."""
    up = shlex.join([str(TESTBED), "up", "--name", bed.name])
    return bed.run(["unshare", "-m", *enter, "sh", "-ec", f"{preparation}\nexec {within} {up}"])


@as_root
@pytest.mark.parametrize(
    ("program", "package"),
    [("slurmd", "slurmd"), ("munged", "munge"), ("srun", "slurm-client"), ("tc", "iproute2")],
)
def test_a_missing_program_is_named_with_its_debian_package(
    new_bed: Callable[[str], Bed], program: str, package: str
) -> None:
    path = Path(shutil.which(program) or f"/usr/sbin/{program}").resolve()
    done = up_after(new_bed("lacking"), f"mount --bind /dev/null {path}")
    assert done.returncode == 2
    assert done.stderr == (
        f"testbed: missing {program}: install with `apt-get install {package}`\n"
    )


@as_root
def test_a_controller_that_does_not_start_is_named_with_its_log(
    new_bed: Callable[[str], Bed],
) -> None:
    plugins = next(Path("/usr/lib").glob("*/slurm*/topology_tree.so"))
    bed = new_bed("headless")
    done = up_after(bed, f"mount --bind /dev/null {plugins}")
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: slurmctld does not start: slurmctld: fatal: ")
    assert f"(see {bed.folder}/logs/slurmctld.log)" in done.stderr
    assert (bed.folder / "logs" / "slurmctld.log").exists()
    assert bed.testbed("down").returncode == 0


@as_root
def test_root_without_the_right_to_make_namespaces_is_told_so(
    new_bed: Callable[[str], Bed],
) -> None:
    bed = new_bed("contained")
    weak = ["setpriv", "--bounding-set=-sys_admin", TESTBED, "up", "--name", bed.name]
    done = bed.run(weak)
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: this machine refuses namespaces (")
    assert "root has no CAP_SYS_ADMIN" in done.stderr


#: Shows all of the machine's folders below $new, too.
COPY_OF_ROOT = """
mkdir -p "$new"
for entry in /*; do
    if [ -L "$entry" ]; then
        cp -P "$entry" "$new$entry"
    elif [ -d "$entry" ]; then
        mkdir "$new$entry"
        mount --rbind "$entry" "$new$entry"
    fi
done
"""


@as_root
def test_a_chroot_without_a_mounted_root_is_told_how_to_mount_it(
    new_bed: Callable[[str], Bed], tmp_path: Path
) -> None:
    bed = new_bed("plain")
    done = up_after(bed, f"new={tmp_path}/root\n{COPY_OF_ROOT}", within=f"chroot {tmp_path}/root")
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: this machine refuses namespaces (")
    assert done.stderr.endswith("mount it on itself (mount --bind DIR DIR)\n")


@as_root
def test_jobs_of_a_testbed_in_a_chroot_see_the_chroot(
    new_bed: Callable[[str], Bed], tmp_path: Path
) -> None:
    bed, new = new_bed("chrooted"), tmp_path / "root"
    new.mkdir()
    (new / "only-in-the-chroot").touch()
    job = "srun -N1 sh -c 'ls /only*'"
    script = f"{TESTBED} up --name {bed.name} >&2 && PATH={bed.folder}/bin:$PATH {job}"
    mounted = f"mount --bind {new} {new}\nnew={new}\n{COPY_OF_ROOT}"
    done = bed.run(["unshare", "-m", "sh", "-ec", f'{mounted}\nexec chroot {new} sh -c "{script}"'])
    assert done.stdout == "/only-in-the-chroot\n", done.stderr
    assert bed.testbed("down").returncode == 0


@as_root
def test_a_kernel_that_forbids_user_namespaces_is_named_by_its_setting(
    new_bed: Callable[[str], Bed],
) -> None:
    bed = new_bed("forbidden")
    bed.parent.chmod(0o755)
    user = ["-U", "--map-user=1", "--map-group=1", "--keep-caps"]
    done = up_after(bed, "echo 0 > /proc/sys/user/max_user_namespaces", *user)
    assert done.returncode == 2
    assert "user.max_user_namespaces is 0: use root, or `sudo sysctl -w" in done.stderr


def test_a_delay_needs_netem_and_says_so(new_bed: Callable[[str], Bed], tmp_path: Path) -> None:
    bed = new_bed("delayed")
    shape = tmp_path / "delayed.yaml"
    shape.write_text("uplink: {delay: 50us}")
    done = bed.testbed("up", "--shape", str(shape))
    if kernel_has_netem():
        assert done.returncode == 0, done.stderr
        assert "delay 50us" in bed.inside("tc", "qdisc", "show", "dev", "a_uplink")
    else:
        assert done.returncode == 2
        assert "delay: this kernel has no netem" in done.stderr


def kernel_has_netem() -> bool:
    trial = "tc qdisc add dev lo root netem delay 1ms"
    return (
        subprocess.run(["unshare", "-rn", "sh", "-c", trial], capture_output=True).returncode == 0
    )


@pytest.mark.parametrize("name", ["Main", "../up", "a b", "-x", "x" * 33])
def test_a_bad_name_is_refused(parent: Path, name: str) -> None:
    done = Bed(name, parent).run([TESTBED, "up", f"--name={name}"])
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: name ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["up", "--shpae", "x"], "unrecognized arguments: --shpae x"),
        (["exec"], "no command: testbed exec [--node NODE] -- COMMAND"),
        (["uplink", "a"], "give --restore alone, or any of --cut"),
        (["uplink", "a", "--restore", "--cut"], "give --restore alone"),
        (["uplink", "a", "--rate", "fast"], "rate: 'fast' is not a number with kbit"),
        (["uplink", "a", "--mtu", "1"], "mtu: 1 is not between 576 and 65535"),
        (["uplink", "q", "--cut"], "host q does not exist; there are a, b"),
        (
            ["node", "a1"],
            "one of the arguments --kill-slurmd --off --restore --throttle is required",
        ),
        (["node", "q1", "--off"], "node q1 does not exist; there are a1, a2, b1, b2"),
    ],
)
def test_a_wrong_command_line_gets_one_line(bed: Bed, arguments: list[str], said: str) -> None:
    words = [*arguments[:1], *(["--name", bed.name] if arguments[:1] not in ([], ["fly"]) else [])]
    done = bed.run([TESTBED, *words, *arguments[1:]])
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("testbed: ")
    assert done.stderr.count("\n") == 1


def test_outside_a_repository_it_lives_in_the_current_folder() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "SWITCHPOINT_TESTBED_DIR"}
    name = f"outside-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:

        def testbed(verb: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [TESTBED, verb, "--name", name],
                cwd=folder, env=environment, capture_output=True, text=True,
            )  # fmt: skip

        up = testbed("up")
        assert up.returncode == 0, up.stderr
        assert Path(folder, ".testbed", name, "bin", "srun").exists()
        assert testbed("down").returncode == 0
        assert not list(Path(folder).iterdir())
