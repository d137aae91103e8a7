"""mypy and pyright reveal the types in the examples, find exactly the wrong calls, and accept examples and pages.

`make lint` runs these tests. In the examples, a comment after a call of reveal_type asserts something of the text of
the revealed type, and a comment "wrong" marks a line in which each checker must find an error.

pyright itself is a package of npm. basedpyright has pyright's engine in its wheel, so that it works offline; here it
follows pyright's rules.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TYPED = sorted(HERE.glob("*_examples.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NAMES = ("embeddings", "hybrid_search", "link_prediction", "pytrec_eval", "recommenders", "searching")
PAGES = [ROOT / "README.md", *(ROOT / "docs" / "tools" / f"{name}.md" for name in NAMES)]
# mypy takes the values of a dict with values of several types for objects.
NOT_FOR_MYPY = {"page_hybrid_search"}

_COMMENT = re.compile(r"  # (assert .*|wrong)$")
_REVEALED = re.compile(r'^(?:Revealed type is|Type of ".*" is) "(.*)"$', re.DOTALL)


class Message(NamedTuple):
    """A message of a type checker: an error, or the type that reveal_type reveals."""

    path: Path
    line: int
    text: str
    is_error: bool


def by_mypy(*options: str) -> list[Message]:
    """Run mypy, and return its messages."""
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--output",
        "json",
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "typing"),
        *options,
    ]
    output = checked(command, {"MYPYPATH": str(ROOT / "src")})
    rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [
        Message((ROOT / row["file"]).resolve(), row["line"], row["message"], row["severity"] == "error") for row in rows
    ]


def by_pyright(folder: Path, files: list[Path], **settings: object) -> list[Message]:
    """Run pyright, and return its messages. Its settings are in a file, which is written to this folder."""
    pytest.importorskip("basedpyright")
    config = folder / "pyrightconfig.json"
    paths = {"include": list(map(str, files)), "extraPaths": [str(ROOT / "src")]}
    config.write_text(json.dumps({**paths, **settings}))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(config)]
    found = json.loads(checked(command, {}))
    assert found["summary"]["filesAnalyzed"] >= len(files)
    return [
        Message(
            Path(row["file"]).resolve(), row["range"]["start"]["line"] + 1, row["message"], row["severity"] == "error"
        )
        for row in found["generalDiagnostics"]
    ]


def checked(command: list[str], environment: dict[str, str]) -> str:
    """Run a type checker, which exits with 1 if it finds an error, and return its output."""
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@cache
def revealed_by(checker: str, folder: Path) -> list[Message]:
    """Check the typed examples under strict rules."""
    if checker == "mypy":
        return by_mypy(*map(str, TYPED))
    return by_pyright(
        folder,
        TYPED,
        typeCheckingMode="strict",
        reportMissingTypeStubs="none",
        reportUnusedExpression="none",
        # pyarrow has no types.
        reportUnknownMemberType="none",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pyright")


def comments() -> Iterator[tuple[Path, int, str]]:
    """Yield the comments of the typed examples: the file, the line and the text."""
    for path in TYPED:
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found = _COMMENT.search(line)
            assert ("reveal_type(" in line) <= (found is not None), line
            if found is not None:
                yield path, i, found[1]


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_examples_have_the_types_that_they_assert(checker, folder):
    messages = revealed_by(checker, folder)
    types = {(each.path, each.line): found[1] for each in messages if (found := _REVEALED.match(each.text))}
    wrong = []
    for path, line, comment in comments():
        if comment == "wrong":
            continue
        typ = types[path, line].removeprefix("builtins.")
        if not eval(comment.removeprefix("assert "), {"typ": typ}):
            wrong.append(f"{path.name}:{line}: {typ}, but {comment}")
    assert wrong == []


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_wrong_calls_and_no_others_are_errors(checker, folder):
    messages = [each for each in revealed_by(checker, folder) if each.is_error and each.path in TYPED]
    marked = {(path, line) for path, line, comment in comments() if comment == "wrong"}
    found = {(each.path, each.line): each.text for each in messages}
    assert [f"{path.name}:{line}" for path, line in sorted(marked - found.keys())] == []
    assert [f"{path.name}:{line}: {found[path, line]}" for path, line in sorted(found.keys() - marked)] == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write the doctests of each page to a Python file; add a page with a wrong call."""
    folder = tmp_path_factory.mktemp("pages").resolve()
    written = []
    for page in PAGES:
        examples = doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8"))
        if examples:
            written.append(folder / f"page_{page.stem}.py")
            written[-1].write_text("".join(each.source for each in examples if not each.exc_msg), encoding="utf-8")
    assert len(written) > 5
    written.append(folder / "page_wrong.py")
    written[-1].write_text("import tieaware\ntieaware.evaluate('a', 'b', 'AP', ties='avrage')\n", encoding="utf-8")
    return written


def assert_only_the_wrong_page_has_an_error(messages: list[Message]) -> None:
    """Compare the lines with errors. Without the wrong page, the tests could pass because they check nothing."""
    found = [f"{each.path.name}:{each.line}: {each.text}" for each in messages if each.is_error]
    assert [each for each in found if not each.startswith("page_wrong.py:2: ")] == []
    assert len(found) == 1


def test_mypy_accepts_examples_and_pages(pages):
    """In pages, names are reused for other values, and a spread that was requested is not compared with None."""
    files = [*EXAMPLES, *(page for page in pages if page.stem not in NOT_FOR_MYPY)]
    options = ["--config-file=", "--ignore-missing-imports", "--allow-redefinition", "--no-strict-optional"]
    # For a file that has not changed, mypy repeats messages from its cache, with the folder of an earlier run.
    names = {file.name for file in files}
    found = [each for each in by_mypy(*options, *map(str, files)) if each.path.name in names]
    assert_only_the_wrong_page_has_an_error(found)


def test_pyright_accepts_examples_and_pages(pages, tmp_path):
    """Optional packages may be missing, and pyright does not guess the types of those that have none."""
    found = by_pyright(
        tmp_path, [*EXAMPLES, *pages], typeCheckingMode="standard", useLibraryCodeForTypes=False,
        reportMissingImports="none", reportMissingModuleSource="none", reportOptionalMemberAccess="none",
    )  # fmt: skip
    assert_only_the_wrong_page_has_an_error(found)


def test_every_public_type_is_known_to_pyright():
    """Completeness as pyright measures it: every public name, parameter and attribute has a type."""
    pytest.importorskip("basedpyright")
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson"]
    found = json.loads(
        checked([*command, "--verifytypes", "tieaware", "--ignoreexternal"], {"PYTHONPATH": str(ROOT / "src")})
    )
    unknown = [
        row["name"] for row in found["typeCompleteness"]["symbols"] if not row["isTypeKnown"] and row["isExported"]
    ]
    assert unknown == []
    assert found["typeCompleteness"]["completenessScore"] == 1
