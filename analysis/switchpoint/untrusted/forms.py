"""The forms of values that start nothing, whatever reads them: numbers, words, places of ranks."""

from __future__ import annotations

import re

_DECIMAL = r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_UNIT = r"(?:[kKmMgGtT]?i?[bB]?(?:p?s)?|[num]?s)"
_SWITCH = (
    "on|off|yes|no|y|n|true|false|enable|disable|enabled|disabled|auto|inf|infinite|try|default"
    "|none|all"
)
_WORD = r"[A-Za-z0-9_^+][A-Za-z0-9_^.+-]*"

#: Where launchers place ranks: an object of the machine, then qualifiers.
_OBJECT = (
    "slot|hwthread|thread|core|l1|l2|l3|l[123]cache|numa|numa_node|socket|package|board|node|none"
    "|depth|rr|machine|host|ppr:[0-9]+:(?:hwthread|core|l[123]cache|numa|socket|package|node)"
)
_QUALIFIER = (
    "[0-9]+|pe=[0-9]+|span|fill|no_?oversubscribe|oversubscribe|nolocal|overload-allowed"
    "|no-overload|if-supported|inherit|noinherit|hwtcpus|corecpus"
)

#: A value has one of these forms as a whole.
NUMBER = re.compile(rf"{_DECIMAL}{_UNIT}|{_SWITCH}", re.ASCII | re.IGNORECASE)
WORDS = re.compile(rf"{_DECIMAL}|{_WORD}(?:[,:;@=]+{_WORD})*", re.ASCII)
NETWORKS = re.compile(
    rf"(?:{_WORD}|[0-9a-fA-F.:]+/[0-9]{{1,3}})(?:,(?:{_WORD}|[0-9a-fA-F.:]+/[0-9]{{1,3}}))*",
    re.ASCII,
)
PLACES = re.compile(rf"(?:{_OBJECT})(?:[:,](?:{_QUALIFIER}))*", re.ASCII | re.IGNORECASE)
COUNT = re.compile(r"[0-9]{1,9}")

#: Only whole assignments: others overflow a buffer of glibc 2.34 to 2.38 (CVE-2023-4911).
_TUNABLE = rf"glibc(?:\.[a-z0-9_]+)+={_DECIMAL}"
TUNABLES = re.compile(rf"{_TUNABLE}(?::{_TUNABLE})*", re.ASCII)

#: No value is longer.
MOST_CHARACTERS = 1000


def has_form(value: str, form: re.Pattern[str]) -> bool:
    """Return whether a whole value has a form."""
    return len(value) <= MOST_CHARACTERS and form.fullmatch(value) is not None
