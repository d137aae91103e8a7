"""Regular expressions: each takes time in proportion to the text, whoever wrote the text."""

import ast
import importlib
import re
import time
from pathlib import Path

import pytest

import tieaware

SOURCE = Path(tieaware.__file__).parent
FILES = {
    ".".join(("tieaware", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
# The texts grow slowly at first, so that a pattern that is not linear fails before it hangs.
SIZES = [24, 36, 54, 81, *(100 * 4**i for i in range(5)), 100_000]
# Linear patterns need some milliseconds for the longest text, and quadratic ones ten seconds.
MOST_SECONDS = 0.4
CHARACTERS = (" ", "\n", "<", ">", "0", "9", "a", "_", "-", ".", ",", "(", "[", "{", "@", '"', "=", "/", "\0", "é")


def _patterns_in(value):
    """Yield the patterns in a value of a module, which may be a tuple, a list or a dict."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _patterns_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _patterns_in(each)


def _methods(tree, name):
    """Return the methods of the pattern with this name that a module uses."""
    uses = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in METHODS)
    found = {
        use.attr for use in uses for owner in ast.walk(use.value) if isinstance(owner, ast.Name) and owner.id == name
    }
    # A pattern that is passed on may be used in any way.
    return found or METHODS


def _cases():
    for module, path in FILES.items():
        source = path.read_text(encoding="utf-8")
        if "re.compile" in source:
            tree = ast.parse(source)
            for name, value in vars(importlib.import_module(module)).items():
                for i, pattern in enumerate(_patterns_in(value)):
                    yield pytest.param(pattern, _methods(tree, name), id=f"{module.partition('.')[2]}:{name}:{i}")


def _hostile(pattern, size):
    """Yield texts of about `size` characters: single characters, and words of the pattern, repeated or followed."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    plain = re.sub(r"\(\?P?<\w+>|\(\?[:=!<>]+|\\[A-Za-z]", " ", source).replace("\\", "")
    words = dict.fromkeys(word for word in re.findall(r"[A-Za-z<>!/\"'\[#&.@=(]+", plain) if len(word) > 1)
    for word in ("", *words):
        # The last character makes a match of everything before it fail.
        for character in CHARACTERS:
            yield word + character * size + "\1"
        if word:
            yield word * (size // len(word))
            yield (word + " ") * (size // len(word))
    for pair in (" a", "a ", "1,", "a_", "<a", "a@", ". ", "a=", "(a"):
        yield pair * (size // 2)


def _apply(pattern, methods, text):
    given = text if isinstance(pattern.pattern, str) else text.encode()
    for method in methods & {"match", "fullmatch"}:
        getattr(pattern, method)(given)
    if methods - {"match", "fullmatch"}:
        for _ in pattern.finditer(given):
            pass


def _slow(pattern, methods):
    """Return the beginning and the length of the first text that takes too long, and the time; None if none does."""
    for size in SIZES:
        for text in _hostile(pattern, size):
            start = time.process_time()
            _apply(pattern, methods, text)
            if (seconds := time.process_time() - start) > MOST_SECONDS:
                return text[:40], len(text), seconds
    return None


@pytest.mark.parametrize(("pattern", "methods"), list(_cases()))
def test_every_pattern_is_linear(pattern, methods):
    assert _slow(pattern, methods) is None


@pytest.mark.parametrize("pattern", [r"\s*x", r"<N>\s*([^<]*?)\s*</N>", r"(?P<name>.*?)\s*@"])
def test_a_pattern_that_is_not_linear_is_found(pattern):
    assert _slow(re.compile(pattern), METHODS) is not None


def test_every_pattern_belongs_to_a_module():
    """The test above finds a pattern only at the top level of a module; elsewhere, re is asked for flags alone."""
    wrong, compiled = [], 0
    for module, path in FILES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tops = {id(node) for top in tree.body if isinstance(top, ast.Assign | ast.AnnAssign) for node in ast.walk(top)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                wrong.append(f"{module}:{node.lineno}")
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
                compiled += node.attr == "compile"
                if (node.attr == "compile" and id(node) not in tops) or node.attr in METHODS:
                    wrong.append(f"{module}:{node.lineno}")
    assert not wrong
    assert compiled > 50
