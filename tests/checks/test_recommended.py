"""The check that holds recommended rules beside a library's own choice."""

from __future__ import annotations

import json
from pathlib import Path

from sessions import ROOT, Session, start_reframe
from switchpoint import read_files
from switchpoint.models.rules_files import read_rules

#: Open MPI broadcasts to four ranks from 64 KiB on in a pipeline; this is what `--write` writes.
RULES = "1\n7\n2\n0\n1\n0 0 0 0\n4\n2\n0 0 0 0\n65536 3 0 16384\n"


def run(cluster: str, prefix: Path, *words: str) -> Session:
    """Two launches of the broadcast on one node, with few samples."""
    process = start_reframe(
        cluster,
        prefix,
        *("-c", str(ROOT / "checks/recommended.py"), "-t", "recommend", "-p", "openmpi"),
        *("-n", "Recommended.*%launch=1.*%placement=one_node%measures=broadcast"),
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


def test_without_a_folder_of_rules_it_is_skipped(cluster, tmp_path):
    session = run(cluster, tmp_path, "--dry-run")

    assert "name the folder that `switchpoint model recommend --write` wrote" in session.output
