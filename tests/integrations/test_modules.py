"""Tests of all integrations: imports are lazy, missing tools are named, and the lists of integrations are complete."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tieaware import integrations
from tieaware.experiments.ties_by_tool import TOOLS
from tieaware.runtime.extras import MissingExtraError

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "tools"
TABLE = PAGES / "README.md"
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
    "spark": (lambda module: module.evaluate(None, None, "AP"), "pyspark", "'tieaware[spark]'"),
    "nearest_neighbours": (lambda module: module.read_neighbours("truth.hdf5"), "h5py", "h5py"),
    "torchmetrics": (lambda module: module.RankingMetric, "torchmetrics", "torchmetrics"),
    "search_engines": None,
    "pytrec_eval": None,
    "link_prediction": None,
}  # fmt: skip
# Packages that no environment of the project installs; their recipes run where somebody has them.
NOT_RECORDED = {"ragas", "deepeval"}


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
    packages = set(recorded())
    for needed in filter(None, NEEDS.values()):
        names = re.findall(r"[a-z][a-z0-9-]+[a-z]", needed[2].replace("'tieaware[spark]'", "pyspark").partition(",")[0])
        assert names
        assert any(canonicalize_name(name) in packages for name in names), needed[2]


def test_the_api_page_lists_all_modules():
    page = (PAGES.parent / "api" / "integrations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: tieaware\.integrations\.(\w+)$", page, re.MULTILINE)) == {*MODULES, "boosting"}


def imported(text):
    """Return the modules of integrations that lines of code import."""
    found = re.findall(r"from tieaware\.integrations(?:\.| import )(\w+(?:, \w+)*)", text)
    return {name for names in found for name in names.split(", ")}


def test_the_table_of_tools_lists_all_modules_and_pages_and_the_tested_versions():
    """The versions are those of the constraint files, which the tests install."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:2] == "| "][1:]
    assert set().union(*(imported(code) for _, code, _, _, _ in rows)) == MODULES
    linked = {target for _, _, page, _, _ in rows for target in re.findall(r"\((\w+\.md)", page)}
    assert linked == {path.name for path in PAGES.glob("*.md")} - {TABLE.name}
    of_package = recorded()
    versions = {package: version for *_, tested in rows for package, version in named(tested).items()}
    assert {package: {version} for package, version in versions.items() if package not in NOT_RECORDED} == {
        package: of_package.get(package) for package in versions if package not in NOT_RECORDED
    }


def test_the_versions_in_the_table_of_tie_rules_are_the_tested_ones():
    of_package = recorded()
    assert [tool for tool in TOOLS if of_package[tool.package] != {tool.version}] == []


def test_the_readme_imports_what_the_table_has():
    shown = imported((ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert shown <= MODULES


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_the_versions_on_a_page_are_the_tested_ones(path):
    of_package = recorded()
    for package, version in named(path.read_text(encoding="utf-8")).items():
        if package in of_package:
            assert any(f"{each}.".startswith(f"{version}.") for each in of_package[package]), (package, version)
