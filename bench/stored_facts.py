"""Measures what a store would save if it kept the repeated parts of headers and footers once.

Usage: .venv/bin/python bench/stored_facts.py [FILE_OR_FOLDER...]   (default: records of the tests)

whole    as the store keeps them: each run has the texts of its header, footer and lock
once     the best that another table could do: each part that several of these runs have is there
         once, and each run has the SHA-256 of the part instead
footers  the limit of every such table: headers and locks take nothing at all
A part is a lock, or a member of a header, of its `mpi` or of a footer, of at least 200 characters.
Memory is that of the tables in Arrow, without what a reader needs to put the texts together again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from arguments import parser
from switchpoint import read_files
from switchpoint.store.batches import Encoded
from switchpoint.store.tables import FACTS, parquet

RECORDS = Path(__file__).resolve().parents[1] / "tests/analysis/records"

#: Shorter parts are hardly longer than a hash.
SHORTEST = 200

#: Runs of one import: a check on several placements.
BATCH = 6

#: The column of the texts has a name for which the store compresses large pages.
TEXTS = pa.schema([("sha256", pa.string()), ("header", pa.string())])

Document = dict[str, Any]


def main(paths: list[str]) -> None:
    """Print bytes and memory of both, for each run."""
    encoded = Encoded.of(read_files(paths or [str(RECORDS)]).measurements)
    facts = encoded.tables["facts"]
    runs = facts.to_pandas()
    bytes_of = {name: len(parquet(table)) for name, table in encoded.tables.items()}
    share = bytes_of["facts"] / sum(bytes_of.values())
    print(f"{len(runs):,} runs; facts are {share:.0%} of the bytes of the store")
    for name in ("header", "footer", "lock"):
        texts = runs[name].dropna()
        print(f"{name}: {len(texts):,}, in all {texts.str.len().sum():,} characters")
    small, kept = once(runs)
    footers = facts.select(["run_id", "footer"])
    print(f"{'bytes of a run':20} {'whole':>9} {'once':>9} {'footers':>9} {'ratios':>11}")
    batched = in_batches(facts), in_batches(small) + stored(kept), in_batches(footers)
    joined = stored(facts), stored(small) + stored(kept), stored(footers)
    memory = facts.nbytes, small.nbytes + kept.nbytes, footers.nbytes
    named = {f"imports of {BATCH} runs": batched, "joined files": joined, "memory": memory}
    for part, sizes in named.items():
        each = " ".join(f"{size / len(runs):9,.0f}" for size in sizes)
        print(f"{part:20} {each} {sizes[0] / sizes[1]:5.2f} {sizes[0] / sizes[2]:5.2f}")


def once(runs: pd.DataFrame) -> tuple[pa.Table, pa.Table]:
    """Return facts whose repeated parts are hashes, and these parts."""
    documents = [
        {name: json.loads(run[name]) for name in ("header", "footer") if isinstance(run[name], str)}
        for run in runs.to_dict("records")
    ]
    locks = runs["lock"].dropna().tolist()
    counts = Counter([*locks, *(text for document in documents for *_, text in parts(document))])
    kept = {text: digest(text) for text, n in counts.items() if n > 1 and len(text) >= SHORTEST}
    rows = []
    for document, lock in zip(documents, runs["lock"], strict=True):
        for holder, name, text in [*parts(document)]:
            if text in kept:
                holder[name] = {"sha256": kept[text]}
        row = {name: json.dumps(part) for name, part in document.items()}
        rows.append(row | {"lock": kept.get(lock, lock)})
    small = pd.DataFrame(rows, columns=["header", "footer", "lock"]).assign(run_id=runs["run_id"])
    texts = pd.DataFrame({"sha256": kept.values(), "header": kept.keys()})
    return (
        pa.Table.from_pandas(small[FACTS.names], FACTS, preserve_index=False),
        pa.Table.from_pandas(texts, TEXTS, preserve_index=False),
    )


def parts(document: dict[str, Document]) -> Iterator[tuple[Document, str, str]]:
    """Yield what contains a part of a header or footer, the part's name, and its text."""
    for whole in document.values():
        for holder in (whole, whole.get("mpi", {})):
            for name, value in holder.items():
                if name != "mpi":
                    yield holder, name, json.dumps(value)


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def in_batches(table: pa.Table) -> int:
    """Return the bytes of a table of which each import adds some runs as a file."""
    return sum(stored(table.slice(start, BATCH)) for start in range(0, len(table), BATCH))


def stored(table: pa.Table) -> int:
    """Return the bytes of a table as a file of the store."""
    return len(parquet(table))


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("paths", nargs="*", metavar="FILE_OR_FOLDER")
    main(options.parse_args().paths)
