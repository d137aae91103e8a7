"""The constraint files record all versions for development, within the ranges of pyproject.toml, without URLs."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
# Tools that require torch, which are installed in a separate environment.
TOOL_LINES = (ROOT / "constraints-tools.txt").read_text(encoding="utf-8").splitlines()
# Spark, which needs an older pandas and is therefore installed in a separate environment.
SPARK_LINES = (ROOT / "constraints-spark.txt").read_text(encoding="utf-8").splitlines()
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

EXTRAS = dict(PROJECT["project"]["optional-dependencies"])
TOOLS, SPARK = EXTRAS.pop("tools"), EXTRAS.pop("spark")
REQUIREMENTS = {
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *(requirement for extra in EXTRAS.values() for requirement in extra),
    *re.findall("'(.*?)'", re.search("^BUILD_REQUIREMENTS := (.*)$", MAKEFILE, re.MULTILINE)[1]),
    "build", "setuptools", "wheel",
} - {each for extra in EXTRAS.values() for each in extra if each.startswith("tieaware[")}  # fmt: skip


@pytest.mark.parametrize(
    "lines", [LINES, TOOL_LINES, SPARK_LINES], ids=["constraints.txt", "constraints-tools.txt", "constraints-spark.txt"]
)
def test_every_line_is_a_package_and_its_version(lines):
    """No line may be a local file, a URL or tieaware itself."""
    assert lines[0].startswith("#")
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines[1:])
    assert not any(line.startswith("tieaware==") for line in lines)


@pytest.mark.parametrize(
    ("lines", "requirement"),
    [(LINES, each) for each in sorted(REQUIREMENTS)]
    + [(TOOL_LINES, each) for each in TOOLS]
    + [(SPARK_LINES, each) for each in SPARK],
)
def test_every_requirement_has_a_version_that_it_allows(lines, requirement):
    """After a change of pyproject.toml, run `make constraints`, or the targets for the tools and for Spark."""
    recorded = dict(line.split("==") for line in lines[1:])
    versions = {canonicalize_name(name): version for name, version in recorded.items()}
    required = Requirement(requirement)
    assert required.specifier.contains(versions[canonicalize_name(required.name)])


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_extra_is_recorded():
    """`make constraints` records the requirements of every extra in pyproject.toml except beir, which it adds."""
    command = ["make", "--dry-run", f"PYTHON={sys.executable}", "constraints"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {*re.search(r"'\.\[(.*?)\]'", done.stdout)[1].split(","), "beir"} == set(EXTRAS)
