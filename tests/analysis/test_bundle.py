"""A bundle carries curves and facts to another site; a changed one is refused in one line."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import RECORDS, write_record
from switchpoint import InputError, Store, bundle, compare, detect, ladder, read
from typer.testing import Result

Run = Callable[..., Result]


@pytest.fixture
def alpha(tmp_path: Path) -> Path:
    """A bundle of two launches of a site."""
    folder = _made(tmp_path / "alpha")
    for launch in range(2):
        write_record(
            folder / f"{launch}.record",
            run_id=f"a{launch}".ljust(32, "0"),
            labels={"site": "alpha", "placement": "one_node"},
        )
    path = tmp_path / "alpha.bundle"
    bundle(str(folder), path)
    return path


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_bundle_gives_the_curves_and_facts_that_went_in(alpha: Path, tmp_path: Path) -> None:
    whole = compare(str(tmp_path / "alpha"), str(tmp_path / "alpha"))
    carried = compare(str(alpha), str(tmp_path / "alpha"))

    assert carried.sizes["first_us"].tolist() == pytest.approx(whole.sizes["first_us"].tolist())
    assert (carried.sizes["first_launches"] == 2).all()
    assert carried.facts.empty
    found = read(alpha)
    assert found.samples.empty
    assert found.facts("a0".ljust(32, "0"))[0]["mpi"]["cvars"]["btl_tcp_eager_limit"] == 65536
    assert found.runs["source"].iloc[0].startswith(f"{alpha}: ")


def test_the_points_of_a_bundle_have_their_smallest_times(alpha: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(alpha) as archive:
        points = pq.read_table(pa.BufferReader(archive.read("points.parquet")))
    store = Store(tmp_path / "results")

    store.add(read(alpha))

    assert sorted(store.curves()["min_us"]) == sorted(points["min_us"].to_pylist())


def test_an_imported_bundle_compares_and_shows_its_steps(
    switchpoint: Run, alpha: Path, tmp_path: Path
) -> None:
    own = write_record(tmp_path / "own.record", labels={"site": "beta", "placement": "one_node"})
    store = tmp_path / "results"

    first = switchpoint("import", alpha, own, "--store", store)
    again = switchpoint("import", alpha, "--store", store)
    found = compare("site=alpha", "site=beta", store=store, last=2)
    steps = switchpoint("ladder", alpha, "--json")

    assert "3 runs added" in first.stdout
    assert "0 runs added" in again.stdout
    assert len(Store(store).curves(site="alpha")["run_id"].unique()) == 2
    assert found.ranges["first_launches"].tolist() == [2] * len(found.ranges)
    assert found.ranges["ratio"].tolist() == pytest.approx([1.0] * len(found.ranges))
    rungs = json.loads(steps.stdout)["rungs"]
    assert [rung["kind"] for rung in rungs] == [None, "step"]


def test_a_zoom_travels_with_its_switches(tmp_path: Path) -> None:
    source = RECORDS / "explain" / "openmpi-tcp-zoom.record.gz"
    sweep = write_record(
        tmp_path / "sweep.record", labels={"site": "here", "placement": "one_node_network"}
    )
    folder = _made(tmp_path / "both")
    (folder / "zoom.record.gz").write_bytes(source.read_bytes())
    (folder / "sweep.record").write_bytes(sweep.read_bytes())
    path = tmp_path / "zoom.bundle"

    bundle(str(folder), path)

    rungs = ladder(read(path))
    assert 65481 in rungs.loc[rungs["exact"].eq(True), "first_size_bytes"].tolist()


def test_any_changed_byte_is_refused_in_one_line(switchpoint: Run, alpha: Path) -> None:
    data = alpha.read_bytes()
    places = np.random.default_rng(20261122).integers(60, len(data), 40).tolist()
    for place in [*places, len(data) - 1]:
        changed = bytearray(data)
        changed[place] ^= 1
        alpha.write_bytes(changed)
        with pytest.raises(InputError, match="was changed since it was made"):
            read(alpha)

    result = switchpoint("import", alpha, "--store", alpha.parent / "results")

    assert result.exit_code == 2
    assert "was changed since it was made" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (alpha.parent / "results").exists()


@pytest.mark.parametrize("length", [100, 5000])
def test_an_incomplete_bundle_is_refused(alpha: Path, length: int) -> None:
    alpha.write_bytes(alpha.read_bytes()[:length])

    with pytest.raises(InputError, match="incomplete"):
        read(alpha)


@pytest.mark.parametrize("labels", ["2026-13-01", "[]", '{"site": 1}', ""])
def test_labels_that_are_none_are_refused(switchpoint: Run, alpha: Path, labels: str) -> None:
    runs = _runs_of(alpha)
    _replace_runs(alpha, _replaced(runs, "labels", [labels] * len(runs)))

    done = switchpoint("compare", alpha, alpha)

    assert done.exit_code == 2
    assert f"{alpha}: labels are not a JSON object of texts; " in done.stderr


def _runs_of(path: Path) -> pa.Table:
    with zipfile.ZipFile(path) as archive:
        return pq.read_table(pa.BufferReader(archive.read("runs.parquet")))


def _replaced(runs: pa.Table, column: str, values: list[str | None]) -> pa.Table:
    place = runs.schema.get_field_index(column)
    return runs.set_column(place, column, pa.array(values, pa.string()))


def _replace_runs(path: Path, runs: pa.Table, **options: object) -> None:
    """Write other runs into a bundle, with the right hash, as a stranger can."""
    buffer = io.BytesIO()
    pq.write_table(runs.replace_schema_metadata(), buffer, **options)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.comment = b"0" * 64
        for name, content in (parts | {"runs.parquet": buffer.getvalue()}).items():
            archive.writestr(name, content)
    content = body.getvalue()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())


def test_a_small_bundle_with_gigabytes_of_text_is_refused(alpha: Path) -> None:
    """The one text of a dictionary belongs to each of 200 rows."""
    runs = _runs_of(alpha).take([0] * 200)
    place = runs.schema.get_field_index("warnings")
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), [" " * 2**22])
    large = runs.set_column(place, "warnings", once)
    options = {"compression": "zstd", "dictionary_pagesize_limit": 2**30}

    for store_schema in (True, False):
        _replace_runs(alpha, large, store_schema=store_schema, **options)
        assert alpha.stat().st_size < 2**20

        with pytest.raises(InputError, match="its columns have more than 512 MiB"):
            read(alpha)


def test_a_column_of_lists_is_refused(alpha: Path) -> None:
    runs = _runs_of(alpha)
    lists = pa.array([[1, 2]] * len(runs))

    _replace_runs(alpha, runs.append_column("lists", lists))

    with pytest.raises(InputError, match="the column lists contains neither texts nor numbers"):
        read(alpha)


def _packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    "lock",
    [
        "x",
        "ä",
        _packed(b"no zlib"),
        _packed(zlib.compress(b'{"roots": [], "concrete_specs": {}}')[:-3]),
        _packed(zlib.compress(b" " * 2**27)),
        _packed(zlib.compress(b"[]")),
    ],
    ids=["no base64", "no ASCII", "no zlib", "cut", "large", "no lock"],
)
def test_a_lock_that_is_none_is_refused(alpha: Path, lock: str) -> None:
    _replace_runs(alpha, _replaced(_runs_of(alpha), "lock", [lock, None]))

    with pytest.raises(InputError, match="a lock is not a packed lock of Spack"):
        read(alpha)


def test_activity_is_checked_as_in_records(alpha: Path) -> None:
    runs = _runs_of(alpha)
    footers = [json.loads(text) for text in runs["footer"].to_pylist()]
    point = {"mode": "send", "size_bytes": 8, "length_us": 1, "clock_error_us": 0}
    footers[0]["activity"] = {"phases": ["send_us"], "points": [point | {"spans": [[7, 0, 0, 1]]}]}

    _replace_runs(alpha, _replaced(runs, "footer", [json.dumps(footer) for footer in footers]))

    with pytest.raises(InputError, match=r"has an impossible span, \[7, 0, 0, 1\]"):
        read(alpha)


def test_a_bundle_is_a_plain_zip_with_its_hash_at_the_end(switchpoint: Run, alpha: Path) -> None:
    with zipfile.ZipFile(alpha) as archive:
        about = json.loads(archive.read("switchpoint-bundle.json"))
        findings = json.loads(archive.read("findings.json"))
        names = archive.namelist()

    assert names == ["switchpoint-bundle.json", "runs.parquet", "points.parquet", "findings.json"]
    assert (about["schema"], about["sites"], about["runs"]) == (1, ["alpha"], 2)
    assert {row["kind"] for row in findings} == {"step"}
    assert findings[0]["curve"]["site"] == "alpha"
    told = switchpoint("bundle", alpha, "-o", alpha.parent / "again.bundle")
    assert told.exit_code == 0, told.output
    digits = (alpha.parent / "again.bundle").read_bytes()[-64:].decode()
    assert f"SHA-256 {digits}" in told.stdout


def test_names_of_hosts_users_and_paths_are_replaced(tmp_path: Path) -> None:
    folder = _made(tmp_path / "in")
    text = write_record(
        folder / "one.record",
        labels={
            "site": "alpha", "placement": "one_node", "launch": "srun -w login7,a1",
            "deck": "/home/mira/decks/big",
        },
        arguments=["/home/mira/bin/pingpong", "--record", "/scratch/mira/x.record"],
        mpi={
            "library": "Open MPI v4.1.4, package: Open MPI mira@login7 Distribution",
            "cvars": {"mca_param_files": "/home/mira/.openmpi/x.conf", "btl_tcp_if": "eth0",
                      "uri": "tcp://10.1.2.3:47539"},
            "environment": {"UCX_LOG_FILE": "/scratch/mira/log", "UCX_TLS": "tcp,self"},
        },
        slurm={"node_list": "a1", "job_id": "7"},
    ).read_text()  # fmt: skip
    text = text.replace('"topology_address": null', '"topology_address": "core.rack7.a1"')
    text = text.replace('"boot_id": "boot"', '"boot_id": "0ddba11"')
    (folder / "one.record").write_text(text)
    path = tmp_path / "out.bundle"

    made = bundle(str(folder), path, replace_names=True)

    assert made["names_replaced"]
    with zipfile.ZipFile(path) as archive:
        told = archive.read("switchpoint-bundle.json") + archive.read("findings.json")
    found = read(path)
    runs = found.runs.drop(columns="source").to_json() + found.points.to_json()
    everything = told.decode() + runs + found.runs["source"].iloc[0].removeprefix(str(path))
    for name in ("mira", "login7", "rack7", "a1", "0ddba11", "/home", "/scratch", "10.1.2.3",
                 str(tmp_path)):  # fmt: skip
        assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", everything), name
    header, _ = found.facts(found.runs["run_id"].iloc[0])
    assert [rank["host"] for rank in header["ranks"]] == ["host-1", "host-1"]
    assert header["mpi"]["environment"]["UCX_TLS"] == "tcp,self"
    assert header["mpi"]["cvars"]["btl_tcp_if"] == "eth0"
    assert found.runs["site"].tolist() == ["alpha"]
    assert found.points["site"].unique().tolist() == ["alpha"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["none.csv", "-o", "x.bundle"], "'none.csv' is neither a file nor NAME=VALUE"),
        (["{record}", "-o", "{folder}"], "is a folder; give the name of a file"),
        (["{record}", "-o", "{folder}/none/x.bundle"], "cannot be written"),
        (["{record},mode=stream", "-o", "{folder}/x"], "there is no mode 'stream' in"),
    ],
)
def test_bad_usage_gives_one_line(
    switchpoint: Run, tmp_path: Path, arguments: list[str], problem: str
) -> None:
    record = write_record(tmp_path / "run.record")

    result = switchpoint(
        "bundle", *(word.format(record=record, folder=tmp_path) for word in arguments)
    )

    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.record"]


def test_a_foreign_table_of_curves_with_every_row_twice_counts_them_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "results"))
    for placement, slower in (("one_node", 3.0), ("two_nodes_two_hosts", 1.0)):
        path = write_record(
            tmp_path / f"{placement}.record",
            run_id=placement.encode().hex().ljust(32, "0")[:32],
            labels={"site": "alpha", "placement": placement},
            slower=slower,
        )
        store.add(read(path))
    once = detect(store.summaries())
    assert "placement_inversion" in set(once["kind"])
    for path in (tmp_path / "results" / "curves").rglob("*.parquet"):
        table = pq.read_table(path, partitioning=None)
        # Without our checksum, as another program writes it.
        pq.write_table(pa.concat_tables([table, table]).replace_schema_metadata(), path)

    twice = detect(store.summaries())

    assert len(twice) == len(once)
    bundle("site=alpha", tmp_path / "alpha.bundle", store=store.url)
