"""Words what to measure next: the command line of a zoom."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchpoint.explanation.plan import Plan


def plan_line(planned: Plan, modes: str) -> str:
    """Write a plan as the settings and arguments of a zoom that times `modes`."""
    if not planned.brackets:
        return "Nothing to measure next: no step, or no setting that is known to move one."
    moved = planned.intervention
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    words = [] if moved is None else [f"{moved.environment}={moved.value}"]
    return " ".join([*words, f"zoom --mode=late,{modes} --brackets={brackets}"])
