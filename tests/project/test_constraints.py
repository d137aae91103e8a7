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
# The constraints of three environments: the suite's, that of the tools that require torch, and Spark's.
MAIN, TOOLS, SPARK = (
    (ROOT / "constraints" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for name in ("main", "tools", "spark")
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = {
    name: [each for each in group if isinstance(each, str) and not each.startswith("tieaware[")]
    for name, group in PROJECT["dependency-groups"].items()
}
# Packages that make installs without their requirements.
ALONE = [
    name for names in re.findall("^BESIDE_(?:TEST|DOCS) := (.*)$", MAKEFILE, re.MULTILINE) for name in names.split()
]
REQUIREMENTS = {
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *(requirement for name, extra in EXTRAS.items() if name != "spark" for requirement in extra),
    *(requirement for name, group in GROUPS.items() if name != "tools" for requirement in group),
    *re.findall("'(.*?)'", re.search("^BUILD_REQUIREMENTS := (.*)$", MAKEFILE, re.MULTILINE)[1]),
    *ALONE, "build", "setuptools", "wheel",
}  # fmt: skip


@pytest.mark.parametrize("lines", [MAIN, TOOLS, SPARK], ids=["main", "tools", "spark"])
def test_every_line_is_a_package_and_its_version(lines):
    """No line may be a local file, a URL or tieaware itself."""
    assert lines[0].startswith("#")
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines[1:])
    assert not any(line.startswith("tieaware==") for line in lines)


@pytest.mark.parametrize(
    ("lines", "requirement"),
    [(MAIN, each) for each in sorted(REQUIREMENTS)]
    + [(TOOLS, each) for each in GROUPS["tools"]]
    + [(SPARK, each) for each in EXTRAS["spark"]],
)
def test_every_requirement_has_a_version_that_it_allows(lines, requirement):
    """After a change of pyproject.toml, run `make constraints`, also with OF=tools and OF=spark."""
    recorded = dict(line.split("==") for line in lines[1:])
    versions = {canonicalize_name(name): version for name, version in recorded.items()}
    required = Requirement(requirement)
    assert required.specifier.contains(versions[canonicalize_name(required.name)])


def included(name):
    """Return the group with this name and all groups that it includes."""
    inner = [each["include-group"] for each in PROJECT["dependency-groups"][name] if not isinstance(each, str)]
    return {name}.union(*map(included, inner))


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_group_and_every_extra_is_recorded():
    """`make constraints` installs all groups but the tools; the groups install all extras but those of two tools.

    It adds beir without its requirements. `make constraints OF=spark` installs Spark.
    """
    command = ["make", "--dry-run", f"PYTHON={sys.executable}", "constraints"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    named = re.findall(r"--group (\w+)", done.stdout)
    groups = set().union(*map(included, named))
    assert groups == set(PROJECT["dependency-groups"]) - {"tools"}
    of_groups = {each for name in groups for each in PROJECT["dependency-groups"][name] if isinstance(each, str)}
    extras = {extra for each in of_groups for extra in Requirement(each).extras if each.startswith("tieaware[")}
    assert extras | {"beir", "spark"} == set(EXTRAS)
    assert re.search("--no-deps (.*)$", done.stdout, re.MULTILINE)[1].split() == ALONE


def test_extras_are_for_users():
    """Packages that only development needs are dependency groups, which the package does not publish."""
    assert set(EXTRAS).isdisjoint(PROJECT["dependency-groups"])
    names = {"test", "lint", "docs", "bench", "release", "tools", "frames", "examples"}
    assert names <= set(PROJECT["dependency-groups"])
