"""The definition of a claim: a study's sentence, and the evidence that decides it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from switchpoint.studies.evidence import Evidence
from switchpoint.studies.points import Data


@dataclass(frozen=True)
class Claim:
    """One claim of a study.

    Attributes
    ----------
    study : str
        Its number, such as `001`.
    number : int
        Its number within the study.
    text : str
        The claim in our words.
    evidence : callable
        Yields the figures that must all be in their wanted range; raises NotTestableError, before
        or after, if something is missing.
    published : str
        The study's own figure; empty if it has none.
    across_tools : bool
        Whether it compares MPIs and other tools, and is therefore evaluated once per site.
    """

    study: str
    number: int
    text: str
    evidence: Callable[[Data], Iterator[Evidence]]
    published: str = ""
    across_tools: bool = False
