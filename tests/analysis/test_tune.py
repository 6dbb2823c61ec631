"""Rules for the algorithms of collectives, from times whose fastest algorithm is known."""

from __future__ import annotations

import json
import shlex
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rules_in_files import chosen, selected
from switchpoint import (
    InputError,
    Measurements,
    Store,
    check_tuning,
    read_files,
    tune,
    write_tuning,
)
from switchpoint.models.rules_files import read_rules
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS
from switchpoint.tuning.facts import Tuning, read_tuning
from synthetic_nights import header_of
from typer.testing import Result

Run = Callable[..., Result]

#: Microseconds of a mode at a size.
Times = Callable[[str, int], float]

KIB = 1024
SIZES = [KIB * 2**n for n in range(11)]
OPEN, MPICH = "Open MPI 4.1.4", "MPICH 4.0.2"

#: Of Open MPI's variable for allreduce.
NUMBERS = {"recursive_doubling": 3, "rabenseifner": 6, "chain": 2}

#: By the library: the algorithm that is faster from 32 KiB to 256 KiB, and others.
NAMES = {
    OPEN: ("rabenseifner", "recursive_doubling"),
    MPICH: ("reduce_scatter_allgather", "recursive_doubling", "tree"),
}

#: As MPICH's library has it, but shorter.
DECISIONS = {
    f"collective={name}": {"comm_type=intra": {"comm_size=any": {f"algorithm=MPIR_{name}_own": {}}}}
    for name in ("bcast", "alltoall", "allreduce", "allgather", "barrier")
}
OWN = {"comm_size=any": {"algorithm=MPIR_allreduce_own": {}}}


def times(mode: str, size: int) -> float:
    """Return times of a library that loses half of the time from 32 KiB to 256 KiB."""
    lost = 2 if 32 * KIB <= size <= 256 * KIB and mode in {"library", "library:slow"} else 1
    return lost * (20 + size / 50) * (1.5 if mode.endswith("recursive_doubling") else 1)


def measured(
    times_of: Times = times,
    *,
    launches: int = 3,
    mpi: str = OPEN,
    kernel: str = "allreduce",
    modes: tuple[str, ...] = (),
    sizes: list[int] = SIZES,
    ranks: int = 4,
    noise: float = 0.02,
    seed: int = 0,
    first: int = 0,
    node: str = "n",
    day: str = "2026-11-29",
    hosts: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
    **labels: str | None,
) -> Measurements:
    """Return launches of 5 passes of the library's choice and its algorithms."""
    rng = np.random.default_rng(seed)
    modes = modes or ("library", *(f"library:{name}" for name in NAMES[mpi]))
    identity = {"site": "here", "mpi": mpi, "kernel": kernel, "placement": "four_nodes"}
    samples, runs = [], []
    for launch in range(first, first + launches):
        run = dict.fromkeys(RUN_COLUMNS) | identity
        run |= {
            "run_id": f"{seed:06x}{day.replace('-', '')}00{launch:016x}",
            "format": "record",
            "date": day,
        }
        run |= {"start_utc": f"{day}T10:{launch:02}:00.000000Z", "complete": True}
        run |= {"labels": json.dumps(labels)}
        hosts = hosts or [f"{node}{rank}" for rank in range(ranks)]
        texts = header_of(run, hosts=hosts, **(facts or {}))
        header = json.loads(texts["header"])
        header["plan"] = {
            "modes": list(modes),
            "algorithms": {
                mode: NUMBERS.get(mode.partition(":")[2], 9) for mode in modes if ":" in mode
            },
        }
        runs.append(run | texts | {"header": json.dumps(header)})
        for mode in modes:
            for size in sizes:
                values = times_of(mode, size) * np.exp(noise * rng.standard_t(4, 5))
                samples += [
                    (run["run_id"], mode, size, turn, 0, 1, value)
                    for turn, value in enumerate(values)
                ]
    names = ["run_id", "mode", "size_bytes", "pass", "sample", "iterations", "time_us"]
    table = pd.DataFrame(samples, columns=names).assign(**identity, **labels)
    table = table.astype({name: "category" for name in table if name not in MEASURES})
    return Measurements(table, pd.DataFrame(runs, columns=RUN_COLUMNS))


def joined(*parts: Measurements) -> Measurements:
    """Return launches of several kinds as one."""
    samples = pd.concat([part.samples.astype({"run_id": str}) for part in parts])
    samples = samples.astype({name: "category" for name in samples if name not in MEASURES})
    return Measurements(
        samples.reset_index(drop=True),
        pd.concat([part.runs for part in parts], ignore_index=True),
    )


def fresh(folder: Path, times_with: Times, *, launches: int = 3, **how: Any) -> Measurements:
    """Return launches with the rules of a folder and without."""
    digest = read_rules(folder).digest
    both: dict[str, Any] = {"launches": launches, "modes": ("library",), **how}
    return joined(
        measured(times_with, **both, seed=5, rules="recommended", rules_digest=digest),
        measured(times, **both, seed=6, rules="default"),
    )


def won(_mode: str, size: int) -> float:
    """Return the time of the library with good rules."""
    return times("library:rabenseifner", size)


