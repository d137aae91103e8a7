"""docs/ties_in_the_wild.md: its tables are those of the stored values, and these are the values of installed tools."""

import importlib.metadata
import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILDER = ROOT / "website"

if not BUILDER.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
sys.path.insert(0, str(BUILDER))
import ties_in_the_wild as wild  # noqa: E402
import wild_tools  # noqa: E402

PAGE = wild.PAGE.read_text(encoding="utf-8")
STORED = json.loads(wild.RESULTS.read_text(encoding="utf-8"))
# Tools whose import takes seconds, or which bring torch: `make test-tools` tries those that it installs.
SLOW = {"ranx", "rank_eval", "mteb", "beir", "PyTerrier", "RecBole", "Cornac", "LensKit", "torchmetrics", "OGB"}
SLOW |= {"Recommenders", "PyKEEN, realistic", "sentence-transformers, retrieval", "sentence-transformers, reranking"}


def installed(tool):
    try:
        return importlib.metadata.version(tool.package)
    except importlib.metadata.PackageNotFoundError:
        return None


def test_the_page_has_the_tables_of_the_stored_values():
    assert wild.tables(STORED) in PAGE


def test_the_page_has_every_tool_with_its_version():
    assert list(STORED["tools"]) == [tool.name for tool in wild_tools.TOOLS]
    for name, tool in STORED["tools"].items():
        assert f"{name} ({tool['version']})" in PAGE
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", tool["date"])


def test_the_page_counts_tools_and_lists():
    packages = {tool["package"] for tool in STORED["tools"].values()}
    assert f"Eleven lists, {len(STORED['tools'])} evaluations by {len(packages)} packages" in PAGE
    assert len(STORED["lists"]) == 11


def values(measure, head):
    found = {name: tool["values"].get(measure, {}).get(head) for name, tool in STORED["tools"].items()}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def test_the_findings_are_those_of_the_stored_values():
    """Numbers and names of the findings that another run could change."""
    constant = values("RR", "tied, first")
    assert (round(min(constant.values()), 3), max(constant.values())) == (0.167, 1.0)
    assert {name for name, value in values("nDCG@3", "cut-off").items() if round(value, 3) == 0.704} == {
        "rank_eval", "RecBole",
    }  # fmt: skip
    most = STORED["lists"]["unseen"]["exact"]["AP"][2]
    assert {name for name, value in values("AP", "unseen").items() if value > most + 6e-6} == {
        "scikit-learn", "torchmetrics", "LightGBM", "XGBoost", "CatBoost", "tie-aware-retrieval-metrics",
        "sentence-transformers, reranking", "cwl-eval",
    }  # fmt: skip
    assert values("RR", "NaN")["PyKEEN, realistic"] == 2.0
    assert values("RR", "zeros")["torchmetrics"] == values("AP", "zeros")["torchmetrics"] == 0.0
    assert {name for name, value in values("nDCG@3", "none relevant").items() if value == 1.0} == {
        "LightGBM", "XGBoost", "CatBoost",
    }  # fmt: skip
    for measure in wild_tools.MEASURES:
        for head in ("tied, first", "tied, last", "cut-off", "graded", "zeros", "infinities"):
            worst = STORED["lists"][head]["exact"][measure][1]
            assert values(measure, head)["CatBoost"] == pytest.approx(worst, abs=6e-6)


def test_the_lists_are_those_of_the_conformance_set():
    assert STORED["lists"] == json.loads(json.dumps(wild.lists()))


def test_every_value_is_a_number_or_explained():
    for tool in STORED["tools"].values():
        for values in tool["values"].values():
            assert list(values) == list(STORED["lists"])
            for value in values.values():
                assert isinstance(value, int | float) or value in ("NaN", "not applicable") or "Error: " in value


def test_values_outside_the_range_are_bold():
    given = {"exact": {"AP": [0.5, 0.25, 0.75]}}
    cells = [wild._cell(value, given, "AP") for value in (0.25, 0.750004, 0.7501, 0.2, "NaN", "ValueError: x")]
    assert cells == ["0.250", "0.750", "**0.750**", "**0.200**", "**NaN**", "error"]
    assert wild._cell(2.0, {"exact": None}, "AP") == "2.000"
    assert wild._cell("not applicable", given, "AP") == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tool", wild_tools.TOOLS, ids=[tool.name for tool in wild_tools.TOOLS])
def test_an_installed_tool_has_the_stored_values(tool):
    """Values of another version may differ; then the page is of its time."""
    stored = STORED["tools"][tool.name]
    if tool.name in SLOW and find_spec("torch") is None:
        pytest.skip("run with the tools that bring torch")
    if installed(tool) != stored["version"]:
        pytest.skip(f"{tool.package} {stored['version']} is not installed")
    for measure, values in wild.evaluated(tool).items():
        for head, value in values.items():
            if isinstance(value, str):
                assert stored["values"][measure][head] == value
            else:
                assert stored["values"][measure][head] == pytest.approx(value, abs=1e-9), (measure, head)
