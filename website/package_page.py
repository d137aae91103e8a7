"""The readme and the links of the package's page on an index, which the build adds to the metadata.

Links of README.md are relative, so they work in a clone. Relative links do not work on an index, so they become links
into the repository: to the tag of a release, to the branch of a development version. The address of the repository, the
branch and the names of tags are settings in pyproject.toml. scikit-build-core calls `dynamic_metadata`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# A link or an image whose target is a path: neither an address nor an anchor of the same page.
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\[\]]*\])\((?P<path>(?![a-z]+:|#)[^()\s]+)\)")


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the metadata: the readme with absolute links, and the addresses of the project."""
    address, ref = settings["address"], reference(settings, version())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = {"content-type": "text/markdown", "text": absolute(text, address, ref)}
    return {"readme": readme, "urls": urls(address, ref)}


def version() -> str:
    """Return the version of the package, without importing it."""
    source = (ROOT / "src" / "tieaware" / "_version.py").read_text(encoding="utf-8")
    return re.search('^__version__ = "(.*)"$', source, re.MULTILINE)[1]


def settings() -> dict[str, str]:
    """Return the settings of this module in pyproject.toml."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return next(entry for entry in tool["dynamic-metadata"] if "address" in entry)


def repository() -> str:
    """Return the address of the repository."""
    return settings()["address"]


def reference(settings: Mapping[str, Any], version: str) -> str:
    """Return what links into the repository lead to: the tag of a release, the branch of a development version."""
    return settings["branch"] if ".dev" in version else settings["tag"].format(version=version)


def urls(address: str, ref: str) -> dict[str, str]:
    """Return the links of the project, by the labels that package indexes know."""
    return {
        "Homepage": address,
        "Documentation": f"{address}/blob/{ref}/docs/index.md",
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/{ref}/CHANGELOG.md",
    }


def absolute(text: str, address: str, ref: str) -> str:
    """Make the relative links and images of a Markdown file in the repository's root absolute, except in code."""

    def placed(link: re.Match[str]) -> str:
        path = link["path"]
        kind = "raw" if link["image"] else "tree" if (ROOT / path.partition("#")[0]).is_dir() else "blob"
        return f"{link['image']}{link['text']}({address}/{kind}/{ref}/{path})"

    converted, end = [], 0
    for code in CODE.finditer(text):
        converted += [LINK.sub(placed, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*converted, LINK.sub(placed, text[end:])])