def library_file(folder: Path) -> Path:
    """Write a library of MPICH with decisions."""
    file = folder / "libmpich.so"
    compact = json.dumps(DECISIONS, separators=(",", ":"))
    file.write_bytes(b"\x7fELF\0" + compact.encode() + b"\0more")
    return file


# What wins.


def test_an_algorithm_wins_where_every_launch_shows_it() -> None:
    [group] = tune(measured()).groups

    assert [one.size_bytes for one in group.winners] == [32 * KIB * 2**n for n in range(4)]
    assert {one.algorithm for one in group.winners} == {"rabenseifner"}
    for one in group.winners:
        assert 1.05 < one.gain_low < 2 < one.gain_high
        assert one.gain == pytest.approx(2, rel=0.05)
    assert (group.ranks, group.nodes) == (4, 4)


def test_a_rule_holds_for_a_range_of_sizes_and_for_no_other() -> None:
    [group] = tune(measured()).groups
    rules = [(rule.first_size_bytes, rule.choice) for rule in group.rules()]

    assert [first for first, _ in rules] == [0, 32 * KIB, 256 * KIB + 1]
    assert [choice and choice.algorithm.name for _, choice in rules] == [None, "rabenseifner", None]


def test_a_gain_below_the_least_gain_is_no_rule() -> None:
    assert tune(measured(), least_gain=1.5).rules() == {}
    assert tune(measured(lambda mode, size: times("library", size))).rules() == {}


def test_one_launch_that_does_not_show_it_is_no_rule() -> None:
    other = measured(lambda mode, size: times("library", size), launches=1, seed=1)

    assert tune(joined(measured(), other)).rules() == {}


def test_a_neighbour_keeps_the_algorithm_unless_another_one_is_clearly_faster() -> None:
    """Both are twice as fast as the library; by turns one is faster by 2 %."""

    def near(mode: str, size: int) -> float:
        ahead = {
            "library:rabenseifner": size.bit_length() % 2,
            "library:recursive_doubling": 1,
        }.get(mode)
        return (20 + size / 50) * (2 if ahead is None else 1 - 0.02 * ahead)

    [group] = tune(measured(near, noise=0.001)).groups

    assert len(group.winners) == len(SIZES)
    assert len({one.algorithm for one in group.winners}) == 1


def test_an_algorithm_that_only_some_launches_measured_needs_three_of_them() -> None:
    """A loser is left out of later launches."""
    few = ("library", "library:rabenseifner")
    first, later = measured(launches=2), measured(launches=3, modes=few, seed=1)
    slow = measured(launches=1, modes=("library", "library:recursive_doubling"), seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [group] = tune(joined(first, later, slow)).groups

    assert {(one.algorithm, one.launches) for one in group.winners} == {("rabenseifner", 5)}


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"hosts": ["n0"] * 4}, r"ranks on nodes \(AAAA, ABCD\)"),
        ({"hosts": ["n0", "n1", "n2", "n2"]}, r"ranks on nodes \(ABCC, ABCD\)"),
        (
            {"facts": {"environment": {"OMPI_MCA_btl": "self,vader"}}},
            r"setting OMPI_MCA_btl \(not set, self,vader\)",
        ),
        ({"facts": {"environment": {"UCX_TLS": "tcp"}}}, r"setting UCX_TLS \(not set, tcp\)"),
        ({"facts": {"cpu_model": "other"}}, r"CPU model \(model, other\)"),
    ],
    ids=str,
)
def test_launches_of_a_race_are_of_one_place(how: dict[str, Any], what: str) -> None:
    """Without a label of their placement, only the records say it."""
    launches = joined(measured(launches=2), measured(launches=1, seed=1, **how))

    with pytest.raises(InputError, match=f"launches of allreduce on 4 ranks differ in {what}"):
        tune(launches)


def test_launches_may_get_other_nodes_of_the_same_kind() -> None:
    tuning = tune(joined(measured(launches=2), measured(launches=1, seed=1, node="m")))

    assert len(tuning.groups[0].winners) == 4
    assert {"n0", "m0"} < {*tuning.hosts}


def damaged(launches: Measurements, **counts: Any) -> Measurements:
    """Return launches in which payloads arrived damaged."""
    footers = [json.loads(text) for text in launches.runs["footer"]]
    for footer in footers:
        footer["verification"]["errors"] = counts.get("errors", 0)
        footer["points"] = [
            {"mode": "library", "size_bytes": KIB, "payload_errors": counts.get("of_points", 0)}
        ]
    texts = [json.dumps(footer) for footer in footers]
    return Measurements(launches.samples, launches.runs.assign(footer=texts))


@pytest.mark.parametrize("counts", [{"errors": 3}, {"of_points": 3}, {"errors": 3, "of_points": 3}])
def test_a_launch_that_delivered_wrong_data_makes_no_rule(counts: dict[str, int]) -> None:
    wrong = damaged(measured(launches=1, seed=1), **counts)
    tuning = tune(joined(measured(), wrong))

    assert {one.launches for one in tuning.groups[0].winners} == {3}
    assert tuning.notes == ["left out 1 launch whose payloads arrived damaged"]
    with pytest.raises(InputError, match="2 launches, but rules need 3"):
        tune(joined(measured(launches=2), wrong))
    with pytest.raises(InputError, match="payloads arrived damaged in all of 1 launch"):
        tune(wrong)


