"""Prints the next measurement as a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchpoint.printable import printable

if TYPE_CHECKING:
    from switchpoint.explanation.plan import Plan


def print_plan(planned: Plan) -> None:
    """Print the kernel's command line, with the setting to move before it."""
    if not planned.brackets:
        print("Nothing to measure next: no step, or no setting that is known to move one.")
        return
    moved = planned.intervention
    setting = [] if moved is None else [f"{moved.environment}={moved.value}"]
    modes = ",".join(["late", *dict.fromkeys(mode for mode, _, _ in planned.brackets)])
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    print(printable(" ".join([*setting, f"zoom --mode={modes} --brackets={brackets}"])))
