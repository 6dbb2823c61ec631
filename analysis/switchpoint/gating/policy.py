"""What a site's gate takes for a change that matters: `gate.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from switchpoint.errors import InputError
from switchpoint.gating.kinds import FAILING, KINDS
from switchpoint.strict_yaml import FieldLines, NotYamlError, plain_problem, read_yaml

#: The name of the file in a site's folder.
GATE_FILE = "gate.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Maintenance(_Part):
    """Days on which the machine is not as usual, such as for repairs or holidays."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    #: The first and the last day, in UTC.
    since: date = Field(alias="from")
    until: date
    reason: str = Field(min_length=1)

    def model_post_init(self, _context: Any) -> None:
        """Refuse an end before the begin."""
        if self.until < self.since:
            raise ValueError(f"until: {self.until} is before {self.since}, the first day")

    def __contains__(self, time_utc: str) -> bool:
        return f"{self.since}" <= time_utc[:10] <= f"{self.until}"

    def __str__(self) -> str:
        days = f"{self.since}" if self.since == self.until else f"{self.since} to {self.until}"
        return f"{days}: {self.reason}"


def maintenance_at(time_utc: str, windows: Iterable[Maintenance]) -> Maintenance | None:
    """Return the maintenance window that contains a time (ISO 8601, UTC), if one does."""
    return next((window for window in windows if time_utc in window), None)


class MinimumEffect(_Part):
    """The smallest relative change of each metric that matters."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    latency: float = Field(default=0.05, gt=0, lt=10)
    bandwidth: float = Field(default=0.05, gt=0, lt=1)
    #: Of the time of sizes that latency and bandwidth do not explain.
    time: float = Field(default=0.10, gt=0, lt=10)
    #: Of the scatter of samples.
    noise: float = Field(default=1.0, gt=0, lt=100)
    #: Of single values of other projects' tests.
    value: float = Field(default=0.05, gt=0, lt=10)


class Policy(_Part):
    """A site's ``gate.yaml``."""

    minimum_effect: MinimumEffect = MinimumEffect()
    #: Kinds of findings that fail the gate.
    fails: frozenset[str] = FAILING
    #: The share of false findings among those of a session; without any change, the probability of
    #: one false finding.
    false_discovery_rate: float = Field(default=0.01, gt=0, lt=0.5, strict=True)
    #: Earlier sessions that are compared.
    baseline_sessions: int = Field(default=30, ge=1, strict=True)
    #: A change that nobody accepted becomes the new normal after so many sessions.
    settled_after_sessions: int = Field(default=14, ge=2, strict=True)
    #: Which values are better, by variable or by unit; for those whose unit does not say it.
    better: dict[str, Literal["higher", "lower"]] = {}
    #: Sessions that begin on these days do not fail, and no session is compared with them.
    maintenance: tuple[Maintenance, ...] = ()

    def model_post_init(self, _context: Any) -> None:
        """Refuse kinds that do not exist."""
        if unknown := self.fails - {*KINDS}:
            raise ValueError(f"'{min(unknown)}' is not a kind; use some of {', '.join(KINDS)}")


def load_policy(path: Path) -> Policy:
    """Read a site's ``gate.yaml``; without one, the defaults count.

    Raises
    ------
    InputError
        It names the file, the field and the problem.
    """
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        return Policy()
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}; check the path") from None
    except NotYamlError as error:
        raise InputError(path, f"is not YAML: {error.problem}; correct it", error.line) from None
    try:
        return Policy.model_validate({} if content is None else content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line = FieldLines(path).of(*first["loc"])
        raise InputError(path, _worded(first), line) from None


def _worded(problem: ErrorDetails) -> str:
    field = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        beside = ", ".join(_fields_beside(problem["loc"]))
        return f"{field}: does not exist; the fields are {beside}"
    return f"{field}: {plain_problem(problem)}" if field else plain_problem(problem)


def _fields_beside(place: tuple[int | str, ...]) -> list[str]:
    """Return the fields of the part that a field is in."""
    parts: dict[int | str, type[_Part]] = {
        "minimum_effect": MinimumEffect,
        "maintenance": Maintenance,
    }
    fields = (parts[place[0]] if len(place) > 1 else Policy).model_fields
    return [field.alias or name for name, field in fields.items()]
