"""The command line: ``tieaware eval``, ``tieaware precision``, …; each command is a module of ``commands``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from tieaware._version import __version__
from tieaware.commands import compare, curve, demo, eval, overhead, precision, smooth, ties, worst_case
from tieaware.errors import InputError
from tieaware.extras import MissingExtraError

_COMMANDS = (eval, ties, precision, compare, worst_case, curve, smooth, overhead, demo)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tieaware", description="Evaluate rankings whose scores tie: exactly, whatever order the ties came in."
    )
    parser.add_argument("--version", action="version", version=f"tieaware {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return parser


def _show_warning(message: Warning | str, *_: Any) -> None:
    sys.stderr.write(f"warning: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, or 2 after a one-line error."""
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            output = arguments.run(arguments)
    except (InputError, MissingExtraError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return _write(output)


def _write(output: str) -> int:
    """Write all of the output, in UTF-8 and with the bytes of the identifiers as they were."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(output.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in `tieaware eval … | head`; Python's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
