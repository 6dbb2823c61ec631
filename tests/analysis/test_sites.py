"""`doctor --site` finds all problems of a site at once, each with file, line and fix.

Slurm's answers are a testbed's own, shortened, and compiler wrappers are small scripts; a real
testbed is a stranger's site in tests/checks/test_new_site.py.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from switchpoint import InputError
from switchpoint.shipped import shipped
from switchpoint.sites.launching import interface_of, interfaces_of
from switchpoint.sites.settings_path import named_settings
from typer.testing import Result

Run = Callable[..., Result]

NODES = """\
NodeName=a1 Arch=x86_64 ActiveFeatures=host_a NodeAddr=10.0.1.1 State=IDLE Partitions=batch
NodeName=a2 Arch=x86_64 ActiveFeatures=host_a NodeAddr=10.0.1.2 State={a2} Partitions=batch
NodeName=b1 Arch=x86_64 ActiveFeatures=host_b NodeAddr=10.0.2.1 State=IDLE Partitions=batch
"""
PARTITIONS = "PartitionName=batch Default=YES Nodes=a[1-2],b1\n"
TOPOLOGY = """\
SwitchName=host_a Level=0 LinkSpeed=1 Nodes=a1,a2
SwitchName=host_b Level=0 LinkSpeed=1 Nodes=b1
SwitchName=core Level=1 LinkSpeed=1 Nodes=a[1-2],b1 Switches=host_a,host_b
"""
NEAR = {"summary": "near", "nodes": 2, "path": "network", "scheduler_options": ["--switches=1"]}
FAR = NEAR | {"switches": 2, "scheduler_options": ["--constraint=[host_a*1&host_b*1]"]}

SETTINGS = """\
from pathlib import Path

import switchpoint.sites.scontrol_scheduler
from switchpoint.sites import site_common

site_configuration = {
    "systems": [
        {
            "name": "here",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "p",
                    "scheduler": "scontrol",
                    "launcher": "srun",
                    "access": ["--partition=batch"],
                    "environs": ["openmpi"],
                    **site_common.placed(Path(__file__).with_name("placements.yaml")),
                }
            ],
        }
    ],
    "environments": [
        {
            "name": "openmpi",
            "cc": "mpicc",
            "features": ["mpi"],
            "extras": {"mpi": "openmpi", "launcher_options": ["--mpi=pmix"]},
        }
    ],
}
"""
LINES = {
    line.strip().partition(":")[0].strip('"'): number
    for number, line in enumerate(SETTINGS.splitlines(), 1)
}

#: What `mpicc -E -dD` makes of mpi.h, as far as the MPI is told from it.
OPEN_MPI = """\
# 1 "/opt/openmpi/include/mpi.h" 1
#define OMPI_MAJOR_VERSION 5
#define OMPI_MINOR_VERSION 0
#define OMPI_RELEASE_VERSION 3
"""
MPICH = """\
# 1 "/opt/mpich/include/mpi.h" 1
#define MPICH_VERSION "4.2.1"
"""


#: This system's own, before a test narrows the path.
MPICH_WRAPPER = shutil.which("mpicc.mpich")
OPEN_MPI_WRAPPER = shutil.which("mpicc.openmpi")
MPICH_SPEAKS = interface_of(str(MPICH_WRAPPER))
OPEN_MPI_SPEAKS = interfaces_of(str(OPEN_MPI_WRAPPER))


class Machine:
    """A machine whose Slurm and MPIs answer as told, and a site on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.site.mkdir()
        self.slurm()
        self.job(*(f"{node}f1e2d3c-0000-4000-8000-123456789abc" for node in (1, 2)))
        self.program("mpicc", f"cat <<'E'\n{OPEN_MPI}E")
        self.settings()
        self.placements(far=FAR)

    def slurm(self, a2: str = "IDLE", topology: str = TOPOLOGY) -> None:
        """Let scontrol answer: every node idle and a tree of two switches, unless told."""
        (self.folder / "nodes").write_text(NODES.format(a2=a2))
        (self.folder / "partitions").write_text(PARTITIONS)
        (self.folder / "topology").write_text(topology)
        self.program(
            "scontrol",
            f'case "$2" in\nhostnames) echo "$3" | tr , "\\n" ;;\n'
            f'*) cat "{self.folder}/$2" ;;\nesac',
        )

    def job(self, *lines: str) -> None:
        """Let jobs of srun print lines."""
        printed = "\n".join(lines)
        self.program(
            "srun",
            f"case \"$*\" in *--nodes=*) echo '{printed}'; exit ;; esac\n"
            'echo "MPI plugin types are..."; echo pmix; echo pmi2; echo none',
        )

    def program(self, name: str, script: str) -> None:
        """Put a program on the path."""
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def settings(self, *changes: tuple[str, str]) -> None:
        """Write the site's settings, with words replaced."""
        text = SETTINGS
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (self.site / "settings.py").write_text(text)

    def placements(self, switch_pattern: str | None = None, **placements: dict[str, Any]) -> None:
        """Write the site's placements."""
        top = {"switch_from_node_name": switch_pattern} if switch_pattern else {}
        (self.site / "placements.yaml").write_text(
            yaml.safe_dump(top | {"placements": placements}, sort_keys=False)
        )