def test_a_launch_that_delivered_wrong_data_confirms_no_rule(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path)

    with pytest.raises(InputError, match="payloads arrived damaged in all of 6 launches"):
        check_tuning(tmp_path, damaged(fresh(tmp_path, won), errors=1))


# Files.


def test_open_mpis_file_has_the_rule_and_says_what_was_measured(tmp_path: Path) -> None:
    tuning = tune(measured())
    written = write_tuning(tuning, tmp_path)

    assert [path.name for path in written] == [
        "openmpi-rules.conf", "openmpi.env", "switchpoint-openmpi", "rules.json",
    ]  # fmt: skip
    text = (tmp_path / "openmpi-rules.conf").read_text()
    for size in (32 * KIB, 50_000, 256 * KIB):
        assert chosen(text, 2, 4, size) == (6, 0)
    for ranks, size in ((4, 16 * KIB), (4, 256 * KIB + 1), (3, 64 * KIB), (5, 64 * KIB)):
        assert chosen(text, 2, ranks, size) == (0, 0)
    for file in written[:3]:
        said = file.read_text()
        assert "# Open MPI 4.1.4 on n0, n1, n2, n3 (four_nodes), measured 2026-11-29. " in said
        assert "# allreduce on 4 ranks, 32,768 to 262,144 B: rabenseifner, " in said
        assert "in 3 launches; not checked" in said
    assert read_tuning(tmp_path) == tuning


def test_sizes_are_counted_as_open_mpi_counts_them(tmp_path: Path) -> None:
    write_tuning(tune(measured(kernel="allgather")), tmp_path)
    text = (tmp_path / "openmpi-rules.conf").read_text()

    assert chosen(text, 0, 4, 4 * 32 * KIB) == (6, 0)
    assert chosen(text, 0, 4, 4 * 32 * KIB - 1) == (0, 0)


def test_a_rule_that_may_make_results_wrong_has_to_be_asked_for(tmp_path: Path) -> None:
    measured_ring = measured(modes=("library", "library:ring"))
    tuning = tune(measured_ring)
    assert tuning.rules() == {}
    assert tuning.notes == [
        "allreduce on 4 ranks: ring has no rule: it gives wrong results if an operation does not"
        " commute; --commutative says that all do"
    ]

    write_tuning(tune(measured_ring, commutative=True), tmp_path)
    said = (tmp_path / "openmpi.env").read_text()
    assert "reductions whose operation does not commute are WRONG" in said


def test_a_chain_has_the_fan_out_that_was_measured(tmp_path: Path) -> None:
    modes = ("library", "library:chain")
    write_tuning(tune(measured(kernel="broadcast", modes=modes)), tmp_path)

    assert f"{32 * KIB} 2 4 0" in (tmp_path / "openmpi-rules.conf").read_text().splitlines()


def test_a_module_file_and_a_shell_set_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "my rules; $HOME"
    write_tuning(tune(measured()), folder)
    show = 'printf %s "$OMPI_MCA_coll_tuned_dynamic_rules_filename"'
    words = ["sh", "-c", f"set -a; . ./openmpi.env; set +a; {show}"]
    shell = subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder)
    module = (folder / "switchpoint-openmpi").read_text().splitlines()

    assert shell.stdout == f"{folder}/openmpi-rules.conf"
    assert module[0] == "#%Module1.0"
    quoted = shell.stdout
    for char in " ;$":
        quoted = quoted.replace(char, f"\\{char}")
    assert module[-1] == f"setenv OMPI_MCA_coll_tuned_dynamic_rules_filename {quoted}"


def test_mpichs_file_keeps_calls_for_which_the_algorithm_is_not_made(tmp_path: Path) -> None:
    tuning = tune(measured(mpi=MPICH))
    write_tuning(tuning, tmp_path / "rules", library_file(tmp_path))
    content = json.loads((tmp_path / "rules" / "mpich-selection.json").read_text())
    tree = content["collective=allreduce"]["comm_type=intra"]

    assert selected(tree, 4, KIB) == selected(tree, 8, 64 * KIB) == "algorithm=MPIR_allreduce_own"
    rule = next(
        inner for key, inner in tree["comm_size<=4"].items() if key == f"avg_msg_size<={256 * KIB}"
    )
    assert rule["is_op_built_in=no"] == OWN
    assert rule["is_op_built_in=yes"]["count<pow2"] == OWN
    fast = {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}
    assert rule["is_op_built_in=yes"]["count=any"] == fast
    assert tuning.notes == [
        "allreduce on 4 ranks: tree has no rule: the file of MPICH cannot name it for all calls"
    ]


def test_mpich_has_only_conditions_that_its_file_knows(tmp_path: Path) -> None:
    """It ends the program if an allgather has a condition on the size of a rank's message."""
    modes = ("library", "library:rabenseifner")
    tuning = tune(measured(mpi=MPICH, kernel="allgather", modes=modes))
    write_tuning(tuning, tmp_path / "rules", library_file(tmp_path))
    content = json.loads((tmp_path / "rules" / "mpich-selection.json").read_text())

    assert [*content["collective=allgather"]["comm_type=intra"]["comm_size<=4"]] == [
        f"total_msg_size<={4 * 32 * KIB - 1}", f"total_msg_size<={4 * 256 * KIB + 3}",
        "total_msg_size=any",
    ]  # fmt: skip


