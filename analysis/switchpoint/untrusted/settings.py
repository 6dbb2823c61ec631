"""Which settings of an MPI library may be set because a record names them.

A setting passes if its exact name is listed in `known_settings.txt` and its value has the form that
is listed with it. The library that a record lists its own settings for is no proof: whoever wrote
the record wrote that list too.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping

from switchpoint.untrusted.forms import NETWORKS, NUMBER, PLACES, TUNABLES, WORDS, has_form

_FORMS = {
    "number": NUMBER, "words": WORDS, "networks": NETWORKS, "places": PLACES, "tunables": TUNABLES
}  # fmt: skip


@functools.cache
def known_settings() -> Mapping[str, str]:
    """Return the form of the value of each known setting, by its environment variable."""
    file = importlib.resources.files(__package__) / "known_settings.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: form for form, name in pairs}


def may_be_set(name: str, value: str | None) -> bool:
    """Return whether a setting is known and a value cannot name a program, library or file.

    `value` is None if the variable is to be removed.

    >>> may_be_set("UCX_TLS", "rc,self"), may_be_set("UCX_TLS", "$(id)")
    (True, False)
    >>> may_be_set("OMPI_MCA_plm_rsh_agent", "ssh"), may_be_set("I_MPI_GTOOL", "1")
    (False, False)
    """
    form = known_settings().get(name)
    return form is not None and (value is None or has_form(value, _FORMS[form]))
