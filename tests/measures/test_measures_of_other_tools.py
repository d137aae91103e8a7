"""Every measure of ir_measures has a name here, and that of other tools a name or a reason why it has none.

The tables fail if a tool gains a measure, and if tieaware gains one that a table leaves out.
"""

import ast
import contextlib
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

import tieaware
from tieaware import InputError
from tieaware.trec_eval.families import MEASURES as TREC_EVAL_FAMILIES

# `tieaware trec_eval` and the integration of pytrec_eval compute these lines.
ONLY_AS_LINES = "a line of trec_eval alone"
TREC_EVAL = {
    **dict.fromkeys(("runid", "relstring"), "a text"),
    **dict.fromkeys(
        ("G", "binG", "Rndcg", "ndcg_rel", "Rprec_mult", "gm_bpref", "relative_P", "utility", "num_nonrel_judged_ret",
         "unj"),
        ONLY_AS_LINES,
    ),
    "rbp": "RBP has other defaults than trec_eval's",
    "rbp_resid": "RBPResidual has other defaults than trec_eval's",
}  # fmt: skip

# The names of ranx 0.3.21, torchmetrics 1.9 and LensKit 2025.8, and the notation of each here.
RANX = {
    "hits": None, "hit_rate": "Hits", "precision": "P", "recall": "R", "f1": "F1", "r-precision": "Rprec",
    "mrr": "RR", "map": "AP", "dcg": "DCG", "dcg_burges": "DCG(dcg='exp-log2')", "ndcg": "nDCG",
    "ndcg_burges": "nDCG(dcg='exp-log2')", "bpref": "Bpref", "rbp": "RBP",
}  # fmt: skip
RANX_LEFT_OUT = {"hits": "the number of hits, which is NumRelRet without a cut-off"}

TORCHMETRICS = {
    "retrieval_auroc": "AUC", "retrieval_average_precision": "AP", "retrieval_fall_out": "FallOut",
    "retrieval_hit_rate": "Hits", "retrieval_normalized_dcg": "nDCG", "retrieval_precision": "P",
    "retrieval_precision_recall_curve": None, "retrieval_r_precision": "Rprec", "retrieval_recall": "R",
    "retrieval_reciprocal_rank": "RR",
}  # fmt: skip
TORCHMETRICS_LEFT_OUT = {"retrieval_precision_recall_curve": "a curve, which experiments.curves draws"}

LENSKIT = {
    "Hit": "Hits", "Precision": "P", "Recall": "R", "RecipRank": "RR", "NDCG": "nDCG", "DCG": "DCG", "RBP": "RBP",
    "rank_biased_precision": "RBP", "MeanPopRank": None, "AveragePrecision": "AP", "ListGini": None,
    "ExposureGini": None, "entropy": None, "rank_biased_entropy": None,
    "RankingMetricBase": None, "RankWeight": None, "GeometricRankWeight": None, "LogRankWeight": None,
}  # fmt: skip
LENSKIT_LEFT_OUT = {
    "MeanPopRank": "popularity, not relevance",
    "ListGini": "how often items are recommended, over all users",
    "ExposureGini": "tieaware.fairness.gini of tieaware.fairness.group_exposure",
    **dict.fromkeys(("entropy", "rank_biased_entropy"), "diversity of categories, not relevance"),
    **dict.fromkeys(("RankingMetricBase", "RankWeight", "GeometricRankWeight", "LogRankWeight"), "no measure"),
}


def named(name):
    """Return the measure that a text with the name is, possibly with a cut-off or a recall; None if there is none."""
    for text in (name, f"{name}@10", f"{name}_10", f"{name}_0.10"):
        with contextlib.suppress(InputError):
            return tieaware.parse_measure(text)
    return None


def is_named(name):
    return named(name) is not None


def test_every_measure_of_ir_measures_has_a_name():
    registry = pytest.importorskip("ir_measures").measures.registry
    assert len(registry) > 40
    assert [name for name in registry if not is_named(name)] == [], "ir_measures has a new measure"


def test_the_measures_of_ir_measures_are_served():
    """`integrations.ir_measures` computes every measure of the registry."""
    ir_measures = pytest.importorskip("ir_measures")
    from tieaware.integrations.ir_measures import provider

    needed = {"rel": 1, "max_rel": 4, "cutoff": 10, "T": 1.0, "recall": 0.1, "p": 0.8, "min_rel": 0}
    served = provider()
    for name, family in ir_measures.measures.registry.items():
        parameters = {key: needed[key] for key, info in family.SUPPORTED_PARAMS.items() if info.required}
        if "rel" in family.SUPPORTED_PARAMS:
            parameters["rel"] = 1
        assert served.supports(family(**parameters)), name


def test_every_measure_of_trec_eval_has_a_name_or_a_reason():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    families = set(pytrec_eval.supported_measures) | set(TREC_EVAL_FAMILIES)
    assert {name for name in families if not is_named(name)} <= set(TREC_EVAL), "trec_eval has a new measure"
    assert [name for name in TREC_EVAL if is_named(name)] == ["rbp"], "another measure has a name now"
    assert set(pytrec_eval.supported_measures) <= set(TREC_EVAL_FAMILIES), "pytrec_eval has a new measure"
    assert set(TREC_EVAL) <= families


@pytest.mark.parametrize(
    ("names", "left_out"),
    [(RANX, RANX_LEFT_OUT), (TORCHMETRICS, TORCHMETRICS_LEFT_OUT), (LENSKIT, LENSKIT_LEFT_OUT)],
    ids=["ranx", "torchmetrics", "LensKit"],
)
def test_the_names_of_other_tools_have_the_notation_of_the_table(names, left_out):
    for name, notation in names.items():
        if notation is not None:
            assert str(named(name.removeprefix("retrieval_"))) == notation
    unnamed = {name for name, notation in names.items() if notation is None}
    assert unnamed == set(left_out)
    assert [name for name in unnamed - {"hits"} if is_named(name.removeprefix("retrieval_"))] == []


def test_the_table_has_every_measure_of_ranx():
    """The names are read from the source, because importing ranx compiles for a minute."""
    if find_spec("ranx") is None:
        pytest.skip("ranx is not installed: `make test-tools` tries it")
    source = Path(find_spec("ranx").origin).parent / "metrics" / "__init__.py"
    switch = next(
        node
        for node in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "metric_switch"
    )
    compared = [node.comparators[0].value for node in ast.walk(switch) if isinstance(node, ast.Compare)]
    assert set(compared) == set(RANX)


@pytest.mark.parametrize(
    ("module", "names"),
    [("torchmetrics.functional.retrieval", TORCHMETRICS), ("lenskit.metrics.ranking", LENSKIT)],
)
@pytest.mark.filterwarnings("ignore")
def test_the_table_has_every_measure_of_an_installed_tool(module, names):
    tool = module.partition(".")[0]
    if find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    assert set(importlib.import_module(module).__all__) == set(names)
