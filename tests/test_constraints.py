"""The versions recorded for development: complete, within what the package requires, and from nowhere in particular."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

EXTRAS = PROJECT["project"]["optional-dependencies"]
REQUIREMENTS = {
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *(requirement for extra in EXTRAS.values() for requirement in extra),
    *re.findall("'(.*?)'", re.search("^BUILD_REQUIREMENTS := (.*)$", MAKEFILE, re.MULTILINE)[1]),
    "build", "setuptools", "wheel",
} - {each for extra in EXTRAS.values() for each in extra if each.startswith("tieaware[")}  # fmt: skip


def test_every_line_is_a_package_and_its_version():
    """No file of this machine, no address, nothing of the package itself."""
    assert LINES[0].startswith("#")
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in LINES[1:])
    assert not any(line.startswith("tieaware==") for line in LINES)


@pytest.mark.parametrize("requirement", sorted(REQUIREMENTS))
def test_every_requirement_has_a_version_that_it_allows(requirement):
    """After a change of pyproject.toml, `make constraints` is due."""
    recorded = dict(line.split("==") for line in LINES[1:])
    versions = {canonicalize_name(name): version for name, version in recorded.items()}
    required = Requirement(requirement)
    assert required.specifier.contains(versions[canonicalize_name(required.name)])


def test_every_extra_is_recorded():
    """`make constraints` installs each of them; beir by itself, without torch."""
    assert {*re.search(r"'\.\[(.*?)\]'", MAKEFILE)[1].split(","), "beir"} == set(EXTRAS)