def test_an_algorithm_that_aborts_off_powers_of_two_is_no_rule() -> None:
    modes = ("library", "library:recursive_doubling")

    def fast(mode: str, size: int) -> float:
        return 100 if mode == "library" else 50

    how: dict[str, Any] = {"mpi": MPICH, "kernel": "allgather", "modes": modes}
    assert tune(measured(fast, ranks=4, **how)).rules()
    assert tune(measured(fast, ranks=6, **how)).rules() == {}


# The check.


def test_rules_that_win_again_are_confirmed(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path)
    checked = check_tuning(tmp_path, fresh(tmp_path, won))
    digest = read_rules(tmp_path).digest
    write_tuning(checked, tmp_path)

    assert all(one.checked and one.checked.wins for one in checked.groups[0].winners)
    assert "; confirmed: " in (tmp_path / "openmpi.env").read_text()
    assert read_rules(tmp_path).digest == digest, "the comments are no rules"


def test_a_rules_file_that_is_wrong_on_purpose_is_withdrawn(tmp_path: Path) -> None:
    wrong = tune(measured(lambda mode, size: 1 / times(mode, size)))
    write_tuning(wrong, tmp_path)
    assert chosen((tmp_path / "openmpi-rules.conf").read_text(), 2, 4, KIB) != (0, 0)

    def slower(_mode: str, size: int) -> float:
        return 1.5 * times("library", size)

    checked = check_tuning(tmp_path, fresh(tmp_path, slower))
    write_tuning(checked, tmp_path)

    assert checked.rules() == {}
    assert read_rules(tmp_path).variables == {}
    assert chosen((tmp_path / "openmpi-rules.conf").read_text(), 2, 4, KIB) == (0, 0)
    assert " withdrawn: 0.6" in (tmp_path / "openmpi.env").read_text()


def test_a_rule_loses_the_sizes_that_do_not_win(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path)

    def partly(_mode: str, size: int) -> float:
        return times("library" if size == 64 * KIB else "library:rabenseifner", size)

    write_tuning(check_tuning(tmp_path, fresh(tmp_path, partly)), tmp_path)
    text = (tmp_path / "openmpi-rules.conf").read_text()

    assert chosen(text, 2, 4, 64 * KIB) == (0, 0)
    assert chosen(text, 2, 4, 32 * KIB) == chosen(text, 2, 4, 128 * KIB) == (6, 0)
    assert "65,536 B: rabenseifner withdrawn: " in (tmp_path / "openmpi.env").read_text()


def test_what_was_withdrawn_does_not_come_back(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path)

    def partly(_mode: str, size: int) -> float:
        return times("library" if size == 64 * KIB else "library:rabenseifner", size)

    write_tuning(check_tuning(tmp_path, fresh(tmp_path, partly)), tmp_path)
    again = check_tuning(tmp_path, fresh(tmp_path, won))

    assert [one.size_bytes for one in again.groups[0].winners if one.withdrawn] == [64 * KIB]


@pytest.mark.parametrize(
    ("written", "edited"),
    [
        ('"number": 6', '"number": 3'),
        ('"algorithm": "rabenseifner"', '"algorithm": "recursive_doubling"'),
        ('"gain": 2.', '"gain": 99.'),
        ('"gain_low": 1.', '"gain_low": 1.0'),
        ('"size_bytes": 32768', '"size_bytes": 16384'),
        ('"kernel": "allreduce"', '"kernel": "reduce"'),
    ],
)
def test_rules_that_no_launch_ran_are_not_confirmed(
    tmp_path: Path, written: str, edited: str
) -> None:
    """After an edit `rules.json` has other rules than the files that the launches used."""
    write_tuning(tune(measured()), tmp_path)
    launches = fresh(tmp_path, won)
    file = tmp_path / "rules.json"
    text = file.read_text()
    assert written in text
    file.write_text(text.replace(written, edited))

    with pytest.raises(InputError, match="says other rules than the files beside it"):
        check_tuning(tmp_path, launches)


def test_mpichs_rules_that_no_launch_ran_are_not_confirmed(tmp_path: Path) -> None:
    folder, library = tmp_path / "rules", library_file(tmp_path)
    write_tuning(tune(measured(mpi=MPICH)), folder, library)
    launches = fresh(folder, won, mpi=MPICH)
    assert check_tuning(folder, launches, mpich_library=library).rules()

    file = folder / "rules.json"
    file.write_text(file.read_text().replace('"reduce_scatter_allgather"', '"recursive_doubling"'))
    for known in (None, library):
        with pytest.raises(InputError, match="says other rules than the files beside it"):
            check_tuning(folder, launches, mpich_library=known)


# The command.


