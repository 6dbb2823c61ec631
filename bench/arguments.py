"""Arguments that several benchmarks take; a wrong one is reported with exit code 2."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from functools import partial

from on_testbed import PMI


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a benchmark's own description."""
    shown = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=shown)


def only_count(description: str | None, name: str, default: int, least: int = 1) -> int:
    """Return the only argument of a benchmark: how many of something it measures."""
    options = parser(description)
    add_count(options, name, default, least)
    return int(getattr(options.parse_args(), name))


def add_count(
    options: argparse.ArgumentParser, name: str, default: int | None = None, least: int = 1
) -> None:
    """Add an argument that counts something, which can be left out if it has a default."""
    options.add_argument(
        name, type=partial(count, least=least), nargs=None if default is None else "?",
        default=default, metavar=name.upper(),
        help=None if default is None else f"default {default:,}",
    )  # fmt: skip


def add_mpis(options: argparse.ArgumentParser) -> None:
    """Add the MPIs to measure with, by default all; they are in `mpis`."""
    options.add_argument(
        "mpis", type=one_of("MPI", PMI), nargs="*", default=list(PMI), metavar="MPI",
        help=f"{' or '.join(PMI)}; default: all",
    )  # fmt: skip


def count(text: str, least: int = 1) -> int:
    """Read a whole number that is not too small."""
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise argparse.ArgumentTypeError(f"{text} is no whole number, {least} or more")
    return int(text)


def one_of(noun: str, known: Collection[str]) -> Callable[[str], str]:
    """Return what reads a known word.

    The `choices` of argparse refuse an argument that may be repeated and is left out, before
    Python 3.12.
    """

    def read(text: str) -> str:
        if text not in known:
            message = f"there is no {noun} {text}; choose from {'; '.join(known)}"
            raise argparse.ArgumentTypeError(message)
        return text

    return read


def several_of(noun: str, known: Collection[str]) -> Callable[[str], list[str]]:
    """Return what reads known words with commas between them; `all` stands for each."""
    one = one_of(noun, known)
    return lambda text: (
        [*known] if text == "all" else [one(word) for word in text.split(",") if word]
    )
