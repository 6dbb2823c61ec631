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
    from switchpoint.explanation.plan import ZOOM_BYTES

    moved = planned.intervention
    setting = [] if moved is None else [f"{moved.environment}={moved.value}"]
    modes = ",".join(["late", *dict.fromkeys(mode for mode, _, _ in planned.brackets)])
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    words = [*setting, f"zoom --mode={modes}", f"--brackets={brackets}"]
    if planned.sizes_bytes != ZOOM_BYTES:
        words.append(f"--sizes={','.join(map(str, planned.sizes_bytes))}")
    print(printable(" ".join(words)))
