"""The file `rules.json`: which rules were measured where, and what came of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from switchpoint.errors import InputError
from switchpoint.limits import RULES_BYTES
from switchpoint.models.confirmation import Checked
from switchpoint.models.libraries.library import EXCHANGE, Algorithm, Choice, Rule, Rules
from switchpoint.regular_files import read_limited
from switchpoint.strict_json import parse_json
from switchpoint.tables.units import range_text, significant, significant_range

FILE = "rules.json"

#: What fresh launches showed of a rule.
NOT_CHECKED, CONFIRMED, WITHDRAWN = "not checked", "confirmed", "withdrawn"

_WRITE_AGAIN = "write the rules again with `switchpoint tune`"

#: Of a name that becomes part of a file which a library reads.
NAME = r"^[A-Za-z0-9_-]{1,64}$"
Name = Annotated[str, Field(pattern=NAME)]
Bytes = Annotated[int, Field(ge=0, lt=2**62)]
Count = Annotated[int, Field(ge=0, lt=2**20)]

#: The kernels of the operations for which there can be rules.
Kernel = Annotated[
    str, Field(pattern=r"^(allgather|allreduce|alltoall|broadcast|reduce|reduce_scatter)$")
]


def _possible(checked: Checked) -> Checked:
    if not all(0 < time < math.inf for time in (*checked.with_us, *checked.without_us)):
        raise ValueError("a time is not above 0")
    return checked


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Winner(_Part):
    """The algorithm that wins at one size.

    Attributes
    ----------
    size_bytes : int
    algorithm : str
        As the library calls it.
    number, fan_out, segment_bytes : int
        As Open MPI's file wants them.
    gain, gain_low, gain_high : float
        The time of the library's choice divided by that of the algorithm: the mean over launches,
        and the interval that contains every launch with its error.
    launches : int
    checked : Checked or None
        What fresh launches with the rules and without showed.
    """

    size_bytes: Bytes
    algorithm: Name
    number: Count = 0
    fan_out: Count = 0
    segment_bytes: Bytes = 0
    gain: float
    gain_low: float
    gain_high: float
    launches: Count
    checked: Annotated[Checked, AfterValidator(_possible)] | None = None

    @property
    def withdrawn(self) -> bool:
        """Whether it did not win again."""
        return self.verdict == WITHDRAWN

    @property
    def verdict(self) -> str:
        """`NOT_CHECKED`, `CONFIRMED` or `WITHDRAWN`."""
        if self.checked is None:
            return NOT_CHECKED
        return CONFIRMED if self.checked.wins else WITHDRAWN

    def choice(self, kernel: str) -> Choice:
        """Return what the library is to use."""
        algorithm = Algorithm(self.algorithm, kernel, f"library:{self.algorithm}", self.number)
        return Choice(algorithm, self.segment_bytes, self.fan_out)


@dataclass(frozen=True)
class SizeRange:
    """Neighbouring measured sizes at which the same is to be used.

    Attributes
    ----------
    sizes_bytes : list of int
        Ascending.
    winners : list of Winner
        Of each size: all of the same algorithm and verdict. None where nothing wins.
    """

    sizes_bytes: list[int]
    winners: list[Winner]

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        return range_text(self.sizes_bytes[0], self.sizes_bytes[-1])

    @property
    def gains(self) -> str:
        """How many times as fast the algorithm is, with the least and the most of all launches."""
        low = significant(min(one.gain_low for one in self.winners))
        high = significant(max(one.gain_high for one in self.winners))
        return f"{significant_range(one.gain for one in self.winners)} [{low}, {high}]"

    @property
    def gains_again(self) -> str:
        """The same in fresh launches; empty without any."""
        checks = [one.checked.gain for one in self.winners if one.checked is not None]
        return significant_range(checks) if checks else ""


class Group(_Part):
    """A collective on so many ranks.

    Attributes
    ----------
    kernel : str
        Which calls it.
    ranks, nodes : int
    sizes_bytes : list of int
        All that were measured, ascending.
    winners : list of Winner
        Ascending; none where the library's choice stays.
    """

    kernel: Kernel
    ranks: Count
    nodes: Count
    sizes_bytes: list[Bytes]
    winners: list[Winner]

    @property
    def operation(self) -> str:
        """As `models.libraries` calls it."""
        return operation_of(self.kernel)

    @property
    def place(self) -> str:
        """The collective and where it was measured, in words."""
        nodes = f"{self.nodes} node{'s'[: self.nodes != 1]}"
        return f"{self.kernel} on {self.ranks} ranks, {nodes}"

    def sizes_with_rules(self) -> list[int]:
        """Return the measured sizes for which there are rules."""
        return [one.size_bytes for one in self.winners if not one.withdrawn]

    def ranges(self) -> Iterator[SizeRange]:
        """Yield neighbouring sizes with the same algorithm and verdict."""
        winners = {one.size_bytes: one for one in self.winners}

        def alike(size: int) -> tuple[str, str] | None:
            return (winners[size].algorithm, winners[size].verdict) if size in winners else None

        for _, same in groupby(sorted({*self.sizes_bytes}), key=alike):
            sizes = [*same]
            yield SizeRange(sizes, [winners[size] for size in sizes if size in winners])

    def rules(self) -> list[Rule]:
        """Return its rules from size 0 on.

        A rule holds from the first to the last of neighbouring measured sizes at which an algorithm
        wins. Nothing is known of the sizes between one that wins and one that does not.
        """
        winners = {one.size_bytes: one for one in self.winners if not one.withdrawn}
        rules, last = [Rule(0, None)], 0
        for size in sorted({*self.sizes_bytes}):
            choice = winners[size].choice(self.kernel) if size in winners else None
            if choice != rules[-1].choice:
                rules.append(Rule(last + 1 if choice is None else size, choice))
            last = size
        if rules[-1].choice is not None:
            rules.append(Rule(last + 1, None))
        return rules[1:] if len(rules) > 1 and rules[1].first_size_bytes == 0 else rules


class Tuning(_Part):
    """Rules for one MPI library at one place.

    Attributes
    ----------
    library : str
        Its family.
    mpi : str
        With its version.
    site, environ, placement : str or None
    hosts : list of str
    first_utc, last_utc : str
        When the first and the last launch started.
    least_gain : float
        A rule was written where every launch gained more, such as 0.05.
    groups : list of Group
    notes : list of str
        What has no rule, and why.
    """

    format: Literal["switchpoint rules"] = "switchpoint rules"
    version: Literal[1] = 1
    library: Annotated[str, Field(pattern=r"^(Open MPI|MPICH)$")]
    mpi: str
    site: str | None = None
    environ: str | None = None
    placement: str | None = None
    hosts: list[str]
    first_utc: str
    last_utc: str
    least_gain: float
    groups: list[Group]
    notes: list[str] = []

    @property
    def days(self) -> str:
        """The day on which it was measured, or the first and the last."""
        return " to ".join(sorted({self.first_utc[:10], self.last_utc[:10]}))

    def rules(self) -> Rules:
        """Return the rules of each operation and number of ranks that has some."""
        found = {(one.operation, one.ranks): one.rules() for one in self.groups}
        return {key: rules for key, rules in found.items() if any(rule.choice for rule in rules)}


def operation_of(kernel: str) -> str:
    """Return the operation that a kernel's mode `library` calls.

    >>> operation_of("alltoall"), operation_of("allreduce")
    ('exchange', 'allreduce')
    """
    return EXCHANGE if kernel == "alltoall" else kernel


def to_text(tuning: Tuning) -> str:
    """Return the text of the file."""
    return json.dumps(tuning.model_dump(mode="json"), indent=1) + "\n"


def read_tuning(folder: str | os.PathLike[str]) -> Tuning:
    """Read the file of a folder.

    Raises
    ------
    InputError
        If it cannot be read, or is not as `switchpoint tune` writes it.
    """
    file = Path(folder) / FILE
    try:
        content = parse_json(read_limited(file, RULES_BYTES))
    except OSError as error:
        raise InputError(file, f"cannot be read: {error.strerror}; {_WRITE_AGAIN}") from None
    except ValueError as error:
        raise InputError(file, f"is not JSON: {error}; {_WRITE_AGAIN}") from None
    if not isinstance(content, Mapping) or content.get("format") != "switchpoint rules":
        raise InputError(file, f"has no rules; {_WRITE_AGAIN}")
    try:
        return Tuning.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise InputError(file, f"{field}: {problem['msg']}; {_WRITE_AGAIN}") from None
