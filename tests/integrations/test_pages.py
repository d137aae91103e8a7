"""The pages of docs/tools: their examples and recipes run where the tool is installed, and their lists are complete."""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from support import inline_calls

PAGES = Path(__file__).parents[2] / "docs" / "tools"
# The page of Spark is run by tests/spark/test_spark.py, and the table has no examples.
NAMES = [
    # ranx takes half a minute to compile.
    pytest.param(path.stem, marks=pytest.mark.slow if path.stem == "ranx" else ())
    for path in sorted(PAGES.glob("*.md"))
    if path.stem not in ("README", "spark")
]
# Pages whose blocks of Python are recipes, which are run like examples. Blocks of other pages leave out what is usual.
RECIPES = ("data_frames", "graders", "recommender_libraries")
# Tools that `make test` does not install. A section that imports one of them is skipped without it.
TOOLS = (
    "cornac", "deepeval", "haystack", "lenskit", "lightning", "llama_index", "mteb", "pyterrier", "ragas", "ranx",
    "recbole", "sentence_transformers", "stand_ins", "torch", "torchmetrics",
)  # fmt: skip
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^(?:>>> )?(?:import|from) ([a-z_]+)", re.MULTILINE)


def sections(name):
    """Return the sections of a page, each with its heading."""
    return re.split(r"^(?=## )", (PAGES / f"{name}.md").read_text(encoding="utf-8"), flags=re.MULTILINE)


def missing(section):
    """Return the tools that a section imports and that are not installed."""
    imported = {found for _, code in BLOCK.findall(section) for found in IMPORT.findall(code)}
    return sorted(each for each in imported.intersection(TOOLS) if find_spec(each) is None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_and_recipes_of_a_page_run(name, tmp_path, monkeypatch):
    """The blocks of a page run in order, in one namespace, and the calls in its text exist."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    names, tried, skipped = {"__name__": "__main__"}, 0, []
    for section in sections(name):
        if missing(section):
            skipped += missing(section)
            continue
        for kind, code in BLOCK.findall(section):
            if kind == "python" and name in RECIPES:
                exec(compile(code, f"{name}.md", "exec"), names)
            elif kind == "pycon":
                runner = doctest.DocTestRunner()
                runner.run(doctest.DocTestParser().get_doctest(code, names, name, name, 0), clear_globs=False)
                assert runner.summarize(verbose=False).failed == 0
                names |= runner.test.globs
            tried += 1
    if not tried and skipped:
        pytest.skip(f"{', '.join(skipped)}: `make test-tools` tries it")
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert tried or "```console" in text
    assert list(inline_calls.problems(text, names, name)) == []
