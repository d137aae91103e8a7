"""Each tool orders ties as the table of tieaware.experiments.ties_by_tool says, tested on a run with many ties.

The functions that call the tools are those of website/wild_tools.py.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import tieaware
from tieaware.experiments.ties_by_tool import TOOLS, table, tools_by_rule
from tieaware.ties import RULES

ROOT = Path(__file__).parents[2]
BUILDER = ROOT / "website"
if not BUILDER.is_dir():
    pytest.skip("the documentation is not here", allow_module_level=True)
sys.path.insert(0, str(BUILDER))
import wild_tools  # noqa: E402

# Importing the tools gives warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

# Queries whose documents have one of three scores. The lists are sorted neither by score nor by name. They are so long
# that an unstable sort changes their order. With eight relevant documents, all tools normalise AP@10 alike.
_rng = np.random.default_rng(11)
RUN = {f"q{q}": {f"d{document:02}": float(_rng.integers(3)) for document in _rng.permutation(64)} for q in range(5)}
QRELS = {
    query: dict(zip(documents, (_rng.permutation(64) < 8).astype(int).tolist(), strict=True))
    for query, documents in RUN.items()
}

EVALUATE = {tool.name: tool.evaluate for tool in wild_tools.TOOLS}
WHOLE = {"RR": "RR", "AP": "AP", "nDCG@3": "nDCG@3"}
# Measures that tools are asked for with a cut-off.
CUT = {"RR": "RR@10", "AP": "AP@10", "nDCG@3": "nDCG@3"}
# For each entry of TOOLS, in that order: its name in wild_tools, a module that must be installed, and the measures of
# wild_tools with those of tieaware.
RUNS = [
    ("pytrec_eval", "pytrec_eval", WHOLE),
    ("ir_measures", "ir_measures", WHOLE),
    ("ir_measures, RR@10", "ir_measures", {"RR": "RR@10"}),
    ("PyTerrier", "pyterrier", WHOLE),
    ("PyTerrier", "pyterrier", {"RR@10": "RR@10"}),
    # ranx itself needs no torch, but compiles for a minute, so only `make test-tools` runs it.
    ("ranx", "torch", WHOLE),
    ("mteb", "mteb", CUT),
    ("beir", "beir", {"AP": "AP@10", "nDCG@3": "nDCG@3"}),
    ("beir", "beir", {"RR": "RR@10"}),
    ("sentence-transformers, retrieval", "sentence_transformers", {"RR": "RR@10", "nDCG@3": "nDCG@3"}),
    ("sentence-transformers, reranking", "sentence_transformers", {"RR": "RR@10"}),
    ("sentence-transformers, reranking", "sentence_transformers", {"nDCG@3": "nDCG@3"}),
    ("sentence-transformers, reranking", "sentence_transformers", {"AP": "AP"}),
    ("scikit-learn", "sklearn", {"nDCG@3": "nDCG@3"}),
    ("scikit-learn", "sklearn", {"AP": "AP"}),
    ("tie-aware-retrieval-metrics", "trm", CUT),
    ("LightGBM", "lightgbm", {"AP": "AP@10", "nDCG@3": "nDCG@3"}),
    ("XGBoost", "xgboost", {"AP": "AP@10", "nDCG@3": "nDCG@3"}),
    ("torchmetrics", "torchmetrics", {"nDCG@3": "nDCG@3"}),
    ("torchmetrics", "torchmetrics", {"RR": "RR", "AP": "AP"}),
]


@pytest.mark.parametrize(
    ("tool", "name", "module", "measures"),
    [(tool, *run) for tool, run in zip(TOOLS, RUNS, strict=True)],
    ids=[f"{tool.package}: {tool.computes}" for tool in TOOLS],
)
def test_a_tool_follows_its_tie_rule_and_no_other(tool, name, module, measures):
    """If the table gives no tie rule for a tool, no rule reproduces the tool's values."""
    if find_spec(module) is None:
        pytest.skip(f"{tool.package} is not installed: `make test-tools` tries it")
    lists = [wild_tools.Given(QRELS[query], RUN[query]) for query in RUN]
    found = [[float(EVALUATE[name](each, measure)) for measure in measures] for each in lists]
    expected = {rule: tieaware.evaluate(QRELS, RUN, list(measures.values()), ties=rule).values[0] for rule in RULES}
    # The tolerance allows for beir and mteb, which round to five decimals, and for float32, which has seven digits.
    followed = {rule for rule, each in expected.items() if np.allclose(found, each, rtol=0, atol=6e-6)}
    assert followed == ({tool.rule} if tool.rule else set())


def test_the_documentation_and_the_command_have_the_same_table():
    assert table() in (ROOT / "docs" / "tie_rules.md").read_text(encoding="utf-8")
    line = next(line for line in tools_by_rule() if line.startswith("docid_ascending: "))
    assert "sentence-transformers" in line
    assert "lightgbm" not in line
    assert {rule for rule in RULES if not any(tool.rule == rule for tool in TOOLS)} == {"optimistic", "pessimistic"}
