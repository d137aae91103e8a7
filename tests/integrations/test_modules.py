"""Tests of all integrations: imports are lazy, missing tools are named, and the lists of integrations are complete."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packaging.utils import canonicalize_name

from tieaware import InputError, integrations
from tieaware.runtime.extras import MissingExtraError

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "integrations"
# The module boosting is not an integration, but code that the modules lightgbm and xgboost share.
MODULES = {each.name for each in pkgutil.iter_modules(integrations.__path__)} - {"boosting"}
# For each module: a call that needs the tool, the tool's module, and what the error says to install. None if the
# module works without its tool.
NEEDS = {
    "ir_measures": (lambda module: module.install(), "ir_measures", "ir-measures"),
    "beir": (lambda module: module.EvaluateRetrieval, "beir", "beir"),
    "mteb": (lambda module: module.install(), "mteb", "mteb"),
    "sentence_transformers": (
        lambda module: module.RerankingEvaluator, "sentence_transformers", "sentence-transformers",
    ),
    "lightgbm": (lambda module: module.metric("AP"), "lightgbm", "lightgbm"),
    "xgboost": (lambda module: module.metric("AP"), "xgboost", "xgboost (or xgboost-cpu, which is smaller)"),
    "sklearn": (lambda module: module.scorer("AP"), "sklearn", "scikit-learn"),
    "lenskit": (lambda module: module.metric("AP"), "lenskit", "lenskit"),
    "cornac": (lambda module: module.metric("AP"), "cornac", "cornac"),
    "polars": (lambda module: module.install(), "polars", "polars"),
    "spark": (lambda module: module.evaluate(None, None, "AP"), "pyspark", "'tieaware[spark]'"),
    "nearest_neighbours": (lambda module: module.read_neighbours("truth.hdf5"), "h5py", "h5py"),
    "torchmetrics": (lambda module: module.RankingMetric, "torchmetrics", "torchmetrics"),
    "llama_index": (lambda module: module.metric("AP"), "llama_index", "llama-index-core"),
    "haystack": (lambda module: module.RankingEvaluator, "haystack", "haystack-ai"),
    "ragas": (lambda module: module.metric("AP"), "ragas", "ragas"),
    "deepeval": (lambda module: module.metric("AP"), "deepeval", "deepeval"),
    "retrieved_contexts": None,
    "recbole": None,
    "elliot": None,
    "search_engines": None,
    "pytrec_eval": None,
    "link_prediction": None,
}  # fmt: skip


def recorded():
    """Return the versions in the constraint files, by package."""
    found = {}
    for path in (ROOT / "constraints").iterdir():
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            package, version = line.split("==")
            found.setdefault(canonicalize_name(package), set()).add(version)
    return found


def named(text):
    """Return the packages that a text names with a version, as in "ir-measures 0.4.3"."""
    pairs = re.findall(r"\b([A-Za-z][\w-]*) (\d+(?:\.\d+)+)", text)
    return {canonicalize_name(package): version for package, version in pairs}


def test_importing_tieaware_imports_no_integration():
    code = "import sys, tieaware, tieaware.cli; print(*[each for each in sys.modules if 'integrations' in each])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_missing_tool_is_named_with_what_installs_it(name, monkeypatch):
    """The module can be imported without the tool. The error is raised when the tool is first needed."""
    needed = NEEDS[name]
    blocked = [each for each in sys.modules if needed and each.partition(".")[0] == needed[1]]
    for each in (*blocked, *([needed[1]] if needed else ["pytrec_eval", "ogb", "torch", "pykeen"])):
        monkeypatch.setitem(sys.modules, each, None)
    # Import the module again, because it may have kept parts of the tool.
    monkeypatch.delitem(sys.modules, f"tieaware.integrations.{name}", raising=False)
    monkeypatch.setattr(integrations, name, None, raising=False)
    module = importlib.import_module(f"tieaware.integrations.{name}")
    if needed is not None:
        use, tool, target = needed
        with pytest.raises(MissingExtraError, match=rf"^{tool} is not installed: pip install {re.escape(target)}$"):
            use(module)


def test_the_tool_is_a_package_that_the_tests_install():
    """A misspelled name in a message would install another package."""
    packages = {*recorded(), "ragas", "deepeval"}
    for needed in filter(None, NEEDS.values()):
        names = re.findall(r"[a-z][a-z0-9-]+[a-z]", needed[2].replace("'tieaware[spark]'", "pyspark").partition(",")[0])
        assert names
        assert any(canonicalize_name(name) in packages for name in names), needed[2]


def test_the_docstring_of_the_package_lists_all_modules():
    assert set(re.findall(r"^``(\w+)``", integrations.__doc__, re.MULTILINE)) == MODULES


def test_the_api_page_lists_all_modules():
    page = (PAGES.parent / "api" / "integrations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: tieaware\.integrations\.(\w+)$", page, re.MULTILINE)) == {*MODULES, "boosting"}


def test_the_documentation_lists_all_modules_and_the_tested_versions():
    """The versions are those of the constraint files, which the tests install."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "][1:]
    modules = [re.search(r"tieaware\.integrations\.(\w+)|integrations import (\w+)", line) for _, line, _, _ in rows]
    assert {found[1] or found[2] for found in modules if found} == MODULES
    without = [tool for tool, _, tried, _ in rows if not named(tried)]
    assert without == [
        "[trec_eval](trec_eval.md)",
        "[search engines](search_engines.md): Elasticsearch, OpenSearch, Quepid, Vespa",
        "[other RAG evaluators](rag.md#any-tool)",
        "[RecBole](recommender_libraries.md#recbole)",
        "[Elliot](recommender_libraries.md#elliot)",
        "[LLM graders and rerankers](graders.md)",
    ]
    of_package = recorded()
    for tool, _, tried, agrees in rows:
        assert all({version} == of_package.get(package, {version}) for package, version in named(tried).items()), tool
        assert agrees or "NumPy alone" in tried
    linked = {target for tool, *_ in rows for target in re.findall(r"\((\w+\.md)", tool)}
    assert linked == {path.name for path in PAGES.glob("*.md")} - {"README.md"}


OF_USERS = [*PAGES.glob("*.md"), *PAGES.parent.glob("coming_from/*.md")]


@pytest.mark.parametrize("path", sorted(OF_USERS), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_versions_on_a_page_are_the_tested_ones(path):
    of_package = recorded()
    for package, version in named(path.read_text(encoding="utf-8")).items():
        if package in of_package:
            assert any(f"{each}.".startswith(f"{version}.") for each in of_package[package]), (package, version)


def test_a_booster_with_the_metric_of_the_other_is_told_so():
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    from tieaware.integrations import lightgbm as for_lightgbm
    from tieaware.integrations import xgboost as for_xgboost

    scores, features = np.array([1.0, 2.0]), np.zeros((2, 1))
    matrix = xgboost.DMatrix(features, [0, 1], group=[2])
    with pytest.raises(InputError) as error:
        for_lightgbm.metric("RR")(scores, matrix)
    assert str(error.value) == (
        "data: must be a Dataset, not DMatrix; this metric is LightGBM's; XGBoost needs "
        "tieaware.integrations.xgboost.metric"
    )
    with pytest.raises(InputError) as error:
        for_xgboost.metric("RR")(scores, lightgbm.Dataset(features, [0, 1], group=[2]))
    assert str(error.value) == (
        "data: must be a DMatrix, not Dataset; this metric is XGBoost's; LightGBM needs "
        "tieaware.integrations.lightgbm.metric"
    )
