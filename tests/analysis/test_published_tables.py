"""Four clusters of which only published tables of OSU and IMB exist, as the how-to shows them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from switchpoint import reach
from typer.testing import Result

Run = Callable[..., Result]

ROOT = Path(__file__).parents[2]
FOUR = "docs/examples/four-systems"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's paths are from the top of the checkout."""
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("here")
def test_one_ladder_has_the_jumps_of_all_four(switchpoint: Run, tmp_path: Path) -> None:
    picture = tmp_path / "ladder.svg"

    result = switchpoint("ladder", FOUR, "--svg", picture)

    assert result.exit_code == 0, result.output
    assert [line for line in result.stdout.splitlines() if not line.startswith((" ", "Bars"))] == [
        "azure-a9", "azure-hpc", "oci", "pi-arm",
    ]  # fmt: skip
    assert picture.read_text() == (ROOT / "docs/images/four-systems.svg").read_text()


@pytest.mark.usefixtures("here")
def test_latency_peak_and_jumps_are_those_of_the_tables() -> None:
    table = reach(FOUR, switches=True).set_index("site")

    assert table["latency_us"].round(2).to_dict() == {
        "azure-a9": 2.23, "azure-hpc": 1.61, "oci": 1.66, "pi-arm": 1.27,
    }  # fmt: skip
    assert table.loc["azure-hpc", "peak_MBps"] == pytest.approx(24617.71, rel=1e-4)
    assert table.loc["oci", "peak_MBps"] == pytest.approx(11481.46, rel=1e-4)
    both = [table.loc[site, "switches"] for site in ("azure-hpc", "pi-arm")]
    for small, large in both:  # of two networks with InfiniBand
        assert (small["last_size_before"], small["first_size_bytes"]) == (128, 256)
        assert small["magnitude"] == pytest.approx(0.25, abs=0.05)
        assert (large["last_size_before"], large["first_size_bytes"]) == (131072, 262144)
    assert [large["magnitude"] for _, large in both] == pytest.approx([-0.28, -0.7], abs=0.05)
    assert table.loc["azure-a9", "switches"] == []


def test_a_step_that_saves_time_costs_nothing(switchpoint: Run, tmp_path: Path) -> None:
    """Of these, each large step makes messages faster."""
    for site in ("oci", "pi-arm"):
        assert switchpoint("report", ROOT / FOUR / site, "-o", tmp_path / site).exit_code == 0
        page = (tmp_path / site / "index.html").read_text(encoding="utf-8")
        [worst] = re.findall(
            r"The step with the highest confidence adds (\S+) |No step costs (time)", page
        )
        assert not worst[0].startswith("-")


def test_without_the_option_jumps_are_not_known(switchpoint: Run) -> None:
    content = json.loads(switchpoint("reach", ROOT / FOUR, "--json").stdout)

    assert [row["switches"] for row in content["reach"]] == [None] * 4
