"""The recipes of docs/tools: where nothing ties, the values of the tool's own metrics; means over the orders of ties.

RecBole 1.2.1 pins old versions of several packages, so no environment installs it; its trainer has a stand-in here.
"""

import re
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "tools"
INF = np.inf


def recipe(page, *headings):
    """Run the blocks of Python in sections of a page, and return the names that they define."""
    names = {}
    for section in re.split(r"^## ", (PAGES / f"{page}.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        if section.partition("\n")[0] in headings:
            for code in re.findall("^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE):
                exec(compile(code, page, "exec"), names)
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def lists():
    """Twenty lists of ten different names, and the relevant names of each, some of which the list lacks."""
    rng = np.random.default_rng(2028)
    return [
        ([f"d{i}" for i in rng.permutation(20)[:10]], [f"d{i}" for i in rng.permutation(20)[: 1 + row % 4]])
        for row in range(20)
    ]


@pytest.mark.parametrize("measure", ["RR", "AP", "nDCG@3", "P@2", "R@3"])
def test_contexts_have_the_value_and_spread_over_all_orders(measure):
    """Three contexts tie, and a relevant one was not retrieved. A document counts with the best of its passages."""
    contexts, relevant = recipe("graders", "Retrieved contexts").contexts, {"a": 1, "c": 1, "x": 1}
    orders = [contexts(relevant, ["b", *order], range(4, 0, -1), measure).mean for order in permutations("acd")]
    found = contexts(relevant, ["b", *"acd", "d"], [3.0, 2.0, 2.0, 2.0, 1.0], measure)
    expected = np.mean(orders), np.std(orders), np.min(orders), np.max(orders)
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-12)
    assert contexts(relevant, [], [], measure).max == contexts({}, ["a"], [1.0], measure).max == 0


@pytest.mark.parametrize(
    ("measure", "own"), [("RR", "MRR"), ("Success@10", "HitRate"), ("P@10", "Precision"), ("R@10", "Recall")]
)
def test_values_are_those_of_llama_index(measure, own, lists):
    theirs = getattr(pytest.importorskip("llama_index.core.evaluation.retrieval.metrics"), own)()
    ours = recipe("graders", "Retrieved contexts", "llama_index").metric(measure)
    type(ours).scores = list(range(10, 0, -1))
    for retrieved, relevant in lists:
        expected = theirs.compute("q", relevant, retrieved, None, None).score
        assert ours.compute("q", relevant, retrieved, None, None).score == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("measure", "own"),
    [("RR", "DocumentMRREvaluator"), ("AP", "DocumentMAPEvaluator"), ("R@10", "DocumentRecallEvaluator"),
     ("nDCG", "DocumentNDCGEvaluator")],
)  # fmt: skip
def test_values_are_those_of_haystack(measure, own, lists):
    """Haystack divides AP by the relevant documents that were retrieved, so no relevant one is missing there."""
    evaluators = pytest.importorskip("haystack.components.evaluators")
    from haystack import Document

    if measure == "AP":
        lists = [(retrieved, [name for name in relevant if name in retrieved]) for retrieved, relevant in lists]
        lists = [each for each in lists if each[1]]
    given = {
        "retrieved_documents": [[Document(content=name, score=10 - i) for i, name in enumerate(names)]
                                for names, _ in lists],
        "ground_truth_documents": [[Document(content=name) for name in relevant] for _, relevant in lists],
    }  # fmt: skip
    options = {"mode": "multi_hit"} if own == "DocumentRecallEvaluator" else {}
    theirs = getattr(evaluators, own)(**options).run(**given)
    ours = recipe("graders", "Retrieved contexts", "Haystack").TieAwareEvaluator(measure).run(**given)
    np.testing.assert_allclose(ours["individual_scores"], theirs["individual_scores"], rtol=1e-14)


def test_lists_of_lenskit_have_its_values_and_ties_are_averaged():
    """R@10 of LensKit divides by the smaller of 10 and the number of test items; there are 4."""
    metrics, data = pytest.importorskip("lenskit.metrics"), pytest.importorskip("lenskit.data")
    from lenskit.metrics.ranking import LogRankWeight
    from pandas import DataFrame

    rng, lists, rows = np.random.default_rng(8), data.ItemListCollection(["user_id"]), []
    for user, scores in enumerate(np.sort(rng.random((30, 20)))[:, ::-1]):
        lists.add(data.ItemList(item_ids=rng.permutation(40)[:20], scores=scores, ordered=True), user_id=user)
        rows += [(user, item, 1.0) for item in rng.permutation(40)[:4]]
    test = data.ItemListCollection.from_df(DataFrame(rows, columns=["user_id", "item_id", "rating"]), ["user_id"])
    own = {
        "RR": metrics.RecipRank(), "R@10": metrics.Recall(10), "P@10": metrics.Precision(10),
        "Success@10": metrics.Hit(10), "nDCG@10": metrics.NDCG(10, weight=LogRankWeight(offset=1)),
    }  # fmt: skip
    theirs = metrics.RunAnalysis(*own.values()).measure(lists, test).list_metrics().to_numpy()
    ours = recipe("recommender_libraries", "LensKit")
    np.testing.assert_allclose(ours.lenskit_results(lists, test, list(own)).values[0], theirs, rtol=1e-12)
    found = metrics.RunAnalysis(*map(ours.TieAwareList, own)).measure(lists, test).list_metrics()
    np.testing.assert_allclose(found.to_numpy(), theirs, rtol=1e-12)
    tied = data.ItemList(item_ids=[3, 5, 4], scores=[2.0, 1.0, 1.0], ordered=True)
    value = ours.TieAwareList("RR").measure_list(tied, data.ItemList(item_ids=[4, 9]))
    assert value == pytest.approx((1 / 2 + 1 / 3) / 2, rel=1e-15)


def test_metrics_have_the_values_of_cornac_where_nothing_ties():
    """A recommender that gives all items the same score earns the share of relevant items at every cut-off."""
    cornac = pytest.importorskip("cornac")
    metric = recipe("recommender_libraries", "Cornac").TieAwareMetric
    rng = np.random.default_rng(0)
    data = [(f"u{u}", f"i{i}", float(rng.integers(1, 6))) for u in range(30) for i in rng.permutation(40)[:12]]
    method = cornac.eval_methods.RatioSplit(data, test_size=0.3, rating_threshold=3.0, seed=1, verbose=False)
    theirs = {
        "nDCG@10": cornac.metrics.NDCG(k=10), "RR": cornac.metrics.MRR(), "R@10": cornac.metrics.Recall(k=10),
        "P@10": cornac.metrics.Precision(k=10), "Success@10": cornac.metrics.HitRatio(k=10), "AP": cornac.metrics.MAP(),
        "AUC": cornac.metrics.AUC(),
    }  # fmt: skip

    class Constant(cornac.models.Recommender):
        def score(self, user_idx, item_idx=None):
            return np.zeros(self.num_items)

    models = [cornac.models.BPR(k=8, max_iter=5, seed=2, verbose=False), Constant(name="constant")]
    experiment = cornac.Experiment(method, models, [*theirs.values(), *map(metric, theirs)], verbose=False)
    experiment.run()
    found, tied = (each.metric_user_results for each in experiment.result)
    for name, each in theirs.items():
        assert found[name] == pytest.approx(found[each.name], rel=1e-12)
    assert set(tied["AUC"].values()) == {0.5}


class OnHost(np.ndarray):
    """An array with the method of tensors that the recipe calls."""

    def cpu(self):
        return self


class Trainer:
    """A trainer that evaluates batches (scores, users of the interaction, rows and columns of the positive items)."""

    def __init__(self):
        self.config = {"USER_ID_FIELD": "user_id"}
        self.collected = []
        self.eval_collector = SimpleNamespace(
            eval_batch_collect=lambda *batch: self.collected.append(batch), get_data_struct=lambda: "struct"
        )

    def evaluate(self, data, load_best_model):
        for scores, users, *positive in data.batches:
            self.eval_collector.eval_batch_collect(scores, {"user_id": users}, *positive)
        assert self.eval_collector.get_data_struct() == "struct"


def test_lists_are_those_that_recbole_ranks():
    """Item 0 is RecBole's padding, and the history of the first user item 1. A masked positive item ranks last."""
    batches = [
        ([[-INF, -INF, 2.0, 2.0, 1.0], [-INF, 3.0, 2.0, 1.0, 0.0]], [7, 3], [0, 1, 1], [3, 1, 4]),
        # With sampled negatives, a user has a row in the interaction for each candidate.
        ([[-INF, 1.0, 1.0, 1.0, 1.0], [-INF, -INF, 1.0, 2.0, -INF]], [5, 5, 8, 8, 8], [0, 1], [2, 1]),
    ]
    dataset = SimpleNamespace(id2token=lambda field, numbers: [f"{field} {each}" for each in numbers])
    made = [[np.array(each).view(OnHost) for each in batch] for batch in batches]
    trainer = Trainer()
    own = trainer.eval_collector
    evaluate = recipe("recommender_libraries", "RecBole").recbole_results
    found = evaluate(trainer, SimpleNamespace(dataset=dataset, batches=made), ["RR", "R@1", "AUC"])
    assert found.queries == ("user_id 7", "user_id 3", "user_id 5", "user_id 8")
    expected = [[0.75, 0.5, 0.75], [1.0, 0.5, 0.5], [25 / 48, 0.25, 0.5], [1 / 3, 0.0, 0.0]]
    np.testing.assert_allclose(found.values[0], expected, rtol=1e-15)
    assert found.min[0, :, 0].tolist() == [0.5, 1.0, 0.25, 1 / 3]
    assert (len(trainer.collected), trainer.eval_collector) == (2, own)


def test_values_are_those_of_recbole_where_nothing_ties(monkeypatch, tmp_path):
    for name, own in ("float_", np.float64), ("complex_", np.complex128), ("unicode_", np.str_):
        monkeypatch.setattr(np, name, own, raising=False)
    monkeypatch.setattr("sys.argv", ["recbole"])  # RecBole reads the command line.
    config = pytest.importorskip("recbole.config")
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer

    rng = np.random.default_rng(3)
    rows = [f"u{user}\ti{item}" for user in range(30) for item in rng.permutation(40)[:12]]
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.inter").write_text("\n".join(["user_id:token\titem_id:token", *rows]) + "\n")
    options = config.Config(model="BPR", dataset="tiny", config_dict={
        "data_path": str(tmp_path), "epochs": 2, "use_gpu": False, "topk": [10], "metric_decimal_place": 14,
        "metrics": ["NDCG", "MRR", "Recall", "Hit", "Precision", "MAP"], "valid_metric": "NDCG@10",
        "load_col": {"inter": ["user_id", "item_id"]},
        "eval_args": {"split": {"RS": [0.6, 0.2, 0.2]}, "group_by": "user", "order": "RO", "mode": "full"},
    })  # fmt: skip
    training, validation, test = data_preparation(options, create_dataset(options))
    trainer = get_trainer(options["MODEL_TYPE"], "BPR")(options, get_model("BPR")(options, training.dataset))
    trainer.fit(training, validation, saved=False)
    theirs = trainer.evaluate(test, load_best_model=False)
    measures = ["nDCG@10", "RR@10", "R@10", "Success@10", "P@10", "AP_cap@10"]
    found = recipe("recommender_libraries", "RecBole").recbole_results(trainer, test, measures, load_best_model=False)
    np.testing.assert_allclose(found.mean()[0], list(theirs.values()), rtol=1e-12)