def test_the_command_tunes_and_checks(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "races").add(measured())
    folder = tmp_path / "rules"
    tuned = switchpoint("tune", "--store", tmp_path / "races", "-o", folder)
    assert tuned.exit_code == 0, tuned.output
    assert "allreduce on 4 ranks, 4 nodes, Open MPI 4.1.4" in tuned.stdout
    lines = [" ".join(line.split()) for line in tuned.stdout.splitlines()]
    assert any(line.startswith("32,768 to 262,144 B rabenseifner ") for line in lines), lines
    assert f"or: module use {folder}; module load switchpoint-openmpi" in tuned.stdout

    Store(tmp_path / "fresh").add(fresh(folder, won))
    checked = switchpoint("tune", "--check", folder, "--store", tmp_path / "fresh")
    assert checked.exit_code == 0, checked.output
    assert "confirmed: " in checked.stdout
    words = ("tune", "--store", tmp_path / "races", "--json")
    content = json.loads(switchpoint(*words).stdout)
    assert content["written"] == []
    assert [one["algorithm"] for one in content["groups"][0]["winners"]] == ["rabenseifner"] * 4


def even(mode: str, size: int) -> float:
    """Return times of a library that chooses well."""
    return 20 + size / 50 if mode == "library" else 40 + size / 25


@pytest.mark.parametrize("mpi", NAMES)
def test_a_folder_keeps_no_rules_that_nothing_supports_any_more(
    tmp_path: Path, switchpoint: Run, mpi: str
) -> None:
    Store(tmp_path / "old").add(measured(mpi=mpi))
    Store(tmp_path / "new").add(measured(even, mpi=mpi))
    folder = tmp_path / "rules"
    library = ("--mpich-library", library_file(tmp_path))
    words = ("tune", "-o", folder, *library, "--store")

    unused = switchpoint("tune", "-o", tmp_path / "other", "--store", tmp_path / "new")
    assert unused.exit_code == 0, unused.output
    assert not (tmp_path / "other").exists()
    assert "no rule: nothing is faster than the library's choice by 5 %" in unused.stdout
    assert "earlier rules" not in unused.stdout

    assert switchpoint(*words, tmp_path / "old").exit_code == 0
    assert read_rules(folder).variables
    without = switchpoint(*words, tmp_path / "new")
    assert without.exit_code == 0, without.output
    assert read_rules(folder).variables == {}
    assert read_tuning(folder).rules() == {}
    assert f"{folder / 'rules.json'}\n" in without.stdout
    assert without.stdout.endswith("these files of earlier rules now set nothing\n")

    again = switchpoint(*words, tmp_path / "old")
    assert again.exit_code == 0, again.output
    assert read_rules(folder).variables


def test_the_command_says_that_a_check_left_no_rule(tmp_path: Path, switchpoint: Run) -> None:
    folder = tmp_path / "rules"
    write_tuning(tune(measured()), folder)
    Store(tmp_path / "fresh").add(fresh(folder, lambda _, size: 2 * times("library", size)))

    checked = switchpoint("tune", "--check", folder, "--store", tmp_path / "fresh")
    assert checked.exit_code == 0, checked.output
    assert "no rule is left: none won in fresh launches\n" in checked.stdout
    assert checked.stdout.endswith("these files of earlier rules now set nothing\n")
    assert "use it: " not in checked.stdout
    assert read_rules(folder).variables == {}


def one_line(result: Result) -> str:
    """Return the only line of a refusal."""
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    return str(line)


