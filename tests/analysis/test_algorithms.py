"""Which algorithm a collective uses, from times whose algorithms are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import write_record
from switchpoint import InputError, Measurements, algorithms, read_files, report
from switchpoint.reporting.json import algorithms_as_json
from switchpoint.reporting.terminal.algorithms import print_algorithms
from switchpoint.tables.columns import RUN_COLUMNS

SIZES = 8 * 2 ** np.arange(16)

#: Microseconds: fixed, and bytes in a microsecond.
ALGORITHMS = {"ring": (20, 100), "doubling": (8, 40), "linear": (10, 20), "segmented": (20, 100)}


def used_at(size: int) -> str:
    """Return the algorithm of the library: from 64 KiB on a bad choice."""
    return "doubling" if size <= 512 else "ring" if size <= 32768 else "linear"


def measured(
    launches: int, noise: float, way: float = 0.01, only: tuple[str, ...] = tuple(ALGORITHMS)
) -> Measurements:
    """Return launches of 6 passes; `way` is what each mode and size adds in a launch."""
    rng = np.random.default_rng(7)
    rows = []
    for launch in range(launches):
        for size in map(int, SIZES):
            for name in ("", *only):
                fixed, rate = ALGORITHMS.get(name) or ALGORITHMS[used_at(size)]
                of_launch = rng.normal(0, way)
                for turn in range(6):
                    slower = np.exp(of_launch + noise * rng.standard_t(3) + rng.normal(0, 0.01, 3))
                    mode = f"library:{name}" if name else "library"
                    rows += [
                        (f"run{launch}", mode, size, turn, sample, 10, (fixed + size / rate) * time)
                        for sample, time in enumerate(slower)
                    ]
    names = ["run_id", "mode", "size_bytes", "pass", "sample", "iterations", "time_us"]
    samples = pd.DataFrame(rows, columns=names).assign(mpi="Some MPI 1", kernel="allreduce")
    header = json.dumps({"ranks": [{}] * 4})
    runs = [
        {**dict.fromkeys(RUN_COLUMNS), "run_id": f"run{launch}", "header": header}
        for launch in range(launches)
    ]
    return Measurements(samples, pd.DataFrame(runs))


def answers(table: pd.DataFrame) -> Mapping[int, set[str]]:
    """Return by size the algorithms, one of which is used."""
    return dict(zip(table["size_bytes"], map(set, table["used"]), strict=True))


def truth(size: int) -> set[str]:
    """Return what is used and what takes equally long."""
    return {"ring", "segmented"} if used_at(size) == "ring" else {used_at(size)}


def test_the_algorithm_of_each_size_is_found() -> None:
    table = algorithms(measured(launches=2, noise=0.02))
    wrong = {size: used for size, used in answers(table).items() if not used & truth(size)}
    exact = [size for size, used in answers(table).items() if used == truth(size)]
    assert not wrong
    assert len(exact) >= len(SIZES) - 1  # beside a change two may look alike
    assert (table["probability"] >= 0.95).all()
    assert table["ranks"].eq(4).all()


def test_noise_makes_answers_wider_not_wrong() -> None:
    used = answers(algorithms(measured(launches=2, noise=0.3)))
    assert all(names & truth(size) for size, names in used.items())


def test_a_choice_that_was_not_measured_is_another() -> None:
    used = answers(algorithms(measured(2, 0.02, only=("ring", "segmented", "linear"))))
    assert used[256] == {"another"}
    assert used[8192] == {"ring", "segmented"}


def test_an_algorithm_that_decides_by_size_itself_is_no_answer() -> None:
    table = algorithms(measured(launches=2, noise=0.02, only=(*ALGORITHMS, "nb")))
    assert all("nb" not in used and used & truth(size) for size, used in answers(table).items())


def test_an_algorithm_that_takes_equally_long_at_one_size_is_named_there() -> None:
    measurements = measured(launches=2, noise=0.002, way=0.002)
    samples = measurements.samples
    at, mode = samples["size_bytes"].eq(128), samples["mode"]
    samples.loc[at & mode.eq("library:linear"), "time_us"] = samples.loc[
        at & mode.eq("library:doubling"), "time_us"
    ].to_numpy()
    assert answers(algorithms(measurements))[128] == {"doubling", "linear"}
    assert answers(algorithms(measurements))[256] == {"doubling"}


def test_what_a_choice_loses_is_shown_where_every_launch_shows_it() -> None:
    table = algorithms(measured(launches=3, noise=0.02)).set_index("size_bytes")
    assert table.loc[:32768, "fastest"].isna().all()
    worst = table.loc[262144]
    loss = (10 + 262144 / 20) / (20 + 262144 / 100) - 1
    assert worst["fastest"] in {"ring", "segmented"}
    assert worst["loss_low"] < loss < worst["loss_high"]
    assert worst["loss"] == pytest.approx(loss, rel=0.05)


def test_one_launch_names_nothing_faster() -> None:
    assert algorithms(measured(launches=1, noise=0.02))["fastest"].isna().all()


def test_the_table_has_a_row_for_each_range_of_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    table = algorithms(measured(launches=2, noise=0.01, way=0.005))
    print_algorithms(table)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Some MPI 1, allreduce, library, 4 ranks, 2 launches"
    assert [" ".join(line.split()) for line in lines[2:4]] == [
        "8 to 512 B doubling 99 % - -",
        "1,024 to 32,768 B ring or segmented 99 % - -",
    ]
    json.dumps(algorithms_as_json(table), allow_nan=True)


def test_runs_without_algorithms_are_refused() -> None:
    samples = measured(1, 0.01).samples
    alone = Measurements(samples[samples["mode"].eq("library")])
    with pytest.raises(InputError, match="-S algorithms=all"):
        algorithms(alone)


def write_launches(folder: Path, ranks: int) -> None:
    """Write a record for each of two launches."""
    samples = measured(launches=2, noise=0.02).samples
    for run_id, rows in samples.groupby("run_id"):
        path = write_record(folder / f"{ranks}-{run_id}.record", footer=False)
        header = json.loads(path.read_text().splitlines()[0])
        header["run_id"] = f"{ranks:016x}{ord(str(run_id)[-1]):016x}"
        header["kernel"]["name"] = "allreduce"
        header["ranks"] = [header["ranks"][0] | {"rank": rank} for rank in range(ranks)]
        path.write_text(f"{json.dumps(header)}\n{rows[header['columns']].to_csv(index=False)}")


def test_the_report_maps_the_algorithms_over_sizes_and_ranks(tmp_path: Path) -> None:
    for ranks in (4, 6):
        write_launches(tmp_path, ranks)

    report(read_files(tmp_path.glob("*.record")).measurements, tmp_path / "report")

    page = (tmp_path / "report" / "algorithms.html").read_text()
    assert "ranks with Open MPI 4.1.4: it takes 395 % longer than ring." in page
    assert page.count("1,024 to 32,768 B") == 1
    assert page.count("linear (+395 % over ring)") == 2
