"""Measures the speed of `switchpoint import`: thousands of small files, per format and together.

Usage: .venv/bin/python bench/import_speed.py [FILES]   (default 3,000)
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from arguments import only_count

ROOT = Path(__file__).resolve().parents[1]
IMPORT = [ROOT / ".venv/bin/switchpoint", "import", "--json"]
RECORDED = ROOT / "tests" / "analysis"

#: Start-up tests, which do not time messages: import skips them.
WITHOUT_CURVES = {"osu-startup.txt"}

#: The example of each format among the outputs of the tests.
PATTERNS = {
    "OSU": "outputs/osu-*.txt",
    "IMB": "outputs/imb-*.txt",
    "ReFrame": "outputs/reframe-*",
    "run records": "records/*.record.gz",
}


def originals() -> dict[str, list[str]]:
    """Contents of outputs, by format."""
    texts = {
        form: [
            text_of(path)
            for path in sorted(RECORDED.glob(pattern))
            if path.name not in WITHOUT_CURVES
        ]
        for form, pattern in PATTERNS.items()
    }
    points = [(2**power, 10 + 2**power / 1000) for power in range(21)]
    texts["NetPIPE"] = ["".join(f"{n:8d} {8 * n / t:f} {t / 1e6:.8f}\n" for n, t in points)]
    texts["tidy CSV"] = ["size_bytes,time_us,mode\n" + "".join(f"{n},{t},a\n" for n, t in points)]
    return texts


def text_of(path: Path) -> str:
    """Content of a file, unpacked."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def another(form: str, text: str, number: int) -> str:
    """Return the same output as from another run, because the content identifies a file."""
    if form == "run records":
        header, _, rest = text.partition("\n")
        return json.dumps(json.loads(header) | {"run_id": f"{number:032x}"}) + "\n" + rest
    if form == "ReFrame":
        return text.replace("2026-", f"{10000 + number}-")
    if form == "tidy CSV":
        return text.replace(",a\n", f",a{number}\n")
    return f"# job {number}\n{text}"


def timed_import(form: str, texts: list[tuple[str, str]], files: int) -> None:
    """Import files made from the texts; print files per second and the largest memory."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "files")
        folder.mkdir()
        for number, (kind, text) in enumerate(itertools.islice(itertools.cycle(texts), files)):
            (folder / f"{number}.out").write_text(another(kind, text, number))
        start = time.perf_counter()
        process = subprocess.Popen(
            [*IMPORT, folder, "--store", Path(scratch, "store")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        outcome = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
    assert status == 0
    assert not outcome["failed"], outcome["failed"][:3]
    print(
        f"{form:12} {files:6,} files, {outcome['added']:6,} runs: {took:6.1f} s,"
        f" {files / took:6.0f} files/s, {usage.ru_utime + usage.ru_stime:6.1f} s of CPU,"
        f" at most {usage.ru_maxrss / 1e3:5.0f} MB",
        flush=True,
    )


def main(files: int) -> None:
    """Print a line for each format, and one for all of them in turn."""
    forms = originals()
    for form, texts in forms.items():
        timed_import(form, [(form, text) for text in texts], files)
    longest = max(map(len, forms.values()))
    mixed = [(form, texts[i % len(texts)]) for i in range(longest) for form, texts in forms.items()]
    timed_import("all formats", mixed, files)


if __name__ == "__main__":
    main(only_count(__doc__, "files", 3000))
