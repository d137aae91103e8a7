"""The command ``tieaware completion``: shell scripts that complete commands, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from tieaware.commands.retrieval_options import STOP_WORDS, method_names
from tieaware.measures import DEFINITIONS
from tieaware.runtime.extras import load

_SHELLS = ("bash", "zsh", "tcsh")
# The values of options with placeholders that stand for a name in a registry.
_VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "MEASURE": lambda: DEFINITIONS, "METHOD": method_names, "LIST": lambda: STOP_WORDS
}  # fmt: skip
# The placeholders that stand for files and folders in help texts.
_FILES = ("QRELS", "RUN", "FILE", "FOLDER", "COLLECTION", "TOPICS", "DOCUMENTS", "INDEX", "QUERIES")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "completion",
        help="print a completion script for bash, zsh or tcsh",
        description="Print a script that makes a shell complete the commands of tieaware, their options, the values of "
        "options, and file names. It is made by shtab: pip install shtab.",
        epilog="For bash, add to ~/.bashrc: eval \"$(tieaware completion bash)\". For zsh, write it to a "
        "file _tieaware in a folder of $fpath.",
    )
    command.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=", ".join(_SHELLS))
    command.set_defaults(run=lambda arguments: _script(arguments.make_root(), arguments.shell))


def commands_of(root: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of all commands of a parser."""
    (commands,) = (each for each in root._actions if isinstance(each, argparse._SubParsersAction))
    return list(commands.choices.values())


def _script(root: argparse.ArgumentParser, shell: str) -> str:
    shtab = load("shtab", "shtab")
    for parser in commands_of(root):
        for action in parser._actions:
            if action.metavar in _VALUES:
                action.choices = tuple(_VALUES[str(action.metavar)]())
            # The RUN of --baseline is the name of a run; elsewhere RUN is a file.
            elif action.metavar in _FILES and action.dest != "baseline":
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return f"{shtab.complete(root, shell)}\n"
