"""The test commands: `make test` and `.ci/run` run some tests of each module, and every wheel is tested."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
WHEELS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
COMMAND = shlex.split(WHEELS["test-command"].replace("\\\n", " "))
NAMED = [argument for argument in COMMAND if argument.endswith(".py")]
RUN = ROOT / ".ci" / "run"

COLLECT = """
import json, sys
import pytest

class Modules:
    def __init__(self):
        self.deselected = set()

    def pytest_deselected(self, items):
        self.deselected.update(str(item.path) for item in items)

    def pytest_collection_finish(self, session):
        self.selected = {str(item.path) for item in session.items}

modules = Modules()
status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not slow", *sys.argv[1:]], [modules])
print("\\n" + json.dumps([int(status), sorted(modules.selected), sorted(modules.deselected)]))
"""


def collect(folder: Path, *arguments: str) -> tuple[set[str], set[str]]:
    """Collect tests without the slow ones; return the modules with selected tests and those with deselected tests.

    A module that skips itself, because an optional package is missing, is in neither set.
    """
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, *arguments],
        cwd=folder, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout, done.stderr
    status, *modules = json.loads(done.stdout.splitlines()[-1])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), done.stdout
    selected, deselected = ({Path(path).relative_to(folder).as_posix() for path in paths} for paths in modules)
    return selected, deselected


@pytest.fixture(scope="module")
def collected() -> tuple[set[str], set[str]]:
    return collect(ROOT)


def test_no_module_is_wholly_deselected(collected):
    selected, deselected = collected
    assert deselected
    assert deselected - selected == set()


def test_a_module_that_is_wholly_deselected_is_found(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    slow, quick = "@pytest.mark.slow\ndef test_slow(): pass\n", "def test_quick(): pass\n"
    for name, text in {"slow": slow, "quick": quick, "both": slow + quick}.items():
        (tmp_path / f"test_{name}.py").write_text(f"import pytest\n{text}")
    (tmp_path / "test_missing.py").write_text("import pytest\npytest.importorskip('a_missing_package')\n")
    assert collect(tmp_path.resolve()) == ({"test_quick.py", "test_both.py"}, {"test_slow.py", "test_both.py"})


def test_no_module_is_marked_slow():
    marked = [
        path.name
        for path in TESTS.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        and "pytestmark" in ast.unparse(node)
        and "slow" in ast.unparse(node)
    ]
    assert marked == []


# The tests of every wheel.


def test_the_command_of_the_wheels_is_that_of_make_test():
    assert COMMAND[:5] == ["python", "-m", "pytest", "-m", "not slow"]
    assert COMMAND[5:] == NAMED


@pytest.mark.parametrize("name", NAMED)
def test_wheels_run_a_part_of_every_named_file(collected, name):
    assert (ROOT / name).is_file()
    assert name in collected[0]


def test_wheels_compare_the_values_of_every_measure():
    """The tests of wheels include comparisons with enumeration of all orders, with exact sums, and between engines."""
    modules = {"exact", "inferred", "interpolated", "pairs", "values", "spread", "closed_forms", "engines"}
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


def test_make_test_and_make_test_slow_run_the_whole_suite():
    assert recipe("test") == "\t$(PYTEST) -m 'not slow'\n"
    assert recipe("test-slow") == "\t$(PYTEST) -m slow\n"


@pytest.mark.skipif(not RUN.is_file(), reason="the source distribution has no .ci/run")
def test_ci_runs_the_whole_suite():
    lines = RUN.read_text(encoding="utf-8").splitlines()
    assert "make test" in lines
    assert "make test-slow" in lines
    assert lines.index("make test") < lines.index("make test-slow")
    assert any(line.startswith("make faults ") for line in lines)
