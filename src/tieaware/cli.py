"""The command line. Each command, such as ``tieaware eval``, is defined in `tieaware.commands`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from tieaware._version import __version__
from tieaware.checks.arguments import did_you_mean, shown
from tieaware.commands import (
    completion_command,
    demo_command,
    eval_command,
    experiment_commands,
    fusion_commands,
    gate_command,
    retrieval_commands,
    smooth_command,
    trec_eval_command,
    worst_case_command,
)
from tieaware.commands.completion_command import commands_of
from tieaware.commands.options import Once
from tieaware.commands.streams import INTERRUPTED, say, write
from tieaware.errors import InputError
from tieaware.inputs.files.paths import files_at, reason, run_name
from tieaware.measures import parse_measure
from tieaware.runtime.progress import stage

# The functions that add the commands, in the order of the help.
_COMMANDS = {
    "eval": eval_command.add, "trec_eval": trec_eval_command.add, "ties": experiment_commands.add_ties,
    "precision": experiment_commands.add_precision, "compare": experiment_commands.add_compare,
    "gate": gate_command.add, "worst-case": worst_case_command.add, "fuse": fusion_commands.add_fuse,
    "coarsen": fusion_commands.add_coarsen,
    "curve": experiment_commands.add_curve, "smooth": smooth_command.add, "overhead": experiment_commands.add_overhead,
    "inexact": retrieval_commands.add_inexact, "index": retrieval_commands.add_index,
    "search": retrieval_commands.add_search, "demo": demo_command.add, "completion": completion_command.add,
}  # fmt: skip
_LONGEST_NAME = max(map(len, _COMMANDS))


class _Help(argparse.HelpFormatter):
    """Aligns the descriptions of all commands, and expands "(%(default)s)" in help texts to "(default: …)"."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._action_max_length = 4 + _LONGEST_NAME

    def _get_help_string(self, action: argparse.Action) -> str:
        return (action.help or "").replace("(%(default)s)", "(default: %(default)s)")


def _with_pointer(text: str, parser: argparse.ArgumentParser) -> str:
    """Append a pointer to the command's help to a message."""
    return f"{text} See {parser.prog} --help" if text.endswith("?") else f"{text}; see {parser.prog} --help"


