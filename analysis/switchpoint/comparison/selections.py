"""Reads what a user selects: columns, a run, a session or a time of a store, or files.

A selection is parts with commas between them: `site=alpha,mpi=openmpi`, `run=3f2a`, `old/alpha`,
`old/alpha,kernel=osu_latency`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.store.wanted import time_text

#: Names in a selection that are not columns of curves.
TIMES = ("since", "until")

#: Names that say which launches are meant. Without them the newest session of each curve is.
_LAUNCHES = ("run_id", "session", *TIMES)


@dataclass(frozen=True)
class Selection:
    """What a user asked for.

    Attributes
    ----------
    text : str
        As it was written.
    files : tuple of Path
        Files and folders to read instead of the store.
    wanted : dict of str to str
        The value of each named column.
    since, until : str
        The first time, and the first time past the end, as text like `start_utc`; or empty.
    """

    text: str
    files: tuple[Path, ...] = ()
    wanted: dict[str, str] = field(default_factory=dict)
    since: str = ""
    until: str = ""

    @classmethod
    def parse(cls, text: str) -> Selection:
        """Read a selection.

        Raises
        ------
        InputError
            If a part is neither a file nor NAME=VALUE, or a name is given twice.
        """
        if _exists(text):
            return cls(text, (Path(text),))
        files: list[Path] = []
        wanted: dict[str, str] = {}
        for part in map(str.strip, text.split(",")):
            name, equals, value = (word.strip() for word in part.partition("="))
            if _exists(part):
                files.append(Path(part))
            elif not equals or not name or not value:
                raise InputError(
                    text or "''",
                    f"'{part}' is neither a file nor NAME=VALUE; write a selection such as"
                    " site=alpha,mpi=openmpi",
                )
            elif wanted.setdefault("run_id" if name == "run" else name, value) != value:
                raise InputError(text, f"{name} is given twice; give it once")
        times = {name: time_text(name, wanted.pop(name, "")) for name in TIMES}
        return cls(text, tuple(files), wanted, **times)

    @classmethod
    def everything(cls) -> Selection:
        """Select the whole store."""
        return cls("everything")

    @property
    def names_launches(self) -> bool:
        """Whether it says which runs, sessions or times are meant."""
        return bool({*self.wanted} & {*_LAUNCHES} or self.since or self.until)


def _exists(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or not a path at all
        return False
