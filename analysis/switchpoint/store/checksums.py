"""Checksums of the store's files, so that damage is named and never read as other numbers.

Parquet has a checksum for the data of each page, which Arrow verifies while it reads. Page headers
and the footer have none, so a file also has a seal: two CRC-32 between its pages and its footer,
where no reader of Parquet looks.
"""

from __future__ import annotations

import struct
import zlib
from enum import Enum
from typing import BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds

from switchpoint.regular_files import open_regular

#: The footer says with this key that the file has a seal.
_KEY = b"switchpoint.seal"

_MAGIC = b"SWPSEAL1"

#: The magic, then the CRC-32 of all bytes before the seal, and of all bytes after it.
_SEAL = struct.Struct("<8sII")

#: The end of each Parquet file: the length of the footer, and a magic.
_END = struct.Struct("<I4s")

_PART_BYTES = 2**22


def announced(schema: pa.Schema) -> pa.Schema:
    """Return the schema with the word in its metadata that its file has a seal."""
    return schema.with_metadata({**(schema.metadata or {}), _KEY: b"crc32"})


def sealed(content: bytes) -> bytes:
    """Return a Parquet file of an `announced` schema with its seal."""
    length, _ = _END.unpack(content[-_END.size :])
    place = len(content) - _END.size - length
    pages, footer = content[:place], content[place:]
    return pages + _SEAL.pack(_MAGIC, zlib.crc32(pages), zlib.crc32(footer)) + footer


def verified_format(dictionaries: list[str] | None = None) -> ds.ParquetFileFormat:
    """Return the format that reads Parquet and verifies the checksum of each page.

    Parameters
    ----------
    dictionaries
        Columns that are read as dictionaries.
    """
    return ds.ParquetFileFormat(
        read_options={"dictionary_columns": dictionaries or []},
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(
            page_checksum_verification=True
        ),
    )


class Seal(Enum):
    """What the seal of a file says."""

    WHOLE = "the file is as it was written"
    BROKEN = "something differs from its checksum"
    ABSENT = "an older version or another program wrote the file"


def footer_seal(path: str) -> Seal:
    """Return what the seal of a local file says of its footer."""
    with open_regular(path) as stream:
        return _seal(stream, pages=False)


def broken_seal(stream: BinaryIO) -> bool:
    """Return whether anything in a file differs from its checksums."""
    return _seal(stream, pages=True) is Seal.BROKEN


def _seal(stream: BinaryIO, *, pages: bool) -> Seal:
    size = stream.seek(0, 2)
    if size < _END.size:
        return Seal.ABSENT
    stream.seek(size - _END.size)
    end = stream.read(_END.size)
    place = size - _END.size - _END.unpack(end)[0] - _SEAL.size
    if place < 0:
        return Seal.ABSENT
    stream.seek(place)
    seal, footer = stream.read(_SEAL.size), stream.read()
    magic, crc_pages, crc_footer = _SEAL.unpack(seal)
    if magic != _MAGIC:
        return Seal.BROKEN if _KEY in footer else Seal.ABSENT
    if zlib.crc32(footer) != crc_footer or (pages and _crc(stream, place) != crc_pages):
        return Seal.BROKEN
    return Seal.WHOLE


def _crc(stream: BinaryIO, count: int) -> int:
    """Return the CRC-32 of the first `count` bytes."""
    stream.seek(0)
    crc = 0
    while count > 0 and (part := stream.read(min(count, _PART_BYTES))):
        crc = zlib.crc32(part, crc)
        count -= len(part)
    return crc
