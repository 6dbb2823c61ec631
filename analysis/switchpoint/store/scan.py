"""Reads Parquet files of a store together. A damaged file costs its own rows and one warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from switchpoint.errors import InputError
from switchpoint.store.checksums import Seal, footer_seal, verified_format
from switchpoint.store.files import Rewritten, StoreFiles
from switchpoint.store.tables import LARGE, ROWS_OF_LARGE
from switchpoint.strict_parquet import TooLargeError, check_texts

#: Arrow's name for the file that a row came from.
FILE = "__filename"

#: Rows with headers and locks are read and filtered so many at a time, because they are large.
_FEW_AT_ONCE = {"batch_size": ROWS_OF_LARGE, "batch_readahead": 2, "fragment_readahead": 1}

_LOST = "its runs are left out. Remove the file and import them again"


#: Returns what is wrong with a table, or None.
Check = Callable[[pa.Table], str | None]


class Folders(NamedTuple):
    """Columns whose values are in the names of the folders below `base`, as Hive writes them."""

    base: str
    columns: pa.Schema


def scan(
    files: StoreFiles,
    paths: list[str],
    schema: pa.Schema,
    condition: Any = None,
    *,
    with_file: bool = False,
    loss: str = _LOST,
    folders: Folders | None = None,
    check: Check | None = None,
) -> tuple[pa.Table, list[str]]:
    """Read the rows of some files that meet a condition.

    Parameters
    ----------
    files, paths, schema, condition
        Which files, which of their columns, and Arrow's filter of their rows.
    with_file
        Whether to add the column `FILE`.
    loss
        What a damaged file costs, for the message.
    folders
        Columns of the schema that the names of folders contain.
    check
        Says what is wrong with the rows of a file that another program wrote.

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
    Rewritten
        If a file is there no longer.
    """
    names = [*schema.names, *([FILE] if with_file else [])]
    whole = pa.schema([*schema, *([pa.field(FILE, pa.string())] if with_file else [])])

    def read(some: list[str]) -> pa.Table:
        return _read(files, some, schema, names, condition, folders).cast(whole)

    try:
        sealed, unsealed, damaged = _by_seal(files, paths, loss)
        unsealed, too_large = _by_length(unsealed, schema, loss)
        damaged += too_large
        if check is None:
            sealed, unsealed = [*sealed, *unsealed], []
        tables = [read(sealed)] if sealed else []
    except PermissionError as error:
        raise refused(files, error) from None
    except FileNotFoundError:
        raise Rewritten from None
    except (pa.ArrowException, OSError):
        tables, unsealed = [], [*sealed, *unsealed]
    for path in unsealed:
        table, problem = _checked(files, path, read, check)
        if problem is None:
            tables.append(table)
        else:
            damaged.append(_damage(path, problem, loss))
    if len(tables) != 1:
        tables = [pa.concat_tables([whole.empty_table(), *tables])]
    return tables[0], damaged


def _checked(
    files: StoreFiles, path: str, read: Callable[[list[str]], pa.Table], check: Check | None
) -> tuple[pa.Table, str | None]:
    """Read one file by itself. Return also what is wrong with it, if anything is."""
    try:
        table = read([path])
    except PermissionError as error:
        raise refused(files, error) from None
    except FileNotFoundError:
        raise Rewritten from None
    except (pa.ArrowException, OSError) as error:
        return None, str(error).splitlines()[0]
    return table, check(table) if check else None


def _by_seal(
    files: StoreFiles, paths: list[str], loss: str
) -> tuple[list[str], list[str], list[str]]:
    """Divide files into those with a whole seal and those without; name the damaged ones.

    Arrow would believe a damaged footer. Only of local files: reading the ends of all objects of a
    bucket would take long, and object stores have checksums of their own.
    """
    if not files.local:
        return paths, [], []
    seals = {path: footer_seal(path) for path in paths}
    reason = "its footer differs from its checksum"
    return (
        [path for path in paths if seals[path] is Seal.WHOLE],
        [path for path in paths if seals[path] is Seal.ABSENT],
        [_damage(path, reason, loss) for path in sorted(paths) if seals[path] is Seal.BROKEN],
    )


def _by_length(paths: list[str], schema: pa.Schema, loss: str) -> tuple[list[str], list[str]]:
    """Divide the files of other programs by whether their texts fit into memory; name the others.

    Texts that are read as dictionaries fit in any case.
    """
    names = [field.name for field in schema if pa.types.is_string(field.type)]
    fitting, damaged = [], []
    for path in paths:
        try:
            check_texts(path, names)
        except TooLargeError as error:
            damaged.append(_damage(path, str(error), loss))
            continue
        except (FileNotFoundError, PermissionError):
            raise
        except (pa.ArrowException, OSError, ValueError):
            pass  # which whoever reads it says
        fitting.append(path)
    return fitting, damaged


def _damage(path: str, reason: str, loss: str) -> str:
    return f"{path}: is damaged ({reason}); {loss}"


def _read(
    files: StoreFiles,
    paths: list[str],
    schema: pa.Schema,
    names: list[str],
    condition: Any,
    folders: Folders | None,
) -> pa.Table:
    large = {*LARGE} & {*schema.names}
    dictionaries = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    return ds.dataset(
        paths,
        schema=schema,
        filesystem=files.system,
        format=verified_format(dictionaries),
        partitioning=ds.partitioning(folders.columns, flavor="hive") if folders else None,
        partition_base_dir=folders.base if folders else None,
    ).to_table(columns=names, filter=condition, **(_FEW_AT_ONCE if large else {}))


def refused(files: StoreFiles, error: PermissionError) -> InputError:
    """Return the error of a store that may not be read."""
    return InputError(files.url, f"{error.strerror or 'Permission denied'}; choose another --store")
