"""Which arguments of a kernel may be given again because a record has them, each as one word.

They are split as the kernels do (src/engine/options.c), so that none becomes the value of another.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from switchpoint.shipped import shipped

_NAMES = re.compile(r"[A-Za-z0-9_][\w.:-]*(,[A-Za-z0-9_][\w.:-]*)*", re.ASCII)
_SIZES = re.compile(r"[0-9][0-9KMGkmg:+/,]*", re.ASCII)
_BRACKET = r"([a-z][\w-]*:([a-z][\w-]*:)?)?[0-9]+-[0-9]+"

#: Options with a value, of all kernels, and the form of the value.
_WITH_VALUE: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(
        ("--passes", "--samples", "--block-time", "--pass-time", "--point-time", "--precision",
         "--time-budget", "--warmup", "--pause", "--window", "--window-kib", "--rotate",
         "--buffer-offset", "--kept", "--seed", "--segment", "--grain", "--serial", "--packet",
         "--group", "--send-window", "--search-time", "--quality", "--block", "--hidden",
         "--epochs"),
        re.compile(r"[0-9]{1,16}"),
    ),
    **dict.fromkeys(("--mode", "--algorithms", "--mpi-counters", "--interface"), _NAMES),
    "--type": re.compile("double|float|int"),
    "--op": re.compile("sum|max"),
    "--sizes": _SIZES,
    "--start": re.compile("agreed|barrier"),
    "--time-of": re.compile("slowest|mean|root"),
    "--tree": re.compile(r"[0-9]+(,[0-9]+)*"),
    "--brackets": re.compile(rf"{_BRACKET}(,{_BRACKET})*", re.ASCII),
    "--label": re.compile(r"\w[\w.-]*=.+"),
}  # fmt: skip

#: Options that name a file: whoever starts the kernel gives them.
_FILES = frozenset(["--record"])

#: Options without a value. Those that measure nothing are not given again.
_FLAGS = frozenset(["--quiet", "--ucx-protocols"])
_ENDING = frozenset(["--help", "--version"])

#: All options of the kernels.
KERNEL_OPTIONS = frozenset(_WITH_VALUE) | _FILES | _FLAGS | _ENDING


_ADDED = re.compile(r"^\s*add_(?:kernel|application\w*)\((\w+)", re.MULTILINE)


@functools.cache
def own_kernels() -> frozenset[str]:
    """Return the names of the kernels that come with Switchpoint, as its CMake files build them."""
    files = shipped("src").glob("*/CMakeLists.txt")
    return frozenset(name for file in files for name in _ADDED.findall(file.read_text("utf-8")))


@dataclass(frozen=True)
class KernelArguments:
    """Arguments of a run that may be given again.

    Attributes
    ----------
    options : list of (name, value)
        The value is None for a flag. Labels are not among them.
    labels : dict
        Those of `--label`.
    left_out : list of str
        What is not used, to be shown to people.
    """

    options: list[tuple[str, str | None]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def words(self, without: Sequence[str] = ()) -> list[str]:
        """Return the options as single words, except some."""
        return [
            name if value is None else f"{name}={value}"
            for name, value in self.options
            if name not in without
        ]


def kernel_arguments(words: Sequence[object]) -> KernelArguments:
    """Return the arguments of a record, without the program, that may be given to a kernel again.

    >>> kernel_arguments(["--passes", "3", "--record", "/a/b", "--label", "x=1", "sh"])
    KernelArguments(options=[('--passes', '3')], labels={'x': '1'}, left_out=["argument 'sh'"])
    """
    found = KernelArguments()
    for name, value in _split([str(word) for word in words]):
        form = _WITH_VALUE.get(name)
        if name in _FLAGS:
            found.options.append((name, None))
        elif (
            form is not None and value is not None and form.fullmatch(value) and value.isprintable()
        ):
            if name == "--label":
                key, _, text = value.partition("=")
                found.labels.setdefault(key, text)
            else:
                found.options.append((name, value))
        elif name not in _FILES:
            found.left_out.append(
                f"option {name}" if name.startswith("--") else f"argument {name!r}"
            )
    return found


def _split(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield name and value of each option as a kernel takes them: after `=`, or the next word."""
    rest = iter(words)
    for word in rest:
        name, assigned, value = word.partition("=")
        if not word.startswith("--") or word in _FLAGS | _ENDING:
            yield word, None
        else:
            yield name, value if assigned else next(rest, None)
