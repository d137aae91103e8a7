"""Families of measures with kernels of their own, whose best order is not always by label: one contract for all."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest
from support.exactness import assert_spread_is_exact
from support.queries import Query, evaluator, random_query, scores_of

from tieaware import Evaluator, InputError, evaluate, reference


class Family(NamedTuple):
    """Measures, and the queries on which they are compared: some special ones, and `n` random ones."""

    names: tuple[str, ...]
    seed: int
    n: int
    longest: int
    special: tuple[Query, ...] = ()


ALL_RELEVANT = Query((1.0,) * 6, (1,) * 6, (1,) * 6)
FAMILIES = {
    "stopping at a gain": Family(
        (
            "INST", "INST@1", "INST@3", "INST@9", "INST(T=0.5)", "INST(T=0.5,max_rel=5)@3", "INST(T=2.5,min_rel=1)@4",
            "INST(judged_only=True)@2",
            "BPM", "BPM@1", "BPM@3", "BPM@9", "BPM(T=0.1)@4", "BPM(T=1.5,max_rel=5)", "BPM(T=0.75,min_rel=2)@3",
            "BPM(T=1.1,max_rel=10)@5", "BPM(T=100.0)", "BPM(judged_only=True)@2",
            "NERR8", "NERR8@1", "NERR8@3", "NERR8@9", "NERR8(min_rel=1,max_rel=6)@4", "NERR8(judged_only=True)",
            "NERR9", "NERR9@1", "NERR9@3", "NERR9@9", "NERR9(min_rel=2)@4", "NERR9(judged_only=True)@2",
            "NERR10", "NERR10@1", "NERR10@3", "NERR10@9", "NERR10(p=0.3,max_rel=5)", "NERR10(judged_only=True)",
            "NERR11", "NERR11@1", "NERR11@3", "NERR11@9", "NERR11(T=0.25)", "NERR11(T=7.5,max_rel=10)@2",
        ),
        53, 120, 6,
        (
            Query((1.0,) * 6, (4, 4, 4, 4, 4, 4), (4,) * 6),
            Query((2.0, 2.0, 1.0, 1.0, 1.0), (0, 0, 4, 3, 3), (4, 3, 3, 0, 0)),
            Query((), (), (4,)),
        ),
    ),
    "blended ratios": Family(
        (
            "O", "O@2", "O(beta=0.3,rel=2)",
            "PPlus", "PPlus(beta=0.2)", "PPlus(beta=10.0,max_rel=6)", "PPlus(judged_only=True)",
        ),
        59, 150, 7,
        (
            Query((1.0,) * 7, (2, 1, 1, 3, 0, 3, 2), (3, 3, 3, 2, 2, 1, 1, 0)),
            Query((2.0, 2.0, 2.0, 1.0, 1.0, 1.0), (1, 0, 2, 3, 1, 0), (3, 2, 1, 1, 0, 0)),
            Query((1.0, 1.0), (3, 3), (3, 3)),
            Query((1.0, 1.0), (0, 0), (3, 3, 0, 0)),
        ),
    ),
    "pairs": Family(
        ("AUC@1", "AUC@2", "AUC@3", "AUC@5", "AUC(rel=2)@3", "AUC(judged_only=True)@3", "AUC@100", "AUC"),
        51, 200, 7,
        (Query((1.0,) * 6, (1, 1, 1, 0, 0, 0), (1,) * 6), Query((2.0, 1.0, 1.0, 1.0), (0, 1, 1, 1), (1, 1, 1, 1))),
    ),
    "the greatest F": Family(
        (
            "MaxF", "MaxF@1", "MaxF@2", "MaxF@4", "MaxF@20", "MaxF(beta=0.5)@3", "MaxF(beta=2.0)",
            "MaxF(beta=0.3,rel=2)@3", "MaxF(rel=0)", "MaxF(judged_only=True)@2",
        ),
        47, 150, 7, (ALL_RELEVANT,),
    ),
    "interpolated precision": Family(
        (
            "IPrec@0.0", "IPrec@0.3", "IPrec(rel=2)@0.5", "IPrec@1.0", "IPrec(judged_only=True)@0.2", "IAP11",
            "IAP11(rel=2)",
        ),
        41, 200, 7, (ALL_RELEVANT,),
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    return FAMILIES[request.param]


@pytest.fixture(scope="module")
def some(family):
    rng = random.Random(family.seed)
    return [*family.special, *(random_query(rng, family.longest) for _ in range(family.n))]


def test_values_and_spread_are_exact(family, some):
    """Mean, variance, minimum and maximum equal enumeration of all orders; so do those of the reference."""
    assert_spread_is_exact(some, family.names)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("ties", "kind"), [("optimistic", "max"), ("pessimistic", "min")])
def test_the_rules_have_the_extremes_of_the_spread(family, some, ties, kind, dtype):
    """The rule's value is the extreme of the spread, also with other measures, with threads, and in all methods."""
    names = ("AP", *family.names, "nDCG")
    scores = scores_of(some, dtype)
    expected = getattr(evaluator(some, names).spread(scores), kind)
    for threads in (1, 3):
        evaluate_all = evaluator(some, names, ties=ties, threads=threads)
        out = np.empty_like(expected)
        np.testing.assert_allclose(evaluate_all(scores, out), expected, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(evaluate_all.many(np.stack([scores] * 2))[1], out.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(evaluate_all.columns(scores[:, None])[0], out.mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("ties", ["run_order", "trec_eval"])
def test_one_order_is_one_value(family, some, ties):
    ids = [[f"{q}-{i:x}" for i in range(len(query.labels))] for q, query in enumerate(some)]
    docids = [each for of_query in ids for each in of_query] if ties == "trec_eval" else None
    values = evaluator(some, family.names, ties=ties, docids=docids)(scores_of(some))
    for query, of_query, row in zip(some, ids, values, strict=True):
        expected = [reference.evaluate(name, *query, ties, of_query) for name in family.names]
        np.testing.assert_allclose(row, expected, rtol=1e-14)


def test_threads_and_other_measures_change_no_bit(family, some):
    """Other measures divide the documents into other groups, where a sum could be rounded otherwise."""
    many, names = some * 20, ("AP", *family.names, "Bpref")
    spread = evaluator(many, family.names).spread(scores_of(many))
    beside = evaluator(many, names, threads=3).spread(scores_of(many))
    for found, expected in zip(beside, spread, strict=True):
        np.testing.assert_array_equal(found[:, 1:-1], expected)
    np.testing.assert_array_equal(evaluator(many, names, threads=3)(scores_of(many))[:, 1:-1], spread.mean)


@pytest.mark.parametrize(
    ("names", "n", "share", "distinct", "grades"),
    [
        *((FAMILIES["interpolated precision"].names[:4], 30, 0.2, distinct, 1) for distinct in (1, 4, 12)),
        *(([f"MaxF(beta={beta}){at}" for beta in (0.5, 1.0, 3.0) for at in ("", "@5", "@17")], 30, 0.2, distinct, 1)
          for distinct in (1, 4, 12)),
        (["IAP11"], 12, 0.4, 1, 1), (["IAP11"], 14, 0.4, 3, 1), (["IAP11"], 16, 0.4, 8, 1),
        ([f"AUC@{k}" for k in (3, 40, 999, 1500)], 2000, 0.3, 3, 1),
        *((["Compat(p=0.9)"], n, 0.6, 3, 3) for n in (*range(10, 18), *range(20, 61, 4))),
    ],
)  # fmt: skip
def test_lists_too_long_to_enumerate(names, n, share, distinct, grades):
    """Long lists have the values of the reference, which has other algorithms."""
    rng = random.Random(f"{n} {distinct}")
    labels = tuple(rng.randint(1, grades) if rng.random() < share else rng.randint(-1, 0) for _ in range(n))
    query = Query(tuple(float(rng.randrange(distinct)) for _ in labels), labels, (*labels, 1, 1, 2 * grades))
    spread = evaluator([query], names).spread(scores_of([query]))
    for name, mean, std in zip(names, spread.mean[0], spread.std[0], strict=True):
        assert mean == pytest.approx(reference.evaluate(name, *query), rel=1e-11)
        assert std**2 == pytest.approx(reference.variance(name, *query), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize(
    ("measure", "n", "relevant", "grades", "levels", "n_orders"),
    [
        *((f"BPM(T=3.0){at}", 1000, 100, 4, 1, 8000) for at in ("", "@30", "@700")),
        *((name, 200, 60, 3, levels, 6000) for name in ("O", "O@40", "PPlus", "PPlus(beta=0.1)") for levels in (1, 4)),
        ("Compat(p=0.98)", 400, 300, 3, 2, 3000), ("MaxF", 1000, 30, 1, 1, 4000), ("IPrec@0.0", 1000, 30, 1, 1, 8000),
        ("IAP11", 1000, 30, 1, 1, 3000),
    ],
)  # fmt: skip
def test_large_groups_agree_with_random_orders(measure, n, relevant, grades, levels, n_orders):
    rng = np.random.default_rng(levels)
    labels = rng.permutation(np.r_[np.zeros(n - relevant, dtype=int), rng.integers(1, grades + 1, relevant)])
    scores = rng.integers(0, levels, n).astype(np.float64)
    spread = Evaluator(labels, [measure]).spread(scores)
    orders = np.stack([labels[np.lexsort((rng.random(n), -scores))] for _ in range(n_orders)])
    sampled = Evaluator(orders, [measure])(np.tile(-np.arange(n, dtype=float), (n_orders, 1)))[:, 0]
    assert spread.mean[0, 0] == pytest.approx(sampled.mean(), abs=4 * sampled.std() / n_orders**0.5)
    assert spread.std[0, 0] == pytest.approx(sampled.std(), rel=0.1)
    assert spread.min[0, 0] <= sampled.min()
    assert spread.max[0, 0] >= sampled.max()


@pytest.mark.parametrize(
    ("measure", "labels", "scores", "least", "greatest"),
    [
        # Ten documents without gain come first. Then one document with the gain 1 suffices, but 3/4 + 1 is more.
        ("BPM", [0] * 10 + [4, 3], [1.0] * 10 + [0.0, 0.0], 1 / 11, 1.75 / 12),
        # Below documents without gain, a further relevant document above the best one lifts the mean of the ratios.
        # The ideal cumulated gains are 2, 3, 3 and 3: in 0 0 2 1, the ratio at rank 3; in 0 0 1 2, at ranks 3 and 4.
        ("PPlus", [0, 0, 2, 1], [1.0, 1.0, 0.0, 0.0], (1 + 2) / 6, ((1 + 1) / 6 + (2 + 3) / 7) / 2),
        # Below a nonrelevant document, one relevant document within the cut-off is better than two: in 0 1 0, one of
        # two pairs is in the right order; in 0 1 1, none of two.
        ("AUC@3", [0, 1, 1, 0, 0], [2.0, 1.0, 1.0, 1.0, 1.0], 0.0, 0.5),
    ],
)
def test_the_best_order_is_not_by_label(measure, labels, scores, least, greatest):
    spread = Evaluator(labels, [measure]).spread(scores)
    assert (spread.min.item(), spread.max.item()) == pytest.approx((least, greatest))


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
def test_extremes_of_judgments(ties):
    value = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "AUC@1", ties=ties).values.item()
    assert value == (ties == "optimistic")


def every(n, step, label=1):
    """Return n labels: that of each `step`-th document, and 0 of the others."""
    return np.where(np.arange(n) % step == 0, label, 0)


BEST_IS_LAST = np.r_[np.repeat([0, 1], 20_000)[:-1], 2]
LARGE = "the exact value of large tie groups takes too long"


@pytest.mark.parametrize(
    ("measure", "labels", "options", "message"),
    [
        ("PPlus", BEST_IS_LAST, {}, f"PPlus: {LARGE}"),
        ("INST", every(200, 10, 4), {}, "INST: the exact value goes through all orders of tied documents"),
        ("INST", every(200, 10, 4), {"ties": "optimistic"}, "INST: the exact value goes through all orders of tied"),
        ("NERR9(max_rel=5)", every(200, 10, 4), {}, r"NERR9\(max_rel=5\): the exact value goes through all orders"),
        ("ERR(max_rel=30)", np.arange(100_000) % 4 + 1, {}, r"ERR\(max_rel=30\): the exact value or spread of large"),
        ("BPM(T=1000)", np.arange(100_000) % 5, {}, rf"BPM\(T=1000.0\): {LARGE}"),
        ("IPrec@0.1", every(20_000, 20), {}, rf"IPrec@0\.1: {LARGE}"),
        *((name, every(n, n // 100), {}, f"{name}: {LARGE}")
          for name, n in (("IPrec@0.0", 4_000), ("IAP11", 4_000), ("MaxF", 4_000), ("MaxF", 20_000))),
    ],
)  # fmt: skip
def test_groups_that_take_too_long_are_refused(measure, labels, options, message):
    evaluator = Evaluator(labels, ["AP", measure], **options)
    for call in (evaluator, evaluator.mean):
        with pytest.raises(InputError, match=f"^{message}"):
            call(np.zeros(len(labels)))


@pytest.mark.parametrize(
    ("measure", "labels", "scores"),
    [
        ("Compat(p=0.999)", np.repeat([1, 2, 3, 0], 2000), np.zeros(8000)),
        ("ERR", every(5_000, 100), np.where(np.arange(5_000) < 2_001, 0.0, -1.0 - np.arange(5_000))),
        ("ERR@2001", every(5_000, 100), np.zeros(5_000)),
    ],
)
def test_spreads_that_take_too_long_are_refused(measure, labels, scores):
    """The value does not take too long."""
    evaluator = Evaluator(labels, ["AP", measure])
    with pytest.raises(InputError, match="exact value or spread of large tie groups takes too long") as refusal:
        evaluator.spread(scores)
    assert refusal.value.where == measure
    assert 0.0 < evaluator(scores)[0, 1] < 1.0


@pytest.mark.parametrize(
    ("measure", "labels", "scores", "ties", "least", "most"),
    [
        ("O", BEST_IS_LAST, np.zeros(40_000), "average", 1e-9, 1.0),
        ("PPlus", BEST_IS_LAST, np.arange(40_000.0), "average", 1e-9, 1.0),
        ("NERR9(max_rel=5)@12", every(200, 10, 4), np.zeros(200), "average", 1e-9, 1.0),
        ("INST@9", every(200, 10, 4), np.zeros(200), "average", 1e-9, 0.5),
        ("INST", every(200, 10, 4), every(200, 10, 2.0), "average", 0.5, 1.0),
        ("BPM(T=1000)", np.arange(100_000) % 5, -np.arange(100_000.0), "average", 0.4995, 0.5005),
        ("MaxF", every(20_000, 20), np.ones(20_000), "optimistic", 1.0, 1.0),
        ("MaxF@20", every(20_000, 20), np.ones(20_000), "average", 1e-9, 0.02),
        ("IPrec@0.1", every(20_000, 20), np.ones(20_000), "run_order", 100 / 1981, 100 / 1981),
    ],
)  # fmt: skip
def test_a_cutoff_or_another_rule_helps(measure, labels, scores, ties, least, most):
    assert least - 1e-12 <= Evaluator(labels, measure, ties=ties)(scores).item() <= most + 1e-12
