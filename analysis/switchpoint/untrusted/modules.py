"""Which environment modules a script may load because a record names them: those of the site."""

from __future__ import annotations

import re

#: A name without a folder above: `module` takes other names for files.
_MODULE = re.compile(r"[A-Za-z0-9][\w+-]*(\.[\w+-]+)*(/[\w+-]+(\.[\w+-]+)*)*", re.ASCII)


def module_words(text: str) -> list[str]:
    """Split names of modules; none if one of them may be a file.

    >>> module_words("gcc/12.2 openmpi"), module_words("gcc/../../home/evil")
    (['gcc/12.2', 'openmpi'], [])
    """
    words = text.split()
    return words if all(map(_MODULE.fullmatch, words)) else []
