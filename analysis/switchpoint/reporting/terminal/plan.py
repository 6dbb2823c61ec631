"""Prints the next measurement as a command line, or the settings to change next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from switchpoint.printable import printable
from switchpoint.reporting.terminal.tables import SafeConsole, show_line

if TYPE_CHECKING:
    from switchpoint.explanation.plan import Plan

#: Settings that are printed; --json has all.
_MOST_SETTINGS = 12


def print_plan(planned: Plan) -> None:
    """Print the kernel's command line, or the settings that may cause the switch."""
    if planned.last is not None:
        _print_settings(planned)
        return
    if not planned.brackets:
        print("Nothing to measure next: no step was found.")
        return
    from switchpoint.explanation.plan import ZOOM_BYTES
    from switchpoint.tables.sweeps import ZOOM

    own = planned.kernel != ZOOM
    modes = ",".join(
        [*([] if own else ["late"]), *dict.fromkeys(m for m, _, _ in planned.brackets)]
    )
    brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
    words = [planned.kernel, f"--mode={modes}", *(["--algorithms=all"] if own else [])]
    words.append(f"--brackets={brackets}")
    if own or planned.sizes_bytes != ZOOM_BYTES:
        words.append(f"--sizes={','.join(map(str, planned.sizes_bytes))}")
    print(printable(shlex.join(words)))


def _print_settings(planned: Plan) -> None:
    console = SafeConsole()
    show_line(
        console,
        f"The last size before the switch is {planned.last:,} B. Settings to change, the likeliest"
        " first (`switchpoint prove` changes them):",
    )
    for one in planned.settings[:_MOST_SETTINGS]:
        values = ", ".join(map(str, [*one.higher, *one.lower])) if one.value is not None else ""
        show_line(console, f"  {one.environment}: {one.reason}{'; try ' if values else ''}{values}")
    more = len(planned.settings) - _MOST_SETTINGS
    if more > 0:
        show_line(console, f"  and {more} more; --json lists them")
