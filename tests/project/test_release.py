"""Releases: the version is the same everywhere, wheels are tested, and actions are pinned."""

import re
import tomllib
from pathlib import Path

import pytest

import tieaware

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_the_same_everywhere():
    """The build takes the version from _version.py. The citation file and the changelog name the last release.

    A development version is that of the next release, so it must be later than the last one.
    """
    version = tieaware.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    last = re.search(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)[1]
    coming = re.fullmatch(r"(\d+\.\d+\.\d+)\.dev0", version)
    if coming:
        assert [int(number) for number in coming[1].split(".")] > [int(number) for number in last.split(".")]
    else:
        assert version == last
    assert "version" in PROJECT["project"]["dynamic"]
    sources = [entry["input"] for entry in PROJECT["tool"]["dynamic-metadata"] if entry.get("field") == "version"]
    assert sources == ["src/tieaware/_version.py"]
    assert f"\nversion: {last}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no workflows")
def test_every_action_is_pinned():
    """Each action is pinned by its commit hash, because a tag can be moved. A comment gives the version."""
    uses = [line for path in WORKFLOWS for line in path.read_text().splitlines() if re.search(r"\buses:", line)]
    assert len(uses) > len(WORKFLOWS)
    assert [line for line in uses if not re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v[\d.]+$", line)] == []


def test_every_declared_python_version_gets_a_wheel():
    named = [each.removeprefix("Programming Language :: Python :: ") for each in PROJECT["project"]["classifiers"]]
    named = [each.replace(".", "") for each in named if re.fullmatch(r"3\.\d+", each)]
    built = [each.removeprefix("cp").removesuffix("-*") for each in PROJECT["tool"]["cibuildwheel"]["build"]]
    assert [each for each in built if not each.endswith("t")] == named
