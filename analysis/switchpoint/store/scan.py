"""Reads Parquet files of a store together.

A file that is damaged or cannot be read costs its own rows and one warning.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from switchpoint.data_warnings import DataWarning
from switchpoint.regular_files import NotRegularError
from switchpoint.store.checksums import Seal, footer_seal, verified_format
from switchpoint.store.files import Rewritten, StoreFiles, first_line
from switchpoint.store.tables import LARGE, ROWS_OF_LARGE
from switchpoint.strict_parquet import TooLargeError, check_texts

#: Arrow's name for the file that a row came from.
FILE = "__filename"

#: Rows with headers and locks are read and filtered so many at a time, because they are large.
_FEW_AT_ONCE = {"batch_size": ROWS_OF_LARGE, "batch_readahead": 2, "fragment_readahead": 1}


class Loss(NamedTuple):
    """What a file costs that cannot be used, and what restores it if it is damaged."""

    cost: str
    fix: str


_LOST = Loss("its runs are left out", "Remove the file and import them again")

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
    loss: Loss = _LOST,
    folders: Folders | None = None,
    check: Check | None = None,
) -> tuple[pa.Table, list[DataWarning]]:
    """Read the rows of some files that meet a condition.

    Parameters
    ----------
    files, paths, schema, condition
        Which files, which of their columns, and Arrow's filter of their rows.
    with_file
        Whether to add the column `FILE`.
    loss
        What a damaged or unreadable file costs, for the message.
    folders
        Columns of the schema that the names of folders contain.
    check
        Says what is wrong with the rows of a file that another program wrote.

    Returns
    -------
    table
        In this schema; with `with_file`, the column `FILE` too.
    list of DataWarning
        Files that could not be read.

    Raises
    ------
    Rewritten
        If a file is there no longer.
    """
    names = [*schema.names, *([FILE] if with_file else [])]
    whole = pa.schema([*schema, *([pa.field(FILE, pa.string())] if with_file else [])])

    def read(some: list[str]) -> pa.Table:
        return _read(files, some, schema, names, condition, folders).cast(whole)

    sealed, unsealed, damaged = _by_seal(files, paths, loss)
    unsealed, too_large = _by_length(unsealed, schema, loss)
    damaged += too_large
    if check is None:
        sealed, unsealed = [*sealed, *unsealed], []
    try:
        tables = [read(sealed)] if sealed else []
    except FileNotFoundError:
        if not all(map(files.exists, sealed)):
            raise Rewritten from None
        tables, unsealed = [], [*sealed, *unsealed]
    except failures(files):
        tables, unsealed = [], [*sealed, *unsealed]
    for path in unsealed:
        try:
            table = read([path])
            problem = _damage(path, wrong, loss) if check and (wrong := check(table)) else None
        except failures(files) as error:
            problem = unusable(files, path, error, loss)
        if problem is None:
            tables.append(table)
        else:
            damaged.append(problem)
    if len(tables) != 1:
        tables = [pa.concat_tables([whole.empty_table(), *tables])]
    return tables[0], damaged


def unread(path: str, problem: str) -> DataWarning:
    """Return a warning about a file that could not be read."""
    return DataWarning("unread_file", problem, path)


def unusable(files: StoreFiles, path: str, error: Exception, loss: Loss) -> DataWarning:
    """Return a warning about a file that could not be read.

    Raises
    ------
    Rewritten
        If another command has removed the file.
    """
    reason = why_unreadable(files, path, error)
    if reason is None:
        return _damage(path, first_line(error), loss)
    return unread(path, f"cannot be read ({reason}); {loss.cost}. {MAKE_READABLE}")


#: What to do about a file that may be sound.
MAKE_READABLE = "Check its rights and its disk, and run the command again"


def why_unreadable(files: StoreFiles, path: str, error: Exception) -> str | None:
    """Return why the system does not let a file be read; None if its content is wrong.

    Raises
    ------
    Rewritten
        If another command has removed the file.
    """
    if not isinstance(error, OSError):
        return None
    gone = isinstance(error, FileNotFoundError)
    if (gone or error.errno == errno.ESTALE) and not files.exists(path):
        raise Rewritten from None
    if gone:
        return "it is a link to a file that does not exist"
    if error.errno is None:
        return None
    # Arrow's own texts are long and name the file again.
    return str(error.strerror) if isinstance(error, NotRegularError) else os.strerror(error.errno)


def _by_seal(
    files: StoreFiles, paths: list[str], loss: Loss
) -> tuple[list[str], list[str], list[DataWarning]]:
    """Divide files into those with a whole seal and those without; name the others.

    Arrow would believe a damaged footer. Only of local files: reading the ends of all objects of a
    bucket would take long, and object stores have checksums of their own.
    """
    if not files.local:
        return paths, [], []
    seals = {path: _seal_of(files, path, loss) for path in paths}
    reason = "its footer differs from its checksum"
    damaged = [_damage(path, reason, loss) for path in sorted(paths) if seals[path] is Seal.BROKEN]
    return (
        [path for path in paths if seals[path] is Seal.WHOLE],
        [path for path in paths if seals[path] is Seal.ABSENT],
        [*damaged, *(found for found in seals.values() if isinstance(found, DataWarning))],
    )


def _seal_of(files: StoreFiles, path: str, loss: Loss) -> Seal | DataWarning:
    """Return what the seal of a file says, or a warning if the file cannot be read."""
    try:
        try:
            return footer_seal(path)
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            return footer_seal(path)  # a network file system finds again a file that was replaced
    except OSError as error:
        return unusable(files, path, error, loss)


def _by_length(
    paths: list[str], schema: pa.Schema, loss: Loss
) -> tuple[list[str], list[DataWarning]]:
    """Divide the files of other programs by whether their texts fit into memory; name the others.

    Texts that are read as dictionaries fit in any case.
    """
    names = [field.name for field in schema if pa.types.is_string(field.type)]
    fitting: list[str] = []
    damaged: list[DataWarning] = []
    for path in paths:
        try:
            check_texts(path, names)
        except TooLargeError as error:
            damaged.append(_damage(path, str(error), loss))
            continue
        except (pa.ArrowException, OSError, ValueError):
            pass  # which whoever reads it says
        fitting.append(path)
    return fitting, damaged


def failures(files: StoreFiles) -> tuple[type[Exception], ...]:
    """Return what reading a file raises: back ends of fsspec raise what their libraries raise."""
    return (pa.ArrowException, OSError) if files.local else (Exception,)


def _damage(path: str, reason: str, loss: Loss) -> DataWarning:
    return unread(path, f"is damaged ({reason}); {loss.cost}. {loss.fix}")


def paths_of(warnings: Iterable[DataWarning]) -> set[str]:
    """Return the files that could not be read."""
    return {warning.place for warning in warnings if warning.kind == "unread_file"}


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
