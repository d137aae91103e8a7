"""The three engines that find tie groups (counting, locating, sorting) give the same bits for all scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.queries import MEASURES, Query, flat, offsets_of, random_query, scores_of

from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice, sorting_pays
from tieaware.engine.prepared import Prepared, prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.judgments import JudgedLists
from tieaware.measures import parse_measures
from tieaware.ties import RULES

# Force counting, locating, or a mixture of both; force sorting, except for lists that cannot be sorted; or let the cost
# model choose.
ENGINES = (
    EngineChoice(10**9, False), EngineChoice(0, False), EngineChoice(3, False), EngineChoice(16, False),
    EngineChoice(sorting=True), EngineChoice(0, sorting=True), EngineChoice(),
)  # fmt: skip
LONG_MEASURES = (
    "AP", "AP@100", "nDCG", "nDCG@10", "RR", "RBP", "Bpref", "P@1000", "R@100", "AUC", "nDCG(judged_only=True)@5",
)  # fmt: skip
UP_TO_TEN = ("nDCG@10", "P@5", "AP@10")

TINY = float(np.finfo(np.float64).tiny)
LARGEST = float(np.finfo(np.float64).max)
# Adjacent doubles, doubles that round to the same float, numbers beyond the range of floats, and subnormal numbers.
NUMBERS = (
    -np.inf, -LARGEST, -1e300, -3.5e38, -1.0, -TINY, -5e-324, -0.0, 0.0, 5e-324, 1e-310, TINY, np.nextafter(TINY, 1),
    2.0**-149, 1e-45, 0.1, np.nextafter(0.1, 1), 0.1 + 2.0**-40, 1.0, np.nextafter(1.0, 0), np.nextafter(1.0, 2), 2.5,
    3.5e38, 1e300, np.nextafter(LARGEST, 0), LARGEST, np.inf,
)  # fmt: skip


def prepared(
    lists: Sequence[Sequence[int]],
    measures: Sequence[str] = LONG_MEASURES,
    ties: str = "average",
    *,
    choice: EngineChoice = EngineChoice(),  # noqa: B008, as it is immutable
    spread: bool = False,
) -> Prepared:
    """Prepare lists, given by their labels, for one engine. Rules by document id get an arbitrary order of ids."""
    judged = JudgedLists.of_labels(flat(lists, np.int32), offsets_of(lists), zeros=True, pool=True)
    parsed = parse_measures(measures)
    rng = np.random.default_rng(7)
    order = np.concatenate([rng.permutation(len(labels)) for labels in lists])
    (wanted,) = passes([View(ties, spread=spread)])
    totals = Totals.of(parsed, judged.judgments)
    with mock.patch.object(engine_choice, "CHOICE", choice):
        return prepare(parsed, judged, totals, wanted, order=order if RULES[ties].by_document else None)


def assert_same_bits(
    lists: Sequence[Sequence[int]], scores: npt.NDArray[np.floating], measures: Sequence[str], ties: str,
    *, spread: bool = False,
) -> bytes:  # fmt: skip
    """Return the bits of the values, after comparing those of all engines."""
    bits = set()
    for choice in ENGINES:
        engine = prepared(lists, measures, ties, choice=choice, spread=spread)
        values = np.full((4 if spread else 1, len(lists), len(measures)), np.nan)
        assert engine.evaluate(scores, values) == -1
        assert not np.isnan(values).any()
        bits.add(values.tobytes())
    assert len(bits) == 1
    return bits.pop()


def long_lists(seed: int) -> list[Query]:
    """Draw lists of 1, 2, 4 and 16 sorted chunks, with few and many relevant documents and distinct scores."""
    rng = np.random.default_rng(seed)
    drawn = []
    for n, share, distinct in [
        (40, 0.5, 3), (300, 1.0, 1), (256, 0.5, 10_000), (257, 0.5, 10_000), (700, 0.02, 5), (700, 0.5, 40),
        (700, 0.9, 300), (1000, 0.4, 10**6), (2500, 0.01, 2500), (2500, 0.3, 60), (4000, 0.6, 10**7),
    ]:  # fmt: skip
        labels = np.where(rng.random(n) < share, rng.integers(1, 5, n), rng.integers(-1, 1, n))
        scores = rng.integers(0, distinct, n) / 7 - distinct / 20
        drawn.append(Query(tuple(scores.tolist()), tuple(labels.tolist()), tuple(labels.tolist())))
    return drawn


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ties", RULES)
def test_short_and_long_lists(ties, dtype):
    some = long_lists(5) + [random_query(random.Random(6), 40) for _ in range(50)]
    lists = [q.labels for q in some]
    assert_same_bits(lists, scores_of(some, dtype), LONG_MEASURES, ties)
    assert_same_bits(lists, scores_of(some, dtype), UP_TO_TEN, ties)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ties", RULES)
def test_every_measure_and_its_spread(ties, dtype):
    some = [random_query(random.Random(6), 60) for _ in range(30)]
    assert_same_bits([q.labels for q in some], scores_of(some, dtype), MEASURES, ties, spread=RULES[ties].averages)


@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("measures", [["AP"], ["nDCG@10", "AP", "RR"], ["nDCG(dcg='exp-log2')"], ["P", "ERR", "Bpref"]])
def test_weights_that_fit_into_a_word(measures, spread):
    """Sorting adds up the packed weights of groups; other engines add up each weight."""
    some = [random_query(random.Random(seed), 60) for seed in range(30)]
    assert_same_bits([q.labels for q in some], scores_of(some, np.float64).round(1), measures, "average", spread=spread)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_relevant", [pytest.param(40, marks=pytest.mark.slow), 300])
def test_a_list_of_several_chunks(n_relevant, dtype):
    """A list is processed in chunks of 65,536 scores. All engines give the same bits, and the values of a full sort."""
    n = 2 * 65_536 + 777
    rng = np.random.default_rng(n_relevant)
    labels = np.zeros(n, np.int32)
    labels[rng.choice(n, n_relevant, replace=False)] = 1
    for scores in (rng.random(n).astype(dtype), (rng.integers(0, 900, n) / 8).astype(dtype)):
        for ties in RULES if scores[0] * 8 % 1 == 0 else ("average",):
            assert_same_bits([labels], scores, ("AP", "AP@100", "AUC", "nDCG@10"), ties)
        values = np.empty((1, 1, 1))
        rising, found = np.sort(scores[labels == 0]), scores[labels == 1]
        below = np.searchsorted(rising, found) + np.searchsorted(rising, found, "right")
        assert prepared([labels], ["AUC"]).evaluate(scores, values) == -1
        assert values.item() == pytest.approx(below.sum() / 2 / len(rising) / n_relevant, rel=1e-12)
        ranks = np.flatnonzero(labels[np.argsort(-scores, kind="stable")]) + 1
        assert prepared([labels], ["AP"], "run_order").evaluate(scores, values) == -1
        assert values.item() == pytest.approx((np.arange(1, n_relevant + 1) / ranks).mean(), rel=1e-12)
        scores[-1] = np.nan
        assert [prepared([labels], ["AP"], ties).evaluate(scores, values) for ties in RULES] == [0] * len(RULES)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_scores_that_are_hard_to_distinguish(data):
    """Adjacent doubles, doubles that round to the same float, zeros and infinities are grouped correctly."""
    n = data.draw(st.integers(1, 40))
    pool = data.draw(st.lists(st.sampled_from(NUMBERS) | st.floats(allow_nan=False), min_size=1, max_size=6))
    scores = np.array(data.draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)))
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    measures = data.draw(st.sampled_from([LONG_MEASURES, UP_TO_TEN]))
    ties = data.draw(st.sampled_from(list(RULES)))
    assert_same_bits([labels], scores, measures, ties)
    with np.errstate(over="ignore"):
        assert_same_bits([labels], scores.astype(np.float32), measures, ties)


@pytest.mark.parametrize("n", [17, 120, 500])
@pytest.mark.parametrize("ties", ["average", "run_order", "optimistic"])
def test_lists_that_defeat_rounding(ties, n):
    """The engines locate scores approximately by rounding. Scores that differ in their last bits are still distinct."""
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 3, n).tolist()
    ladder = 1.0 + np.arange(n) * 2.0**-52
    subnormal = np.arange(n) * 5e-324
    huge = np.float64(LARGEST) - np.arange(n) * 2.0**971
    alike = np.ones(n), np.zeros(n), np.full(n, -np.inf)
    for rising in (ladder, -ladder[::-1], subnormal, huge, *alike, np.arange(n) / 3):
        for scores in (rising, rising[::-1], rng.permutation(rising), rng.choice(rising, n)):
            assert_same_bits([labels], np.ascontiguousarray(scores), LONG_MEASURES, ties)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 120, 700, 4096, 4097])
def test_lists_whose_scores_do_not_fit_in_narrow_words(n, dtype):
    """Lists of up to 4,096 documents are sorted by words of 32 bits, in which few bits remain for a score."""
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 3, n).tolist()
    normal = rng.standard_normal(n)
    outlying, masked, without = normal.copy(), rng.random(n), normal.copy()
    outlying[n // 2] = -1e30
    masked[rng.random(n) < 0.5] = -1e9
    without[rng.random(n) < 0.3] = -np.inf
    # A cluster far from the other scores: the words of its documents are equal, so they are out of order.
    cluster = np.where(rng.random(n) < 0.9, 1000 + rng.permutation(n) * 2.0**-13, -1e9)
    logarithmic, alike = np.exp(20 * normal), rng.permutation(np.repeat(normal, 2)[:n])
    assert len(np.unique(cluster.astype(dtype))) > 0.8 * n
    for scores in (normal, outlying, masked, without, cluster, -cluster, logarithmic, -logarithmic, alike):
        for ties in ("average", "run_order") if n < 700 else ("average",):
            assert_same_bits([labels], scores.astype(dtype), LONG_MEASURES, ties)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ties", RULES)
def test_pairs_of_doubles_that_round_to_the_same_float(ties, dtype):
    rng = np.random.default_rng(4)
    some = np.arange(30) / 3 + 0.1
    labels = rng.integers(0, 3, 60).tolist()
    for _ in range(5):
        scores = rng.permutation(np.concatenate((some, np.nextafter(some, np.inf)))).astype(dtype)
        # Where all documents have a weight, as for Bpref, counts of a pair contradict each other, and are mended.
        for measures in (LONG_MEASURES, ("AP", "nDCG")):
            assert_same_bits([labels], scores, measures, ties)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [5, 40, 300, 5000])
@pytest.mark.parametrize("ties", RULES)
def test_zeros_of_either_sign_tie(ties, n, dtype):
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 3, n).tolist()
    scores = rng.choice(np.array([0.0, -0.0, 1e-30, -1e-30], dtype), n)
    without_signs = np.where(scores == 0, dtype(0), scores)
    signed, unsigned = (assert_same_bits([labels], each, LONG_MEASURES, ties) for each in (scores, without_signs))
    assert signed == unsigned


TABULATED = ("AP", "RR", "nDCG@10", "nDCG", "P@700", "Bpref", "infAP", "Q", "ERR", "AUC", "Judged@50")
NEAR = [0.0, -0.0, np.inf, -np.inf, 1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 5e-324, -5e-324]


# Such lists are grouped by a hash table. There are as many documents as that needs, and one fewer; as many scores as it
# takes, and one more.
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("length", [767, 768, 1_500])
@pytest.mark.parametrize("n_scores", [1, 2, 11, 54, 100, 128, 129, 400])
def test_long_lists_with_few_distinct_scores(n_scores, length, dtype):
    rng = np.random.default_rng(n_scores)
    labels = np.where(rng.random((4, length)) < 0.6, rng.integers(0, 3, (4, length)), -1).tolist()
    scores = rng.choice(rng.normal(size=n_scores), 4 * length).astype(dtype)
    for ties in ("average", "optimistic", "pessimistic", "run_order"):
        assert_same_bits(labels, scores, TABULATED, ties)
    assert_same_bits(labels, scores, ("AP", "nDCG@10", "Bpref", "P@20"), "average", spread=True)
    for first_ranks in (("P@1",), ("nDCG@5", "RR@3")):
        assert_same_bits(labels, scores, first_ranks, "average")
    assert_same_bits(labels, rng.choice(NEAR, 4 * length), TABULATED, "average")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("choice", ENGINES)
def test_every_engine_finds_nan(choice, dtype):
    lists = [[1, 0] * 30, [2, 0, 1] * 200, [1] * 20, [1, 0] * 2500, [1, 0] * 500]
    for ties in ("average", "run_order"):
        evaluate = prepared(lists, ties=ties, choice=choice).evaluate
        for query, place in ((0, 3), (1, 0), (1, 599), (2, 19), (3, 7), (4, 0), (4, 30), (4, 999)):
            for nan in (np.nan, -np.nan):
                scores = np.random.default_rng(place).random(6680).astype(dtype)
                # The last list has few distinct scores, which a hash table finds.
                scores[-1000:] = scores[-1000:].round(1)
                scores[offsets_of(lists)[query] + place] = nan
                assert evaluate(scores, np.empty((5, len(LONG_MEASURES)))) == query


def test_lists_too_long_for_words():
    """Lists of more than 2^16 documents are not sorted, because the sort stores positions in 16 bits."""
    rng = np.random.default_rng(9)
    lists = [(rng.random(n) < 0.01).tolist() for n in (2**16, 2**16 + 1)]
    assert_same_bits(lists, rng.integers(0, 1000, 2**17 + 1) / 8, ["AP", "nDCG@10"], "average")


def test_the_cost_model():
    """The cost model sorts lists with many relevant documents. It does not sort lists with few, or whole catalogues."""
    lengths = np.array([120, 100, 1000, 1000, 10**6, 10, 0])
    n_weighted = np.array([60, 10, 40, 350, 1000, 10, 0])
    assert sorting_pays(lengths, n_weighted, 2**62).tolist() == [True, False, False, True, False, False, False]
    assert sorting_pays(lengths, n_weighted, 10).tolist() == [True, False, False, False, False, False, False]
    assert sorting_pays(np.array([], np.int64), np.array([], np.int64), 10).tolist() == []
