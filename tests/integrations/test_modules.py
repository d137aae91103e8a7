"""What holds of every integration: nobody pays for it, a missing tool is named, and the table says what was tried."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tieaware import integrations
from tieaware.runtime.extras import MissingExtraError

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "integrations"
# boosting is what lightgbm and xgboost have in common.
MODULES = {each.name for each in pkgutil.iter_modules(integrations.__path__)} - {"boosting"}
# What needs the tool, and the extra that brings it. Where none is named, the module does without.
NEEDS = {
    "ir_measures": (lambda module: module.install(), "ir_measures", "ir-measures"),
    "beir": (lambda module: module.EvaluateRetrieval, "beir", "beir"),
    "mteb": (lambda module: module.install(), "mteb", "tools"),
    "sentence_transformers": (lambda module: module.RerankingEvaluator, "sentence_transformers", "tools"),
    "lightgbm": (lambda module: module.metric("AP"), "lightgbm", "lightgbm"),
    "xgboost": (lambda module: module.metric("AP"), "xgboost", "xgboost"),
    "sklearn": (lambda module: module.scorer("AP"), "sklearn", "scikit-learn"),
    "spark": (lambda module: module.evaluate(None, None, "AP"), "pyspark", "spark"),
    "pytrec_eval": None,
    "link_prediction": None,
}


def recorded():
    """Versions that development takes, by package, of any file."""
    found = {}
    for name in ("constraints.txt", "constraints-tools.txt", "constraints-spark.txt"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines()[1:]:
            package, version = line.split("==")
            found.setdefault(canonicalize_name(package), set()).add(version)
    return found


def named(text):
    """The packages in a text that stand there with a version: ir-measures 0.4.3."""
    pairs = re.findall(r"\b([A-Za-z][\w-]*) (\d+(?:\.\d+)+)", text)
    return {canonicalize_name(package): version for package, version in pairs}


def test_none_is_imported_with_tieaware():
    code = "import sys, tieaware, tieaware.cli; print(*[each for each in sys.modules if 'integrations' in each])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_tool_that_is_missing_is_named_with_its_extra(name, monkeypatch):
    """In one line, when it is first needed: the module itself is imported without it."""
    needed = NEEDS[name]
    blocked = [each for each in sys.modules if needed and each.partition(".")[0] == needed[1]]
    for each in (*blocked, *([needed[1]] if needed else ["pytrec_eval", "ogb", "torch", "pykeen"])):
        monkeypatch.setitem(sys.modules, each, None)
    # As it is imported in another process, with nothing that it has kept.
    monkeypatch.delitem(sys.modules, f"tieaware.integrations.{name}", raising=False)
    monkeypatch.setattr(integrations, name, None, raising=False)
    module = importlib.import_module(f"tieaware.integrations.{name}")
    if needed is not None:
        use, tool, extra = needed
        with pytest.raises(MissingExtraError, match=rf"^{tool} is not installed: pip install 'tieaware\[{extra}\]'$"):
            use(module)


def test_each_has_a_row_in_the_table_with_its_line_and_the_version_tried():
    """The versions are those that development takes, and so those that the tests beside this one try."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "][1:]
    modules = [re.search(r"tieaware\.integrations\.(\w+)|integrations import (\w+)", line) for _, line, _, _ in rows]
    assert {found[1] or found[2] for found in modules if found} == MODULES
    without = [tool for tool, _, tried, _ in rows if not named(tried)]
    assert without == ["[trec_eval](trec_eval.md)", "[LLM graders and rerankers](graders.md)"]
    of_package = recorded()
    for tool, _, tried, agrees in rows:
        assert all({version} == of_package[package] for package, version in named(tried).items()), tool
        assert agrees or "NumPy alone" in tried
    linked = {target for tool, *_ in rows for target in re.findall(r"\((\w+\.md)", tool)}
    assert linked == {path.name for path in PAGES.glob("*.md")} - {"README.md"}


OF_USERS = [*PAGES.glob("*.md"), *PAGES.parent.glob("coming_from/*.md")]


@pytest.mark.parametrize("path", sorted(OF_USERS), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_versions_on_its_page_are_those_that_were_tried(path):
    of_package = recorded()
    for package, version in named(path.read_text(encoding="utf-8")).items():
        if package in of_package:
            assert any(f"{each}.".startswith(f"{version}.") for each in of_package[package]), (package, version)
