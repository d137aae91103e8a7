"""The errors for attributes that users of other tools look for: they say what to write instead."""

import copy
import pickle
import re

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, Qrels, Results, Run, evaluate, experiments, statistics
from tieaware.checks.attributes import INSTEAD

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d2": 1.0}}
ONE = evaluate(QRELS, RUN, ["AP", "nDCG@10"])
TWO = evaluate(QRELS, {"bm25": RUN, "dense": RUN}, "AP")
EVALUATOR = Evaluator([0, 1], "AP")
OWNERS = {
    "tieaware": tieaware, "tieaware.experiments": experiments, "tieaware.statistics": statistics, "Qrels": Qrels,
    "Run": Run.from_dict(RUN), "Evaluator": EVALUATOR, "Results": ONE, "Table": ONE.means(),
    "WeightedFusion": tieaware.WeightedFusion(QRELS, {"bm25": RUN, "dense": RUN}, "AP"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        (tieaware, "ndcg_score", "tieaware has no 'ndcg_score'; write evaluate(qrels, run, 'nDCG')"),
        (tieaware, "ndcg", "tieaware has no 'ndcg'; write evaluate(qrels, run, 'nDCG')"),
        (tieaware, "MRR", "tieaware has no 'MRR'; write evaluate(qrels, run, 'RR')"),
        (tieaware, "precision_at_k", "tieaware has no 'precision_at_k'; write evaluate(qrels, run, 'P@10')"),
        (tieaware, "load_qrels", "tieaware has no 'load_qrels'; write tieaware.read_qrels(path)"),
        (
            tieaware,
            "read_trec",
            "tieaware has no 'read_trec'; write tieaware.read_qrels(path) or tieaware.read_run(path)",
        ),
        (tieaware, "compute", "tieaware has no 'compute'; write evaluate(qrels, run, measures)"),
        (tieaware, "metrics", "tieaware has no 'metrics'; write evaluate(qrels, run, measures)"),
        (tieaware, "compare", "tieaware has no 'compare'; write evaluate(qrels, runs, measures).table()"),
        (tieaware, "kendall_tau", "tieaware has no 'kendall_tau'; write tieaware.statistics.kendall_tau"),
        (tieaware, "utils", "tieaware has no attribute 'utils'"),
        (tieaware, "hits", "tieaware has no attribute 'hits'"),
        (tieaware, "__path", "tieaware has no attribute '__path'"),
        (experiments, "evaluate", "tieaware.experiments has no 'evaluate'; write evaluate(qrels, run, measures)"),
        (statistics, "ttest", "tieaware.statistics has no 'ttest'; write statistics.paired_test(a, b)"),
        (Qrels, "from_csv", "Qrels has no 'from_csv'; write tieaware.read_qrels(path)"),
        (Qrels, "from_pandas", "Qrels has no 'from_pandas'; write Qrels.from_frame(frame)"),
        (Qrels.from_dict(QRELS), "items", "Qrels has no 'items'; write qrels.to_dict().items()"),
        (Run.from_dict(RUN), "get", "Run has no 'get'; write run.to_dict().get(query, {})"),
        (
            OWNERS["WeightedFusion"],
            "score",
            "WeightedFusion has no 'score'; write fusion.evaluator.mean(fusion.scores(weights))",
        ),
        (Run, "from_csv", "Run has no 'from_csv'; write tieaware.read_run(path)"),
        (Run, "from_json", "Run has no 'from_json'; write Run.from_dict(json.load(file))"),
        (Run.from_dict(RUN), "save", "Run has no 'save'; write run.write(path)"),
        (Run, "from_nowhere", "Run has no attribute 'from_nowhere'"),
        (EVALUATOR, "means", "Evaluator has no 'means'; write evaluator.mean(scores)"),
        (EVALUATOR, "predict", "Evaluator has no attribute 'predict'"),
        (ONE, "to_latex", "Results has no 'to_latex'; write result.table().to_latex()"),
        (
            ONE,
            "compare",
            "Results has no 'compare'; write result.table(baseline=run) or tieaware.experiments.compare(result)",
        ),
        (ONE, "to_dataframe", "Results has no 'to_dataframe'; write result.to_pandas()"),
        (ONE, "to_df", "Results has no 'to_df'; write result.to_pandas()"),
        (ONE, "to_excel", "Results has no 'to_excel'; write result.to_pandas().to_excel(path)"),
        (ONE.means(), "to_df", "Table has no 'to_df'; write table.to_pandas()"),
        (ONE.means(), "latex", "Table has no 'latex'; write table.to_latex()"),
        (ONE.means(), "loc", "Table has no 'loc'; write table[row, column]"),
        (ONE, "map", "Results has no 'map'; write result['AP']"),
        (ONE, "ndcg_at_10", "Results has no 'ndcg_at_10'; write result['nDCG@10']"),
        (TWO, "AP", "Results has no 'AP'; write result['bm25', 'AP']"),
        (TWO, "ndcg", "Results has no attribute 'ndcg'"),
        (Results, "to_df", "Results has no 'to_df'; write result.to_pandas()"),
    ],
)
def test_the_error_says_what_to_write(owner, name, message):
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert str(caught.value) == message
    assert not hasattr(owner, name)
    assert name not in dir(owner)


