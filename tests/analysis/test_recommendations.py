"""Recommendations from models whose lines are known, as files that libraries read, and checked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rules_in_files import chosen, selected
from switchpoint import (
    InputError,
    Measurements,
    Store,
    check_advice,
    recommend,
    save_model,
    write_advice,
)
from switchpoint.models.advice_files import rules_digests
from switchpoint.models.collectives import KEEP, UNKNOWN, USE, Advice, rules_of
from switchpoint.models.crossovers import crossovers
from switchpoint.models.efficiency import LITERATURE, WORD_BYTES
from switchpoint.models.libraries import mpich
from switchpoint.models.libraries.library import BROADCAST, EXCHANGE, Group
from switchpoint.models.libraries.open_mpi import OPEN_MPI, rules_text
from switchpoint.models.recommend import Recommendation
from switchpoint.models.rules_files import read_rules
from switchpoint.models.site_model import ComputeRate, Curve, Figure, Segment, SiteModel
from switchpoint.tables.columns import MEASURES, RUN_COLUMNS
from typer.testing import Result

Run = Callable[..., Result]

NEAR, FAR = "one_node", "two_nodes"
OPEN, OTHER = "Open MPI 4.1.4", "Intel MPI 2021.9"
MIB = 1 << 20
LIBMPICH = Path("/usr/lib/x86_64-linux-gnu/libmpich.so.12")


def line(
    placement: str, mode: str, start_us: float, per_byte_us: float, *, mpi: str = OPEN,
    spread: float = 1.02, **how: Any,
) -> Curve:  # fmt: skip
    """A curve of one line; the points lie within `spread` of it."""
    segment = Segment(
        first_size_bytes=1, last_size_bytes=16 * MIB, sizes=25, start_us=Figure(value=start_us),
        per_byte_us=Figure(value=per_byte_us), least_over_line=1 / spread, most_over_line=spread,
    )  # fmt: skip
    nodes = 1 if placement == NEAR else 2
    defaults = {"machines": nodes, "cores_per_machine": 2}
    return Curve(
        mpi=mpi, runs=["a"], interval_over="launches", repeats=5, placement=placement, mode=mode,
        nodes=nodes, segments=[segment], **(defaults | how),
    )  # fmt: skip


def site(*curves: Curve, sort_us: float | None = None) -> SiteModel:
    """A model with these curves, and shared memory that costs next to nothing."""
    rates = [] if sort_us is None else [
        ComputeRate(runs=["a"], interval_over="launches", repeats=5, kernel="mergesort", work="-",
                    time_us=Figure(value=sort_us))
    ]  # fmt: skip
    near = line(NEAR, "send", 0.5, 1e-4, mpi=str(curves[0].mpi))
    return SiteModel(
        site="here", made_utc="2026-11-22T10:00:00Z", made_by="a test", made_from="a test",
        curves=[*curves, near], compute_rates=rates,
    )  # fmt: skip


#: Links of 100 Mbit/s: a message takes 50 us and its bytes.
SLOW = site(line(FAR, "send", 50, 0.08), line(FAR, "stream", 10, 0.08))


def on_four(model: SiteModel = SLOW, *sizes: int, **how: Any) -> list[Advice]:
    """Advice for four nodes with one rank each."""
    about = how.pop("about", [BROADCAST])
    return recommend(
        model, placement=FAR, about=about, nodes=4, cores=2, sizes_bytes=sizes or (MIB,), **how
    ).algorithms


# Study 004 and 003: algorithms by size and group.


def test_a_pipeline_beats_the_default_chain_of_whole_messages() -> None:
    [advice] = on_four()

    assert (advice.verdict, str(advice.default)) == (USE, "chain")
    assert advice.best.algorithm.name == "pipeline"
    # The chain passes the message three times; the pipeline once, and two segments more.
    segment = advice.best.segment_bytes
    assert advice.default_us is not None
    assert advice.default_us.time_us == pytest.approx(3 * (50 + 0.08 * MIB), rel=1e-3)
    assert advice.best_us.time_us == pytest.approx(0.08 * (MIB + 2 * segment), rel=0.03)
    assert advice.gain == pytest.approx(advice.default_us.time_us / advice.best_us.time_us)


def test_intervals_that_come_from_the_same_links_do_not_hide_who_is_faster() -> None:
    scattered = site(line(FAR, "send", 50, 0.08, spread=3), line(FAR, "stream", 10, 0.08, spread=3))
    [advice] = on_four(scattered)

    assert advice.default_us is not None
    assert advice.best_us.high_us > advice.default_us.low_us
    assert advice.verdict == USE


def test_an_interval_contains_its_time_where_faster_links_cost_time() -> None:
    """A burst of the link makes single messages faster than those of a stream."""
    curves = []
    for mode, start_us, per_byte_us, bounds in (
        ("send", 8.9, 0.0245, (0.76, 1.32)),
        ("stream", 6.6, 0.083, (0.95, 1.03)),
        ("bistream", 3.2, 0.0415, (0.72, 1.04)),
    ):
        made = line(FAR, mode, start_us, per_byte_us)
        [segment] = made.segments
        least, most = bounds
        spread = {"least_over_line": least, "most_over_line": most}
        curves.append(made.model_copy(update={"segments": [segment.model_copy(update=spread)]}))
    found = on_four(site(*curves), 512, 1024, about=[EXCHANGE])

    for one in (advice.best_us for advice in found):
        assert one.low_us <= one.time_us <= one.high_us


def test_advice_has_a_gain_where_lines_are_negative_below_their_sizes() -> None:
    curves = []
    for mode in ("send", "stream"):
        made = line(FAR, mode, 1, 0.08)
        [segment] = made.segments
        below = {"first_size_bytes": 4096, "start_us": Figure(value=-100)}
        late = segment.model_copy(update=below)
        curves.append(made.model_copy(update={"segments": [late]}))
    found = on_four(site(*curves), 1, 64, 1024, about=[BROADCAST, EXCHANGE])

    assert len(found) == 6
    assert all(one.gain and one.gain_interval and one.gain_interval[0] > 0 for one in found)


def test_the_gains_interval_takes_each_curves_scatter_as_its_own() -> None:
    [exact] = on_four(site(line(FAR, "send", 50, 0.08, spread=1), line(FAR, "stream", 10, 0.08)))
    [scattered] = on_four(
        site(line(FAR, "send", 50, 0.08, spread=2), line(FAR, "stream", 10, 0.08))
    )

    for advice in (exact, scattered):
        assert advice.gain is not None
        assert advice.gain_interval is not None
    low, high = exact.gain_interval
    assert low == pytest.approx(exact.gain / 1.29, rel=0.02)  # the predictions' own error
    assert high == pytest.approx(exact.gain * 1.29, rel=0.02)
    # The default sends single messages, and the recommended pipeline a stream.
    low, high = scattered.gain_interval
    assert low < exact.gain / 1.7
    assert high > exact.gain * 1.7


def test_a_gain_within_the_errors_of_predictions_changes_nothing() -> None:
    [advice] = on_four(SLOW, 4096, about=[EXCHANGE])

    assert advice.verdict == KEEP
    assert advice.rule is None


def test_trees_win_in_large_groups_only() -> None:
    """Study 004: a sender is busy for o(m) of t(m), table 2.2."""
    tool = site(line(FAR, "send", 184, 0.87, mpi=OTHER), line(FAR, "stream", 36, 0.70, mpi=OTHER))

    def best(ranks: int) -> Advice:
        found = recommend(tool, placement=FAR, about=[BROADCAST], ranks=[ranks], nodes=ranks,
                          sizes_bytes=[1], own_kernels=True)  # fmt: skip
        return found.algorithms[0]

    small, large = best(2), best(20)
    assert {str(small.best), *small.as_good} >= {"repeated", "binomial"}
    assert "repeated" not in {str(large.best), *large.as_good}


def test_shuffles_win_where_a_shift_waits_between_peers() -> None:
    """Study 003: shift and pairwise do not fill the links with short messages."""
    model = site(line(FAR, "send", 500, 1, mpi=OTHER), line(FAR, "stream", 1, 1, mpi=OTHER))
    [advice] = on_four(model, 256, about=[EXCHANGE], own_kernels=True)

    good = {str(advice.best), *advice.as_good}
    assert "synchronous_shuffle" in good
    assert not good & {"shift", "pairwise"}


def test_another_mpi_gets_the_kernels_algorithms_and_says_so() -> None:
    model = site(line(FAR, "send", 50, 0.08, mpi=OTHER))
    found = recommend(model, placement=FAR, about=[BROADCAST], nodes=4, sizes_bytes=[MIB])

    assert found.algorithms[0].verdict == UNKNOWN
    assert found.library.files is None
    assert any(f"algorithms of {OTHER} are not described" in note for note in found.notes)


@pytest.mark.parametrize(
    ("operation", "ranks", "size", "name"),
    [
        (BROADCAST, 4, MIB, "chain"), (BROADCAST, 4, MIB - 1, "linear"),
        (BROADCAST, 3, 0, "pipeline"), (BROADCAST, 8, 1024, "knomial"),
        (BROADCAST, 31, MIB, "scatter_allgather"), (BROADCAST, 512, 20_000, None),
        (EXCHANGE, 2, 1, "pairwise"), (EXCHANGE, 16, 100, "bruck"), (EXCHANGE, 4, MIB, "linear"),
    ],
)  # fmt: skip
def test_open_mpis_own_decisions(operation: str, ranks: int, size: int, name: str | None) -> None:
    chosen = OPEN_MPI.default(operation, Group(ranks, ranks), size, OPEN)

    assert (chosen.algorithm.name if chosen else None) == name
    assert OPEN_MPI.default(operation, Group(ranks, ranks), size, "Open MPI 5.0.3") is None


# Study 000: maps.

#: One merged number, so that one process sorts 200,000 B in the study's 0.085 s.
NUMBER_US = 85_000 / 780_482


@pytest.mark.parametrize(
    ("start_us", "per_byte_us", "winner"),
    [(500, 1.0, "one node"), (50, 0.02, "several nodes"), (1e6, 1.0, "one node")],
    ids=["Ethernet", "VIA", "far"],
)
def test_one_node_beats_ethernet_and_via_beats_one_node(
    start_us: float, per_byte_us: float, winner: str
) -> None:
    """Study 000: 200,000 B take 0.2 s over its Ethernet, and 5 ms over VIA."""
    model = site(line(FAR, "send", start_us, per_byte_us), sort_us=NUMBER_US)
    [found] = recommend(
        model, placement=FAR, about=["map"], nodes=2, cores=2, sizes_bytes=[200_000]
    ).maps

    assert found.winner == winner
    assert found.alone_us.time_us == pytest.approx(85_000, rel=1e-3)
    assert found.one_node_us.time_us == pytest.approx(45_200, rel=0.01)
    if winner == "several nodes":
        # Figure 10 has one leaf on each processor, as others that are as fast.
        assert "AABAABB" in {found.best_map, *found.as_good}


def test_a_process_alone_wins_where_nothing_can_be_gained() -> None:
    slow = line(NEAR, "send", 1e5, 1.0, cores_per_machine=1)
    model = site(line(FAR, "send", 1e5, 1.0), sort_us=NUMBER_US)
    model = model.model_copy(update={"curves": [model.curves[0], slow]})
    [found] = recommend(
        model, placement=FAR, about=["map"], nodes=2, cores=1, sizes_bytes=[200_000]
    ).maps

    assert found.winner == "one process"


# Study 002: grains.


@pytest.mark.parametrize(
    ("words", "exchange_us", "even_ms"), [(1, 3010, 6.020), (10_000, 103_000, 206.0)]
)
def test_the_break_even_grain_is_that_of_study_002(
    words: int, exchange_us: float, even_ms: float
) -> None:
    per_byte = LITERATURE.word_us / WORD_BYTES
    model = site(line(FAR, "send", LITERATURE.start_us, per_byte, eager_last_size_bytes=0))
    [found] = recommend(
        model, placement=FAR, about=["grain"], ranks=[2], sizes_bytes=[WORD_BYTES * words]
    ).grains

    assert found.exchange_us == pytest.approx(exchange_us)
    assert found.grain_us / 1e3 == pytest.approx(even_ms, abs=5e-4)
    assert found.low_us < found.grain_us < found.high_us


# What the model does not hold.


def test_a_question_without_an_answer_is_a_note_if_others_have_one() -> None:
    found = recommend(SLOW, placement=FAR, nodes=4, sizes_bytes=[64 * MIB])

    assert found.algorithms
    assert not found.maps
    assert any("no advice on map: has no compute rate of mergesort" in n for n in found.notes)
    assert any("64 MiB is extrapolated" in note for note in found.notes)
    assert any("4 nodes are taken to be joined as the 2" in note for note in found.notes)


REFUSED = [
    (["--placement", "moon"], "has no placement 'moon'"),
    (["--placement", FAR, "--ranks", "5"], "5 cannot be divided evenly over 2 nodes"),
    (["--placement", FAR, "--ranks", "1"], "'1' is not a number of 2 or more"),
    (["--placement", FAR, "--ranks", ","], "names no number"),
    (["--placement", FAR, "--ranks", "100000000"], "100,000,000 are more than the 1,000,000"),
    (
        ["--placement", FAR, "--own-kernels", "--ranks=2000", "--about=exchange", "--sizes=64"],
        "these are 3,998,000 messages",
    ),
    (["--placement", NEAR, "--nodes", "4"], "4 does not suit placement 'one_node'"),
    (["--placement", FAR, "--nodes", "1"], "1 does not suit placement 'two_nodes'"),
    (["--placement", FAR, "--about", "map,weather"], "'weather' is not one of broadcast, exchange"),
    (["--placement", FAR, "--about", ","], "names nothing"),
    (["--placement", FAR, "--about", "map"], "has no compute rate of mergesort"),
    (["--placement", FAR, "--sizes", "big"], "'big' is not a size"),
    (["--placement", FAR, "--about", "broadcast", "--checked", "none.record"], "none.record"),
]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    return save_model(SLOW, tmp_path / "site-model.yaml")


@pytest.mark.parametrize(("words", "says"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_recommended_is_one_line(
    model_file: Path, switchpoint: Run, words: list[str], says: str
) -> None:
    result = switchpoint("model", "recommend", model_file, *words)

    assert result.exit_code == 2, result.output
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert says in result.stderr
    assert result.stdout == ""


def test_maps_of_many_nodes_are_refused() -> None:
    model = site(line(FAR, "send", 50, 0.08), sort_us=NUMBER_US)

    with pytest.raises(InputError, match="more than 2,000 maps"):
        recommend(model, placement=FAR, about=["map"], nodes=8, sort_ranks=15)


def test_maps_of_a_thousand_ranks_are_refused_or_predicted() -> None:
    model = site(line(FAR, "send", 50, 0.08), sort_us=NUMBER_US)
    [found] = recommend(
        model, placement=NEAR, about=["map"], sort_ranks=1001, sizes_bytes=[200_000]
    ).maps

    assert found.best_map is None
    for ranks, says in ((1001, "more than 2,000 maps"), (10**8 + 1, "more than the 1,000,000")):
        with pytest.raises(InputError, match=says):
            recommend(model, placement=FAR, about=["map"], sort_ranks=ranks)


# Files.


def test_open_mpis_file_has_the_rule_of_each_size_and_group() -> None:
    sizes = [1, 1024, 65536, MIB]
    algorithms = [
        advice for ranks in (4, 5, 8)
        for advice in recommend(SLOW, placement=FAR, about=[BROADCAST], ranks=[ranks], nodes=ranks,
                                sizes_bytes=sizes).algorithms
    ]  # fmt: skip
    text = rules_text(rules_of(algorithms))

    for advice in algorithms:
        rule = advice.rule
        expected = (rule.algorithm.number, rule.segment_bytes) if rule else (0, 0)
        assert chosen(text, 7, advice.ranks, advice.size_bytes) == expected
    assert chosen(text, 7, 4, MIB)[0] == 3
    for ranks, size in ((3, MIB), (6, MIB), (9, MIB), (4, 2 * MIB)):
        assert chosen(text, 7, ranks, size) == (0, 0)


def test_open_mpi_counts_an_exchange_by_all_messages_of_a_rank() -> None:
    cheap = site(line(FAR, "send", 1000, 1e-4), line(FAR, "stream", 990, 1e-4))
    [advice] = recommend(cheap, placement=FAR, about=[EXCHANGE], ranks=[12], nodes=12,
                         sizes_bytes=[64]).algorithms  # fmt: skip
    text = rules_text(rules_of([advice]))

    assert str(advice.best) == "bruck"
    assert chosen(text, 3, 12, 64 * 12) == (3, 0)
    assert chosen(text, 3, 12, 64 * 12 - 1) == (0, 0)


def test_files_are_written_with_the_settings_that_use_them(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    folder = tmp_path / "rules"
    words = ["model", "recommend", model_file, "--placement", FAR, "--nodes", 4,
             "--about", "broadcast", "--sizes", "1K,1M", "--write", folder]  # fmt: skip
    printed = switchpoint(*words)
    content = json.loads(switchpoint(*words, "--json").stdout)

    assert printed.exit_code == 0, printed.output
    assert "pipeline, segments of" in printed.stdout
    assert f"use it: set -a; . {folder}/openmpi.env; set +a" in printed.stdout
    [mark, *rows] = (folder / "openmpi.env").read_text().splitlines()
    assert mark.startswith("# ")
    settings = dict(row.split("=") for row in rows)
    assert settings["OMPI_MCA_coll_tuned_use_dynamic_rules"] == "1"
    rules = Path(settings["OMPI_MCA_coll_tuned_dynamic_rules_filename"])
    assert chosen(rules.read_text(), 7, 4, MIB)[0] == 3
    names = ("openmpi-rules.conf", "openmpi.env", "switchpoint-openmpi")
    assert content["written"] == [str(folder / name) for name in names]
    assert [row["in_file"] for row in content["algorithms"]][-1] is True
    assert content["algorithms"][-1]["times_faster"] > 2


@pytest.mark.parametrize("name", ["openmpi.env", "openmpi-rules.conf"])
def test_settings_that_the_user_wrote_are_not_replaced(
    model_file: Path, tmp_path: Path, switchpoint: Run, name: str
) -> None:
    words = ["model", "recommend", model_file, "--placement", FAR, "--nodes", 4,
             "--about", "broadcast", "--write", tmp_path, "--sizes"]  # fmt: skip
    (tmp_path / name).write_text("OMPI_MCA_btl=self,tcp\n")

    refused = switchpoint(*words, "1M")
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"switchpoint: {tmp_path / name}: was not written by `switchpoint model recommend`; choose"
        " another folder, or replace it with --force\n"
    )
    assert [path.read_text() for path in tmp_path.glob("openmpi*")] == ["OMPI_MCA_btl=self,tcp\n"]

    assert switchpoint(*words, "1M", "--force").exit_code == 0
    assert switchpoint(*words, "1K,1M").exit_code == 0, "now they are ours"


@pytest.mark.parametrize("folder", ["my rules", "it's; $HOME", "."])
def test_the_printed_line_gives_a_shell_the_settings(
    model_file: Path, tmp_path: Path, switchpoint: Run, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = switchpoint("model", "recommend", model_file, "--placement", FAR, "--nodes", 4,
                          "--about", "broadcast", "--sizes", "1M", "--write", folder)  # fmt: skip
    [use] = [row for row in printed.stdout.splitlines() if row.startswith("use it: ")]
    show = 'cat "$OMPI_MCA_coll_tuned_dynamic_rules_filename"'
    shell = subprocess.run(
        ["sh", "-c", f"{use.removeprefix('use it: ')}; {show}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert shell.stdout == (tmp_path / folder / "openmpi-rules.conf").read_text()


def test_a_map_becomes_a_rank_file_and_a_host_file(tmp_path: Path) -> None:
    model = site(line(FAR, "send", 50, 0.02), sort_us=NUMBER_US)
    found = recommend(model, placement=FAR, about=["map"], cores=2, sizes_bytes=[200_000])

    written = write_advice(found, tmp_path, hosts=["a1", "b1"])

    best = str(found.maps[0].best_map)
    assert {path.name for path in written} == {f"sort-{best}.rankfile", f"sort-{best}.hosts"}
    hosts = (tmp_path / f"sort-{best}.hosts").read_text().split()
    assert hosts == [{"A": "a1", "B": "b1"}[letter] for letter in best]
    ranks = (tmp_path / f"sort-{best}.rankfile").read_text().splitlines()
    assert ranks[0] == "rank 0=+n0 slot=0"
    assert ranks[best.index("B")] == f"rank {best.index('B')}=+n1 slot=0"
    with pytest.raises(InputError, match="names 1 of the 2 nodes"):
        write_advice(found, tmp_path, hosts=["a1"])


#: As MPICH's library has it, but shorter.
DECISIONS = {
    "collective=bcast": {"comm_type=intra": {"comm_size<8": {"algorithm=MPIR_Bcast_own": {}}},
                         "comm_type=inter": {"algorithm=MPIR_Bcast_inter": {}}},
    "collective=alltoall": {"comm_type=intra": {"algorithm=MPIR_Alltoall_own": {}}},
    "collective=barrier": {"comm_type=intra": {"algorithm=MPIR_Barrier_own": {}}},
}  # fmt: skip


def mpich_site() -> SiteModel:
    return site(
        line(FAR, "send", 50, 0.08, mpi="MPICH 4.0.2"),
        line(FAR, "stream", 10, 0.08, mpi="MPICH 4.0.2"),
    )


def test_mpichs_file_keeps_its_own_decisions_elsewhere(tmp_path: Path) -> None:
    library = tmp_path / "libmpich.so"
    compact = json.dumps(DECISIONS, separators=(",", ":")).encode()
    library.write_bytes(b"\x7fELF\0" + compact + b"\0more")
    found = recommend(mpich_site(), placement=FAR, about=[BROADCAST], nodes=4,
                      sizes_bytes=[1024, MIB])  # fmt: skip

    written = write_advice(found, tmp_path / "rules", library)

    assert [path.name for path in written] == [
        "mpich-selection.json", "mpich.env", "switchpoint-mpich",
    ]  # fmt: skip
    changed = json.loads(written[0].read_text())
    assert changed.keys() == DECISIONS.keys()
    assert changed["collective=barrier"] == DECISIONS["collective=barrier"]
    assert "comm_type=inter" in changed["collective=bcast"]
    intra = changed["collective=bcast"]["comm_type=intra"]
    assert "scatter" in selected(intra, 4, MIB)
    for ranks, size in ((3, MIB), (5, MIB), (4, 1024), (4, 2 * MIB)):
        assert selected(intra, ranks, size) == "algorithm=MPIR_Bcast_own"


def test_without_mpichs_library_there_are_variables(tmp_path: Path) -> None:
    rules = {(BROADCAST, 4): [mpich.Rule(0, mpich.Choice(mpich.MPICH.algorithms[BROADCAST][2]))]}

    assert mpich.files(rules, "folder", None) == {
        "mpich.env": "MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather\n"
    }


@pytest.mark.parametrize("content", [b"\x7fELF no decisions", b"{}", b"[1]", b"\xff"])
def test_a_file_without_mpichs_decisions_is_refused(tmp_path: Path, content: bytes) -> None:
    library = tmp_path / "libother.so"
    library.write_bytes(content)

    with pytest.raises(InputError, match="contains no decisions of MPICH"):
        mpich.built_in_decisions(library)


@pytest.mark.parametrize(
    "decisions",
    [{"collective=bcast": DECISIONS["collective=bcast"]}, DECISIONS | {"collective=alltoall": 7}],
)
def test_decisions_without_an_operation_are_refused(
    tmp_path: Path, decisions: dict[str, Any]
) -> None:
    file = tmp_path / "x.json"
    file.write_text(json.dumps(decisions))

    with pytest.raises(InputError, match="has no comm_type=intra of collective=alltoall"):
        mpich.built_in_decisions(file)


@pytest.mark.skipif(not LIBMPICH.exists(), reason="needs Debian's MPICH")
def test_mpichs_own_library_has_its_decisions() -> None:
    decisions = mpich.built_in_decisions(LIBMPICH)

    assert {"collective=bcast", "collective=alltoall", "collective=barrier"} <= decisions.keys()
    assert "algorithm=MPIR_Bcast_intra_binomial" in json.dumps(decisions["collective=bcast"])


# Checks.


def launches(
    gains: dict[int, float], *, site_name: str = "here", placement: str = FAR, count: int = 5,
    digest: str | None = None, first: int = 0, **labels: str,
) -> Measurements:  # fmt: skip
    """Launches with the rules and without; those with them are faster by a factor for each size."""
    samples, runs = [], []
    ranks = [{"host": f"n{rank}", "boot_id": f"n{rank}", "rank": rank} for rank in range(4)]
    used = rules_digests(advised())[BROADCAST] if digest is None else digest
    for turn in range(count):
        for side in ("recommended", "default"):
            run_id = f"{first + 2 * turn + (side == 'default'):032x}"
            runs.append(
                dict.fromkeys(RUN_COLUMNS) | {
                    "run_id": run_id, "format": "record", "site": site_name, "kernel": "broadcast",
                    "mpi": OPEN, "header": json.dumps({"ranks": ranks}), "complete": True,
                    "start_utc": f"2026-11-22T10:00:0{turn}Z", "date": "2026-11-22",
                }
            )  # fmt: skip
            for size, gain in gains.items():
                time_us = 1000.0 * (1 + 0.01 * turn) / (gain if side == "recommended" else 1)
                label = (used or None) if side == "recommended" else None
                samples.append((run_id, side, label, size, time_us))
    table = pd.DataFrame(
        samples, columns=["run_id", "rules", "rules_digest", "size_bytes", "time_us"]
    )
    table = table.assign(mode="library", sample=0, iterations=1, kernel="broadcast", mpi=OPEN,
                         site=site_name, placement=placement, **{"pass": 0}, **labels)  # fmt: skip
    table = table.astype({name: "category" for name in table if name not in MEASURES})
    return Measurements(table, pd.DataFrame(runs, columns=RUN_COLUMNS))


def advised(sizes: Sequence[int] = (65536, MIB)) -> Recommendation:
    return recommend(SLOW, placement=FAR, about=[BROADCAST], nodes=4, sizes_bytes=sizes)


def test_what_wins_is_confirmed_and_what_does_not_is_withdrawn() -> None:
    found = check_advice(advised(), launches({65536: 0.9, MIB: 2.5}))

    small, large = found.algorithms
    assert small.checked is not None
    assert large.checked is not None
    assert (small.checked.wins, large.checked.wins) == (False, True)
    assert large.checked.gain == pytest.approx(2.5)
    assert large.checked.launches == 5
    assert small.rule is None
    text = rules_text(rules_of(found.algorithms))
    assert chosen(text, 7, 4, 65536) == (0, 0)
    assert chosen(text, 7, 4, MIB)[0] == 3


def test_if_all_is_withdrawn_the_files_that_were_written_set_nothing(tmp_path: Path) -> None:
    write_advice(advised(), tmp_path)
    found = check_advice(advised(), launches({65536: 0.9, MIB: 0.9}))

    assert write_advice(found, tmp_path / "new") == []
    assert write_advice(found, tmp_path)
    assert read_rules(tmp_path).variables == {}
    assert chosen((tmp_path / "openmpi-rules.conf").read_text(), 7, 4, MIB) == (0, 0)


def test_maps_alone_leave_no_rules_of_before(tmp_path: Path) -> None:
    write_advice(advised(), tmp_path)
    model = site(line(FAR, "send", 50, 0.02), sort_us=NUMBER_US)
    found = recommend(model, placement=FAR, about=["map"], cores=2, sizes_bytes=[200_000])

    written = write_advice(found, tmp_path)

    assert {path.suffix for path in written} >= {".env", ".rankfile"}
    assert read_rules(tmp_path).variables == {}


def test_settings_that_set_nothing_are_not_to_be_used(
    model_file: Path, tmp_path: Path, switchpoint: Run
) -> None:
    words = ["model", "recommend", model_file, "--placement", FAR, "--nodes", 4, "--about",
             "broadcast", "--sizes", "64K,1M", "--write", tmp_path / "rules"]  # fmt: skip
    assert "use it: " in switchpoint(*words).stdout
    Store(tmp_path / "store").add(launches({65536: 0.9, MIB: 0.9}))

    printed = switchpoint(*words, "--checked", tmp_path / "store")

    assert printed.exit_code == 0, printed.output
    assert "use it: " not in printed.stdout
    assert "module load" not in printed.stdout
    said = " ".join(printed.stdout.split())
    assert "rules/openmpi.env sets nothing: no rule of before is recommended any more" in said


def test_the_command_says_so_in_words(model_file: Path, tmp_path: Path, switchpoint: Run) -> None:
    checked = launches({65536: 1.0, MIB: 2.5})
    checked.runs["warnings"] = "run 00000000: shortened"
    Store(tmp_path / "store").add(checked)
    words = ["model", "recommend", model_file, "--placement", FAR, "--nodes", 4, "--about",
             "broadcast", "--sizes", "64K,1M", "--checked", tmp_path / "store"]  # fmt: skip
    printed = switchpoint(*words)
    content = json.loads(switchpoint(*words, "--json").stdout)

    assert printed.exit_code == 0, printed.output
    assert printed.stderr == ""  # `import` printed the warning
    assert "withdrawn: broadcast of 64 KiB by 4 ranks is not faster" in printed.stdout
    assert "confirmed: broadcast of 1 MiB by 4 ranks is 2.50 times faster" in printed.stdout
    assert [row["checked"]["verdict"] for row in content["algorithms"]] == [
        "withdrawn", "confirmed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            lambda: launches({MIB: 2.0}, site_name="there"),
            "runs of there, but the advice is for here",
        ),
        (lambda: launches({MIB: 2.0}, placement=NEAR), "the advice is for two_nodes"),
        (lambda: launches({4096: 2.0}), "has no size and group that these recommendations change"),
        (lambda: launches({MIB: 2.0}, count=2), "in 3 launches of each side"),
        (lambda: launches({MIB: 2.0}, digest="other"), "only with rules_digest=other; give the"),
        (lambda: launches({MIB: 2.0}, digest=""), "only with rules that no label rules_digest"),
    ],
)
def test_launches_that_do_not_suit_are_refused(made: Callable[[], Measurements], says: str) -> None:
    with pytest.raises(InputError, match=says):
        check_advice(advised(), made())


def both(one: Measurements, two: Measurements) -> Measurements:
    """Join launches of two nights."""
    samples = pd.concat([one.samples.astype({"run_id": str}), two.samples.astype({"run_id": str})])
    samples = samples.astype({name: "category" for name in samples if name not in MEASURES})
    return Measurements(samples.reset_index(drop=True), pd.concat([one.runs, two.runs]))


def test_launches_with_other_rules_do_not_count_and_are_named() -> None:
    slower, faster = launches({MIB: 0.5}), launches({MIB: 9.0}, digest="other", first=99)
    found = check_advice(advised(), both(slower, faster))

    assert found.algorithms[1].checked is not None
    assert not found.algorithms[1].checked.wins
    assert any("5 launches with other rules than these" in note for note in found.notes)


def test_launches_of_another_environment_do_not_confirm() -> None:
    curves = [curve.model_copy(update={"environ": "gcc"}) for curve in SLOW.curves]
    model = SLOW.model_copy(update={"curves": curves})
    advice = recommend(model, placement=FAR, about=[BROADCAST], nodes=4, sizes_bytes=(65536, MIB))

    assert check_advice(advice, launches({MIB: 2.0}, environ="gcc")).algorithms[1].checked
    with pytest.raises(InputError, match="has runs of clang, but the advice is for gcc"):
        check_advice(advice, launches({MIB: 2.0}, environ="clang"))
    with pytest.raises(InputError, match="has runs of no environ, but the advice is for gcc"):
        check_advice(advice, launches({MIB: 2.0}))


def test_rules_have_the_same_digest_in_any_folder_and_others_have_another(tmp_path: Path) -> None:
    for name in ("one", "two words"):
        write_advice(advised(), tmp_path / name)
    write_advice(advised([4096, MIB]), tmp_path / "other")
    first, second, other = (read_rules(tmp_path / name) for name in ("one", "two words", "other"))

    assert first.digest == second.digest == rules_digests(advised())[BROADCAST]
    assert other.digest != first.digest
    rules = tmp_path / "one" / "openmpi-rules.conf"
    rules.write_text(rules.read_text().replace(" 3 0 ", " 8 0 "))
    assert read_rules(tmp_path / "one").digest != first.digest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("LD_PRELOAD=/evil.so\n", "LD_PRELOAD=/evil.so is not on the list"),
        ("OMPI_MCA_plm_rsh_agent=evil\n", "is not on the list of settings that rules may have"),
        ("MPIR_CVAR_BCAST_INTRA_ALGORITHM='a b'\n", "is not on the list"),
        (
            "OMPI_MCA_coll_tuned_dynamic_rules_filename=/etc/hostname\n",
            "names /etc/hostname, which does not lie beside it",
        ),
    ],
)
def test_rules_that_set_anything_else_are_refused_in_one_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    """The check sets what the files say, and nobody may have read them."""
    (tmp_path / "openmpi.env").write_text(text)

    with pytest.raises(InputError, match=problem) as error:
        read_rules(tmp_path)

    assert "\n" not in str(error.value)


def test_advice_that_no_file_holds_is_not_confirmed() -> None:
    """Variables of MPICH choose one algorithm; an advice on several sizes is in no file."""
    advice = recommend(mpich_site(), placement=FAR, about=[BROADCAST], nodes=4,
                       sizes_bytes=[1024, MIB])  # fmt: skip
    found = launches({MIB: 2.0})
    samples = found.samples.assign(mpi=pd.Categorical(["MPICH 4.0.2"] * len(found.samples)))

    assert any(one.predicted_rule for one in advice.algorithms)
    with pytest.raises(InputError, match="write no rules for MPICH; use others, or for MPICH"):
        check_advice(advice, Measurements(samples, found.runs))


def test_launches_of_one_side_are_refused() -> None:
    found = launches({MIB: 2.0})
    one_side = Measurements(found.samples[found.samples["rules"] == "default"], found.runs)

    with pytest.raises(InputError, match="has no runs with the label rules=recommended"):
        check_advice(advised(), one_side)


# Crossover maps.


def test_a_crossover_map_has_the_fastest_algorithm_of_each_size_and_group() -> None:
    cells = crossovers(SLOW, BROADCAST, placement=FAR, groups=(2, 8), sizes_bytes=(64, MIB))

    found = {(row["ranks"], row["size_bytes"]): row for row in cells.to_dict("records")}
    assert sorted(found) == [(2, 64), (2, MIB), (8, 64), (8, MIB)]
    # Seven messages with gaps of 10 us, or two levels of fewer, are faster than three of 50 us.
    short = found[8, 64]
    assert {short["fastest"], short["as_good"]} == {"two_level", "repeated"}
    assert (found[8, MIB]["fastest"], found[8, MIB]["segment_bytes"]) == ("pipelined", MIB // 16)
    assert found[2, MIB]["as_good"] != ""  # all send one message
    for row in found.values():
        assert row["low_us"] <= row["time_us"] <= row["high_us"]


def test_the_sizes_of_a_crossover_map_are_measured_ones() -> None:
    cells = crossovers(SLOW, BROADCAST, placement=FAR, groups=(2,))

    assert cells["size_bytes"].tolist() == [4**power for power in range(3, 11)]


def test_a_crossover_map_of_another_placement_is_refused() -> None:
    with pytest.raises(InputError, match="has no placement 'moon'"):
        crossovers(SLOW, BROADCAST, placement="moon")
