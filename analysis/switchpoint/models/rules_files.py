"""Reads the settings that `model recommend` and `tune` write, and names their rules by a digest."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from switchpoint.errors import InputError
from switchpoint.limits import RULES_BYTES
from switchpoint.regular_files import read_limited
from switchpoint.untrusted.settings import may_be_set

#: The label of a run that a check of recommendations reads, and its values.
RULES_LABEL, WITH, WITHOUT = "rules", "recommended", "default"

#: The label of a run with rules: which ones it used, as `RulesFolder.digest`.
DIGEST_LABEL = "rules_digest"

#: Between the digests of several settings files.
_AND = "+"

_DIGITS = 12

#: Settings whose value is a file with rules: it must lie in the folder of the settings.
_RULES_IN_FILES = frozenset(
    ["OMPI_MCA_coll_tuned_dynamic_rules_filename", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"]
)


@dataclass(frozen=True)
class RulesFolder:
    """What the settings files of a folder say.

    Attributes
    ----------
    variables : dict
        Those of all settings files; empty if there is none.
    digest : str
        A short name of the rules: other rules have another one. Several settings files have one
        each, with `+` between them.
    """

    variables: dict[str, str]
    digest: str


def read_rules(folder: str | os.PathLike[str]) -> RulesFolder:
    """Read the settings files of a folder, and the files that they name.

    Raises
    ------
    InputError
        If one of them cannot be read, or has a setting that is not on the list of settings: the
        check sets what the files say, whoever wrote them.
    """
    variables: dict[str, str] = {}
    digests = []
    for file in sorted(Path(folder).glob("*.env")):
        try:
            own = settings_in(_text(file))
            named = _rules_named_in(file, own)
            texts = {path.name: _text(path) for path in named}
        except OSError as error:
            raise InputError(
                error.filename or file, f"cannot be read: {error.strerror}; write the rules again"
            ) from None
        except ValueError:  # not UTF-8, or a quote without its end
            raise InputError(
                file, "is not a settings file of NAME=VALUE; write the rules again"
            ) from None
        variables |= own
        digests.append(digest_of(own, texts))
    return RulesFolder(variables, _AND.join(digests))


def _rules_named_in(file: Path, settings: Mapping[str, str]) -> set[Path]:
    """Return the files with rules that settings name; raises InputError for other settings."""
    named = {Path(value) for name, value in settings.items() if name in _RULES_IN_FILES}
    for name, value in settings.items():
        if name not in _RULES_IN_FILES and not may_be_set(name, value):
            raise InputError(
                file,
                f"{name}={value} is not on the list of settings that rules may have; remove"
                " it, or write the rules again",
            )
    for path in named:
        if path.parent.resolve() != file.parent.resolve() or path.is_symlink():
            raise InputError(
                file, f"names {path}, which does not lie beside it; write the rules again"
            )
    return named


def _text(file: Path) -> str:
    return read_limited(file, RULES_BYTES).decode("utf-8")


def settings_in(text: str) -> dict[str, str]:
    """Return the variables of a settings file, which a shell can read."""
    words = shlex.split(text, comments=True)
    return dict(word.split("=", 1) for word in words if "=" in word)


def digest_of(settings: Mapping[str, str], files: Mapping[str, str]) -> str:
    """Return the digest of settings: a variable that names a file counts as the file's rules.

    Comments do not count.

    >>> one = digest_of({"RULES_FILE": "/a/rules.conf"}, {"rules.conf": "1"})
    >>> one == digest_of({"RULES_FILE": "/b/rules.conf"}, {"rules.conf": "1 # one"})
    True
    >>> one == digest_of({"RULES_FILE": "/a/rules.conf"}, {"rules.conf": "2"})
    False
    """
    said = {
        name: _without_comments(files.get(PurePath(value).name, value))
        for name, value in settings.items()
    }
    text = json.dumps(said, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _without_comments(text: str) -> str:
    lines = (line.partition("#")[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def uses(digests: object, digest: str) -> bool:
    """Return whether a run's label names a digest among others."""
    return digest in str(digests).split(_AND)
