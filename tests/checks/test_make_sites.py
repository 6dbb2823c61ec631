"""`make sites`: two testbeds of different shapes become two sites of one report."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from sessions import BIN, ROOT

#: One MPI, one placement, few sizes: the smallest that has everything.
SMALL = (
    "-S PingPongSweep.modes=send,stream -S PingPongSweep.sizes_bytes=8,1024,16384,65536"
    " -S PingPongSweep.passes=2 -p openmpi -n PingPongSweep.*two_nodes_two_hosts"
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is like a clean checkout, with the report that `make sites` writes."""
    folder = tmp_path_factory.mktemp("sites")
    for name in ("Makefile", "checks", "site-configs", "src", "testbed", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    done = subprocess.run(
        ["make", "INSTALLED=yes", f"VENV={BIN.parent}", "sites", f"SITES_OPTIONS={SMALL}"],
        cwd=folder,
        env={**os.environ, "SWITCHPOINT_TESTBED_DIR": str(folder / ".testbed")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout
    (folder / "printed").write_text(done.stdout)
    return folder


def test_the_site_with_the_slower_uplink_is_slower_and_both_shares_are_told(project: Path) -> None:
    printed = subprocess.run(
        [BIN / "switchpoint", "reach", "--store", "build/sites/store", "--json"],
        cwd=project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    alpha, beta = json.loads(printed.stdout)["reach"]

    assert [alpha["site"], beta["site"]] == ["alpha", "beta"]
    assert [alpha["launches"], beta["launches"]] == [2, 2]
    assert [alpha["link_MBps"], beta["link_MBps"]] == [125, 25]
    assert alpha["peak_MBps"] > beta["peak_MBps"]


def test_the_report_has_a_page_for_each_site_and_compares_them(project: Path) -> None:
    report = project / "build/sites/report"

    assert (project / "printed").read_text().splitlines()[-1] == "build/sites/report/index.html"
    assert {page.stem for page in report.glob("sites/*.html")} == {"alpha", "beta"}
    table = (report / "data/comparison-site-table.csv").read_text()
    assert "alpha,beta," in table
    assert table.splitlines()[0].startswith("first,other,curve,sizes")


def test_no_testbed_is_left(project: Path) -> None:
    assert not list((project / ".testbed").glob("sites-*"))
