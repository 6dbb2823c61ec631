"""The check that simulates the kernels at hundreds of ranks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sessions import ROOT, Session, start_reframe
from switchpoint import fit_model, read, read_files, save_model

RECORD = ROOT / "tests/analysis/records/openmpi-network-limit-65536.record.gz"


#: A broadcast by 64 ranks on a torus.
TORUS = "Scale.*%ranks=64%topology=torus%kernel=broadcast"


def run(prefix: Path, name: str, *words: str) -> Session:
    """Run checks whose names have this form."""
    process = start_reframe(
        "none",
        prefix,
        *("-c", str(ROOT / "checks/scale.py"), "-t", "scale", "-p", "smpi"),
        *(() if "--dry-run" in words else ("-r",)),
        *("-n", name),
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
        TORUS,
        *("-S", "Scale.sizes_bytes=65536", "-S", f"Scale.site_model={model}"),
        *("-S", f"Scale.link_placement={place}", "-S", f"Scale.within={place}"),
    )

    assert session.exit_code == 0, session.output
    found = read_files([tmp_path / "output"]).measurements
    times = found.samples.groupby("mode", observed=True)["time_us"].median()
    assert times["binomial"] < times["repeated"]
    assert set(found.samples["topology"]) == {"torus"}
    assert set(found.samples["site"]) == {"model-simulated"}


@pytest.mark.skipif(shutil.which("smpicc") is None, reason="needs SimGrid")
def test_what_is_measured_is_simulated_on_as_many_nodes(tmp_path):
    place = "one_node_network"
    model = fit_model(read(RECORD))
    curves = [curve.model_copy(update={"nodes": 2}) for curve in model.curves]
    # A name from a stranger's model stays one word of the command that smpirun runs.
    notes = tmp_path / "notes"
    change = {"curves": curves, "site": f"My Cluster --record={notes} --label=a=b"}
    file = save_model(model.model_copy(update=change), tmp_path / "model.yaml")
    session = run(
        tmp_path,
        "SimulatedTwin.*%ranks=4%kernel=broadcast",
        *("-S", f"site_model={file}", "-S", f"link_placement={place}", "-S", f"within={place}"),
    )

    assert session.exit_code == 0, session.output
    assert not notes.exists()
    found = read_files([tmp_path / "output"]).measurements
    header, footer = found.facts(found.runs["run_id"].iloc[0])
    assert [rank["host"] for rank in header["ranks"]] == ["host0", "host0", "host1", "host1"]
    assert header["labels"]["environ"] == "smpi"
    assert header["labels"]["site"] == f"My_Cluster_--record={notes}_--label=a=b-simulated"
    assert footer["start"]["late_calls"] == 0


def test_without_a_model_it_is_skipped(tmp_path):
    session = run(tmp_path, TORUS, "--dry-run")

    assert "name a site model" in session.output


@pytest.mark.skipif(shutil.which("smpicc") is None, reason="needs SimGrid")
def test_links_that_the_model_lacks_are_refused_with_the_options_that_choose_others(tmp_path):
    model = fit_model(read(RECORD))
    curves = [curve.model_copy(update={"placement": "\x1b[31mred"}) for curve in model.curves]
    model = save_model(model.model_copy(update={"curves": curves}), tmp_path / "model.yaml")
    session = run(tmp_path, TORUS, "--dry-run", "-S", f"Scale.site_model={model}")

    assert session.exit_code == 1
    assert r"has no placement 'two_nodes_two_hosts', only \x1b[31mred" in session.output
    assert "here -S link_placement, link_mpi, link_environ and within choose" in session.output
