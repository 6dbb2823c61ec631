"""What trials prove about a cause, and above all what they do not prove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from experiments import EXPLAIN, REP_MOVSB, RIVALS, Experiment, proved_openmpi
from switchpoint import explain, read_files

LIMIT = "btl_tcp_eager_limit"
RNDV = "UCX_RNDV_THRESH"
SEGMENT = "UCX_SYSV_SEG_SIZE"


def verdict(experiment: Experiment) -> pd.Series[Any]:
    """The switch that the probe of the first record found."""
    switches = explain(experiment.measurements)
    found = switches[(switches["mode"] == "send") & switches["exact"]]
    (row,) = [row for _, row in found.iterrows() if row["last_size_bytes"] == experiment.last]
    return row


def status_of(row: pd.Series[Any], name: str) -> str:
    """The status of one of the causes that were considered."""
    (status,) = [cause["status"] for cause in row["causes"] if cause["name"] == name]
    return str(status)


def test_a_law_at_other_values_a_move_up_and_rivals_that_stay_confirm_a_cause(
    tmp_path: Path,
) -> None:
    found = verdict(proved_openmpi(tmp_path))

    assert (found["cause"], found["status"]) == (LIMIT, "confirmed")
    assert found["reason"].startswith("btl_tcp_eager_limit = 65,536 less 56 B: last size 65,480")
    assert "set to 98,304, last size 98,248" in found["reason"]
    assert status_of(found, RIVALS[0]) == "refuted"
    told = {entry["method"] for entry in found["evidence"]}
    assert told == {"late_receiver", "intervention"}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (73719, ""),
        (73722, "; only shown in steps of 2 B, so that it may be rounded"),
        (81920, "; only shown in steps of 8,192 B, so that it may be rounded"),
    ],
)
def test_where_no_value_would_show_that_the_library_rounds_the_law_says_so(
    tmp_path: Path, value: int, says: str
) -> None:
    found = verdict(proved_openmpi(tmp_path).trial({LIMIT: value}, value - 56))

    assert found["status"] == "confirmed"
    assert found["reason"].endswith(f"98,248{says}; it stays when 1 other setting is raised")


def test_one_other_value_confirms_nothing(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({LIMIT: 98304}, 98248)
    proof.trial({RIVALS[0]: 98304}, 65480)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (LIMIT, "suspected")
    assert "the law holds for 1 other value" in found["reason"]


def test_a_limit_that_was_only_lowered_acts_wherever_it_is_and_confirms_nothing(
    tmp_path: Path,
) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({RIVALS[0]: 98304}, 65480)
    for value in (57344, 32768, 16384):
        proof.trial({LIMIT: value}, value - 56)

    found = verdict(proof)

    assert found["status"] == "suspected"
    assert "it was only lowered" in found["reason"]


def test_rivals_must_have_been_raised(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for value in (73728, 98304, 57344):
        proof.trial({LIMIT: value}, value - 56)

    found = verdict(proof)

    assert found["status"] == "suspected"
    assert "not raised yet: btl_tcp_rndv_eager_limit" in found["reason"]


def test_a_value_that_sets_an_automatic_one_governs_and_is_no_cause(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "mpich-tcp-zoom")
    for value in (24000, 30000, 9000):
        proof.trial({RNDV: value}, value - 1)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (RNDV, "governed")
    assert "is automatic: the library computes the size" in found["reason"]


UCX = {RNDV: "auto", SEGMENT: "8256", "UCX_ZCOPY_THRESH": "auto"}
LANES = ["sysv/memory", "cma/memory"]


def ucx(folder: Path, settings: dict[str, str] | None = None, last: int = 8255) -> Experiment:
    """A zoom of MPICH over UCX that lists UCX's settings."""
    proof = Experiment(folder, "mpich-tcp-zoom").starts_at(last)
    proof.records.clear()
    return proof.trial({}, last, lanes=LANES, ucx=UCX | (settings or {}))


