"""The examples in the documentation run, and print what they say."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import tieaware
from tieaware.demo import demo

ROOT = Path(__file__).parent.parent
# All that are Python files; the kernels have no examples.
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(tieaware.__path__, "tieaware.")
    if importlib.util.find_spec(m.name).origin.endswith(".py")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name):
    """Every doctest of every module passes."""
    module = importlib.import_module(name)
    assert doctest.testmod(module, globs={**vars(tieaware), **vars(module)}).failed == 0


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_examples_in_the_documents_run(name):
    """Every doctest of the file passes; the README has some."""
    results = doctest.testfile(str(ROOT / name), module_relative=False, encoding="utf-8")
    assert results.failed == 0
    assert results.attempted > 0 or name != "README.md"


def test_the_readme_shows_what_the_demo_prints():
    """The table in the README is the demo's."""
    assert demo() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_measure_is_defined_in_the_documents():
    """Each has a row in docs/measures.md, under its name."""
    import re

    from tieaware.measures import DEFINITIONS

    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)", row.split("|")[1])}
    assert set(DEFINITIONS) <= named
