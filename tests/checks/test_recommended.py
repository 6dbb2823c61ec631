"""The check that holds recommended rules beside a library's own choice."""

from __future__ import annotations

import json
from pathlib import Path

from sessions import ROOT, Session, start_reframe
from switchpoint import check_tuning, read_files, write_tuning
from switchpoint.models.rules_files import read_rules
from switchpoint.tuning.facts import Group, Tuning, Winner

#: Open MPI broadcasts to four ranks from 64 KiB on in a pipeline; this is what `--write` writes.
RULES = "1\n7\n2\n0\n1\n0 0 0 0\n4\n2\n0 0 0 0\n65536 3 0 16384\n"


def run(cluster: str, prefix: Path, *words: str, launches: str = "1") -> Session:
    """Launches of the broadcast on one node by turns, with few samples."""
    process = start_reframe(
        cluster,
        prefix,
        *("-c", str(ROOT / "checks/recommended.py"), "-t", "recommend", "-p", "openmpi"),
        *("-n", f"Recommended.*%launch=[{launches}].*%placement=one_node%measures=broadcast"),
        *("-S", "Recommended.sizes_bytes=1024,262144", "-S", "passes=2", "-S", "samples=2"),
        *words,
        site="site-configs/testbed/settings.py",
    )
    output, _ = process.communicate(timeout=300)
    return Session(process.returncode, output, prefix)


def test_both_sides_are_measured_and_told_apart(cluster, tmp_path):
    folder = tmp_path / "my rules"
    folder.mkdir()
    (folder / "openmpi-rules.conf").write_text(RULES)
    (folder / "openmpi.env").write_text(
        "OMPI_MCA_coll_tuned_use_dynamic_rules=1\n"
        f"OMPI_MCA_coll_tuned_dynamic_rules_filename='{folder}/openmpi-rules.conf'\n"
    )
    session = run(cluster, tmp_path, "-r", "-S", f"rules_folder={folder}")

    assert session.exit_code == 0, session.output
    found = read_files([tmp_path / "output"]).measurements
    sides = found.samples.drop_duplicates("run_id").merge(found.runs[["run_id", "header"]])
    used = {
        str(row["rules"]): "coll_tuned_use_dynamic_rules" in row["header"]
        for row in sides.to_dict("records")
    }
    assert used == {"default": False, "recommended": True}
    labels = [json.loads(header)["labels"] for header in found.runs["header"]]
    assert {one["rules"]: one.get("rules_digest") for one in labels} == {
        "default": None,
        "recommended": read_rules(folder).digest,
    }


def test_rules_that_are_wrong_on_purpose_are_withdrawn(cluster, tmp_path):
    """A broadcast of 256 KiB in segments of 64 B is slower in each library."""
    winner = Winner(
        size_bytes=1 << 18, algorithm="pipeline", number=3, segment_bytes=64,
        gain=2, gain_low=1.9, gain_high=2.1, launches=3,
    )  # fmt: skip
    group = Group(
        kernel="broadcast", ranks=4, nodes=1, sizes_bytes=[1 << 10, 1 << 18], winners=[winner]
    )
    when = "2026-11-29T10:00:00.000000Z"
    wrong = Tuning(
        library="Open MPI", mpi="Open MPI", hosts=["a1"], first_utc=when, last_utc=when,
        least_gain=0.05, groups=[group],
    )  # fmt: skip
    folder = tmp_path / "rules"
    write_tuning(wrong, folder)
    session = run(cluster, tmp_path, "-r", "-S", f"rules_folder={folder}", launches="123")
    assert session.exit_code == 0, session.output
    found = read_files([tmp_path / "output"]).measurements
    assert {*found.samples["size_bytes"]} == {1 << 18}, "only what has a rule is measured"

    [mpi] = found.samples["mpi"].unique()
    write_tuning(wrong.model_copy(update={"mpi": mpi}), folder)
    checked = check_tuning(folder, found)
    write_tuning(checked, folder)

    assert checked.groups[0].winners[0].checked.gain < 0.8
    assert read_rules(folder).variables == {}
    assert "pipeline withdrawn: " in (folder / "openmpi.env").read_text()


def test_without_a_folder_of_rules_it_is_skipped(cluster, tmp_path):
    session = run(cluster, tmp_path, "--dry-run")

    assert "name the folder that `switchpoint model recommend --write` wrote" in session.output