def test_the_cause_is_what_the_automatic_value_follows(tmp_path: Path) -> None:
    proof = ucx(tmp_path)
    for value in (9280, 12352, 7232):
        proof.trial({SEGMENT: value}, value - 1, lanes=LANES, ucx=UCX)
    proof.trial({RNDV: 12419}, 12418, lanes=LANES, ucx=UCX)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (SEGMENT, "confirmed")
    assert status_of(found, RNDV) == "governed"
    # UCX lists the change itself. That names the switch, and is nothing that could be raised.
    assert status_of(found, "UCX's change from 'egr/bcopy' to 'rndv'") == "suspected"


def test_a_rival_that_was_changed_is_not_dropped(tmp_path: Path) -> None:
    # The records say themselves what differs, without a catalogue and without a label.
    proof = ucx(tmp_path).trial({RNDV: 5000}, 4999, lanes=LANES, ucx=UCX)
    proof.trial({SEGMENT: 16448}, 16447, lanes=LANES, ucx=UCX)

    found = verdict(proof)

    assert found["status"] == "suspected"
    assert found["cause"] == SEGMENT
    assert f"{SEGMENT}=16448: the last size moved to 16,447" in str(found["evidence"])


def with_steps(proof: Experiment, *steps: tuple[int, ...]) -> Experiment:
    """Let a bisection find steps of MPI_Send in each of the records, after these sizes."""
    for path, lasts in zip(proof.records, steps, strict=True):
        *lines, last_line = path.read_text().splitlines()
        footer = json.loads(last_line)
        (probe,) = footer["switches"]
        footer["switches"] += [
            probe | {"method": "bisection", "jump": 0.2, "visits": 15, "verdict": "exact",
                     "low_bytes": last - 9, "high_bytes": last + 9, "last_size_bytes": last,
                     "first_size_bytes": last + 1}
            for last in lasts
        ]  # fmt: skip
        path.write_text("\n".join([*lines, json.dumps(footer)]) + "\n")
    return proof


