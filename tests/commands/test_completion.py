"""Shell completion offers every command, every option, and the values of options with few choices."""

import shutil
import subprocess

import pytest

from tieaware.measures import DEFINITIONS

pytest.importorskip("shtab")


def in_bash(text, *words):
    """Return the completions that bash offers for the last of the words."""
    code = f"""{text}
COMP_WORDS=(tieaware "$@"); COMP_CWORD=$#; _shtab_tieaware 2>/dev/null; echo "${{COMPREPLY[*]-}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", code, "-", *words], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["wo"], {"worst-case"}),
        (["eval", "--ties", "op"], {"optimistic"}),
        (["compare", "--measure", ""], set(DEFINITIONS)),
        (["search", "--method", "Ch"], {"Champions"}),
        (["completion", ""], {"bash", "zsh", "tcsh"}),
    ],
)
def test_bash_completes_the_typed_word(printed, words, offered):
    assert offered <= in_bash(printed("completion bash"), *words)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_scripts_have_no_syntax_errors(printed, shell):
    text = printed(f"completion {shell}")
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_another_shell_is_an_error(refused):
    assert "argument SHELL: expected one of bash, zsh, tcsh, found 'fish'" in refused("completion fish")
