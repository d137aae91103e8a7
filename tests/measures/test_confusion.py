"""Measures of the confusion matrix, compared with scikit-learn, trec_eval and an exercise of a textbook."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, fbeta_score, precision_recall_curve, recall_score

from tieaware import Evaluator, evaluate

# Manning, Raghavan and Schütze, exercise 8.8: 20 documents of 10,000 are retrieved, 6 of 8 relevant ones among them.
EXERCISE = [{"R": 1, "N": 0}[each] for each in "RRNNNNNNRNRNNNRNNNNR"]
BY_HAND = {
    "P@20": 6 / 20, "R@20": 6 / 8, "F1@20": 3 / 7, "F@20": 3 / 7,
    "F(beta=2)@20": 5 * 6 / (20 + 4 * 8), "F(beta=0.5)@20": 1.25 * 6 / (20 + 0.25 * 8), "F(beta=2)": 30 / 52,
    "SetF": 12 / 28,
    "Accuracy(docs=10000)@20": (6 + 9978) / 10000, "Specificity(docs=10000)@20": 9978 / 9992,
    "FallOut(docs=10000)@20": 14 / 9992, "FallOut(docs=10000)@10": 7 / 9992,
    # Without docs, the collection has 22 documents: 20 retrieved ones, and 2 relevant ones that are not retrieved.
    "Accuracy@10": (3 + 9 - 2) / 22, "Specificity@10": 7 / 14, "FallOut@10": 7 / 14, "Specificity": 0.0, "FallOut": 1.0,
    # F1 at the relevant ranks is 2/9, 4/10, 6/17, 8/19, 10/23 and 12/28.
    "MaxF": 10 / 23, "MaxF@14": 8 / 19, "MaxF@9": 4 / 10, "MaxF(beta=2)": 30 / 52,
    "PAtRel": 1.0, "PAtRel(i=3)": 3 / 9, "PAtRel(i=6)": 6 / 20, "PAtRel(i=7)": 0.0, "PAtRel(i=3)@8": 0.0,
    "PRR(i=3)": 3 / 9, "PRR(i=7)": 0.0,
}  # fmt: skip


def test_an_exercise_of_the_textbook():
    judgments = (np.array([*EXERCISE, 1, 1]), np.array([0, 22]))
    values = Evaluator(EXERCISE, list(BY_HAND), judgments=judgments)(-np.arange(20.0))[0]
    assert dict(zip(BY_HAND, values.tolist(), strict=True)) == pytest.approx(BY_HAND, rel=1e-14)


def test_returning_everything_and_returning_nothing():
    """Two warnings of the textbook: F of all documents is nearly 0, and accuracy of none is nearly 1."""
    labels = np.zeros(10_000, dtype=int)
    labels[5000] = 1
    everything = Evaluator(labels, ["P", "R", "F1", "SetF", "F"])(np.ones(10_000))[0]
    assert everything == pytest.approx([1e-4, 1.0, *[0.00019998] * 3], rel=1e-4)
    qrels, run = {"q": {"d": 1}, "unanswered": {"d": 1, "e": 0}}, {"q": {"d": 1.0, "x": 2.0}}
    values = evaluate(qrels, run, ["Accuracy(docs=10000)@1", "Specificity@1", "FallOut@1", "F@1"]).values[0]
    assert values.tolist() == [[0.9998, 0.0, 1.0, 0.0], [0.9999, 1.0, 0.0, 0.0]]


@pytest.fixture(scope="module")
def untied() -> tuple[np.ndarray, np.ndarray]:
    """Draw labels and distinct scores of 40 lists of 30 documents, each with relevant and nonrelevant ones."""
    rng = np.random.default_rng(3)
    labels = (rng.random((40, 30)) < rng.uniform(0.1, 0.9, (40, 1))).astype(int)
    labels[:, :2] = 1, 0
    return labels, rng.permuted(np.tile(np.arange(30.0), (40, 1)), axis=1)


def shared(function, labels, predicted, **options):
    return [function(*pair, **options) for pair in zip(labels, predicted, strict=True)]


@pytest.mark.parametrize("k", [1, 3, 10, 29, 30])
def test_values_are_those_of_scikit_learn(untied, k):
    """In scikit-learn, the first k documents are predicted to be relevant."""
    labels, scores = untied
    predicted = (scores >= 30 - k).astype(int)
    expected = {
        f"Accuracy@{k}": shared(accuracy_score, labels, predicted),
        f"Specificity@{k}": shared(recall_score, labels, predicted, pos_label=0),
        f"FallOut@{k}": [1 - x for x in shared(recall_score, labels, predicted, pos_label=0)],
        f"F(beta=0.5)@{k}": shared(fbeta_score, labels, predicted, beta=0.5),
        f"F(beta=2)@{k}": shared(fbeta_score, labels, predicted, beta=2),
        f"F1@{k}": shared(fbeta_score, labels, predicted, beta=1),
    }
    values = Evaluator(labels, list(expected))(scores)
    np.testing.assert_allclose(values, np.transpose(list(expected.values())), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_the_greatest_f_is_that_of_scikit_learns_curve(untied, beta):
    labels, scores = untied
    values = Evaluator(labels, f"MaxF(beta={beta})")(scores)[:, 0]
    for each, row, value in zip(labels, scores, values, strict=True):
        precision, recall, _ = precision_recall_curve(each, row)
        some = precision + recall > 0
        f = (1 + beta**2) * (precision * recall)[some] / (beta**2 * precision + recall)[some]
        assert value == pytest.approx(f.max(), rel=1e-12)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_of_a_set_is_that_of_trec_eval_with_another_beta(collection, beta):
    """trec_eval does not square beta, so its set_F with beta² is the textbook's F."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    from support.trec_files import read_qrels, read_scores

    qrels, path = read_qrels(collection.qrels), collection.runs[0]
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F.{beta**2}"}).evaluate(read_scores(path))
    result = evaluate(qrels, path, [f"F(beta={beta})", "SetF", "F1"], queries="both")
    expected = [theirs[query]["set_F"] for query in result.queries]
    np.testing.assert_allclose(result.values[0, :, 0], expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(result.values[0, :, 1], result.values[0, :, 2])
    assert max(expected) > 0


def test_the_collection_has_the_judged_documents_that_are_not_retrieved():
    """Judged nonrelevant documents that are not retrieved count, and pooled ones that are not judged do not."""
    qrels = {"q": {"a": 1, "b": 0, "c": 0, "d": -1, "e": 1}}
    run = {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}
    measures = ["Specificity@2", "Accuracy@2", "FallOut@2", "Specificity(judged_only=True)@2", "FallOut(docs=100)@2"]
    values = evaluate(qrels, run, measures).values[0, 0]
    # Nonrelevant are x and y, which are not judged, and b and c, which are not retrieved.
    assert values.tolist() == pytest.approx([3 / 4, 4 / 6, 1 / 4, 1.0, 1 / 98])


@pytest.mark.parametrize("name", ["Accuracy(docs=4)", "Specificity(docs=4)@2", "FallOut(docs=4)@2"])
def test_a_collection_may_be_smaller_than_a_list_without_relevant_documents(name):
    """Queries without relevant documents do not matter."""
    values = Evaluator([1, 0, 0, 0, 0, 0, 0, 0, 0], name, group=[4, 5])(np.zeros(9))
    assert values[0, 0] > 0.0
    assert values[1, 0] == 0.0


@pytest.mark.parametrize(("n", "k"), [(10**6, 10), (10**6, 10**6 - 1), (3, 2)])
def test_one_nonrelevant_document_of_many(n, k):
    """No digits are lost where nearly all tied documents are relevant."""
    labels = np.ones(n, dtype=int)
    labels[n // 2] = 0
    measures = [f"FallOut@{k}", f"Specificity@{k}", f"Accuracy@{k}"]
    spread = Evaluator(labels, measures, offsets=[0, n]).spread(np.zeros(n))
    expected = [k / n, (n - k) / n, (k * (n - 1) / n + (n - k) / n) / n]
    np.testing.assert_allclose(spread.mean[0], expected, rtol=1e-14)
    std = (k / n * (n - k) / n) ** 0.5
    np.testing.assert_allclose(spread.std[0], [std, std, 2 * std / n], rtol=1e-12)
