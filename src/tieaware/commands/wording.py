"""Error messages of the library, reworded for the command line: they name options instead of arguments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import suppress

from tieaware.errors import InputError
from tieaware.inputs import NAMED_RUNS
from tieaware.inputs.files.paths import files_at, run_name, source_name
from tieaware.inputs.runs.reading_options import FROM_FILE

# Experiments call their input `values` or `results`; commands call it `runs` or `matrix`.
_OTHER_NAMES = {"runs": ("values", "results"), "matrix": ("values", "results")}
# Advice for callers of the library: what users of the command line write instead.
_INSTEAD = {FROM_FILE: "write --duplicates first", NAMED_RUNS: "write NAME=PATH"}


def error_message(error: InputError, arguments: argparse.Namespace) -> str:
    """Return the message of an error, for the user of a command.

    If the error is about an argument that an option of the command sets, the message names the option and ends with
    a pointer to the command's help. The message of an error in a file that was found in a folder ends with a hint how
    to leave files out.
    """
    parser = getattr(arguments, "parser", None)
    if parser is None:
        return f"{error}"
    error = _reworded(error)
    if _is_in_folder(error, arguments):
        characters = "a dot or an underscore" if getattr(arguments, "name", None) else "a dot"
        return f"{error}; in a folder, files whose names begin with {characters} are left out"
    option = _options(parser, arguments).get(error.argument)
    if option is None or error.where in _typed(arguments):
        return f"{error}"
    if error.where.startswith(error.argument):
        # The user knows neither the argument's name nor the index of a repeated option.
        error = error.at(option)
    elif error.where:
        error = error.at(f"{option}: {error.where}")
    return with_pointer(f"{error}", parser)


def _reworded(error: InputError) -> InputError:
    """Return an error whose advice names options instead of functions of the library."""
    problem = error.problem
    for call, option in _INSTEAD.items():
        problem = problem.replace(call, option)
    return InputError(error.where, problem, error.expected, error.found, error.argument)


def with_pointer(text: str, parser: argparse.ArgumentParser) -> str:
    """Append a pointer to the command's help to a message."""
    return f"{text} See {parser.prog} --help" if text.endswith("?") else f"{text}; see {parser.prog} --help"


def _options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> dict[str, str]:
    """Return {argument of the library: option of the command, or placeholder of its positional argument}.

    The name under which argparse stores an option is the name of the library's argument, or its singular (`cutoff` for
    `cutoffs`), or its plural without ``n_`` (`queries` for `n_queries`).
    """
    options = {}
    # If two options set the same argument, the one that was given comes last and is kept.
    for action in sorted(parser._actions, key=lambda action: bool(getattr(arguments, action.dest, None))):
        option = action.option_strings[0] if action.option_strings else str(action.metavar)
        for name in (action.dest, f"{action.dest}s", f"n_{action.dest}", *_OTHER_NAMES.get(action.dest, ())):
            options[name] = option
    return options


def _typed(arguments: argparse.Namespace) -> set[str]:
    """Return all texts on the command line and the names of its runs: the possible `where` of errors about files."""
    return {*_texts(arguments), *_run_names(arguments)}


def _texts(arguments: argparse.Namespace) -> Iterator[str]:
    for value in vars(arguments).values():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str):
                yield source_name(text)


def _run_names(arguments: argparse.Namespace) -> Iterator[str]:
    with suppress(InputError):
        for run in getattr(arguments, "runs", None) or []:
            yield from (run_name(source_name(path)) for path in files_at(run))


def _is_in_folder(error: InputError, arguments: argparse.Namespace) -> bool:
    """Return whether an error is about a file that the user did not name, but that is in a given folder of runs."""
    runs = getattr(arguments, "runs", None) or []
    return any(error.where.startswith(source_name(os.path.join(run, ""))) for run in runs if os.path.isdir(run))
