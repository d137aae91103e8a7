"""The examples on the pages about tools that require torch or take long to load."""

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    "name",
    [
        "integrations/mteb", "integrations/pyterrier", "integrations/sentence_transformers",
        "integrations/torchmetrics", "integrations/rag", "coming_from/ranx",
    ],
)  # fmt: skip
def test_the_examples_of_a_page_run(name):
    results = doctest.testfile(str(PAGES / f"{name}.md"), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
