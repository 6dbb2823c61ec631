"""Prints what an experiment proved of a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from switchpoint.reporting.terminal.switches import print_sentences, print_stayed_eager

if TYPE_CHECKING:
    from switchpoint.proving.prove import Proof


def print_proof(proof: Proof) -> None:
    """Print the switch with its cause, and what the experiment took."""
    from switchpoint.explanation.eager import stayed_eager

    switches = proof.switches[proof.switches["exact"]]
    eager = stayed_eager(proof.measurements)
    print_stayed_eager(eager)
    if not switches.empty:
        print_sentences(switches)
    elif eager.empty:
        print("No switch was found, so no cause was searched.")
    print(
        f"switchpoint: complete launches={proof.trials} seconds={proof.seconds:.0f}"
        f" records={proof.records[0].parent}"
    )