def test_another_step_of_the_same_run_is_not_the_step_that_moved(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({LIMIT: 98304}, 98248)
    with_steps(proof, (1001, 65461), (65461,))

    switches = explain(proof.measurements).set_index("last_size_bytes")

    assert switches.loc[1001, "cause"] is None
    assert switches.loc[65480, "cause"] == LIMIT


def test_a_step_that_follows_leaves_another_one_at_its_old_place(tmp_path: Path) -> None:
    # With MPICH over UCX the end of "short" and a third cache line are both at 93 B.
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for value in (98304, 73728, 57344):
        proof.trial({LIMIT: value}, value - 56)
    with_steps(proof, (60000,), (60000, 92768), (60000, 68192), (51808,))

    found = explain(proof.measurements).set_index("last_size_bytes").loc[60000]

    assert (found["cause"], found["status"]) == (LIMIT, "confirmed")
    assert "set to 98,304, last size 92,768" in found["reason"]
    assert found["reason"].endswith("another step stays there")


def copies(folder: Path, *places: tuple[int, int], raised: bool = False) -> pd.Series[Any]:
    """The step after 2,113 B, and where it was with other thresholds of glibc.

    Each place is a threshold and the last size before the step. With `raised` another trial raises
    Open MPI's limit in shared memory.
    """
    proof = Experiment(folder, "openmpi-memory-zoom")
    proof.records.clear()
    proof.trial({}, 4040, tunables={})
    for value, _ in places:
        proof.trial({}, 4040, tunables={"glibc.malloc.check": 0, REP_MOVSB: value})
    steps = [(last,) for _, last in places]
    if raised:
        proof.trial({"btl_vader_eager_limit": 6144}, 6088, tunables={})
        steps.append((2113,))
    with_steps(proof, (2113,), *steps)
    return explain(proof.measurements).set_index("last_size_bytes").loc[2113]


def test_the_threshold_from_which_glibc_copies_otherwise_is_suspected(tmp_path: Path) -> None:
    # The time often changes some bytes above the threshold.
    found = copies(tmp_path)

    assert (found["cause"], found["status"]) == (REP_MOVSB, "suspected")
    assert found["reason"].startswith(f"{REP_MOVSB} = 2112 (the last size that is copied without")
    (cause,) = [cause for cause in found["causes"] if cause["name"] == REP_MOVSB]
    assert (cause["environment"], cause["set_by"]) == (f"GLIBC_TUNABLES={REP_MOVSB}", "glibc")


def test_a_step_that_follows_the_threshold_by_a_law_is_glibcs(tmp_path: Path) -> None:
    found = copies(tmp_path, (2368, 2369), (2355, 2356), (1856, 1857), raised=True)

    assert (found["cause"], found["status"]) == (REP_MOVSB, "confirmed")
    assert status_of(found, "btl_vader_eager_limit") == "refuted"


@pytest.mark.parametrize(
    ("places", "status"),
    [
        # There, but not to the byte.
        ([(2368, 2369), (2355, 2360), (1856, 1870)], "governed"),
        ([(1856, 1857), (1280, 1281)], "suspected"),
        ([(2368, 2113), (3136, 2113)], "refuted"),
    ],
)
def test_a_step_that_does_not_follow_the_threshold_to_the_byte_is_not_confirmed(
    tmp_path: Path, places: list[tuple[int, int]], status: str
) -> None:
    assert status_of(copies(tmp_path, *places), REP_MOVSB) == status


def test_a_switch_that_follows_by_no_law_is_governed(tmp_path: Path) -> None:
    # UCX's cost model: 20,552 B at 8 KiB, 36,835 B at 16 KiB, 90,762 B at 64 KiB.
    settings = {"UCX_TCP_TX_SEG_SIZE": "8K"}
    proof = ucx(tmp_path, settings, 20552)
    for value, last in (("16K", 36835), ("64K", 90762)):
        listed = UCX | settings
        proof.trial({"UCX_TCP_TX_SEG_SIZE": value}, last, lanes=LANES, ucx=listed)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == ("UCX_TCP_TX_SEG_SIZE", "governed")
    assert "by no fixed header" in found["reason"]


def test_a_setting_that_was_raised_in_vain_is_refuted_whatever_it_does_when_lowered(
    tmp_path: Path,
) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({LIMIT: 98304}, 65480)
    proof.trial({LIMIT: 32768}, 32712).trial({LIMIT: 16384}, 16328)

    assert status_of(verdict(proof), LIMIT) == "refuted"


def test_of_two_limits_at_one_size_neither_alone_is_the_cause(tmp_path: Path) -> None:
    rival = RIVALS[0]
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for name in (LIMIT, rival):
        proof.trial({name: 98304}, 65480).trial({name: 32768}, 32712)

    assert verdict(proof)["cause"] is None
    assert "not raised yet:" in verdict(proof)["reason"]

    proof.trial({LIMIT: 73728, rival: 98304}, 73672).trial({LIMIT: 98304, rival: 73728}, 73672)
    found = verdict(proof)

    assert (found["cause"], found["status"]) == (f"{LIMIT} with {rival}", "confirmed")
    assert "when one of them is raised alone the switch stays" in found["reason"]


def test_three_limits_at_one_size_are_suspected_together(tmp_path: Path) -> None:
    raised = {LIMIT: 98304, RIVALS[0]: 98304, "btl_tcp_max_send_size": 196608}
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for name, value in raised.items():
        proof.trial({name: value}, 65480)
        proof.trial({other: raised[other] for other in raised if other != name}, 65480)
    proof.trial(raised, 98248)

    found = verdict(proof)

    assert found["status"] == "suspected"
    assert "are raised together, and stays without one" in found["reason"]
    assert all(name in found["cause"] for name in raised)


def test_the_larger_of_a_setting_and_a_constant_is_not_called_a_constant(tmp_path: Path) -> None:
    # Raised, the setting moves the switch by a law. Lowered, it leaves it to the constant.
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for value in (73728, 98304):
        proof.trial({LIMIT: value}, value - 56)
    for value in (57344, 39296):
        proof.trial({LIMIT: value}, 65480)
    proof.trial({RIVALS[0]: 98304}, 65480)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (LIMIT, "governed")


def test_a_setting_that_the_library_rounds_up_is_not_refuted(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({LIMIT: 67000}, 65480)
    proof.trial({LIMIT: 98304}, 131016).trial({RIVALS[0]: 98304}, 65480)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (LIMIT, "suspected")


def test_a_setting_with_which_another_one_moves_the_switch_alone_is_not_confirmed(
    tmp_path: Path,
) -> None:
    # The sum of two: each follows a law, and its offset is the value of the other one.
    proof = proved_openmpi(tmp_path).trial({"btl_tcp_max_send_size": 139264}, 65480 + 8192)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (LIMIT, "suspected")
    assert "it moves too when btl_tcp_max_send_size is raised alone" in found["reason"]


def test_a_setting_that_moves_the_switch_alone_is_no_half_of_a_pair(tmp_path: Path) -> None:
    # Rounded to a power of two: nothing at 98,304, and the double at 131,072. The rival is no part.
    rival = RIVALS[0]
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").trial({LIMIT: 98304}, 65480)
    proof.trial({LIMIT: 131072}, 131016).trial({rival: 98304}, 65480)
    proof.trial({LIMIT: 131072, rival: 98304}, 131016)

    found = verdict(proof)

    assert (found["cause"], found["status"]) == (LIMIT, "suspected")


def test_an_experiment_that_was_not_finished_finds_no_constant(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom").starts_at(50000)
    found = verdict(proof.trial({LIMIT: 98304}, 50000))
    assert (found["cause"], found["status"]) == (None, "unknown")
    assert found["reason"].startswith("1 setting that was raised does not move it; not raised yet:")

    proof.trial({LIMIT: 98304, RIVALS[0]: 98304, "btl_tcp_max_send_size": 196608}, 60000)
    found = verdict(proof)

    assert (found["cause"], found["status"]) == (None, "unknown")
    assert found["reason"].startswith("3 settings raised together move it")


def test_another_limit_above_does_not_contradict_a_law(tmp_path: Path) -> None:
    proof = proved_openmpi(tmp_path).trial({LIMIT: 200_000}, 130_000)
    proof.trial({LIMIT: 4_000_000}, None)

    assert verdict(proof)["status"] == "confirmed"


def test_a_value_that_breaks_the_law_leaves_a_suspicion(tmp_path: Path) -> None:
    proof = proved_openmpi(tmp_path).trial({LIMIT: 40_000}, 50_000)

    assert verdict(proof)["status"] != "confirmed"


def test_two_runs_with_one_value_that_disagree_leave_a_suspicion(tmp_path: Path) -> None:
    proof = proved_openmpi(tmp_path).trial({LIMIT: 57344}, 50_000)

    assert verdict(proof)["status"] != "confirmed"


def test_a_run_that_found_nothing_says_nothing(tmp_path: Path) -> None:
    proof = proved_openmpi(tmp_path).trial({LIMIT: 50_000}, 1)
    unsure = proof.records[-1]
    unsure.write_text(unsure.read_text().replace('"verdict": "exact"', '"verdict": "unsure"'))

    assert verdict(proof)["status"] == "confirmed"


def test_a_switch_that_moves_by_itself_has_no_proved_cause(tmp_path: Path) -> None:
    found = verdict(proved_openmpi(tmp_path).trial({}, 65000))

    assert found["status"] == "suspected"
    assert "with the same settings the last size was 65,000, 65,480" in found["reason"]


def test_of_runs_that_contradict_each_other_none_has_a_proved_cause(tmp_path: Path) -> None:
    # A setting that the library chooses is raised too: at the lower place it seems to move it.
    proof = proved_openmpi(tmp_path).trial({"oob_tcp_peer_limit": 98257}, 65480).trial({}, 65000)
    switches = explain(proof.measurements)
    found = switches[(switches["mode"] == "send") & switches["exact"]]

    assert sorted(found["last_size_bytes"]) == [65000, 65480]
    for _, row in found.iterrows():
        assert (row["cause"], row["status"]) == (LIMIT, "suspected")
        assert "with the same settings the last size was 65,000, 65,480" in row["reason"]
        assert {cause["status"] for cause in row["causes"]} <= {"suspected", "refuted"}


def test_two_limits_at_one_size_need_a_switch_that_does_not_move_by_itself(tmp_path: Path) -> None:
    rival = RIVALS[0]
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    for name in (LIMIT, rival):
        proof.trial({name: 98304}, 65480)
    proof.trial({LIMIT: 73728, rival: 98304}, 73672).trial({LIMIT: 98304, rival: 73728}, 73672)
    assert verdict(proof)["status"] == "confirmed"

    found = verdict(proof.trial({}, 65000))

    assert found["status"] == "suspected"
    assert "with the same settings the last size was 65,000, 65,480" in found["reason"]


def test_messages_that_took_other_transports_prove_nothing(tmp_path: Path) -> None:
    proof = ucx(tmp_path)
    for value in (9280, 12352, 7232):
        proof.trial({SEGMENT: value}, value - 1, lanes=["posix/memory"], ucx=UCX)

    assert verdict(proof)["status"] == "suspected"


def test_settings_that_all_were_raised_in_vain_leave_a_constant(tmp_path: Path) -> None:
    proof = Experiment(tmp_path, "openmpi-tcp-zoom")
    near = [
        cause["name"] for cause in verdict(proof)["causes"] if not cause["name"].startswith("TCP")
    ]
    proof.trial(dict.fromkeys(near, 98304), 65480)

    found = verdict(proof)

    assert found["cause"] is None or found["cause"].startswith("TCP segment")
    assert f"none of {len(near)} settings that were raised moves it" in found["reason"]


def test_a_setting_that_cannot_be_raised_is_confirmed_by_lower_values_if_that_was_tried(
    tmp_path: Path,
) -> None:
    cell = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
    attach = "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD"
    proof = Experiment(tmp_path, "mpich43-memory-zoom")
    for value in (14336, 9856):
        proof.trial({cell: value}, value - 80)
    rivals = [
        cause["name"] for cause in verdict(proof)["causes"]
        if cause["name"] != cell and cause["status"] == "suspected"
    ]  # fmt: skip
    assert attach in rivals
    proof.trial(dict.fromkeys(rivals, 24576), proof.last)

    assert "it was only lowered" in verdict(proof)["reason"]

    proof.trial({}, proof.last, labels={"did_not_start": f"{cell}=18432"})
    assert (verdict(proof)["cause"], verdict(proof)["status"]) == (cell, "confirmed")


@pytest.mark.parametrize("factor", [1 / 2, 2])
def test_a_limit_may_be_a_share_of_the_value(tmp_path: Path, factor: float) -> None:
    value = round(8255 / factor) + 10
    proof = ucx(tmp_path, {"UCX_SHARE_SIZE": str(value)})
    offset = 8255 - int(factor * value)
    for other in (value + 1024, value + 4096, value - 1024):
        listed = UCX | {"UCX_SHARE_SIZE": str(value)}
        last = int(factor * other) + offset
        proof.trial({"UCX_SHARE_SIZE": other}, last, lanes=LANES, ucx=listed)
    proof.trial({SEGMENT: 12352}, 8255, lanes=LANES, ucx=UCX | {"UCX_SHARE_SIZE": str(value)})

    found = verdict(proof)

    assert (found["cause"], found["status"]) == ("UCX_SHARE_SIZE", "confirmed")


def test_an_automatic_setting_whose_value_above_the_switch_does_nothing_is_refuted(
    tmp_path: Path,
) -> None:
    found = verdict(Experiment(tmp_path, "mpich-tcp-zoom").trial({RNDV: 30000}, 19493))

    assert status_of(found, RNDV) == "refuted"
    assert found["status"] == "unknown"
    assert RNDV not in found["reason"].partition("not raised yet")[2]


@pytest.mark.parametrize(
    ("mpi", "cause", "step"),
    [("mpich", "UCX_SYSV_SEG_SIZE", 256), ("openmpi", "btl_tcp_eager_limit", 128)],
)
def test_real_experiments_confirm_the_real_causes(mpi: str, cause: str, step: int) -> None:
    records = sorted((EXPLAIN.parent / "proof").glob(f"{mpi}-*.record.gz"))
    (found,) = explain(read_files(records).measurements).to_dict("records")

    assert (found["cause"], found["status"]) == (cause, "confirmed")
    assert f"only shown in steps of {step} B" in found["reason"]
