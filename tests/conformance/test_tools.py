"""Other tools order ties in the conformance set as the table of tieaware.experiments.ties_by_tool says.

The functions that call the tools are those of website/wild_tools.py.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tieaware import conformance
from tieaware.experiments.ties_by_tool import TOOLS

BUILDER = Path(__file__).parents[2] / "website"
if not BUILDER.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
sys.path.insert(0, str(BUILDER))
import wild_tools  # noqa: E402

# Importing the tools gives warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

BY_NAME = {tool.name: tool for tool in wild_tools.TOOLS}
CASES = [case for case in conformance.cases() if not {"real-labels", "empty"} & {*case.tags}]
# Scores that single precision does not distinguish.
DOUBLE = ("double", "subnormal", "infinities")


def fits(case, *, without=(), whole=False, binary=False):
    """Return whether a tool can evaluate a case: `whole` if it sees the list alone, `binary` if labels are 0 and 1."""
    labels = case.qrels[case.id]
    if {*without} & {*case.tags} or (whole and not (labels.keys() <= case.run[case.id].keys())):
        return False
    return bool(max(labels.values()) >= 1 and len(case.run[case.id]) > 1) and not (binary and max(labels.values()) > 1)


# The tool in wild_tools, the module that must be installed, the place of the tool in TOOLS, and the measures and cases.
RUNS = [
    ("pytrec_eval", "pytrec_eval", 0, ["RR", "AP", "nDCG@3"], {"without": DOUBLE}),
    ("ir_measures", "ir_measures", 1, ["RR", "AP", "nDCG@3"], {"without": DOUBLE}),
    ("ir_measures, RR@10", "ir_measures", 2, ["RR"], {}),
    ("PyTerrier", "pyterrier", 3, ["RR", "AP", "nDCG@3"], {"without": DOUBLE}),
    ("mteb", "mteb", 6, ["RR", "AP", "nDCG@3"], {"without": DOUBLE}),
    ("beir", "beir", 7, ["AP", "nDCG@3"], {"without": DOUBLE}),
    ("beir", "beir", 8, ["RR"], {}),
    ("sentence-transformers, retrieval", "sentence_transformers", 9, ["RR", "AP"], {}),
    ("scikit-learn", "sklearn", 13, ["nDCG@3"], {"whole": True, "without": ("infinities", "subnormal")}),
    ("tie-aware-retrieval-metrics", "trm", 15, ["RR", "AP"], {"whole": True}),
    # LightGBM replaces scores beyond 1e300, so that -1e308 and minus infinity tie.
    ("LightGBM", "lightgbm", 16, ["AP", "nDCG@3"], {"whole": True, "without": ("infinities",)}),
    ("XGBoost", "xgboost", 17, ["AP", "nDCG@3"], {"whole": True, "without": DOUBLE}),
    ("torchmetrics", "torchmetrics", 18, ["nDCG@3"], {"whole": True, "without": DOUBLE}),
]


def checked(tool, measure, options):
    among = [case for case in CASES if fits(case, **options)]
    assert len(among) > 60

    def evaluated(qrels, run):
        ((query, labels),) = qrels.items()
        scores = {document: float(score) for document, score in run[query].items()}
        return float(BY_NAME[tool].evaluate(wild_tools.Given(labels, scores), measure))

    # Some tools have single precision or round to five decimals.
    return conformance.check(evaluated, measure, among=among, tolerance=6e-6)


@pytest.mark.parametrize(("tool", "module", "place", "measures", "options"), RUNS, ids=[run[0] for run in RUNS])
def test_a_tool_follows_its_tie_rule(tool, module, place, measures, options):
    if find_spec(module) is None:
        pytest.skip(f"{tool} is not installed: `make test-tools` tries it")
    entry = TOOLS[place]
    assert entry.package == BY_NAME[tool].package
    for measure in measures:
        report = checked(tool, measure, options)
        assert report.followed() == (entry.rule,), (
            measure,
            str(report),
            [str(each) for each in report.differences[:5]],
        )


def test_average_precision_of_scikit_learn_follows_no_rule():
    pytest.importorskip("sklearn")
    assert TOOLS[14].rule is None
    report = checked("scikit-learn", "AP", {"whole": True, "without": ("infinities", "subnormal")})
    assert report.followed() == ()
    assert len(report.differences) > 20
