"""Kernels on a simulated platform where the truth is exact, from the measurement to the finding."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from built import build
from conftest import RECORDS
from simgrid_platform import EXACT, NO_STEP, hosts_of, needs_simgrid, platform_of
from switchpoint import Measurements, compare_with, fit_model, predict, read, read_facts, read_files
from switchpoint.models.links import Place
from switchpoint.models.simgrid import platform
from typer.testing import Result

#: Each collective of the library has one algorithm.
ONE_ALGORITHM = ["--cfg=smpi/bcast:binomial_tree", "--cfg=smpi/alltoall:basic_linear"]

#: From this size on, messages have half the bandwidth. No size of the sweep is near it.
FIRST_SLOW_BYTE = 50_001
STEP = f"--cfg=smpi/bw-factor:0:1;{FIRST_SLOW_BYTE}:0.5"
pytestmark = [needs_simgrid, pytest.mark.build]

#: Sizes whose bytes take much longer than a call.
SHARED = [8192, 65536, 1048576]

Simulate = Callable[..., Path]
Found = tuple[str, int, int]


@pytest.fixture(scope="module")
def kernels() -> Path:
    return build("simgrid", "smpicc") / "bin"


@pytest.fixture
def simulate(kernels: Path, tmp_path: Path) -> Simulate:
    """Run a kernel on the platform; returns its record."""
    (tmp_path / "platform.xml").write_text(platform_of(4, latency_us=100))
    (tmp_path / "hosts").write_text(hosts_of(4))

    def run(kernel: str, *arguments: str, ranks: int, truth: str) -> Path:
        record = tmp_path / f"{kernel}.record"
        command = [
            *("smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"),
            *(*EXACT, *ONE_ALGORITHM, truth, str(kernels / kernel), *arguments),
            *("--passes", "2", "--samples", "1", "--record", str(record), "--quiet"),
        ]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
        return record

    return run


@pytest.fixture
def simulate_many(kernels: Path, tmp_path: Path) -> Callable[..., None]:
    """Run a kernel by up to eight ranks that need 5 us for each message, all of them eager."""
    (tmp_path / "eight.xml").write_text(platform_of(8, latency_us=100, megabytes_per_s=125))
    (tmp_path / "eight").write_text(hosts_of(8))

    def run(kernel: str, *arguments: str, ranks: int) -> None:
        subprocess.run(
            [
                *("smpirun", "-np", str(ranks), "-platform", "eight.xml", "-hostfile", "eight"),
                *(*EXACT, *ONE_ALGORITHM, NO_STEP),
                *(f"--cfg=smpi/{call}:0:5e-6:0" for call in ("os", "ois", "or")),
                "--cfg=smpi/async-small-thresh:100000000",
                *(kernels / kernel, *arguments, "--passes=2", "--samples=1", "--warmup=0"),
                *("--label=placement=apart", "--quiet"),
                *("--record", f"{kernel}-{ranks}.record"),
            ],
            cwd=tmp_path, check=True, capture_output=True, timeout=120,
        )  # fmt: skip

    return run


def measured(folder: Path) -> Measurements:
    """Return what all records of a folder have."""
    measurements = read_files(sorted(folder.glob("*.record"))).measurements
    assert measurements is not None
    return measurements


def found(switchpoint: Callable[..., Result], record: Path) -> dict[str, list[Found]]:
    """Return each mode's findings: kind, and the sizes on either side."""
    result = switchpoint("detect", record, "--json")
    assert result.exit_code == 0, result.output
    modes: dict[str, list[Found]] = {}
    for one in json.loads(result.stdout)["findings"]:
        place = (one["kind"], one["last_size_before"], one["size_bytes"])
        modes.setdefault(one["curve"]["mode"], []).append(place)
    return modes


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ("pingpong", ["--sizes", "64:4M/3"]),
        # Pairs leave a barrier one after another; an agreed time takes long to simulate.
        (
            "multipair",
            [
                "--start",
                "agreed",
                "--sizes",
                "4K:1M/3",
                "--mode",
                "send,ssend,sendrecv,stream,bistream",
            ],
        ),
    ],
)
def test_every_point_to_point_mode_shows_exactly_the_step_that_is_there(
    simulate: Simulate, switchpoint: Callable[..., Result], kernel: str, options: list[str]
) -> None:
    ranks = 4 if kernel == "multipair" else 2
    record = simulate(kernel, *options, ranks=ranks, truth=STEP)
    step = [("step", 41_285, 52_016)]
    modes = read_facts(record).header["plan"]["modes"]
    assert found(switchpoint, record) == dict.fromkeys(modes, step)


def test_an_exported_platform_gives_the_lines_of_its_model(kernels: Path, tmp_path: Path) -> None:
    model = fit_model(read(RECORDS / "openmpi-network-limit-65536.record.gz"))
    place = Place(model.curves[0].placement)
    (tmp_path / "platform.xml").write_text(platform(model, place, hosts=2, within=None))
    (tmp_path / "hosts").write_text("host0\nhost1\n")
    subprocess.run(
        [
            *("smpirun", "-np", "2", "-platform", "platform.xml", "-hostfile", "hosts"),
            *("--log=root.thres:error", "--cfg=smpi/host-speed:10Gf"),
            *("--cfg=smpi/simulate-computation:no", kernels / "pingpong", "--mode", "send"),
            *("--sizes", "64,4K,48K,128K,512K", "--passes", "1", "--samples", "1"),
            *("--record", "pingpong.record", "--quiet"),
        ],
        cwd=tmp_path, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    points = read_facts(tmp_path / "pingpong.record").footer["points"]
    sizes = [point["size_bytes"] for point in points]
    lines = predict(model, "pingpong", placement=place.placement, modes=["send"], sizes_bytes=sizes)

    assert [point["median_us"] for point in points] == pytest.approx(
        list(lines["time_us"]), rel=0.01
    )


def test_trees_take_what_pairs_and_messages_to_two_receivers_predict(
    simulate_many: Callable[..., None], tmp_path: Path
) -> None:
    """Eager messages to several receivers share the sender's link, and all arrive late."""
    alone = ("--mode=send,stream", "--window=16", "--sizes=64:1M/1", "--block-time=2000")
    once = "--block-time=0"
    simulate_many("pingpong", *alone, ranks=2)
    for ranks in (2, 3):
        simulate_many("broadcast", "--mode=repeated", "--sizes=64:1M/1", once, ranks=ranks)
    model = fit_model(measured(tmp_path))
    simulate_many("broadcast", "--mode=binary,binomial", "--sizes=1K,64K", once, ranks=8)

    [sender] = model.senders
    assert sender.calls[0].time_us == pytest.approx(5 + 1, abs=0.1)  # the clock takes 1 us
    assert {size for size in SHARED if size not in sender.shared_bytes} == set()
    compared = compare_with(model, measured(tmp_path), "broadcast")
    trees = compared[compared["ranks"] == 8]
    assert len(trees) == 4
    assert trees["error"].abs().max() < 0.06


@pytest.mark.parametrize(
    ("kernel", "options"), [("alltoall", []), ("broadcast", ["--segment", "4194304"])]
)
def test_collectives_show_nothing_where_nothing_is(
    simulate: Simulate, switchpoint: Callable[..., Result], kernel: str, options: list[str]
) -> None:
    record = simulate(kernel, "--sizes", "64:1M/3", *options, ranks=4, truth=NO_STEP)
    assert found(switchpoint, record) == {}
