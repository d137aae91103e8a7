"""Metrics of LensKit, Cornac and RecBole, compared with the values of these libraries where nothing ties.

RecBole 1.2.1 pins old versions of several packages, so `make test-tools` does not install it, and its tests are
skipped; tests/integrations/test_recbole.py has stand-ins for its trainer.
"""

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.integrations import lenskit as for_lenskit
from tieaware.integrations import recbole as for_recbole
from tieaware.integrations.cornac import metric


def _lenskit_lists(rng, scores):
    data, frames = pytest.importorskip("lenskit.data"), pytest.importorskip("pandas")
    lists, rows = data.ItemListCollection(["user_id"]), []
    for user, each in enumerate(scores):
        items = rng.permutation(40)[: len(each)]
        lists.add(data.ItemList(item_ids=items, scores=each, ordered=True), user_id=user)
        rows += [(user, item, 1.0) for item in rng.permutation(40)[:4]]
    frame = frames.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    test = data.ItemListCollection.from_df(frame, ["user_id"])
    return lists, test


def test_lists_of_lenskit_have_its_values():
    """R@10 of LensKit divides by the smaller of 10 and the number of test items; there are 4."""
    metrics = pytest.importorskip("lenskit.metrics")
    rng = np.random.default_rng(8)
    lists, test = _lenskit_lists(rng, np.sort(rng.random((30, 20)))[:, ::-1])
    names = {
        "RR": metrics.RecipRank(), "R@10": metrics.Recall(10), "P@10": metrics.Precision(10),
        "Success@10": metrics.Hit(10),
    }  # fmt: skip
    theirs = metrics.RunAnalysis(*names.values()).measure(lists, test).list_metrics()
    ours = tieaware.evaluate(test.to_df().rename(columns={"rating": "label"}), lists.to_df(), list(names))
    assert ours.queries == tuple(range(30))
    np.testing.assert_allclose(ours.values[0], theirs.to_numpy(), rtol=1e-12)


def test_ties_of_lenskit_are_averaged():
    lists, test = _lenskit_lists(np.random.default_rng(9), np.full((30, 40), 0.5))
    values = tieaware.evaluate(test.to_df().rename(columns={"rating": "label"}), lists.to_df(), ["P@10"]).values
    np.testing.assert_allclose(values, 0.1, rtol=1e-14)


def test_metrics_have_the_values_of_lenskit_where_nothing_ties():
    """The scores decide, so lists in any order have the same values. LensKit's AP divides by the length of short lists.

    With an offset of 1, LensKit discounts all ranks but the first, as tieaware does.
    """
    metrics = pytest.importorskip("lenskit.metrics")
    from lenskit.data import ItemListCollection
    from lenskit.metrics.ranking import AveragePrecision, LogRankWeight

    rng = np.random.default_rng(10)
    lists, test = _lenskit_lists(rng, np.sort(rng.random((30, 20)))[:, ::-1])
    own = {
        "RR": metrics.RecipRank(), "R@10": metrics.Recall(10), "P@10": metrics.Precision(10),
        "Success@10": metrics.Hit(10), "AP": AveragePrecision(),
        "nDCG@10": metrics.NDCG(10, weight=LogRankWeight(offset=1)),
    }  # fmt: skip
    theirs = metrics.RunAnalysis(*own.values()).measure(lists, test)
    shuffled = ItemListCollection(["user_id"])
    for key, each in lists.items():
        shuffled.add(each[rng.permutation(len(each))], *key)
    for some in lists, shuffled:
        ours = metrics.RunAnalysis(*map(for_lenskit.metric, own)).measure(some, test)
        assert list(ours.list_metrics()) == list(own)
        np.testing.assert_allclose(ours.list_metrics(), theirs.list_metrics(), rtol=1e-12)
    np.testing.assert_allclose(ours.list_summary()["mean"], theirs.list_summary()["mean"], rtol=1e-12)