def plain_tools(folder: Path) -> Path:
    """A folder with what the scripts need, and no MPI of this machine."""
    folder.mkdir()
    for name in ("bash", "sh", "cat", "tr", "ldd"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{plain_tools(tmp_path / 'tools')}")
    monkeypatch.chdir(tmp_path)
    for variable in ("LMOD_CMD", "MODULES_CMD"):
        monkeypatch.delenv(variable, raising=False)
    return made


@pytest.fixture
def problems(switchpoint: Run, machine: Machine) -> Callable[[], list[str]]:
    """Lines of the problems that the doctor finds, without running jobs."""

    def examine() -> list[str]:
        result = switchpoint("doctor", "--site", "site", "--no-trial")
        *lines, last = result.stdout.splitlines()
        found = [line for line in lines if not line.startswith("ok  ")]
        assert result.exit_code == (1 if found else 0), result.output
        assert last == f"{len(found)} problem{'' if len(found) == 1 else 's'} found" or not found
        assert all("; " in line for line in found), "a problem without a fix"
        return found

    return examine


@pytest.mark.parametrize("placement", [NEAR, FAR])
def test_a_site_that_asks_for_what_there_is_has_no_problem(
    machine: Machine, problems: Callable[[], list[str]], placement: dict[str, Any]
) -> None:
    machine.placements(far=placement)

    assert problems() == []


@pytest.mark.parametrize(
    ("placement", "answers", "place", "words"),
    [
        (NEAR | {"nodes": 4}, {}, 4, "needs 4 nodes, but Slurm has 3 usable nodes; "),
        (NEAR, {"a2": "DOWN*"}, 6, "needs 2 nodes under one switch, but no switch has enough"),
        (NEAR, {"topology": ""}, 6, "Slurm names no switches; set switch_from_node_name"),
        (
            FAR | {"scheduler_options": ["-C rack7"]}, {}, 6,
            "needs 1 node with feature 'rack7', 0 have it; this cluster has: host_a, host_b",
        ),
        (
            FAR | {"scheduler_options": ["--constraint=[host_a*1&100gb*2]"]}, {}, 6,
            "needs 2 nodes with feature '100gb', 0 have it",
        ),
        (NEAR | {"scheduler_options": ["--nodelist=a1,z9"]}, {}, 6,
         "names nodes that are missing or not usable: z9"),
        (NEAR | {"nodes": 3}, {"a2": "IDLE+DRAIN"}, 4,
         "Slurm has 2 usable nodes; a2 is drained: `sinfo -R` shows why"),
        (
            NEAR | {"nodes": 1, "scheduler_options": ["--nodelist=a2"]}, {"a2": "MIXED+DRAIN"}, 6,
            "not usable: a2; a2 is drained: `sinfo -R` shows why; usable nodes are",
        ),
        (FAR | {"switches": 3, "nodes": 3}, {}, 8, "needs 3 switches, but usable nodes are on 2"),
        (NEAR | {"environment": {"opnmpi": {}}}, {}, 8, "no environment has the MPI family"),
    ],
)  # fmt: skip
def test_what_slurm_lacks_for_a_placement_is_named_with_its_line(
    machine: Machine,
    problems: Callable[[], list[str]],
    placement: dict[str, Any],
    answers: dict[str, str],
    place: int,
    words: str,
) -> None:
    machine.slurm(**answers)
    machine.placements(far=placement)

    [line] = problems()

    assert re.match(rf"site/placements\.yaml:{place}: placement 'far' ", line), line
    assert words in line


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("--partition=batch", "--partition=cpu", "partition 'cpu' does not exist; this cluster "
         "has: batch"),
        ('"srun"', '"srunn"', "ReFrame does not know launcher 'srunn'"),
        ('"scontrol"', '"slurmy"', "ReFrame does not know scheduler 'slurmy'"),
        ('"launcher"', '"launchr"', "'launchr' was unexpected"),
        ("--mpi=pmix", "--mpi=pmi9", "srun has no --mpi=pmi9; this cluster has: pmi2, pmix"),
        ('"launcher_options"', '"launcher_option"', "no check reads extras['launcher_option']; "
         "write 'launcher_options'"),
        ('"cc": "mpicc"', '"cc": "mpicc.none"', "there is no compiler wrapper 'mpicc.none'"),
        ('"cc": "mpicc"', '"cc": "mpicc", "modules": ["openmpi/9"]', "module openmpi/9 cannot be "
         "loaded: modules_system is 'nomod'"),
        ('"nomod"', '"lmod"', "the modules system 'lmod' does not work here"),
        ('"mpi": "openmpi"', '"mpi": "mpich"', "extras['mpi'] says 'mpich', but 'mpicc' compiles "
         "for openmpi 5.0.3"),
        ('"features": ["mpi"]', '"features": []', "does not have the feature 'mpi'"),
        ('"environs": ["openmpi"]', '"environs": ["openmpy"]', "there is no environment 'openmpy'"),
        ('[".*"]', '["nowhere"]', f"this machine, {socket.gethostname()}, matches none"),
        ('[".*"]', '["*"]', "'*' is not a regular expression"),
        ("                    **site", '                    "features": ["gpu"],\n**site',
         "'features' beside **placed(...): one of the two replaces the other"),
        ('"extras": {', '"extras": {"osu": "/nowhere", ', "osu: /nowhere does not exist"),
        ('placements.yaml"))', 'placements.yaml"), references={"openmpi": {"fra": {}}})',
         "references: no placement 'fra'; those of the partition are far"),
        ("site_common.placed", "site_common.placd", "does not load: AttributeError"),
        ("site_configuration = {", "1 / 0\nsite_configuration = {", "does not load: "
         "ZeroDivisionError"),
        ("site_configuration = {", "site_configuration = [{", "does not load: SyntaxError"),
        ("site_configuration = {", "configuration = {", "defines no dict site_configuration"),
        ("import switchpoint.sites.scontrol_scheduler", "import scontrol_scheduler",
         "write `from switchpoint.sites import scontrol_scheduler`"),
        ('"environs": ["openmpi"]', '"environs": 5', "5 is not of type 'array'"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_settings_is_one_line(
    machine: Machine, problems: Callable[[], list[str]], old: str, new: str, words: str
) -> None:
    machine.settings((old, new))

    found = problems()

    matching = [line for line in found if words in line]
    assert len(matching) == 1, found
    assert re.match(r"site/settings\.py(:\d+)?: ", matching[0])


def test_why_a_compiler_does_not_compile_mpi_is_its_error_and_not_its_last_line(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    error = "<stdin>:1:10: fatal error: mpi.h: No such file or directory"
    machine.program("mpicc", f"printf '%s\n' '{error}' 'compilation terminated.' >&2; exit 1")

    assert [line for line in problems() if f"'mpicc' does not compile MPI: {error}; name" in line]


def test_all_problems_are_found_at_once(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.settings(
        ('"srun"', '"srunn"'),
        ('[".*"]', '["nowhere"]'),
        ('"cc": "mpicc"', '"cc": "mpicc.none"'),
        ('"partitions": [', '"partitions": [  # <- look at these'),
    )
    machine.placements(near=NEAR | {"nodes": 9}, far=FAR | {"scheduler_options": ["-w z9"]})

    found = "\n".join(problems())

    for words in (
        f"site/settings.py:{LINES['partitions']}: still to be edited; look at these",
        f"site/settings.py:{LINES['hostnames']}: this machine",
        f"site/settings.py:{LINES['launcher']}: partition 'p': ReFrame does not know launcher",
        f"site/settings.py:{LINES['cc']}: environment 'openmpi': there is no compiler wrapper",
        "site/placements.yaml:4: placement 'near' needs 9 nodes",
        "placement 'far' names nodes that are missing or not usable: z9",
    ):
        assert words in found


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("placements:\n  far: [\n", ":3", "not YAML"),
        ("placements:\n  far: {summary: x, nods: 1, nodes: 1, path: network}\n", ":2", "nods"),
        ("", "", "top level"),
    ],
)
def test_a_bad_placements_file_is_one_line(
    machine: Machine, problems: Callable[[], list[str]], text: str, place: str, words: str
) -> None:
    (machine.site / "placements.yaml").write_text(text)

    [line] = problems()

    assert line.startswith(f"site/placements.yaml{place}: ")
    assert words in line


def test_a_module_that_cannot_be_loaded_is_named(
    machine: Machine, problems: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lmod answers through a small shell function and a program, as real ones do."""
    machine.program("lmod", 'echo "Modules based on Lua: Version 8.7" >&2')
    monkeypatch.setenv("LMOD_CMD", str(machine.folder / "bin/lmod"))
    monkeypatch.setenv(
        "BASH_FUNC_module%%",
        '() {  case "$2" in gcc/12) ;; *) echo "Lmod: no module $2" >&2; return 1 ;; esac\n}',
    )
    machine.settings(
        ('"nomod"', '"lmod"'),
        ('"cc": "mpicc"', '"cc": "mpicc", "modules": ["gcc/12", "openmpi/9"]'),
    )

    [line] = problems()

    assert "module 'openmpi/9' cannot be loaded: Lmod: no module openmpi/9; use one" in line


def test_switches_may_be_read_from_the_nodes_names(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.slurm(topology="")
    machine.placements(switch_pattern="^([a-z])", far=FAR)

    assert problems() == []


def test_where_slurm_does_not_answer_is_said(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.program("scontrol", "exit 1")

    [line] = problems()

    assert "scontrol shows no nodes" in line


def test_json_has_the_place_and_the_fix(switchpoint: Run, machine: Machine) -> None:
    machine.settings(("--partition=batch", "--partition=cpu"))

    result = switchpoint("doctor", "--site", "site/settings.py", "--no-trial", "--json")

    [fact] = [f for f in json.loads(result.stdout)["facts"] if f["state"] != "ok"]
    assert result.exit_code == 1
    assert fact["place"] == f"site/settings.py:{LINES['access']}"
    assert fact["fix"] == "this cluster has: batch"


@pytest.mark.parametrize("site", ["nowhere", "site-configs", "."])
def test_a_site_that_is_not_there_is_bad_usage(
    switchpoint: Run, machine: Machine, site: str
) -> None:
    (machine.folder / "site-configs").mkdir()

    result = switchpoint("doctor", "--site", site)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "init site" in result.stderr


def test_a_name_is_looked_up_here_first_then_among_those_that_are_shipped(
    switchpoint: Run, machine: Machine
) -> None:
    assert (
        "template-slurm/settings.py:"
        in switchpoint("doctor", "--site", "template-slurm", "--no-trial").stdout
    )

    machine.site.rename(machine.folder / "sites")
    (machine.folder / "site-configs").mkdir()
    (machine.folder / "sites").rename(machine.folder / "site-configs/template-slurm")
    own = switchpoint("doctor", "--site", "template-slurm", "--no-trial")
    assert own.stdout.splitlines()[-1] == "no problem found"


def marks(folder: Path) -> list[str]:
    return [
        f"{path}:{number}"
        for path in (folder / "settings.py", folder / "placements.yaml")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "# <-" in line
    ]


def test_an_unedited_template_lists_each_marked_place(switchpoint: Run, machine: Machine) -> None:
    switchpoint("init", "site", "new", "--no-ask")

    result = switchpoint("doctor", "--site", "new")

    places = marks(Path("site-configs/new"))
    assert len(places) > 8
    assert result.exit_code == 1
    listed = [line.partition(": ")[0] for line in result.stdout.splitlines()
              if "still to be edited" in line]  # fmt: skip
    assert listed == places


def test_the_places_of_packages_yaml_count_for_spack(switchpoint: Run, machine: Machine) -> None:
    switchpoint("init", "site", "new")

    result = switchpoint("doctor", "--spack", "--site", "new")

    assert result.exit_code == 2
    assert re.match(
        r"switchpoint: site-configs/new/packages\.yaml:\d+: still to be edited", result.stderr
    )


def test_a_new_site_is_filled_with_what_the_machine_tells(
    switchpoint: Run, machine: Machine
) -> None:
    machine.program("mpicc.mpich", f"cat <<'E'\n{MPICH}E")

    begun = switchpoint("init", "site", "new", "folder/of/mine")

    assert begun.exit_code == 0, begun.output
    assert marks(Path("folder/of/mine")) == []
    text = Path("folder/of/mine/settings.py").read_text()
    assert '"access": ["--partition=batch"]' in text
    assert '"environs": ["mpich", "openmpi"]' in text
    placements = yaml.safe_load(Path("folder/of/mine/placements.yaml").read_text())["placements"]
    assert placements["two_nodes_two_hosts"]["scheduler_options"] == [
        "--constraint=[host_a*1&host_b*1]"
    ]
    checked = switchpoint("doctor", "--site", "folder/of/mine", "--no-trial")
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("answers", "left", "words"),
    [
        ({"topology": ""}, {"scheduler_options"}, "Slurm names no switches"),
        (
            {"topology": "SwitchName=s Level=0 Nodes=a1,a2,b1\n"}, set(),
            "two_nodes_two_hosts: skipped, all nodes are on one switch",
        ),
        (
            {"topology": "SwitchName=s Level=0 Nodes=a1\nSwitchName=t Level=0 Nodes=b1\n"}, set(),
            "two_nodes_one_host: skipped, no switch has two nodes",
        ),
    ],
)  # fmt: skip
def test_placements_that_slurm_cannot_give_are_left_out_or_marked(
    switchpoint: Run, machine: Machine, answers: dict[str, str], left: set[str], words: str
) -> None:
    machine.slurm(**answers)

    begun = switchpoint("init", "site", "new")

    assert words in begun.stdout
    marked = [place for place in marks(Path("site-configs/new")) if "placements" in place]
    lines = Path("site-configs/new/placements.yaml").read_text().splitlines()
    keys = {lines[int(place.rpartition(":")[2]) - 1].strip().partition(":")[0] for place in marked}
    assert keys == left
    checked = switchpoint("doctor", "--site", "new", "--no-trial")
    assert checked.exit_code == (1 if left else 0), checked.output


ONE, OTHER = (f"{node}f1e2d3c-0000-4000-8000-123456789abc" for node in (1, 2))


@pytest.mark.parametrize(
    ("job", "said", "marked", "forced"),
    [
        ([ONE, OTHER], "the nodes have no InfiniBand", False, False),
        ([ONE, ONE], "the nodes have no InfiniBand", False, True),
        ([ONE, OTHER, "mlx5_0", "mlx5_0"], "the nodes have mlx5_0", True, False),
        (["srun: error: Unable to allocate resources: Invalid account"],
         "do not say what they have (srun: error: Unable to allocate resources: Invalid account)",
         True, False),
    ],
)  # fmt: skip
def test_the_network_is_that_of_the_nodes(
    switchpoint: Run, machine: Machine, job: list[str], said: str, marked: bool, forced: bool
) -> None:
    machine.job(*job)

    begun = switchpoint("init", "site", "new")

    assert said in begun.stdout
    text = Path("site-configs/new/placements.yaml").read_text()
    assert ("# <- what forces the path" in text) == marked
    between = yaml.safe_load(text)["placements"]["two_nodes_one_host"]
    assert ("environment" in between) == forced


def test_where_nothing_can_be_asked_that_is_said_and_all_places_stay_marked(
    switchpoint: Run, machine: Machine
) -> None:
    shutil.rmtree(machine.folder / "bin")

    begun = switchpoint("init", "site", "new")

    assert begun.exit_code == 0
    assert "Slurm does not answer here" in begun.stdout
    assert "no MPI compiler wrapper on the path" in begun.stdout
    template = marks(shipped("site-configs") / "template-slurm")
    assert len(marks(Path("site-configs/new"))) == len(template) - 1, "all but the name"


def test_an_mpi_in_a_module_becomes_an_environment(
    switchpoint: Run, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.folder / "bin/mpicc").unlink()
    machine.program("lmod", 'echo "Modules based on Lua: Version 8.7" >&2')
    (machine.folder / "mpich").mkdir()
    machine.program("../mpich/mpicc", f"cat <<'E'\n{MPICH}E")
    monkeypatch.setenv("LMOD_CMD", str(machine.folder / "bin/lmod"))
    monkeypatch.setenv(
        "BASH_FUNC_module%%",
        '() {  case "$*" in "-t avail") printf "/opt/modules:\\ngcc/12\\nmpich/4.2\\nmpich/4.10\\n"'
        f' ;; "load mpich/4.10") PATH={machine.folder}/mpich:$PATH ;; *) return 1 ;; esac\n}}',
    )

    begun = switchpoint("init", "site", "new")

    text = Path("site-configs/new/settings.py").read_text()
    assert "environment: mpich, mpich 4.2.1 by mpicc, modules mpich/4.10" in begun.stdout
    assert '"modules": ["mpich/4.10"]' in text
    assert '"modules_system": "lmod"' in text


def test_a_site_may_be_written_into_the_current_folder(
    switchpoint: Run, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.folder / "mine").mkdir()
    monkeypatch.chdir(machine.folder / "mine")

    assert switchpoint("init", "site", "new", ".").exit_code == 0
    assert switchpoint("doctor", "--site", ".", "--no-trial").exit_code == 0
    assert sorted(path.name for path in Path.cwd().iterdir() if path.is_file()) == [
        "packages.yaml", "placements.yaml", "settings.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a/b"], "cannot be the name of a system"),
        (["new", "site"], "exists and is not changed"),
        (["new", "--partition=gpu"], "partition 'gpu' does not exist; this cluster has: batch"),
    ],
)
def test_init_site_refuses_in_one_line(
    switchpoint: Run, machine: Machine, words: list[str], said: str
) -> None:
    before = sorted(machine.folder.rglob("*"))

    result = switchpoint("init", "site", *words)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert sorted(machine.folder.rglob("*")) == before


def test_what_a_computing_centre_has_besides_is_no_problem(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    """Other systems, partitions without placements, environments without MPI."""
    machine.settings(
        (
            '    "systems": [\n',
            '    "systems": [\n        {"name": "other", "hostnames": ["nowhere"], "partitions": [{'
            '"name": "x", "scheduler": "pbs", "launcher": "mpiexec", "environs": ["openmpi"],'
            ' "access": ["-q x"]}]},\n',
        ),
        (
            '"partitions": [\n',
            '"partitions": [\n{"name": "gpu", "scheduler": "scontrol", "launcher": "srun",'
            ' "environs": ["gnu"], "access": ["--partition=none"]},\n',
        ),
        ('"environs": ["openmpi"],\n', '"environs": ["openmpi", "gnu"],\n'),
        (
            '    "environments": [\n',
            '    "environments": [\n        {"name": "gnu", "cc": "gcc-none"},\n        {"name": '
            '"openmpi", "cc": "none", "target_systems": ["other"]},\n',
        ),
    )

    assert problems() == []


def test_a_partition_without_placements_is_named(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.settings(('**site_common.placed(Path(__file__).with_name("placements.yaml")),', ""))

    [line] = problems()

    assert "no partition offers a placement; add **site_common.placed" in line


def test_the_settings_in_the_how_to_are_whole(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    """Imports included: pasted as they are, they load and nothing is wrong with them."""
    page = Path(__file__).parents[2] / "docs/how-to/new-site.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    [whole] = [block for block in blocks if "site_configuration" in block]
    (machine.site / "settings.py").write_text(whole)

    assert problems() == []


def test_placed_joins_a_partitions_own_features_and_extras(machine: Machine) -> None:
    from switchpoint.sites import site_common

    brought = site_common.placed(
        machine.site / "placements.yaml",
        features=["gpu"],
        extras={"vendor": "x"},
        references={"openmpi": {}},
    )

    assert brought["features"] == ["gpu", "far"]
    assert brought["extras"]["vendor"] == "x"
    assert set(brought["extras"]["placements"]) == {"far"}
    assert brought["extras"]["references"] == {"openmpi": {}}


@pytest.mark.skipif(MPICH_WRAPPER is None, reason="no mpicc.mpich is installed")
def test_an_interface_that_the_mpi_does_not_speak_is_named(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    """With this system's own MPICH, whose library tells."""
    other = "pmi2" if MPICH_SPEAKS == "pmix" else "pmix"
    machine.program("mpicc", f'PATH=/usr/bin:/bin exec {MPICH_WRAPPER} "$@"')
    machine.settings(('"mpi": "openmpi"', '"mpi": "mpich"'), ("--mpi=pmix", f"--mpi={other}"))
    [line] = problems()
    assert f"srun uses --mpi={other}, but the library of" in line
    assert (
        f"supports {MPICH_SPEAKS}: ranks would start alone, or none; write --mpi={MPICH_SPEAKS}"
        in line
    )


@pytest.mark.skipif(OPEN_MPI_SPEAKS != ["pmix"], reason="no Open MPI that speaks PMIx alone")
def test_open_mpi_without_pmi2_is_not_started_by_it(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.program("mpicc", f'PATH=/usr/bin:/bin exec {OPEN_MPI_WRAPPER} "$@"')
    machine.settings(("--mpi=pmix", "--mpi=pmi2"))
    [line] = problems()
    assert "srun uses --mpi=pmi2" in line
    assert "write --mpi=pmix in launcher_options" in line


def test_control_characters_of_a_site_do_not_reach_the_terminal(
    machine: Machine, problems: Callable[[], list[str]]
) -> None:
    machine.settings(("site_configuration = {", "raise RuntimeError('boom\\x1b[31m')\nx = {"))
    [line] = problems()
    assert "boom\\x1b[31m" in line


def test_a_folder_below_a_file_cannot_be_written(switchpoint: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = switchpoint("init", "site", "mine", tmp_path / "file" / "x", "--no-ask")
    assert done.exit_code == 2
    assert "cannot be written (Not a directory)" in done.stderr


def test_options_of_the_trial_go_with_a_site(switchpoint: Run) -> None:
    done = switchpoint("doctor", "--wait", 5)
    assert (done.exit_code, done.stderr) == (2, "switchpoint: --wait: needs --site; add it\n")


def test_only_a_name_is_looked_for_among_the_sites(switchpoint: Run) -> None:
    done = switchpoint("doctor", "--site", "../testbed")
    assert done.exit_code == 2
    assert "there is no such site" in done.stderr


@pytest.mark.parametrize("name", ["given", "given/settings.py", "./given", ".."])
def test_a_name_from_a_record_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """ReFrame would execute the settings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given").mkdir()
    (tmp_path / "given/settings.py").touch()

    with pytest.raises(InputError, match="there is no such site"):
        named_settings(name)
