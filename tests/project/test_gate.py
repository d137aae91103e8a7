"""The test commands: `make test` and `.ci/run` run some tests of each module, every wheel is tested, on any Python."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.slow_modules import SLOW_MODULES, slow_modules

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
WHEELS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
COMMAND = shlex.split(WHEELS["test-command"].replace("\\\n", " "))
NAMED = [argument for argument in COMMAND if argument.endswith(".py")]
RUN = ROOT / ".ci" / "run"


def test_no_module_is_slow_as_a_whole(request):
    """The modules that were collected with this one are all modules, in `make test`."""
    assert request.config.stash[SLOW_MODULES] == []


def test_a_module_that_is_slow_as_a_whole_is_found():
    def items(name, *slow):
        return [SimpleNamespace(path=Path(name), get_closest_marker={"slow": each}.get) for each in slow]

    some = items("test_slow.py", pytest.mark.slow) + items("test_quick.py", None)
    assert slow_modules(some + items("test_both.py", None, pytest.mark.slow)) == ["test_slow.py"]


# The tests of every wheel.


def test_the_command_of_the_wheels_is_that_of_make_test():
    assert COMMAND[:5] == ["python", "-m", "pytest", "-m", "not slow"]
    assert COMMAND[5:] == NAMED


@pytest.mark.parametrize("name", NAMED)
def test_wheels_run_files_that_exist(name):
    assert (ROOT / name).is_file()


def test_wheels_compare_the_values_of_every_measure():
    """The tests of wheels include comparisons with enumeration of all orders, with exact sums, and between engines."""
    modules = {"exact", "inferred", "families", "values", "spread", "closed_forms", "engines"}
    assert {f"tests/engine/test_{name}.py" for name in modules} <= set(NAMED)


def imports(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, directly or through tests/support."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    for name in names:
        package, _, rest = name.partition(".")
        if package == "support":
            yield from imports(TESTS / "support" / f"{rest.partition('.')[0]}.py")
        elif package not in sys.stdlib_module_names:
            yield package


@pytest.mark.parametrize("name", [*NAMED, "tests/conftest.py"])
def test_the_tests_of_wheels_import_what_their_environment_has(name):
    required = {re.match(r"\w+", requirement)[0] for requirement in WHEELS["test-requires"]}
    assert set(imports(ROOT / name)) <= required | {"numpy", "tieaware"}


# make and CI.


def recipe(target: str) -> str:
    """Return the commands of a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{target}: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]


def test_make_test_runs_the_whole_suite_or_its_quick_cases():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nSELECT ?= -m 'not slow'\n" in makefile
    assert recipe("test") == "\t$(PYTEST) $(SELECT)\n"


@pytest.mark.skipif(not RUN.is_file(), reason="the source distribution has no .ci/run")
def test_ci_runs_the_whole_suite():
    lines = RUN.read_text(encoding="utf-8").splitlines()
    assert "make test SELECT=" in lines
    assert '{ make faults && make fuzz SECONDS=10 CLANG=none; } > "$scratch/faults" 2>&1 &' in lines


# Python's versions.


def test_a_sum_of_floats_is_refused_to_the_package_and_to_its_tests():
    """Python's `sum` of these is 1 since Python 3.12, and was less before."""
    assert (sum([1, True]), sum([Fraction(1, 2)]), sum([(1,), (2,)], ())) == (2, Fraction(1, 2), (1, 2))
    with pytest.raises(TypeError, match="depends on Python's version"):
        sum([0.1] * 10)
    calls = {"__name__": "tieaware.made_up"}, {"__name__": "a_package"}
    for scope in calls:
        exec("def total(values): return sum(values)", scope)
    with pytest.raises(TypeError, match="depends on Python's version"):
        calls[0]["total"]([0.1] * 10)
    assert calls[1]["total"]([0.1] * 10) == pytest.approx(1)
