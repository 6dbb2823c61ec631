"""A flipped bit in a store is named; it is never read as another number."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import write_record
from switchpoint import InputError, Measurements, Store, read
from switchpoint.store.verification import verify

FLIPS = 20


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store with two imports, so two files in each table."""
    kept = Store(tmp_path / "results")
    for number in (1, 2):
        path = tmp_path / f"{number}.record"
        kept.add(read(write_record(path, run_id=f"{number:032x}", sizes=[8, 64, 512])))
    return kept


def flipped_bits(url: str, seed: int) -> list[tuple[Path, int]]:
    """Choose bits of all files, each as its file and its place."""
    paths = sorted(Path(url).rglob("*.parquet"))
    sizes = [path.stat().st_size for path in paths]
    draw = random.Random(seed)
    return [
        (path, draw.randrange(8 * path.stat().st_size))
        for path in draw.choices(paths, weights=sizes, k=FLIPS)
    ]


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def test_every_flipped_bit_is_named_and_none_is_read_as_another_number(store: Store) -> None:
    whole = store.read()
    for path, bit in flipped_bits(store.url, seed=18):
        flip(path, bit)

        assert any(str(path) in line for line in verify(store)), f"{path}, bit {bit}"
        assert named_or_same(store, whole, path), f"{path}, bit {bit}"

        flip(path, bit)
    assert verify(store) == []


def named_or_same(store: Store, whole: Measurements, path: Path) -> bool:
    """Return whether reading names the damaged file, or is not affected by the damage."""
    try:
        found = store.read()
    except InputError as error:
        return str(path) in str(error)
    if any(warning.place == str(path) for warning in found.not_taken):
        return True
    pd.testing.assert_frame_equal(found.samples, whole.samples)
    pd.testing.assert_frame_equal(found.runs, whole.runs)
    return True


def test_files_of_a_version_without_checksums_are_sound(store: Store) -> None:
    path = next(Path(store.url, "samples").rglob("*.parquet"))
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)

    assert verify(store) == []
    assert store.read().not_taken == []


def test_other_programs_read_the_files(store: Store) -> None:
    path = next(Path(store.url, "samples").rglob("*.parquet"))

    assert pq.read_table(path).num_rows == 36
    assert pd.read_parquet(path)["size_bytes"].tolist()[:1] != []
    assert isinstance(pq.ParquetFile(path).schema_arrow, pa.Schema)
