"""Tie-aware metrics in mteb: through mteb.evaluate with a model and a task in memory, and function by function."""

import math

import numpy as np
import pytest
from stand_ins import cross_encoder, reranking_task

from tieaware.integrations import mteb as tie_aware

CANDIDATES = {"q1": [f"d{i}" for i in range(7, -1, -1)], "q2": [f"d{i}" for i in range(7, -1, -1)]}
RELEVANT = {"q1": ["d7"], "q2": ["d7", "d6"]}


@pytest.fixture(autouse=True)
def _uninstall():
    yield
    tie_aware.uninstall()


def scores(model, relevant=RELEVANT):
    import mteb

    task = reranking_task(CANDIDATES, relevant)
    results = mteb.evaluate(
        model, task, cache=None, overwrite_strategy="always", encode_kwargs={"batch_size": 8}, show_progress_bar=False
    )
    return results.task_results[0].scores["test"][0]


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, float):
            assert other[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name
        else:
            assert other[name] == value


def test_the_value_of_equal_scores_does_not_depend_on_document_names():
    """If all scores are equal, mteb's own MRR@10 is 1 or about 1/8, depending on document names (mteb issue 5092)."""
    own, reversed_names = scores(cross_encoder()), scores(cross_encoder(), {"q1": ["d0"], "q2": ["d0", "d1"]})
    assert own["main_score"] == own["mrr_at_10"] == own["ndcg_at_10"] == 1
    assert reversed_names["mrr_at_10"] == pytest.approx((1 / 8 + 1 / 7) / 2)

    tie_aware.install()
    first, second = scores(cross_encoder()), scores(cross_encoder(), {"q1": ["d0"], "q2": ["d0", "d1"]})
    assert_same(first, second)
    # One relevant document: the mean of 1/j over eight ranks j. Two: the first is at rank j with probability
    # (8 - j)/28.
    one, two = math.fsum(1 / j for j in range(1, 9)) / 8, math.fsum((8 - j) / 28 / j for j in range(1, 9))
    assert first["main_score"] == first["mrr_at_10"] == pytest.approx((one + two) / 2)
    assert first["accuracy"] == first["recall_at_1"] == pytest.approx(1 / 8)
    assert first.keys() == own.keys()

    tie_aware.install("optimistic")
    assert scores(cross_encoder())["mrr_at_10"] == 1
    tie_aware.uninstall()
    assert_same(scores(cross_encoder()), own)


@pytest.mark.parametrize(("ties", "levels"), [("trec_eval", 3), ("average", 8)])
def test_all_values_equal_those_of_mteb_under_its_tie_rule_or_without_ties(ties, levels):
    model = cross_encoder(lambda document: hash_of(document) % levels)
    own = scores(model)
    tie_aware.install(ties)
    found = scores(model)
    assert_same(own, found)
    assert any("nauc" in name and math.isfinite(value) for name, value in found.items() if isinstance(value, float))


def hash_of(document):
    """Map the eight documents to eight different numbers, out of order."""
    return 5 * int(document[1:]) % 8


def test_functions_that_tasks_have_imported_are_replaced():
    """The tasks of LMEB import the function for capped recall by name, before `install` is called."""
    import mteb

    task, ks = mteb.get_task("EPBench"), (1, 3)
    task.k_values = ks
    run, judged = {"q": dict.fromkeys("abcd", 0.5)}, {"q": {"a": 1, "d": 1}}

    def found():
        return task.task_specific_scores({}, judged, run, "test", "default")

    own = found()
    assert own == {"R_cap_at_1": 1, "R_cap_at_3": 0.5}
    tie_aware.install()
    assert found() == pytest.approx({"R_cap_at_1": 1 / 2, "R_cap_at_3": 3 / 4})
    tie_aware.install("pessimistic")
    assert found() == {"R_cap_at_1": 0, "R_cap_at_3": 0.5}
    tie_aware.uninstall()
    assert found() == own


def test_functions_equal_those_of_mteb_under_its_tie_rule():
    """The test has lists of several lengths, an empty list, graded labels, and unjudged documents."""
    from mteb._evaluators import retrieval_metrics

    rng = np.random.default_rng(2)
    run = {f"q{q}": {f"d{d:02}": float(rng.integers(4)) for d in rng.permutation(40)[: 3 * q]} for q in range(8)}
    qrels = {query: {f"d{d:02}": int(rng.integers(3)) for d in rng.permutation(30)[:12]} for query in run}
    ks = [1, 3, 10, 100]
    for name in ("mrr", "recall_cap", "hole"):
        own = getattr(retrieval_metrics, name)(qrels, run, ks)
        found = getattr(tie_aware, name)(qrels, run, ks, ties="trec_eval")
        assert own.keys() == found.keys()
        for key, values in own.items():
            assert found[key] == pytest.approx(values, abs=1e-12), key
    own = retrieval_metrics.top_k_accuracy(qrels, run, ks)
    found = tie_aware.top_k_accuracy(qrels, run, ks, ties="trec_eval")
    assert {key: math.fsum(values) for key, values in found.items()} == {key: math.fsum(own[key]) for key in own}

    del run["q0"]  # This list is empty, for which mteb raises an exception.
    for skip in (False, True):
        own = retrieval_metrics.calculate_retrieval_scores(run, qrels, ks, skip)
        found = tie_aware.calculate_retrieval_scores(run, qrels, ks, skip, ties="trec_eval")
        assert type(found) is type(own)
        assert found.all_scores.keys() == own.all_scores.keys()
        for field in own._fields[1:]:
            assert getattr(found, field) == pytest.approx(getattr(own, field), abs=1.1e-5, nan_ok=True), field
