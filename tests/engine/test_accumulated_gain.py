"""INST, BPM and NERR, whose users stop sooner the more gain they have found."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cwl.ruler.measures.cwl_bpm import BPMCWLMetric
from cwl.ruler.measures.cwl_inst import INSTCWLMetric
from cwl.ruler.measures.cwl_nerr import NERReq8CWLMetric, NERReq9CWLMetric, NERReq10CWLMetric, NERReq11CWLMetric
from cwl.ruler.ranking import Ranking
from support.exactness import assert_spread_is_exact
from support.queries import Query, evaluator, random_query, scores_of

from tieaware import Evaluator, InputError, reference

NAMES = (
    "INST", "INST@1", "INST@3", "INST@9", "INST(T=0.5)", "INST(T=0.5,max_rel=5)@3", "INST(T=2.5,min_rel=1)@4",
    "INST(judged_only=True)@2",
    "BPM", "BPM@1", "BPM@3", "BPM@9", "BPM(T=0.1)@4", "BPM(T=1.5,max_rel=5)", "BPM(T=0.75,min_rel=2)@3",
    "BPM(T=1.1,max_rel=10)@5", "BPM(T=100.0)", "BPM(judged_only=True)@2",
    "NERR8", "NERR8@1", "NERR8@3", "NERR8@9", "NERR8(min_rel=1,max_rel=6)@4", "NERR8(judged_only=True)",
    "NERR9", "NERR9@1", "NERR9@3", "NERR9@9", "NERR9(min_rel=2)@4", "NERR9(judged_only=True)@2",
    "NERR10", "NERR10@1", "NERR10@3", "NERR10@9", "NERR10(p=0.3,max_rel=5)", "NERR10(judged_only=True)",
    "NERR11", "NERR11@1", "NERR11@3", "NERR11@9", "NERR11(T=0.25)", "NERR11(T=7.5,max_rel=10)@2",
)  # fmt: skip


@pytest.fixture(scope="module")
def some():
    rng = random.Random(53)
    special = [
        Query((1.0,) * 6, (4, 4, 4, 4, 4, 4), (4,) * 6),
        Query((2.0, 2.0, 1.0, 1.0, 1.0), (0, 0, 4, 3, 3), (4, 3, 3, 0, 0)),
        Query((), (), (4,)),
    ]
    return special + [random_query(rng, 6) for _ in range(120)]


def test_values_and_spread_are_exact(some):
    """Mean, variance, minimum and maximum equal enumeration of all orders; so do those of the reference."""
    assert_spread_is_exact(some, NAMES)


@pytest.mark.parametrize(("ties", "kind"), [("optimistic", "max"), ("pessimistic", "min")])
def test_the_rules_have_the_extremes_of_the_spread(some, ties, kind):
    """Also with other measures and with threads."""
    names = ("AP", *NAMES, "nDCG")
    expected = getattr(evaluator(some, names).spread(scores_of(some)), kind)
    for threads in (1, 3):
        values = evaluator(some, names, ties=ties, threads=threads)(scores_of(some))
        np.testing.assert_allclose(values, expected, rtol=1e-15, atol=1e-15)


def test_the_best_order_of_bpm_is_not_by_label():
    """Ten documents without gain come first. Then one document with the gain 1 suffices, but 3/4 + 1 is more."""
    labels, scores = [0] * 10 + [4, 3], [1.0] * 10 + [0.0, 0.0]
    spread = Evaluator(labels, ["BPM"]).spread(scores)
    assert (spread.min[0, 0], spread.max[0, 0]) == (1 / 11, 1.75 / 12)
    assert spread.mean[0, 0] == pytest.approx((1 / 11 + 1.75 / 12) / 2)


def test_bpm_of_binary_labels_is_rr():
    """If one relevant document is enough, BPM@k is RR@k, also in large groups."""
    rng = np.random.default_rng(2)
    labels = (rng.random((40, 300)) < 0.02).astype(int)
    scores = rng.integers(0, 4, labels.shape).astype(np.float64)
    for k in (1, 7, 60, 300):
        spread = Evaluator(labels, [f"BPM(max_rel=1)@{k}", f"RR@{k}"]).spread(scores)
        for values in spread:
            np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("k", [None, 30, 700])
def test_large_groups_of_bpm_agree_with_random_orders(k):
    rng = np.random.default_rng(8)
    labels = np.concatenate([np.zeros(900, dtype=int), rng.integers(1, 5, 100)])
    name = "BPM(T=3.0)" + ("" if k is None else f"@{k}")
    spread = Evaluator(labels, [name]).spread(np.zeros(1000))
    orders = rng.permuted(np.tile(labels, (8000, 1)), axis=1)
    sampled = Evaluator(orders, [name])(np.tile(-np.arange(1000.0), (8000, 1)))[:, 0]
    assert spread.mean[0, 0] == pytest.approx(sampled.mean(), abs=4 * sampled.std() / len(sampled) ** 0.5)
    assert spread.std[0, 0] == pytest.approx(sampled.std(), rel=0.1)
    assert spread.min[0, 0] <= sampled.min()
    assert spread.max[0, 0] >= sampled.max()


def test_inst_of_long_lists_agrees_with_the_reference():
    """Long runs of documents without gain are passed at once."""
    labels = np.zeros(400, dtype=int)
    labels[[3, 90, 91, 250]] = [2, 4, 1, 3]
    scores = -np.arange(400.0)
    scores[250:253] = scores[250]
    for name in ("INST", "INST(T=30.0)", "INST@300", "INST(T=7.5)@5000"):
        spread = Evaluator(labels, [name]).spread(scores)
        arguments = name, scores.tolist(), labels.tolist()
        ranked = sorted(scores, reverse=True)
        assert ranked[250] == ranked[252]
        values = [
            reference.evaluate(name, (-np.arange(400.0)).tolist(), [*labels[:250], *three, *labels[253:]])
            for three in ([3, 0, 0], [0, 3, 0], [0, 0, 3])
        ]
        assert spread.mean[0, 0] == pytest.approx(np.mean(values), rel=1e-12), arguments
        assert (spread.min[0, 0], spread.max[0, 0]) == pytest.approx((min(values), max(values)), rel=1e-12)
        assert spread.std[0, 0] == pytest.approx(np.std(values), rel=1e-6)


def untied(labels, names):
    return Evaluator(labels, names)(-np.arange(len(labels), dtype=np.float64))[0]


@pytest.mark.parametrize("T", [0.5, 1.0, 2.25, 40.0])
def test_values_agree_with_cwl_eval(T):
    labels = [1, -1, 0, 3, -1, 2, 0, 4, 1, 0, -1, 4]
    gains = np.maximum(labels, 0) / 4.0
    ranking = Ranking("q", gains, np.full(len(gains), np.nan), max_n=1000)
    ours = untied(labels, [f"INST(T={T})@1000", *(f"BPM(T={T})@{k}" for k in (1, 3, 8, 12, 50))])
    theirs = [INSTCWLMetric(T).measure(ranking), *(BPMCWLMetric(T, k).measure(ranking) for k in (1, 3, 8, 12, 50))]
    np.testing.assert_allclose(ours, theirs, rtol=1e-11)


@pytest.mark.parametrize(
    ("notation", "metric"),
    [
        *((f"{name}@{k}", metric(k))
          for name, metric in (("NERR8", NERReq8CWLMetric), ("NERR9", NERReq9CWLMetric))
          for k in (1, 3, 8, 12, 50, 1000)),
        *((f"NERR10(p={p})@1000", NERReq10CWLMetric(p)) for p in (0.1, 0.9, 0.999)),
        *((f"NERR11(T={T})@1000", NERReq11CWLMetric(T)) for T in (0.25, 1.0, 40.0)),
    ],
)  # fmt: skip
def test_values_of_nerr_agree_with_cwl_eval(notation, metric):
    labels = [1, -1, 0, 3, -1, 2, 0, 3, 1, 0, -1, 4, 0, 3]
    for given in (labels, labels[:11]):
        gains = np.maximum(given, 0) / 4.0
        ranking = Ranking("q", gains, np.full(len(gains), np.nan), max_n=1000)
        assert untied(given, [notation])[0] == pytest.approx(metric.measure(ranking), rel=1e-12)


def test_nerr_of_binary_labels_looks_at_the_first_relevant_document():
    """Every document below it has no views, so a large tie needs one step for each of its ranks."""
    n, r = 3000, 40
    labels = np.zeros(n, dtype=int)
    labels[:r] = 1
    spread = Evaluator(labels, ["NERR8(max_rel=1)", "NERR9(max_rel=1)", "NERR10(max_rel=1)"]).spread(np.zeros(n))
    ranks = np.arange(1, n - r + 2)
    chances = r / n * np.cumprod(np.r_[1.0, (n - ranks[:-1] - r + 1.0) / (n - ranks[:-1])])
    powers = 0.9 ** (ranks - 1.0)
    for i, weights in enumerate((np.ones(len(ranks)), 1.0 / ranks, powers)):
        values = weights / np.cumsum(weights)
        mean = (chances * values).sum()
        assert spread.mean[0, i] == pytest.approx(mean, rel=1e-12)
        assert spread.std[0, i] == pytest.approx((chances * (values - mean) ** 2).sum() ** 0.5, rel=1e-10)
        assert (spread.min[0, i], spread.max[0, i]) == pytest.approx((values[-1], 1.0), rel=1e-12)


@pytest.mark.parametrize("name", ["INST", "NERR8@7", "NERR9", "NERR10", "NERR11"])
def test_real_labels_are_gains_too(some, name):
    """The values equal those of whole labels with the same gains, and enumeration where there are no such labels."""
    labels = [0.25, 0.5, -1.0, 0.0, 1.0, 0.25]
    scores = [1.0, 1.0, 2.0, 2.0, 1.0, 0.0]
    parameter = name.replace("@", "(max_rel=1)@") if "@" in name else f"{name}(max_rel=1)"
    real = Evaluator(labels, [parameter]).spread(scores)
    whole = Evaluator([1, 2, -1, 0, 4, 1], [name]).spread(scores)
    for found, expected in zip(real, whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    labels = [0.1, 3.7, 3.99, 0.0, 2.0]
    exact = [reference.evaluate(name, scores[:5], labels), reference.variance(name, scores[:5], labels)]
    spread = Evaluator(labels, [name]).spread(scores[:5])
    assert [spread.mean[0, 0], spread.std[0, 0] ** 2] == pytest.approx(exact, rel=1e-10)
    # A label above 0, and no gain.
    assert Evaluator([0.5, 1.0], [f"{name.partition('@')[0]}(min_rel=2)"])([1.0, 1.0])[0, 0] == 0.0


@pytest.mark.parametrize("name", ["INST(min_rel=2)", "NERR9(min_rel=2)", "NERR11(min_rel=2)"])
def test_measures_that_look_at_other_documents_do_not_matter(name):
    """Other measures divide the documents without gain into groups, where a sum could be rounded otherwise."""
    rng = np.random.default_rng(5)
    labels = rng.choice([0, 1, 2, 4], (30, 90), p=[0.6, 0.3, 0.07, 0.03])
    scores = -np.arange(90.0) // rng.integers(1, 3, (30, 90))
    alone = Evaluator(labels, [name]).spread(scores)
    beside = Evaluator(labels, ["AP", name, "Bpref"]).spread(scores)
    for found, expected in zip(beside, alone, strict=True):
        np.testing.assert_array_equal(found[:, 1], expected[:, 0])


def test_too_many_real_labels_are_refused():
    labels = np.arange(1.0, 301.0) / 100.0
    with pytest.raises(InputError, match=r"^NERR10: labels: have 300 different values, but at most 255 are possible"):
        Evaluator(labels, ["NERR10"])(np.zeros(300))


def test_groups_with_too_many_orders_are_refused():
    """A cut-off or another tie rule helps. BPM needs no walk through all orders, but memory for the wanted gain."""
    labels = np.zeros(200, dtype=int)
    labels[::10] = 4
    with pytest.raises(InputError, match=r"^INST: the exact value goes through all orders of tied documents"):
        Evaluator(labels, ["INST"])(np.zeros(200))
    with pytest.raises(InputError, match=r"^INST: the exact value goes through all orders of tied documents"):
        Evaluator(labels, ["INST"], ties="optimistic")(np.zeros(200))
    with pytest.raises(InputError, match=r"^NERR9\(max_rel=5\): the exact value goes through all orders of tied"):
        Evaluator(labels, ["NERR9(max_rel=5)"])(np.zeros(200))
    assert 0.0 < Evaluator(labels, ["NERR9(max_rel=5)@12"])(np.zeros(200))[0, 0] < 1.0
    assert 0.0 < Evaluator(labels, ["INST@9"])(np.zeros(200))[0, 0] < Evaluator(labels, ["INST"])(labels / 2.0)[0, 0]
    many = np.arange(100_000) % 5
    with pytest.raises(InputError, match=r"^BPM\(T=1000.0\): the exact value of large tie groups takes too long"):
        Evaluator(many, ["BPM(T=1000)"])(np.zeros(100_000))
    assert Evaluator(many, ["BPM(T=1000)"])(-np.arange(100_000.0))[0, 0] == pytest.approx(0.5, rel=1e-3)
