"""What the library says of its arguments, in the words of the command line.

An error begins with the argument that it is of, and may name others as Python has them: ``duplicates="first"``. What
these are called here follows from how the options are declared.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress

from tieaware.errors import InputError
from tieaware.inputs.files import files_at, label_of, name_of

# Arguments of the library that have other names than the options, by the names that the options are stored under. A
# plural, and n_ for a number of things, need not be told.
_OTHER_NAMES = {"runs": ("values", "results"), "matrix": ("values", "results"), "level_for_rel": ("rel",)}

# What an error is of: an argument, with the place of a value in it, or a part of one.
_WHERE = re.compile(r"(?P<name>\w+)(?:\[[^]]*\])*(?: of \w+)?(?=: )")
_ANY_ARGUMENT = re.compile(r"[\w.-]+(?:\[[^]]*\])*(?: of [^:]+)?(?=: expected )")
_VALUE = re.compile(r"""(?<![\w-])(?P<name>\w+)=(?P<value>'[^']*'|"[^"]*"|None|False|True|)(?=[,;. )]|$)""")


def in_options(error: InputError, arguments: argparse.Namespace) -> str:
    """Say what is wrong in the words of a command, and where these are explained if they are what is wrong."""
    message = f"{error}"
    parser = getattr(arguments, "parser", None)
    if parser is None:
        return message
    options = dict(_options(parser, arguments))
    where = _ANY_ARGUMENT.match(message)
    of_argument = where is not None and where[0] not in set(_typed(arguments))
    if of_argument and (found := _WHERE.match(message)) and found["name"] in options:
        message = options[found["name"]] + message[found.end() :]

    def as_option(found: re.Match[str]) -> str:
        name, value = found.groups()
        before = message[: found.start()]
        if name not in options or before.count("(") > before.count(")"):
            return found[0]
        if value in ("None", "False"):
            return f"no {options[name]}"
        return options[name] if value in ("True", "") else f"{options[name]} {shlex.quote(value[1:-1])}"

    message = _VALUE.sub(as_option, message)
    return f"{message}; see {parser.prog} --help" if of_argument else message


def _options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """What the library calls an argument, and what the user does; of two the one that was given comes last."""
    actions = [action for action in parser._actions if action.dest != "help"]
    for action in sorted(actions, key=lambda action: bool(getattr(arguments, action.dest, None))):
        shown = action.option_strings[0] if action.option_strings else str(action.metavar)
        for name in (action.dest, f"{action.dest}s", f"n_{action.dest}", *_OTHER_NAMES.get(action.dest, ())):
            yield name, shown


def _typed(arguments: argparse.Namespace) -> Iterator[str]:
    """What users have written, and the names of runs in it: they know these by no other words."""
    for value in vars(arguments).values():
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str):
                yield label_of(text)
    with suppress(InputError):
        for run in getattr(arguments, "runs", None) or []:
            yield from (name_of(label_of(path)) for path in files_at(run))
