"""Shell completion offers every command, every option, and the values of options with few choices."""

import argparse
import shutil
import subprocess

import pytest

from tieaware import cli
from tieaware.cli import main
from tieaware.measures import DEFINITIONS


def parsers():
    (commands,) = (a for a in cli._parser()._actions if isinstance(a, argparse._SubParsersAction))
    return commands.choices


def options_of(parser):
    return {option for action in parser._actions for option in action.option_strings}


def script(shell, capfd):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    return capfd.readouterr().out


def in_bash(text, *lines):
    """Return the completions that bash offers for the last word of each line."""
    asked = "\n".join(f"offer {line}" for line in lines)
    code = f"""set -u
{text}
offer() {{ COMP_WORDS=(tieaware "$@"); COMP_CWORD=$#; _tieaware; echo "${{COMPREPLY[*]-}}"; }}
{asked}
complete -p tieaware
"""
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    *offered, known = done.stdout.splitlines()
    assert known == "complete -o bashdefault -o default -F _tieaware tieaware"
    return [set(line.split()) for line in offered]


def test_bash_completes_every_command_and_option(capfd):
    commands, *options = in_bash(script("bash", capfd), '""', *(f"{name} q --" for name in parsers()))
    assert commands == {*parsers(), "--help", "--version"}
    for (name, parser), offered in zip(parsers().items(), options, strict=True):
        assert offered == {option for option in options_of(parser) if option.startswith("--")}, name


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("search index topics --method Ch", {"Champions"}),
        ("inexact c t q --topic-part d", {"description"}),
        ("wo", {"worst-case"}),
        ("eval q r -", options_of(parsers()["eval"])),
        ("eval q r --ties op", {"optimistic"}),
        ("eval q r --ties = op", {"optimistic"}),
        ("eval q r --queries =", {"judged", "both"}),
        ("trec_eval q r --ties doc", {"docid_ascending"}),
        ("ties r -m nD", {"nDCG"}),
        ("compare q r --measure ''", set(DEFINITIONS)),
        ("completion ''", {"bash", "zsh"}),
        ("smooth --topics ''", set()),
        ("eval ''", set()),  # bash itself adds the file names
        ("nonsense --", set()),
    ],
)
def test_bash_completes_the_typed_word(capfd, line, offered):
    assert in_bash(script("bash", capfd), line) == [offered]


def test_zsh_completes_every_command_and_option(capfd):
    """The test replaces the completion functions of zsh by functions that print their arguments."""
    text = script("zsh", capfd)
    asked = "\n".join(f"words=(tieaware {name} ''); CURRENT=3; print -- '== {name}'; _tieaware" for name in parsers())
    code = f"""
compdef() {{ print -- "compdef $*"; }}
_describe() {{ print -l -- ${{(P)4}}; }}
_arguments() {{ print -l -- "$@"; }}
{text}
words=(tieaware ''); CURRENT=2; _tieaware
{asked}
"""
    done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    commands, *each = done.stdout.split("== ")
    head, *described = commands.splitlines()
    assert head == "compdef _tieaware tieaware"
    assert {line.partition(":")[0] for line in described if line[:1] not in "-"} == set(parsers())
    for (name, parser), lines in zip(parsers().items(), each, strict=True):
        names = (line.partition("[")[0] for line in lines.splitlines() if "[" in line)
        offered = {name.rpartition(")")[2].lstrip("*") for name in names}
        assert offered == options_of(parser), name
        assert (":QRELS:_files" in lines) == any(action.metavar == "QRELS" for action in parser._actions)


def test_the_scripts_have_no_syntax_errors(capfd):
    for shell in ("bash", "zsh"):
        subprocess.run([shell, "-n"], input=script(shell, capfd), text=True, check=True)
    with pytest.raises(SystemExit):
        main(["completion", "fish"])
    assert "argument SHELL: expected one of bash, zsh, found 'fish'" in capfd.readouterr().err