class _Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, which points to the help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})
        # The action of options that name none.
        self.register("action", None, Once)

    def format_help(self) -> str:
        """Return the help text. If its end takes long to make, a command sets `epilog_of`, which returns it."""
        epilog_of = self.get_default("epilog_of")
        if epilog_of is not None:
            self.epilog = epilog_of()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(2, _with_pointer(f"{self.prog}: {message}", self) + "\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check that a value is one of the choices; word the error like the errors of the library."""
        if action.choices is not None and value not in action.choices:
            known = ", ".join(map(str, action.choices))
            found = f"{shown(value)}{did_you_mean(f'{value}', map(str, action.choices))}"
            raise argparse.ArgumentError(action, f"expected one of {known}, found {found}")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write what argparse prints (help, version and errors) with the functions that write all other output."""
        if file is not sys.stdout:
            say(message.rstrip("\n"))
        elif status := write(message):
            sys.exit(status)


def _parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser of one command, or of all commands, which takes a third of the time of a short call."""
    parser = _Parser(
        prog="tieaware",
        description="Evaluate rankings whose scores tie: exactly, averaged over all orders of tied documents.",
        epilog="tieaware COMMAND --help explains a command. To start, run tieaware demo; or with your own files: "
        "tieaware eval qrels.txt bm25.run -m 'AP nDCG@10'. Exit status: 0, 2 after an error, 130 after Ctrl-C; "
        "gate has others, too.",
    )
    parser.add_argument("--version", action="version", version=f"tieaware {__version__}")
    commands: argparse._SubParsersAction[Any] = parser.add_subparsers(metavar="COMMAND", required=True)
    for add in [_COMMANDS[command]] if command in _COMMANDS else _COMMANDS.values():
        add(commands)
    for each in commands.choices.values():
        each.set_defaults(parser=each, make_root=_parser, status=0)
    return parser


def _show_warning(message: Warning | str, *_: Any) -> None:
    say(f"warning: {message}")


def _hint(parser: argparse.ArgumentParser, unknown: str) -> str:
    """Return what the first unknown argument may mean: a misspelt option, or a second value of an option."""
    known = [option for action in parser._actions for option in action.option_strings]
    if unknown.startswith("--"):
        option = unknown.partition("=")[0]
        others = [each.prog for each in _all_commands() if _has(each, option)]
        return f": {option} is an option of {' and '.join(others[:3])}" if others else did_you_mean(unknown, known)
    try:
        parse_measure(unknown)
    except ValueError:
        if "--against" in known:
            return f": each base needs its own option; write --against {unknown}"
        apart = any(action.dest == "runs" and action.nargs == "+" for action in parser._actions)
        return ": all RUNs must stand one after another, without an option between them" if apart else ""
    return f": {unknown} is a measure, and each measure needs its own -m" if "-m" in known else ""


def _has(command: argparse.ArgumentParser, option: str) -> bool:
    """Return whether a command has an option, and not only as the old spelling of another."""
    action = command._option_string_actions.get(option)
    return action is not None and action.help != argparse.SUPPRESS


def _all_commands() -> list[argparse.ArgumentParser]:
    """Return the parsers of all commands."""
    return commands_of(_parser())


# Experiments call their input `run`, `values` or `results`; commands call it `runs` or `matrix`.
_OTHER_NAMES = {"runs": ("run", "values", "results"), "matrix": ("values", "results")}


# Ends of messages about files whose problem an option solves, by the argument that it sets.
_REMEDIES = {
    "ids": "compare them as text, with --ids text",
    **{f"{column}_column": f"give its name, with --{column}-column" for column in ("query", "doc", "score")},
}


def _message(error: InputError, arguments: argparse.Namespace) -> str:
    """Return the message of an error. If it is about an argument that an option sets, it names the option."""
    parser = getattr(arguments, "parser", None)
    if error.argument in _REMEDIES and hasattr(arguments, error.argument):
        return f"{error}; or {_REMEDIES[error.argument]}"
    option = None if parser is None else _options(parser, arguments).get(error.argument)
    if parser is None or option is None or error.where in _run_names(arguments):
        return f"{error}"
    if error.where.startswith(error.argument):
        # The user knows neither the argument's name nor the index of a repeated option.
        error = error.at(option)
    elif error.where:
        error = error.at(f"{option}: {error.where}")
    return _with_pointer(f"{error}", parser)


def _run_names(arguments: argparse.Namespace) -> set[str]:
    """Return the names of the runs on the command line: a run may be named like an argument, such as `threads`."""
    with suppress(InputError):
        return {run_name(path) for run in getattr(arguments, "runs", None) or () for path in files_at(run)}
    return set()


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status: that of the command, 2 after an error, or 128 + a signal."""
    arguments = argparse.Namespace()
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        unknown = _parser(*words[:1]).parse_known_args(words, arguments)[1]
        if unknown:
            hint = _hint(arguments.parser, unknown[0])
            arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        with warnings.catch_warnings():
            # `python -W` and PYTHONWARNINGS decide if they are given: "error" ends the command at a warning.
            if not sys.warnoptions:
                warnings.simplefilter("always")
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            with stage(arguments.parser.prog):
                output = arguments.run(arguments)
        return write(output) or arguments.status
    except InputError as error:
        say(_message(error, arguments))
    except Warning as warning:
        say(f"{warning}")
    except ImportError as error:
        say(f"{error}")
    except MemoryError as error:
        say(f"out of memory: {reason(error)}" if str(error) else "out of memory")
    except OSError as error:
        say(f"{error.filename or 'tieaware'}: {reason(error)}")
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    return 2


if __name__ == "__main__":
    sys.exit(main())
