"""Reads Parquet files of a store together. A damaged file costs its own rows and one warning."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from switchpoint.errors import InputError
from switchpoint.store.checksums import damaged_footer, verified_format
from switchpoint.store.files import StoreFiles

#: Arrow's name for the file that a row came from.
FILE = "__filename"


def scan(
    files: StoreFiles,
    paths: list[str],
    schema: pa.Schema,
    condition: Any = None,
    *,
    with_file: bool = False,
) -> tuple[pa.Table, list[str]]:
    """Read the rows of some files that meet a condition.

    Returns
    -------
    table
        In this schema; with `with_file`, the column `FILE` too.
    list of str
        Files that could not be read, one sentence each.

    Raises
    ------
    InputError
        If the files may not be read.
    """
    names = [*schema.names, *([FILE] if with_file else [])]
    whole = pa.schema([*schema, *([pa.field(FILE, pa.string())] if with_file else [])])
    try:
        paths, damaged = _without_broken_footers(files, paths)
        if not paths:
            return whole.empty_table(), damaged
        return _read(files, paths, schema, names, condition), damaged
    except PermissionError as error:
        raise _refused(files, error) from None
    except (pa.ArrowException, OSError):
        pass
    tables = [whole.empty_table()]
    for path in paths:
        try:
            tables.append(_read(files, [path], schema, names, condition).cast(whole))
        except (pa.ArrowException, OSError) as error:  # noqa: PERF203  each by itself
            damaged.append(_damage(path, str(error).splitlines()[0]))
    return pa.concat_tables(tables), damaged


def _without_broken_footers(files: StoreFiles, paths: list[str]) -> tuple[list[str], list[str]]:
    """Leave out files whose footer is damaged: Arrow would believe it. Return what was left out.

    Only of local files: reading the ends of all objects of a bucket would take long, and object
    stores have checksums of their own.
    """
    broken = {path for path in paths if files.local and damaged_footer(path)}
    told = [_damage(path, "its footer differs from its checksum") for path in sorted(broken)]
    return [path for path in paths if path not in broken], told


def _damage(path: str, reason: str) -> str:
    return (
        f"{path}: is damaged ({reason}); its runs are left out. Remove the file and import them"
        " again"
    )


def _read(
    files: StoreFiles, paths: list[str], schema: pa.Schema, names: list[str], condition: Any
) -> pa.Table:
    dictionaries = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    return ds.dataset(
        paths,
        schema=schema,
        filesystem=files.system,
        format=verified_format(dictionaries),
    ).to_table(columns=names, filter=condition)


def _refused(files: StoreFiles, error: PermissionError) -> InputError:
    return InputError(files.url, f"{error.strerror or 'Permission denied'}; choose another --store")
