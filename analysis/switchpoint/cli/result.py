"""What a verb returns, and the one place that shows it: as text or JSON, with its exit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec

import typer

from switchpoint.cli.exits import BAD, FAILED, say, show, user_mistakes
from switchpoint.cli.options import Json
from switchpoint.data_warnings import DataWarning

_Options = ParamSpec("_Options")

_JSON = "as_json"


def _never() -> bool:
    return False


def _nothing() -> Sequence[object]:
    return ()


@dataclass(frozen=True)
class Result:
    """What a verb found, in each form in which it can be shown.

    Attributes
    ----------
    show : callable
        Prints it for people.
    to_json : callable
        Returns what `--json` prints.
    finish : callable
        What is done once it is shown, such as writing a file; returns lines for people.
    warnings : sequence of DataWarning
        What to know before it is trusted. They are printed first, one line for all that say the
        same.
    verbose : bool
        Whether each warning has its line.
    problems : sequence of str
        What could not be done besides. They are printed last, and the exit code is 2.
    failed : callable
        Whether the exit code is 1; it is asked after the result is shown.
    """

    show: Callable[[], object]
    to_json: Callable[[], object] = dict
    finish: Callable[[], Sequence[object]] = _nothing
    warnings: Sequence[DataWarning] = ()
    verbose: bool = False
    problems: Sequence[str] = ()
    failed: Callable[[], bool] = _never


def verb(function: Callable[_Options, Result]) -> Callable[..., None]:
    """Make a command of a function that returns a result, with the option `--json`."""
    return _command(function, with_json=True)


def verb_without_json(function: Callable[_Options, Result]) -> Callable[..., None]:
    """Make a command of a function whose result is only for people."""
    return _command(function, with_json=False)


def _command(function: Callable[..., Result], *, with_json: bool) -> Callable[..., None]:
    """Let a function's result be shown; Typer reads the options from the signature."""
    # Not typing.get_type_hints: in Python 3.10 it hides the metadata of options without a default.
    signature = inspect.signature(function, eval_str=True)
    parameters = [*signature.parameters.values()]
    wants_json = _JSON in signature.parameters
    if with_json and not wants_json:
        keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(_JSON, keyword, default=False, annotation=Json))

    def command(**options: Any) -> None:
        as_json = bool(options.get(_JSON))
        if not wants_json:
            options.pop(_JSON, None)
        with user_mistakes():
            result = function(**options)
            _show(result, as_json=as_json)
        if result.failed():
            raise typer.Exit(FAILED)
        if result.problems:
            raise typer.Exit(BAD)

    command.__doc__ = function.__doc__
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return command


def _show(result: Result, *, as_json: bool) -> None:
    if result.warnings:
        from switchpoint.cli.inputs import warn

        warn(result.warnings, verbose=result.verbose)
    if as_json:
        from switchpoint.reporting.json import print_json

        print_json(result.to_json())
        result.finish()
    else:
        result.show()
        show(*result.finish())
    for problem in result.problems:
        say(problem)
