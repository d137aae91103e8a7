"""Warnings about arrays that are probably not what the caller means: once, in the first call, and not about others."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import tieaware
from tieaware import Evaluator

LOWER = "scores: relevant documents have lower scores than .* if they are distances or ranks, negate them"
SWAPPED = "scores: look like labels, and the labels like scores: are they swapped"
OVERFLOW = "scores: are int8, in no better order than by chance: did products of integers overflow"
ONE_LIST = "labels: are one list, with 1,100 relevant documents for nDCG@10; pass group="


def lists(n=40, depth=200, better=2.0, seed=1):
    """Return labels, a twentieth of them relevant, and scores in which relevant documents are better by a number."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, depth)) < 0.05).astype(int)
    labels[:, 0] = 1
    return labels, rng.normal(size=(n, depth)) + better * labels


def warnings_of(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in found]


LABELS, SCORES = lists()


@pytest.mark.parametrize("method", ["__call__", "mean", "score", "spread", "results"])
def test_distances_are_warned_of_once(method):
    evaluator = Evaluator(LABELS, "nDCG@10")
    given = {"dot": -SCORES} if method == "results" else -SCORES
    with pytest.warns(UserWarning, match=LOWER.replace("scores:", r"scores(\['dot'\])?:")) as found:
        getattr(evaluator, method)(given)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert warnings_of(lambda: [getattr(evaluator, method)(given), evaluator(-SCORES)]) == []


def test_values_do_not_depend_on_the_call():
    """The first call looks at the scores, and the second takes a shorter way."""
    evaluator = Evaluator(LABELS, ["nDCG@10", "AP", "RR"])
    first, second = evaluator(SCORES), evaluator(SCORES)
    assert first.tobytes() == second.tobytes()
    for again in (copy.copy(evaluator), pickle.loads(pickle.dumps(evaluator)), pickle.loads(pickle.dumps(
        Evaluator(LABELS, ["nDCG@10", "AP", "RR"])))):  # fmt: skip
        assert again(SCORES).tobytes() == first.tobytes()


def test_every_run_of_results_is_looked_at():
    """The first run is usually the baseline, which is right."""
    evaluator = Evaluator(LABELS, "nDCG@10")
    runs = {"dot": SCORES, "distances": -SCORES, "int8": _products(np.int8)}
    with pytest.warns(UserWarning, match="^scores\\['") as found:
        evaluator.results(runs)
    assert [str(each.message).split(":")[0] for each in found] == ["scores['distances']", "scores['int8']"]
    assert warnings_of(lambda: [evaluator.results(runs), evaluator(-SCORES)]) == []


def test_rows_are_looked_at_once_for_all():
    evaluator = Evaluator(LABELS, "nDCG@10")
    blocks = [evaluator.rows(i, i + 20) for i in (0, 20)]
    with pytest.warns(UserWarning, match=LOWER):
        blocks[1](-SCORES[20:])
    assert warnings_of(lambda: [blocks[0](-SCORES[:20]), evaluator(-SCORES), evaluator.rows(0, 9)(-SCORES[:9])]) == []


@pytest.mark.parametrize("kind", ["float32", "flat", "threads", "excluded", "shared"])
def test_forms_of_distances(kind):
    options = {"threads": 2} if kind == "threads" else {}
    evaluator, scores = Evaluator(LABELS, "nDCG@10", **options), -SCORES
    if kind == "float32":
        scores = scores.astype(np.float32)
    if kind == "flat":
        evaluator, scores = Evaluator(LABELS.ravel(), "AP", group=[200] * 40), scores.ravel()
    if kind == "excluded":
        # The excluded items are worse than all others, and do not count.
        excluded = (LABELS == 0) & (np.arange(200) < 100)
        evaluator = Evaluator.from_sparse(sp.csr_array(LABELS), "AP", exclude=sp.csr_array(excluded.astype(int)))
        scores = np.where(excluded, np.nan, scores)
    if kind == "shared":
        same = np.tile(LABELS[0], (40, 1))
        evaluator, scores = Evaluator.from_sparse(sp.csr_array(same), "AP"), scores[0]
    with pytest.warns(UserWarning, match=LOWER):
        evaluator.mean(scores)


def test_real_labels_and_grades():
    for labels in (LABELS * 0.5, LABELS * 3):
        with pytest.warns(UserWarning, match=LOWER):
            Evaluator(labels, "DCG")(-SCORES)


def _products(kind):
    rng = np.random.default_rng(2)
    documents = rng.normal(size=(200, 64))
    queries = np.stack([documents[row > 0].mean(axis=0) for row in LABELS])
    small = [np.clip(np.rint(each / np.abs(each).max() * 127), -127, 127).astype(kind) for each in (queries, documents)]
    return small[0] @ small[1].T


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_products_that_overflowed(kind):
    with pytest.warns(UserWarning, match=OVERFLOW.replace("int8", kind.__name__)):
        Evaluator(LABELS, "nDCG@10")(_products(np.int8).astype(kind))


def test_swapped_labels_and_scores():
    with pytest.warns(UserWarning, match=SWAPPED):
        Evaluator(np.abs(SCORES), "nDCG@10")(LABELS)
    # Scores that are integers are labels that are larger than any grade.
    with pytest.warns(UserWarning, match=SWAPPED):
        Evaluator(np.argsort(np.argsort(SCORES)), "nDCG@10")(LABELS.astype(float))


