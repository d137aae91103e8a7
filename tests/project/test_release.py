"""What a release must agree on: its version everywhere, the tests of its wheels, and the actions that publish it."""

import re
import tomllib
from pathlib import Path

import pytest

import tieaware

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_the_same_everywhere():
    assert tieaware.__version__ == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {VERSION}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_wheel_is_tested_by_files_that_there_are():
    files = re.findall(r"\S+\.py", PROJECT["tool"]["cibuildwheel"]["test-command"])
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no workflows")
def test_every_action_is_pinned():
    """By the hash of a commit, which nobody can move, with the version that it has."""
    uses = [line for path in WORKFLOWS for line in path.read_text().splitlines() if re.search(r"\buses:", line)]
    assert len(uses) > len(WORKFLOWS)
    assert [line for line in uses if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v[\d.]+$", line)] == []


def test_every_python_that_is_named_gets_a_wheel():
    named = [each.removeprefix("Programming Language :: Python :: ") for each in PROJECT["project"]["classifiers"]]
    named = [each.replace(".", "") for each in named if re.fullmatch(r"3\.\d+", each)]
    built = [each.removeprefix("cp").removesuffix("-*") for each in PROJECT["tool"]["cibuildwheel"]["build"]]
    assert [each for each in built if not each.endswith("t")] == named
