"""Writes files that MPI libraries read into a folder, with a module file that sets the same."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from switchpoint.errors import InputError
from switchpoint.limits import RULES_BYTES
from switchpoint.models.libraries import mpich
from switchpoint.models.libraries.library import Library, Rules
from switchpoint.models.rules_files import settings_in
from switchpoint.models.site_model import write_whole
from switchpoint.printable import printable
from switchpoint.regular_files import read_limited

_MARK = "# written by `switchpoint "

_MODULE = "#%Module1.0"

#: The ends of the names of files in which a line may be a comment.
_WITH_COMMENTS = (".env", ".conf")


def write_rules(
    folder: Path,
    files: Mapping[str, str],
    *,
    by: str,
    comments: Sequence[str] = (),
    force: bool = False,
) -> list[Path]:
    """Write files for an MPI library or Slurm, and for each settings file a module file.

    Parameters
    ----------
    folder
        Created if it does not exist.
    files
        The text of each file, by name. Settings files end in `.env`.
    by
        The command that writes them, such as `tune`.
    comments
        What a reader of the files should know, a line each.
    force
        Whether to replace also files that others wrote.

    Raises
    ------
    InputError
        If a file cannot be written, or is there and was not written by this function.
    """
    beside = [_named(folder, name) for name in files if not name.endswith(_WITH_COMMENTS)]
    lines = [*comments, *(f"Written beside it: {name}" for name in beside)]
    head = "".join(f"{line}\n" for line in [f"{_MARK}{by}`", *map(comment_line, lines)])
    texts: dict[str, str] = {}
    for name, text in files.items():
        texts[name] = head + text if name.endswith(_WITH_COMMENTS) else text
        if name.endswith(".env"):
            texts[module_name(name)] = f"{_MODULE}\n{head}{_module_text(text)}"
    if not force:
        _refuse_files_of_others(folder, texts, by)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            folder, f"cannot be created: {error.strerror}; choose another folder"
        ) from None
    return [write_whole(folder / name, text) for name, text in texts.items()]


def library_files(
    folder: Path,
    library: Library,
    rules: Rules,
    mpich_library: str | os.PathLike[str] | None,
) -> dict[str, str]:
    """Return the text of each file that makes an MPI library follow rules, by name.

    Parameters
    ----------
    folder
        Where they will be.
    library
        Whose files they are.
    rules
        By operation and number of ranks.
    mpich_library
        MPICH's library or JSON file with its own decisions; without it MPICH gets variables.

    Returns
    -------
    dict
        Empty if nothing can be set.

    Raises
    ------
    InputError
        If MPICH's library has no decisions of the operations.
    """
    if library.files is None or not rules:
        return {}
    where = str(folder.resolve())
    if library is mpich.MPICH and mpich_library is not None:
        operations = {operation for operation, _ in rules}
        decisions = mpich.built_in_decisions(Path(mpich_library), operations)
        return mpich.files(rules, where, decisions)
    return library.files(rules, where)


def files_without_rules(folder: Path, library: Library) -> dict[str, str]:
    """Return the text of each file that sets nothing, by name, if a folder has earlier rules.

    Rules that nothing supports any more must not stay there.
    """
    there = any(os.path.lexists(folder / name) for name in library.without_rules)
    return dict(library.without_rules) if there else {}


def module_name(settings_file: str) -> str:
    """Return the name of the module file of a settings file.

    >>> module_name("openmpi.env")
    'switchpoint-openmpi'
    """
    return f"switchpoint-{settings_file.removesuffix('.env')}"


def _named(folder: Path, name: str) -> str:
    """Return how a settings file names another file of its folder."""
    return shlex.quote(f"{folder.resolve()}/{name}")


def comment_line(text: str) -> str:
    """Return a line that `write_rules` writes for a comment."""
    return f"# {printable(text)}"


def _module_text(settings: str) -> str:
    """Return the lines of a module file, in Tcl, that set what a settings file sets."""
    return "".join(
        f"setenv {name} {_tcl_word(value)}\n" for name, value in settings_in(settings).items()
    )


def _tcl_word(value: str) -> str:
    r"""Quote a word for Tcl.

    >>> print(_tcl_word("/my rules/$HOME[1]"))
    /my\ rules/\$HOME\[1\]
    """
    return re.sub(r"([^\w/.,:+=@%-])", r"\\\1", value)


def _refuse_files_of_others(folder: Path, files: Mapping[str, str], by: str) -> None:
    """Raise InputError for a file that would be replaced and was not written by `write_rules`."""
    there = {name: _text(folder / name) for name in files if os.path.lexists(folder / name)}
    settings = "".join(text for text in there.values() if _is_marked(text))
    for name, text in there.items():
        is_named = _named(folder, name) in settings
        if text != files[name] and not _is_marked(text) and not is_named:
            raise InputError(
                folder / name,
                f"was not written by `switchpoint {by}`; choose another folder, or replace it with"
                " --force",
            )


def _is_marked(text: str) -> bool:
    return text.removeprefix(f"{_MODULE}\n").startswith(_MARK)


def _text(file: Path) -> str:
    """Return the text of a file; nothing if it is none, or too large to be one of these."""
    try:
        return read_limited(file, RULES_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