@pytest.mark.parametrize("owner", INSTEAD)
def test_no_hint_is_about_an_attribute_that_exists(owner):
    assert [name for name in INSTEAD[owner] if hasattr(OWNERS[owner], name)] == []


HINTED = ("tieaware", "tieaware.statistics", "Qrels", "Results", "Run", "Table")


@pytest.mark.parametrize("hint", sorted({hint for owner in HINTED for hint in INSTEAD[owner].values()}))
def test_what_the_hint_says_exists(hint):
    """The part of each hint before the first bracket is an attribute of what the hint names."""
    known = {
        "tieaware": tieaware, "statistics": statistics, "experiments": experiments, "evaluate": evaluate,
        "result": ONE, "table": ONE.means(), "run": OWNERS["Run"], "Run": Run,
        "qrels": Qrels.from_dict(QRELS), "Qrels": Qrels, "float": float, "print": print, "str": str,
    }  # fmt: skip
    for each in hint.split(" or "):
        if each.startswith("from "):
            exec(each)
            continue
        root, *path = re.split(r"[(\[]", each)[0].split(".")
        found = known[root]
        for name in path:
            found = getattr(found, name)


@pytest.mark.parametrize("read", [lambda columns: columns["q1"], list, dict, lambda columns: "q1" in columns])
def test_judgments_and_runs_in_place_of_dicts_name_to_dict(read):
    with pytest.raises(TypeError, match=r"^Qrels is not a dict; write qrels\.to_dict\(\)$"):
        read(Qrels.from_dict(QRELS))
    with pytest.raises(TypeError, match=r"^Run is not a dict; write run\.to_dict\(\)$"):
        read(Run.from_dict(RUN))


PICKLED = (ONE, EVALUATOR, OWNERS["Run"], Qrels.from_dict(QRELS), Qrels.from_dict(QRELS).queries)


def test_objects_are_still_copied_and_pickled():
    for each in PICKLED:
        for again in (copy.copy(each), copy.deepcopy(each), pickle.loads(pickle.dumps(each))):
            assert repr(again) == repr(each)
    with pytest.raises(AttributeError):
        Results.__new__(Results).measures  # noqa: B018
    assert np.asarray(ONE.values).shape == (1, 2, 2)


@pytest.mark.parametrize("value", PICKLED, ids=lambda value: type(value).__name__)
def test_objects_are_pickled_by_spark_dask_and_joblib(value):
    """They use cloudpickle, which takes a bound method apart and looks up its function by name."""
    cloudpickle = pytest.importorskip("cloudpickle")
    assert repr(cloudpickle.loads(cloudpickle.dumps(value))) == repr(value)


def test_one_number_is_formatted_as_a_float():
    result = evaluate(QRELS, RUN, "AP")
    assert f"{result:.3f} {result:8.1%}" == "0.875    87.5%"
    assert f"{result}" == str(result)
    with pytest.raises(tieaware.InputError, match=r"^float: the results have 2 runs and 1 measure; choose one"):
        f"{TWO:.3f}"
