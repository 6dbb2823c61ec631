"""What a site's gate takes for a change that matters: `gate.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from switchpoint.errors import InputError
from switchpoint.history.kinds import FAILING, KINDS
from switchpoint.strict_yaml import NotYamlError, read_yaml

#: The name of the file in a site's folder.
GATE_FILE = "gate.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MinimumEffect(_Part):
    """The smallest relative change of each metric that matters."""

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
    #: The share of false findings among those of a night; without any change, the probability of
    #: one false finding.
    false_discovery_rate: float = Field(default=0.01, gt=0, lt=0.5)
    #: Earlier nights that are compared.
    history_nights: int = Field(default=30, ge=1)
    #: A change that nobody accepted becomes the new normal after so many nights.
    settled_after_nights: int = Field(default=14, ge=2)
    #: Which values are better, by variable or by unit; for those whose unit does not say it.
    better: dict[str, Literal["higher", "lower"]] = {}

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
        field = ".".join(map(str, first["loc"]))
        raise InputError(path, _worded(field, first["type"], first["msg"])) from None


def _worded(field: str, kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        part = MinimumEffect if field.startswith("minimum_effect.") else Policy
        return f"{field}: does not exist; the fields are {', '.join(part.model_fields)}"
    message = message.removeprefix("Value error, ")
    named = f"{field}: " if field else ""
    return f"{named}{message[0].lower()}{message[1:]}"
