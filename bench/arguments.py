"""Arguments that several benchmarks take; a wrong one is told with exit code 2."""

from __future__ import annotations

import argparse

from on_testbed import PMI


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a benchmark's own description."""
    shown = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=shown)


def only_count(description: str | None, name: str, default: int, least: int = 1) -> int:
    """Return the only argument of a benchmark: how many of something it measures."""
    options = parser(description)
    add_count(options, name, default)
    number: int = getattr(options.parse_args(), name)
    if number < least:
        options.error(f"argument {name}: {number} are too few, give {least} or more")
    return number


def add_count(options: argparse.ArgumentParser, name: str, default: int | None = None) -> None:
    """Add an argument that counts something, which can be left out if it has a default."""
    may_miss = None if default is None else "?"
    options.add_argument(
        name, type=count, nargs=may_miss, default=default, metavar=name.upper(),
        help=None if default is None else f"default {default:,}",
    )  # fmt: skip


def add_mpis(options: argparse.ArgumentParser) -> None:
    """Add the MPIs to measure with, by default all; they are in `mpis`."""
    told = f"{' or '.join(PMI)}; default: all"
    options.add_argument("mpis", type=_mpi, nargs="*", metavar="MPI", help=told)


def count(text: str) -> int:
    """Read a whole number, 1 or more."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is no whole number, 1 or more")
    return int(text)


def _mpi(text: str) -> str:
    if text not in PMI:
        raise argparse.ArgumentTypeError(f"there is no MPI {text}; choose from {', '.join(PMI)}")
    return text
