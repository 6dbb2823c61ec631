"""The check that simulates the kernels at hundreds of ranks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sessions import ROOT, Session, start_reframe
from switchpoint import fit_model, read, read_files, save_model

RECORD = ROOT / "tests/analysis/records/openmpi-network-limit-65536.record.gz"


def run(prefix: Path, *words: str) -> Session:
    """A broadcast of one size by 64 ranks on a torus."""
    process = start_reframe(
        "none",
        prefix,
        *("-c", str(ROOT / "checks"), "-R", "-r", "-t", "scale", "-p", "smpi"),
        *("-n", "Scale.*%ranks=64%topology=torus%kernel=broadcast", "-S", "Scale.sizes=64K"),
        *words,
        site="site-configs/smpi/settings.py",
    )
    output, _ = process.communicate(timeout=600)
    return Session(process.returncode, output, prefix)


@pytest.mark.skipif(shutil.which("smpicc") is None, reason="needs SimGrid")
def test_a_model_becomes_a_platform_on_which_the_kernels_run(tmp_path):
    model = save_model(fit_model(read(RECORD)), tmp_path / "model.yaml")
    place = "one_node_network"
    session = run(
        tmp_path,
        *("-S", f"Scale.site_model={model}"),
        *("-S", f"Scale.link_placement={place}", "-S", f"Scale.within={place}"),
    )

    assert session.exit_code == 0, session.output
    found = read_files([tmp_path / "output"]).measurements
    times = found.samples.groupby("mode", observed=True)["time_us"].median()
    assert times["binomial"] < times["repeated"]
    assert set(found.samples["topology"]) == {"torus"}
    assert set(found.samples["site"]) == {"model-simulated"}


def test_without_a_model_it_is_skipped(tmp_path):
    session = run(tmp_path)

    assert "name a site model" in session.output
