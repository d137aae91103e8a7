"""Errors for names and calls of other tools: they say what to write instead."""

import copy
import pickle
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator, InputError, Qrels, Results, Run, evaluate, experiments, samples, statistics
from tieaware.output.tables import Table

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d2": 1.0}}
ONE = evaluate(QRELS, RUN, ["AP", "nDCG@10"])
TWO = evaluate(QRELS, {"bm25": RUN, "dense": RUN}, "AP")
SPREAD = evaluate(QRELS, {"a": RUN, "b": RUN}, "AP nDCG@10", spread=True)
READ = Run.from_dict(RUN)
EVALUATOR = Evaluator([0, 1], "AP")
OWNERS = {
    "tieaware": tieaware, "tieaware.experiments": experiments, "tieaware.statistics": statistics,
    "Qrels": Qrels.from_dict(QRELS), "Run": READ, "Evaluator": EVALUATOR, "Results": ONE, "Table": ONE.means(),
    "WeightedFusion": tieaware.WeightedFusion(QRELS, {"bm25": RUN, "dense": RUN}, "AP"),
}  # fmt: skip
DATA = Path(tieaware.__file__).parent / "data" / "hints.toml"
HINTS = {owner: table for owner, table in tomllib.loads(DATA.read_text()).items() if owner in OWNERS}
WRITE = [(owner, name, hint) for owner in HINTS for hint, names in HINTS[owner].items() for name in names]


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        *((owner, name, f"has no '{name}'; write {hint.replace('{name}', name)}") for owner, name, hint in WRITE),
        ("tieaware", "ndcg_score", "tieaware has no 'ndcg_score'; write evaluate(qrels, run, 'nDCG')"),
        ("tieaware", "MRR", "tieaware has no 'MRR'; write evaluate(qrels, run, 'RR')"),
        ("tieaware", "precision_at_k", "tieaware has no 'precision_at_k'; write evaluate(qrels, run, 'P@10')"),
        ("tieaware", "utils", "tieaware has no attribute 'utils'"),
        ("tieaware", "__path", "tieaware has no attribute '__path'"),
        ("Evaluator", "predict", "Evaluator has no attribute 'predict'"),
        ("Table", "AP", "Table has no 'AP'; write table['AP']"),
        ("Results", "map", "Results has no 'map'; write result['AP']"),
    ],
)
def test_a_missing_attribute_says_what_to_write(owner, name, message):
    with pytest.raises(AttributeError) as caught:
        getattr(OWNERS[owner], name)
    assert str(caught.value).endswith(message)
    assert name not in dir(OWNERS[owner])


def test_a_measure_of_several_runs_names_one():
    with pytest.raises(AttributeError, match=re.escape("write result['bm25', 'AP']")):
        _ = TWO.AP
    with pytest.raises(AttributeError, match=r"^Results has no attribute 'ndcg'$"):
        _ = TWO.ndcg


@pytest.mark.parametrize("hint", sorted({hint for owner, _, hint in WRITE if owner != "WeightedFusion"}))
def test_what_the_hint_says_exists(hint):
    """The part of each hint before the first bracket is an attribute of what the hint names."""
    known = {
        "tieaware": tieaware, "statistics": statistics, "experiments": experiments, "evaluate": evaluate, "result": ONE,
        "table": ONE.means(), "run": READ, "qrels": OWNERS["Qrels"], "evaluator": EVALUATOR, "float": float,
        "print": print, "str": str,
    }  # fmt: skip
    for each in hint.split(" or "):
        if each.startswith("from "):
            exec(each.replace("{name}", "RelevanceEvaluator"))
            continue
        root, *path = re.split(r"[(\[{]", each)[0].rstrip(".").split(".")
        found = known[root]
        for name in path:
            found = getattr(found, name)


@pytest.mark.parametrize(
    ("call", "error", "hint"),
    [
        (lambda: SPREAD["AP_std"], KeyError, "write result.means()['a', 'AP_std'], or result.std for all queries"),
        (lambda: SPREAD["b", "map_min"], KeyError, "write result.means()['b', 'AP_min'], or result.min for all"),
        (lambda: ONE["AP_std"], KeyError, "'AP_std' is a column of tables; evaluate with spread=True"),
        (lambda: SPREAD.means()["a"], KeyError, "'a' is a row; write table['a', 'AP']"),
        (lambda: ONE["bm25", "AP"], KeyError, "pass {'bm25': run} to name it"),
        (lambda: evaluate(QRELS, RUN, "nDGC@10"), InputError, "did you mean nDCG@10"),
        (lambda: samples.load("dl19"), FileNotFoundError, "load() reads the sample"),
    ],
)  # fmt: skip
def test_the_message_says_what_to_type(call, error, hint):
    with pytest.raises(error, match=re.escape(hint)):
        call()


PICKLED = (ONE, EVALUATOR, READ, Qrels.from_dict(QRELS), Qrels.from_dict(QRELS).queries, ONE.means())


@pytest.mark.parametrize("value", PICKLED, ids=lambda value: type(value).__name__)
def test_objects_are_copied_and_pickled(value):
    """Their look-up of missing attributes works before a copy has fields. Spark, Dask and joblib use cloudpickle."""
    cloudpickle = pytest.importorskip("cloudpickle")
    copies = (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)))
    for again in (*copies, cloudpickle.loads(cloudpickle.dumps(value))):
        assert repr(again) == repr(value)


def test_an_object_without_fields_has_no_attributes():
    for kind in (Results, Table):
        with pytest.raises(AttributeError):
            _ = kind.__new__(kind).measures
    assert np.asarray(ONE.values).shape == (1, 2, 2)


def test_one_number_is_formatted_as_a_float():
    result = evaluate(QRELS, RUN, "AP")
    assert f"{result:.3f} {result:8.1%}" == "0.875    87.5%"
    assert f"{result}" == str(result)
    with pytest.raises(InputError, match=r"^float: the results have 2 runs and 1 measure; choose one"):
        f"{TWO:.3f}"


def test_notebooks_complete_keys():
    assert SPREAD._ipython_key_completions_() == ["a", "b"]
    assert ONE._ipython_key_completions_() == ONE.means()._ipython_key_completions_() == ["run", "AP", "nDCG@10"]
