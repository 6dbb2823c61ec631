"""Makes words of the job script from text that a plan, a file or ``-S`` gives.

Plans repeat what records say, and records come from anywhere.
"""

import re
import shlex

from reframe.core.exceptions import ReframeError


def quoted_variables(source, settings):
    """Return environment variables as ReFrame has to write them to the script.

    It writes values as they are, so they are quoted. ReFrame itself runs what stands in backquotes
    or ``$(...)``, however it is quoted, and replaces what follows a ``$``; both are refused.
    """
    for name, value in settings.items():
        variable_name(source, name)
        if "`" in value or "$" in value:
            raise ReframeError(
                f"{source}: the value of {name} contains ` or $, and ReFrame would run or replace"
                " what follows; write the value itself"
            )
    return {name: shlex.quote(value) for name, value in settings.items()}


def variable_name(source, name):
    """Return the name of a variable; refuse other text."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ReframeError(f"{source}: '{name}' is not the name of a variable")
    return name


def plain_name(source, name):
    """Return the name of a program or a node; refuse what is a path, an option or several words."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name, re.ASCII):
        raise ReframeError(f"{source}: {name!r} is not a plain name")
    return name