#: Launches of which no rules can be made, and what is said.
REFUSED: Mapping[str, tuple[Callable[[], Measurements], str]] = {
    "two launches": (lambda: measured(launches=2), "2 launches, but rules need 3; measure again"),
    "one rank": (lambda: measured(ranks=1), "on 1 rank: a rule needs two ranks or more"),
    "another MPI": (
        lambda: measured(mpi="Intel MPI 2021.9", modes=("library", "library:1")),
        "no rules can be written for Intel MPI 2021.9, only for Open MPI and MPICH",
    ),
    "no algorithms": (
        lambda: measured(modes=("library",)),
        "no run measured a collective's algorithms beside the library's choice",
    ),
    "two libraries": (
        lambda: joined(measured(), measured(mpi=MPICH, seed=1)),
        "differ in mpi, which a rules file cannot distinguish: choose one of MPICH 4.0.2, Open MPI",
    ),
    "a gather": (
        lambda: measured(kernel="gather"),
        "the rules file of Open MPI does not count its bytes",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_launches_without_rules_are_refused_in_one_line(
    tmp_path: Path, switchpoint: Run, case: str
) -> None:
    made, says = REFUSED[case]
    Store(tmp_path / "store").add(made())

    words = ("tune", "--store", tmp_path / "store", "-o", tmp_path / "x")
    assert says in one_line(switchpoint(*words))
    assert not (tmp_path / "x").exists()


def test_one_of_several_libraries_is_chosen_by_name(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(joined(measured(), measured(mpi=MPICH, seed=1)))
    words = ("tune", "--store", tmp_path / "store", "--mpi")

    assert switchpoint(*words, OPEN).exit_code == 0
    assert "no launch has 'MVAPICH'; they have: MPICH 4.0.2, Open" in one_line(
        switchpoint(*words, "MVAPICH")
    )


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(measured())
    (tmp_path / "file").write_text("")
    words = ("tune", "--store", tmp_path / "store", "-o")

    line = one_line(switchpoint(*words, tmp_path / "file"))
    assert line.endswith("/file: cannot be created: File exists; choose another folder")


def test_mpichs_library_has_to_be_named(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(measured(mpi=MPICH))
    words = ("tune", "--store", tmp_path / "store", "-o", tmp_path / "rules")

    assert "--mpich-library: is needed: MPICH reads" in one_line(switchpoint(*words))


def test_other_files_are_not_replaced(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(measured())
    (tmp_path / "rules.json").write_text("{}")
    words = ("tune", "--store", tmp_path / "store", "-o", tmp_path)

    assert "rules.json: was not written by `switchpoint tune`" in one_line(switchpoint(*words))
    assert switchpoint(*words, "--force").exit_code == 0
    assert switchpoint(*words, "--least-gain", "20").exit_code == 0, "now they are ours"


def test_rules_for_two_libraries_need_two_folders(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(measured(mpi=MPICH))
    write_tuning(tune(measured()), tmp_path / "rules")
    words = ("tune", "--store", tmp_path / "store", "-o", tmp_path / "rules", "--mpich-library",
             library_file(tmp_path))  # fmt: skip

    assert "/rules: has rules for Open MPI; choose another folder" in one_line(switchpoint(*words))
    assert read_tuning(tmp_path / "rules").library == "Open MPI"
    assert switchpoint(*words, "--force").exit_code == 0


@pytest.mark.parametrize("option", ["--mpi", "--placement", "--environ", "--site", "--partition"])
def test_a_check_takes_its_place_from_the_rules(
    tmp_path: Path, switchpoint: Run, option: str
) -> None:
    write_tuning(tune(measured()), tmp_path)

    words = ("tune", "--check", tmp_path, "--store", tmp_path / "none", option, "x")
    assert f"{option}: chooses launches to make rules of" in one_line(switchpoint(*words))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"ranks": 8}, "has launches of 8 ranks, but the rules are for 4; measure with as many"),
        (
            {"hosts": ["n0"] * 4},
            "has launches of 4 ranks on 1 node, but the rules are for 4 ranks on 4 nodes; measure",
        ),
        ({"sizes": [KIB]}, "has no size with a rule in 3 launches of each side"),
        ({"launches": 2}, "has no size with a rule in 3 launches of each side"),
        ({"mpi": MPICH}, "the advice is for Open MPI 4.1.4"),
    ],
    ids=str,
)
def test_launches_that_do_not_suit_check_nothing(
    tmp_path: Path, how: Mapping[str, Any], says: str
) -> None:
    write_tuning(tune(measured()), tmp_path)

    with pytest.raises(InputError, match=says):
        check_tuning(tmp_path, fresh(tmp_path, won, **how))


def test_launches_with_other_rules_check_nothing(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path / "one")
    write_tuning(tune(measured(kernel="broadcast")), tmp_path / "other")

    with pytest.raises(InputError, match="has no launches with these rules"):
        check_tuning(tmp_path / "one", fresh(tmp_path / "other", won))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "has no rules; write the rules again"),
        ("{", "is not JSON"),
        ('{"format": "switchpoint rules", "version": 1}', "library: Field required"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_folder_without_rules_is_one_line(
    tmp_path: Path, switchpoint: Run, text: str | None, says: str
) -> None:
    Store(tmp_path / "store").add(measured())
    if text is not None:
        (tmp_path / "rules.json").write_text(text)

    words = ("tune", "--check", tmp_path, "--store", tmp_path / "store")
    assert says in one_line(switchpoint(*words))


def test_names_that_would_be_more_than_a_name_are_refused(tmp_path: Path) -> None:
    write_tuning(tune(measured()), tmp_path)
    file = tmp_path / "rules.json"
    file.write_text(file.read_text().replace('"rabenseifner"', '"ring\\": {}, \\"x"'))

    with pytest.raises(InputError, match="algorithm: String should match pattern"):
        read_tuning(tmp_path)


def test_text_from_records_stays_in_its_comment(tmp_path: Path) -> None:
    tuning: Tuning = tune(measured())
    written = write_tuning(tuning.model_copy(update={"hosts": ["n0\nexport X=1"]}), tmp_path)

    assert "X" not in read_rules(tmp_path).variables
    assert all("\nexport" not in path.read_text() for path in written)


# The gate.


def slow(_mode: str, size: int) -> float:
    """Return the time of the library with rules that have become bad."""
    return 1.5 * times("library", size)


def gated(tmp_path: Path, switchpoint: Run, session: Measurements, *more: object) -> Result:
    """Store a session, and compare it with the rules of a folder."""
    Store(tmp_path / "nightly").add(session)
    return switchpoint(
        "gate", "--store", tmp_path / "nightly", "--rules", tmp_path / "rules", *more
    )


def said(result: Result) -> list[str]:
    """Return the warnings of a gate, except that this session is the first one."""
    return [line for line in result.stderr.splitlines() if "no earlier session" not in line]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A folder with a rule from 32 KiB to 256 KiB."""
    folder = tmp_path / "rules"
    write_tuning(tune(measured()), folder)
    return folder


def test_rules_that_still_win_pass_the_gate(tmp_path: Path, rules: Path, switchpoint: Run) -> None:
    result = gated(tmp_path, switchpoint, fresh(rules, won))

    assert result.exit_code == 0, result.output
    assert said(result) == []
    assert "passes" in result.stdout


def test_a_session_without_the_rules_says_nothing_of_them(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    result = gated(tmp_path, switchpoint, measured())

    assert (result.exit_code, said(result)) == (0, [])


def test_rules_that_win_no_more_fail_the_gate(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    result = gated(tmp_path, switchpoint, fresh(rules, slow), "--json")

    assert result.exit_code == 1, result.output
    [finding] = json.loads(result.stdout)["findings"]
    assert (finding["kind"], finding["fails"]) == ("rule_no_longer_wins", True)
    assert (finding["first_size_bytes"], finding["last_size_bytes"]) == (32 * KIB, 256 * KIB)
    assert finding["low"] < 0.5 < finding["high"]
    assert finding["effect"] == pytest.approx(0.5, abs=0.1)
    assert finding["shared"] == {
        "site": "here", "mpi": OPEN, "placement": "four_nodes", "kernel": "allreduce",
    }  # fmt: skip
    sentence = finding["sentence"]
    assert sentence.startswith(
        "`rabenseifner` of `allreduce` on 4 ranks at 32,768 to 262,144 B wins no more: 0.6"
    )
    assert "times as fast as the library's choice in 3 fresh launches (before " in sentence
    assert "; `switchpoint tune --check " in sentence


def test_the_fix_that_the_gate_names_is_one(tmp_path: Path, rules: Path, switchpoint: Run) -> None:
    """It takes the launches of the session alone: before, the rules had won."""
    store = tmp_path / "nightly"
    Store(store).add(fresh(rules, won, launches=9, day="2026-11-28"))
    failed = gated(tmp_path, switchpoint, fresh(rules, slow), "--json")
    assert failed.exit_code == 1
    findings = json.loads(failed.stdout)["findings"]
    [sentence] = [one["sentence"] for one in findings if one["kind"] == "rule_no_longer_wins"]
    command = sentence.partition("`switchpoint ")[2].partition("` withdraws it")[0]
    assert switchpoint(*shlex.split(command)).exit_code == 0
    assert read_tuning(rules).rules() == {}

    after = switchpoint("gate", "--store", store, "--rules", rules)
    assert "rule no longer wins" not in after.stdout
    assert "has no rule that could win; leave out --rules" in after.stderr


def test_an_accepted_loss_passes_whatever_its_size(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    store = tmp_path / "nightly"
    assert gated(tmp_path, switchpoint, fresh(rules, slow)).exit_code == 1
    words = ("accept", "rule_no_longer_wins", "--reason", "soon replaced", "--store", store)
    assert switchpoint(*words).exit_code == 0

    again = switchpoint("gate", "--store", store, "--rules", rules)
    assert again.exit_code == 0, again.output


def test_launches_that_scatter_fail_no_rule(tmp_path: Path, rules: Path, switchpoint: Run) -> None:
    """Their intervals allow the least gain, and a loss."""
    digest = read_rules(rules).digest
    kinds = [(0.6, 5), (1.0, 6), (1.7, 7)]
    sides = [
        measured(
            lambda mode, size, factor=factor: factor * times("library", size),
            launches=1, first=number, modes=("library",), seed=seed,
            rules="recommended", rules_digest=digest,
        )
        for number, (factor, seed) in enumerate(kinds)
    ]  # fmt: skip
    without = measured(modes=("library",), seed=8, rules="default")
    result = gated(tmp_path, switchpoint, joined(*sides, without))

    assert result.exit_code == 0, result.output
    [line] = said(result)
    assert " may win no more: " in line
    assert line.endswith("; measure more launches")


def test_rules_are_measured_again_after_an_upgrade(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    newer = fresh(rules, slow, mpi="Open MPI 5.0.11")
    result = gated(tmp_path, switchpoint, newer, "--json")

    assert result.exit_code == 1, result.output
    assert f"{rules}: its rules were measured with something else" in result.stderr
    assert "(MPI: Open MPI 4.1.4 -> Open MPI 5.0.11)" in result.stderr
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["shared"]["mpi"] == "Open MPI 5.0.11"
    assert finding["sentence"].endswith("; tune again")
    [changed] = finding["what_changed"]
    assert (changed["before"], changed["now"]) == (OPEN, "Open MPI 5.0.11")


@pytest.mark.parametrize(
    ("how", "what", "then"),
    [
        ({"mpi": "Open MPI 5.0.11"}, "MPI: Open MPI 4.1.4 -> Open MPI 5.0.11", "tune again, or"),
        ({"node": "m"}, "hosts: n0, n1, n2, n3 -> m0, m1, m2, m3", "; measure with them and"),
    ],
)
def test_facts_that_the_rules_do_not_have_are_a_warning(
    tmp_path: Path, rules: Path, switchpoint: Run, how: dict[str, Any], what: str, then: str
) -> None:
    result = gated(tmp_path, switchpoint, measured(modes=("library",), **how))

    assert result.exit_code == 0, result.output
    [line] = said(result)
    assert f"({what})" in line
    assert then in line


def test_a_session_of_another_library_knows_nothing_of_the_rules(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    result = gated(tmp_path, switchpoint, measured(mpi=MPICH))

    assert result.exit_code == 0, result.output
    [line] = said(result)
    assert "the session has no run of Open MPI there: nothing is known of them" in line


def test_too_few_launches_with_the_rules_are_a_warning(
    tmp_path: Path, rules: Path, switchpoint: Run
) -> None:
    result = gated(tmp_path, switchpoint, fresh(rules, slow, launches=2))

    assert result.exit_code == 0, result.output
    assert "its rules were not measured again: " in result.stderr
    assert "has no size with a rule in 3 launches of each side" in result.stderr


def test_the_gate_needs_a_folder_with_rules(tmp_path: Path, switchpoint: Run) -> None:
    assert "rules.json: cannot be read: No such file" in one_line(
        gated(tmp_path, switchpoint, measured())
    )


# The report.


def test_the_report_has_a_page_of_rules(tmp_path: Path, switchpoint: Run) -> None:
    rules = tmp_path / "rules"
    write_tuning(tune(measured()), rules)

    def partly(_mode: str, size: int) -> float:
        return times("library" if size == 64 * KIB else "library:rabenseifner", size)

    write_tuning(check_tuning(rules, fresh(rules, partly, sizes=SIZES[:-3])), rules)
    Store(tmp_path / "races").add(measured())
    result = switchpoint(
        "report", "--store", tmp_path / "races", "--rules", rules, "-o", tmp_path / "report"
    )
    assert result.exit_code == 0, result.output

    page = (tmp_path / "report" / "rules.html").read_text()
    assert "won at 4 sizes; after fresh launches: 2 confirmed, 1 withdrawn, 1 not checked." in page
    assert "allreduce on 4 ranks, 4 nodes, Open MPI 4.1.4" in page
    assert "here, four_nodes: n0, n1, n2, n3, measured 2026-11-29." in page
    assert 'href="rules.html"' in (tmp_path / "report" / "index.html").read_text()
    [values] = (tmp_path / "report" / "data").glob("rules-*.csv")
    table = pd.read_csv(values).set_index("size / B")
    assert table["use"].loc[[16 * KIB, 32 * KIB, 64 * KIB, 256 * KIB]].tolist() == [
        "default", "rabenseifner", "default (rabenseifner withdrawn)", "rabenseifner",
    ]  # fmt: skip
    assert table["fresh launches"].loc[[32 * KIB, 64 * KIB, 256 * KIB]].tolist() == [
        "confirmed", "withdrawn", "not checked",
    ]  # fmt: skip
    assert table["default"].loc[KIB] == "rabenseifner"
    assert float(table["fresh gain"].loc[32 * KIB]) == pytest.approx(2, rel=0.1)
    assert table["fresh gain"].loc[256 * KIB] == "-"


def test_a_report_needs_a_folder_with_rules(tmp_path: Path, switchpoint: Run) -> None:
    Store(tmp_path / "store").add(measured())
    words = ("report", "--store", tmp_path / "store", "-o", tmp_path / "report", "--rules")

    assert "rules.json: cannot be read" in one_line(switchpoint(*words, tmp_path))
    assert not (tmp_path / "report").exists()


# What was recorded on four nodes with links of 100 Mbit/s (bench/tune.py).

RECORDS = Path(__file__).parent / "records" / "rules"


def recorded(folder: str) -> Measurements:
    """Read launches of a broadcast and an allgather with Open MPI 4.1.4."""
    found = read_files([RECORDS / folder]).measurements
    assert found is not None
    return found


def relabelled(found: Measurements, digest: str, sides: Mapping[str, str]) -> Measurements:
    """Return the launches with the rules of a folder; `sides` says which label becomes which."""
    label = found.samples["rules"].astype(str).map(sides)
    digests = label.map({"recommended": digest})
    samples = found.samples.assign(rules=label, rules_digest=digests)
    return Measurements(samples, found.runs)


SAME = {"recommended": "recommended", "default": "default"}
SWAPPED = {"recommended": "default", "default": "recommended"}


@pytest.mark.parametrize(("sides", "wins"), [(SAME, True), (SWAPPED, False)])
def test_recorded_rules_are_confirmed_and_the_wrong_way_round_withdrawn(
    tmp_path: Path, sides: Mapping[str, str], wins: bool
) -> None:
    tuning = tune(recorded("races"))
    write_tuning(tuning, tmp_path)
    winners = {group.kernel: group.winners for group in tuning.groups}

    assert {(one.size_bytes, one.algorithm) for one in winners["allgather"]} == {
        (128 * KIB, "ring"), (256 * KIB, "ring"),
    }  # fmt: skip
    assert [(one.algorithm, one.number) for one in winners["broadcast"]] == [
        ("split_binary_tree", 4)
    ]
    fresh_launches = relabelled(recorded("fresh"), read_rules(tmp_path).digest, sides)
    checked = check_tuning(tmp_path, fresh_launches)
    assert [one.withdrawn for group in checked.groups for one in group.winners] == [not wins] * 3
    assert bool(checked.rules()) is wins