def test_a_forgotten_group():
    labels = np.zeros(20_000, int)
    labels[:1100] = 1
    with pytest.warns(UserWarning, match=ONE_LIST):
        Evaluator(labels, ["AP", "nDCG@10"])
    with pytest.warns(UserWarning, match="one list, with 1,100 relevant documents for P.rel=2.@5"):
        Evaluator(labels * 2, ["P@20", "P(rel=2)@5"])


def _random(seed, n=40, depth=200):
    return np.random.default_rng(seed).normal(size=(n, depth))


_QUANTISED = np.clip(np.rint(SCORES / np.abs(SCORES).max() * 127), -127, 127).astype(np.int8)
LEGITIMATE = {
    "good scores": lambda: Evaluator(LABELS, "nDCG@10")(SCORES),
    "random scores": lambda: [Evaluator(LABELS, "nDCG@10")(_random(seed)) for seed in range(20)],
    "a constant": lambda: Evaluator(LABELS, "nDCG@10")(np.zeros(LABELS.shape)),
    "a feature that is worse than chance": lambda: Evaluator(LABELS, "nDCG@10")(lists(better=-1.0)[1]),
    "a line": lambda: Evaluator(LABELS, "nDCG@10").along(-SCORES, SCORES, (0.0, 0.1)),
    "distances in few lists": lambda: Evaluator(LABELS[:7], "nDCG@10")(-SCORES[:7]),
    "a product that fits": lambda: Evaluator(LABELS, "nDCG@10")(_products(np.int32)),
    "scores scaled to int8": lambda: Evaluator(LABELS, "nDCG@10")(_QUANTISED),
    "a chance order in int8": lambda: Evaluator(LABELS, "nDCG@10")((_random(3) * 30).clip(-127, 127).astype(np.int8)),
    "grades in uint8, by chance": lambda: Evaluator(LABELS, "nDCG@10")((_random(3) > 0).astype(np.uint8)),
    "grades as scores": lambda: Evaluator(LABELS, "nDCG@10")((SCORES > 1).astype(int) + (SCORES > 2)),
    "grades as scores, counts as labels": lambda: Evaluator(LABELS * 40, "nDCG@10")((SCORES > 1).astype(int)),
    "shares as labels": lambda: Evaluator(LABELS * np.abs(SCORES).round(1), "DCG")(SCORES),
    "many candidates": lambda: Evaluator(LABELS, "nDCG@10").many([-SCORES, SCORES]),
    "features": lambda: Evaluator(LABELS, "nDCG@10").columns(np.stack([-SCORES, SCORES], axis=2)),
    "all relevant": lambda: Evaluator(np.ones((40, 20)), "nDCG@10")(SCORES[:, :20]),
    "none relevant": lambda: Evaluator(np.zeros((40, 20)), "nDCG@10")(SCORES[:, :20]),
    "no documents": lambda: Evaluator(np.zeros((40, 0)), "nDCG@10")(np.zeros((40, 0))),
    "a long list": lambda: Evaluator(np.ones(3000, int), "AUC AP nDCG")(np.arange(3000.0)),
    "a long list, deep cut-off": lambda: Evaluator(np.ones(3000, int), "nDCG@100"),
    "one list that says so": lambda: Evaluator(np.ones(3000, int), "P@10", offsets=[0, 3000]),
    "several long lists": lambda: Evaluator(np.ones(9000, int), "P@10", group=[3000] * 3),
    "a row": lambda: Evaluator(np.ones((1, 3000), int), "P@10"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEGITIMATE)
def test_legitimate_arrays(name):
    assert warnings_of(LEGITIMATE[name]) == []


def test_ids_that_count_from_1():
    labels, scores = lists(depth=1000)
    scores[:, [0, -1]] = -9.0  # Neither the first nor the last item is recommended, so no id is out of range.
    labels[:, [0, -1]] = 0
    ids = np.argsort(-scores, axis=1)[:, :20]
    run = ids + 1, np.take_along_axis(scores, ids, axis=1)
    message = "^run: ids seem to count from 1: with ids - 1, many more documents are relevant$"
    with pytest.warns(UserWarning, match=message):
        tieaware.evaluate(sp.csr_array(labels), run, "nDCG@10")
    with pytest.warns(UserWarning, match=message):
        tieaware.evaluate(sp.csr_array(labels), tieaware.Run.from_topk(*run), "nDCG@10")
    anything = 1 + np.random.default_rng(1).permuted(np.tile(np.arange(998), (40, 1)), axis=1)[:, :20]
    for legitimate in (ids, anything, ids[:, ::-1].clip(1)):
        tieaware.evaluate(sp.csr_array(labels), (_different(legitimate), run[1]), "nDCG@10")


def _different(ids):
    """Return the ids with padding in place of repeated ones."""
    first = np.array([np.isin(np.arange(len(row)), np.unique(row, return_index=True)[1]) for row in ids])
    return np.where(first, ids, -1)


def test_filters_silence_them():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "scores: relevant documents have lower scores")
        Evaluator(LABELS, "nDCG@10")(-SCORES)
