"""Fills the marked places of a site's template."""

from __future__ import annotations

import json
import re

from switchpoint.sites.marks import MARK


def with_options(placements: str, name: str, options: list[str] | None) -> str:
    """Give a placement its scheduler options; None leaves it as it is."""
    if options is None:
        return placements
    head, body, tail = split_placement(placements, name)
    return head + fill(body, "scheduler_options", json.dumps(options)) + tail


def without_placement(placements: str, name: str) -> str:
    """Take a placement out."""
    head, _, tail = split_placement(placements, name)
    return head + tail if tail else head.rstrip() + "\n"


def split_placement(placements: str, name: str) -> tuple[str, str, str]:
    """Return the text before a placement, the placement itself, and the text after it."""
    match = re.search(rf"^  {name}:\n(?:(?:    .*)?\n)*", placements, re.MULTILINE)
    if match is None:
        return placements, "", ""
    return placements[: match.start()], match[0], placements[match.end() :]


def fill(text: str, key: str, value: str) -> str:
    """Set the first marked line of a key to its value, without the mark."""
    marked = re.compile(rf'^( *"?{key}"?:).*?(,?) *{re.escape(MARK)}.*$', re.MULTILINE)
    filled, places = marked.subn(lambda place: f"{place[1]} {value}".rstrip() + place[2], text, 1)
    assert places, f"the template has no marked line of {key}"
    return filled