def test_metrics_of_lenskit_average_ties_and_read_ratings():
    metrics, data = pytest.importorskip("lenskit.metrics"), pytest.importorskip("lenskit.data")
    tied = data.ItemList(item_ids=[3, 5, 4], scores=[2.0, 1.0, 1.0], ordered=True)
    test = data.ItemList(item_ids=[4, 9], rating=[4.0, 2.0])
    ours = for_lenskit.metric
    assert ours("RR").measure_list(tied, test) == (1 / 2 + 1 / 3) / 2
    assert ours("RR", ties="run_order").measure_list(tied, test) == 1 / 3
    assert ours("RR", precision="decimals:0", ties="optimistic").measure_list(tied, test) == 1 / 2
    assert ours("RR(rel=5)", gain="rating").measure_list(tied, test) == 0.0
    assert ours("DCG", gain="rating").measure_list(tied, test) == pytest.approx((4 / np.log2(3) + 4 / 2) / 2, rel=1e-14)
    in_order = data.ItemList(item_ids=[3, 5, 4], ordered=True)
    assert ours("RR").measure_list(in_order, test) == 1 / 3
    assert np.isnan(ours("RR").measure_list(tied, data.ItemList()))
    assert ours("RR").measure_list(data.ItemList(item_ids=[], scores=[]), test) == 0.0
    assert ours("RR", gain="rating", ties="optimistic", precision="bf16").label == "RR (rating, optimistic, bf16)"
    lists = data.ItemListCollection.from_dict({1: tied, 2: tied}, "user_id")
    tests = data.ItemListCollection.from_dict({1: test}, "user_id")
    found = metrics.RunAnalysis(ours("P@2"), ours("MeanRank"), metrics.RecipRank()).measure(lists, tests)
    assert found.list_metrics()["P@2"].tolist() == [1 / 4, 0.0]
    assert found.list_metrics()["RecipRank"].tolist() == [1 / 3, 0.0]
    assert found.list_metrics()["MeanRank"].isna().tolist() == [False, True]


def test_what_lenskit_metrics_cannot_read_is_an_error():
    data = pytest.importorskip("lenskit.data")
    test = data.ItemList(item_ids=[4])
    for output, problem in (
        (data.ItemList(item_ids=[3, 4]), "output: a list needs scores, or must be ordered"),
        (data.ItemList(item_ids=[4, 4], scores=[2.0, 1.0]), "output: an item is in the list twice"),
        (data.ItemList(item_ids=[3, 4], scores=[2.0, np.nan]), "scores: expected numbers, found NaN"),
    ):
        with pytest.raises(InputError, match=f"^{problem}"):
            for_lenskit.metric("RR").measure_list(output, test)
    with pytest.raises(InputError, match=r"^gain: the test items have no field 'rating'$"):
        for_lenskit.metric("RR", gain="rating").measure_list(data.ItemList(item_ids=[4], scores=[1.0]), test)
    for wrong in (lambda: for_lenskit.metric("XX"), lambda: for_lenskit.metric("RR", ties="mean")):
        with pytest.raises(InputError):
            wrong()


@pytest.fixture
def cornac(monkeypatch, tmp_path):
    """Cornac writes a log to the current folder."""
    monkeypatch.chdir(tmp_path)
    return pytest.importorskip("cornac")


def _ratings(cornac, seed):
    rng = np.random.default_rng(seed)
    data = [(f"u{u}", f"i{i}", float(rng.integers(1, 6))) for u in range(30) for i in rng.permutation(40)[:12]]
    return cornac.eval_methods.RatioSplit(data, test_size=0.3, rating_threshold=3.0, seed=1, verbose=False)


def _values(cornac, method, model, metrics):
    experiment = cornac.Experiment(method, [model], metrics, verbose=False)
    experiment.run()
    return experiment.result[0].metric_avg_results, experiment.result[0].metric_user_results


def test_metrics_have_the_values_of_cornac_where_nothing_ties(cornac):
    theirs = {
        "nDCG@10": cornac.metrics.NDCG(k=10), "RR": cornac.metrics.MRR(), "R@10": cornac.metrics.Recall(k=10),
        "P@10": cornac.metrics.Precision(k=10), "Success@10": cornac.metrics.HitRatio(k=10), "AP": cornac.metrics.MAP(),
        "AUC": cornac.metrics.AUC(),
    }  # fmt: skip
    model = cornac.models.BPR(k=8, max_iter=5, seed=2, verbose=False)
    found, by_user = _values(cornac, _ratings(cornac, 0), model, [*theirs.values(), *map(metric, theirs)])
    for name, each in theirs.items():
        assert found[name] == pytest.approx(found[each.name], rel=1e-12)
        assert by_user[name] == pytest.approx(by_user[each.name], rel=1e-12)


