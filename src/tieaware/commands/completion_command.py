"""The command ``tieaware completion``: shell scripts that complete commands, options and their values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tieaware.commands.retrieval_options import STOP_WORDS, method_names
from tieaware.measures import DEFINITIONS

# The default value in the help text of an option, and the characters that zsh gives a meaning in it.
_DEFAULT, _SPECIAL = re.compile(r" ?\((default: )?%\(default\)s\)"), re.compile(r"([\\\[\]:()])")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "completion",
        help="print a completion script for bash or zsh",
        description="Print a script that makes bash or zsh complete the commands of tieaware, their options, the "
        "values of options, and file names.",
        epilog="For bash, add to ~/.bashrc: eval \"$(tieaware completion bash)\". For zsh, add to ~/.zshrc, after "
        "compinit: eval \"$(tieaware completion zsh)\".",
    )
    command.add_argument("shell", metavar="SHELL", choices=_SCRIPTS, help=" or ".join(_SCRIPTS))
    command.set_defaults(run=lambda arguments: _SCRIPTS[arguments.shell](commands))


class _Option(NamedTuple):
    """The properties of an option that its completion needs; or of a positional argument, which has no `names`."""

    names: tuple[str, ...]
    help: str
    repeatable: bool
    takes_value: bool
    values: tuple[str, ...]
    metavar: str

    @property
    def takes_file(self) -> bool:
        """Return whether the value of the option is the name of a file or folder."""
        return self.takes_value and not self.values and self.metavar in _FILES


# The values of options with placeholders that stand for a name in a registry.
_VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "MEASURE": lambda: DEFINITIONS, "METHOD": method_names, "LIST": lambda: STOP_WORDS
}  # fmt: skip
# The placeholders that stand for files and folders in help texts.
_FILES = ("QRELS", "RUN", "FILE", "FOLDER", "COLLECTION", "TOPICS", "DOCUMENTS", "INDEX", "QUERIES")


def _options(parser: argparse.ArgumentParser) -> list[_Option]:
    """Return the options and the positional arguments of a command."""
    options = []
    for action in parser._actions:
        metavar = str(action.metavar or "")
        # The RUN of --baseline is the name of a run; elsewhere RUN is a file.
        is_run_name = action.dest == "baseline"
        values = _VALUES[metavar]() if metavar in _VALUES else action.choices or ()
        options.append(
            _Option(
                tuple(action.option_strings),
                _help_text(action),
                _is_repeatable(action),
                action.nargs != 0,
                tuple(map(str, values)),
                "" if is_run_name else metavar,
            )
        )
    return options


def _is_repeatable(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction) or action.nargs in ("+", "*")


def _help_text(action: argparse.Action) -> str:
    """Return the help text of an option in one line, without the default value."""
    text = _DEFAULT.sub("", action.help or "").replace("%%", "%")
    return " ".join(text.split())


def _bash(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> str:
    cases, values = [], []
    for name, parser in commands.choices.items():
        options = _options(parser)
        cases.append(f"    {name}) options='{' '.join(each for option in options for each in option.names)}' ;;")
        for option in options:
            places = "|".join(f"{name}:{each}" for each in option.names or [""])
            values += [f"    {places}) words='{' '.join(option.values)}' ;;"] if option.values else []
    return _BASH.format(commands=" ".join(commands.choices), cases="\n".join(cases), values="\n".join(values))


_BASH = """\
# Completion of tieaware for bash. In ~/.bashrc: eval "$(tieaware completion bash)"
_tieaware() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} options= words=
  # Bash splits --option=value into three words; the last is missing if no value has been typed.
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${{COMP_WORDS[COMP_CWORD-2]}}
  case $command in
{cases}
  esac
  if ((COMP_CWORD == 1)); then
    words='{commands} --help --version'
  elif [[ $word == -* ]]; then
    words=$options
  else
    [[ $before == -* ]] || before=
    case $command:$before in
{values}
    esac
  fi
  # Without any words, complete falls back to file names.
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o bashdefault -o default -F _tieaware tieaware
"""


def _zsh(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> str:
    described = "\n".join(
        f"    {_quoted(f'{action.dest}:{_escaped(_help_text(action))}')}" for action in commands._choices_actions
    )
    cases = []
    for name, parser in commands.choices.items():
        specs = [spec for option in _options(parser) for spec in _specs(option)]
        cases.append(f"    {name})\n      _arguments -s \\\n        " + " \\\n        ".join(specs) + "\n      ;;")
    return _ZSH.format(commands=described, cases="\n".join(cases))


def _specs(option: _Option) -> list[str]:
    """Return the specifications of an option for zsh's _arguments, one for each of its names.

    The list in parentheses before a name excludes the option's other names, unless the option is repeatable.
    """
    value = ""
    if option.takes_value:
        words = " ".join(map(_escaped, option.values))
        what = f"({words})" if words else "_files" if option.takes_file else " "
        value = f":{_escaped(option.metavar or 'value')}:{what}"
    if not option.names:
        return [_quoted(f"{'*' if option.repeatable else ''}{value}")]
    before = "*" if option.repeatable else f"({' '.join(option.names)})" if len(option.names) > 1 else ""
    return [_quoted(f"{before}{name}[{_escaped(option.help)}]{value}") for name in option.names]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_ZSH = """\
#compdef tieaware
# Completion of tieaware for zsh. In ~/.zshrc, after compinit: eval "$(tieaware completion zsh)"
_tieaware() {{
  local -a commands=(
{commands}
  )
  if ((CURRENT == 2)); then
    _describe -t commands command commands
    _arguments '--help[show this help message and exit]' "--version[show program's version number and exit]"
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{cases}
  esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _tieaware "$@"
else
  compdef _tieaware tieaware
fi
"""

_SCRIPTS: dict[str, Callable[[argparse._SubParsersAction[argparse.ArgumentParser]], str]] = {"bash": _bash, "zsh": _zsh}
