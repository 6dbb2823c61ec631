"""Three sites with two fabrics each: which fabric is faster, where, and which MPI switches where.

The files are made here, as OSU and Intel's benchmarks print them. Each MPI of each fabric switches
at a size of its own, and InfiniBand is faster.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]

SITES = ("alpha", "beta", "gamma")
FABRICS = {"ib": (1.0, 12_000.0), "eth": (18.0, 1_200.0)}  # latency in us, 10^6 B/s
#: The first slow size of each MPI and fabric.
SWITCHES = {
    ("openmpi-4.1", "ib"): 2**12, ("openmpi-4.1", "eth"): 2**13,
    ("impi19", "ib"): 2**16, ("impi19", "eth"): 2**17,
}  # fmt: skip
SIZES = [2**n for n in range(21)]
_MPI = {"openmpi-4.1": "Open MPI 4.1", "impi19": "Intel MPI 2019"}


def _times(site: str, mpi: str, fabric: str, launch: int) -> dict[int, float]:
    latency, bandwidth = FABRICS[fabric]
    draw = random.Random(f"{site} {mpi} {fabric} {launch}")
    return {
        size: (latency + size / bandwidth + 3 * latency * (size >= SWITCHES[mpi, fabric]))
        * draw.gauss(1, 0.01)
        for size in SIZES
    }


def write_tree(root: Path) -> None:
    """Write two launches of two benchmarks for each site, fabric and MPI."""
    for site in SITES:
        for mpi, fabric in SWITCHES:
            folder = root / site / fabric / mpi
            folder.mkdir(parents=True)
            for launch in (1, 2):
                times = _times(site, mpi, fabric, launch)
                rows = "".join(f"{size:<10} {time:18.2f}\n" for size, time in times.items())
                title = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n"
                (folder / f"osu-{launch}.txt").write_text(title + rows)
                rows = "".join(
                    f"{size:12} {1000:12} {time:12.2f} {size / time:12.2f}\n"
                    for size, time in times.items()
                )
                title = "# Benchmarking PingPong\n# #processes = 2\n"
                heading = "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
                (folder / f"imb-{launch}.txt").write_text(title + heading + rows)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files."""
    root = tmp_path_factory.mktemp("fabrics") / "sites"
    write_tree(root)
    return root


def test_both_questions_are_answered_in_40_lines(switchpoint: Run, tree: Path) -> None:
    store = tree.parent / "store"
    command = switchpoint("import", "--suggest", tree).stdout.splitlines()[0]
    pattern = command.split("'")[1]
    assert pattern == "{site}/{fabric}/{mpi}/"
    imported = switchpoint("import", tree, "--path", pattern, "--store", store)
    assert "48 runs added" in imported.stdout

    faster = switchpoint("compare", "--store", store, "fabric=eth", "fabric=ib").output
    switches = switchpoint("detect", "--store", store).output

    assert len([*faster.splitlines(), *switches.splitlines()]) <= 40
    assert "B is faster in" in faster
    assert "A is faster in" not in faster
    for site in SITES:
        for (mpi, fabric), size in SWITCHES.items():
            [line] = [
                line
                for line in switches.splitlines()
                if line.startswith(site) and _MPI[mpi] in line and line.endswith(fabric)
            ]
            assert f"{size // 2:,} to {size:,} B" in line
            assert "  4 of 4  " in line  # two launches of two benchmarks over this fabric


def test_the_first_page_draws_no_two_fabrics_as_launches_of_one_curve(
    switchpoint: Run, tree: Path, tmp_path: Path
) -> None:
    for fabric in FABRICS:
        for launch in (1, 2):
            source = tree / "alpha" / fabric / "impi19" / f"osu-{launch}.txt"
            target = tmp_path / "in" / fabric / source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(source.read_text())
    switchpoint("import", tmp_path / "in", "--path", "{fabric}/", "--store", tmp_path / "store")

    switchpoint("report", "--store", tmp_path / "store", "-o", tmp_path / "report")

    page = (tmp_path / "report" / "index.html").read_text()
    assert re.search(r"osu_latency, (ib|eth) \(confidence", page)
    figure = page[page.index("a dot is a launch") : page.index("</svg>")]
    dots: dict[str, list[float]] = {}
    for left, top in re.findall(r'<circle class="launch"[^>]* cx="([\d.]+)" cy="([\d.]+)"', figure):
        dots.setdefault(left, []).append(float(top))
    assert dots and all(max(tops) - min(tops) < 10 for tops in dots.values())