def test_ties_are_averaged(cornac):
    """Popularity ties; the values are those of the matrix of its scores."""

    class Constant(cornac.models.Recommender):
        """A recommender that gives all items the same score."""

        def score(self, user_idx, item_idx=None):
            return np.zeros(self.num_items)

    method = _ratings(cornac, 3)
    metrics = [metric("P@5"), metric("P@5", ties="pessimistic", precision="float32")]
    found, by_user = _values(cornac, method, Constant(name="constant"), metrics)
    assert found["P@5 (pessimistic, float32)"] == 0.0 < found["P@5"] < 1.0
    test, train = method.test_set.csr_matrix, method.train_set.csr_matrix
    for user, value in by_user["P@5"].items():
        relevant = (test[[user]].toarray()[0] >= 3.0)[: train.shape[1]]
        seen = train[[user]].toarray()[0] >= 3.0
        assert value == pytest.approx(relevant.sum() / (~seen | relevant).sum(), rel=1e-12)


def test_bad_options_are_refused_before_an_experiment(cornac):
    with pytest.raises(InputError, match="nDGC"):
        metric("nDGC@10")
    with pytest.raises(InputError, match="ties"):
        metric("nDCG@10", ties="avrage")
    assert not metric("ESL").higher_better
    assert metric("MRR").name == "MRR"


@pytest.fixture
def recbole(monkeypatch, tmp_path):
    """Return a function that trains a model of RecBole on a small data set.

    RecBole makes aliases of three names that NumPy 2 lacks, and reads the command line.
    """
    for name, own in ("float_", np.float64), ("complex_", np.complex128), ("unicode_", np.str_):
        monkeypatch.setattr(np, name, own, raising=False)
    monkeypatch.setattr("sys.argv", ["recbole"])
    monkeypatch.chdir(tmp_path)
    config = pytest.importorskip("recbole.config")
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer

    rng = np.random.default_rng(3)
    rows = [f"u{user}\ti{item}" for user in range(30) for item in rng.permutation(40)[:12]]
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.inter").write_text("\n".join(["user_id:token\titem_id:token", *rows]) + "\n")

    def trained(model, mode):
        options = config.Config(model=model, dataset="tiny", config_dict={
            "data_path": str(tmp_path), "epochs": 2, "use_gpu": False, "topk": [10], "metric_decimal_place": 14,
            "metrics": ["NDCG", "MRR", "Recall", "Hit", "Precision", "MAP"], "valid_metric": "NDCG@10",
            "load_col": {"inter": ["user_id", "item_id"]},
            "eval_args": {"split": {"RS": [0.6, 0.2, 0.2]}, "group_by": "user", "order": "RO", "mode": mode},
        })  # fmt: skip
        training, validation, test = data_preparation(options, create_dataset(options))
        made = get_model(model)(options, training.dataset)
        trainer = get_trainer(options["MODEL_TYPE"], model)(options, made)
        trainer.fit(training, validation, saved=False)
        return trainer, test

    return trained


@pytest.mark.parametrize("mode", ["full", "uni10"])
def test_values_are_those_of_recbole_where_nothing_ties(recbole, mode, monkeypatch):
    """With sampled negatives, each evaluation draws others, so the values are those of the same evaluation."""
    trainer, test = recbole("BPR", mode)
    theirs = []
    own = trainer.evaluator.evaluate
    monkeypatch.setattr(trainer.evaluator, "evaluate", lambda struct: theirs.append(own(struct)) or theirs[-1])
    measures = ["nDCG@10", "RR@10", "R@10", "Success@10", "P@10", "AP@10"]
    found = for_recbole.evaluate(trainer, test, measures, load_best_model=False, spread=True)
    assert (found.runs, len(found.queries), found.queries[0]) == (("BPR",), 30, "u0")
    np.testing.assert_allclose(found.mean()[0], list(theirs[0].values()), rtol=1e-12)
    np.testing.assert_array_equal(found.std, 0.0)


def test_ties_of_recbole_are_averaged(recbole):
    trainer, test = recbole("Pop", "full")
    found = for_recbole.evaluate(trainer, test, ["nDCG@10"], load_best_model=False, spread=True)
    assert found.std.max() > 0
    assert ((found.min <= found.values) & (found.values <= found.max)).all()
