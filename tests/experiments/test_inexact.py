"""The inexact experiment: its numbers computed in a second way, its command, and invalid input."""

from dataclasses import replace

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import experiments, retrieval, samples

K = 20


@pytest.fixture(scope="module")
def collection():
    return samples.generate_texts(n_documents=400, n_topics=12)


@pytest.fixture(scope="module")
def index(collection):
    return retrieval.Index.build(collection.documents.items(), quality=collection.quality)


@pytest.fixture(scope="module")
def outcome(collection, index):
    methods = [retrieval.Champions(r=r) for r in (1, 5, 400)] + [retrieval.Exact(weighting="bm25")]
    return experiments.inexact(index, collection.topics, collection.qrels, methods, ["AP", "nDCG@10"], k=K)


def test_values_agree_with_evaluate(collection, index, outcome):
    """The values and their spread equal those of a run that includes the whole tie group at the cut-off."""
    run = retrieval.Champions(r=5).search(index, collection.topics, K, whole_ties=True)
    alone = tieaware.evaluate(collection.qrels, run, ["AP", "nDCG@10"], spread=True)
    place = outcome.methods.index("Champions(r=5)")
    for name in ("values", "std", "min", "max"):
        assert np.array_equal(getattr(outcome.results, name)[place], getattr(alone, name)[0])


def test_champion_lists_with_all_documents_are_exact(outcome):
    place = outcome.methods.index("Champions(r=400)")
    assert np.array_equal(outcome.results.values[place], outcome.results.values[0])
    assert np.array_equal(outcome.overlap[place], outcome.overlap[0])
    assert outcome.tests[0].difference[place - 1] == 0


def test_longer_champion_lists_cost_more_and_lose_less(outcome):
    few, more = (outcome.methods.index(f"Champions(r={r})") for r in (1, 5))
    assert outcome.shares[few] < outcome.shares[more] <= 1
    for measured in (outcome.overlap, outcome.agreement, outcome.results.values[..., 0]):
        assert measured[few].mean() < measured[more].mean() < measured[0].mean()


def test_overlap_is_averaged_over_tie_orders():
    """Three documents tie for two ranks. The overlap is an expectation: both runs order the ties independently."""
    texts = [("d1", "tie"), ("d2", "tie"), ("d3", "tie"), ("d4", "tie tie tie")]
    index = retrieval.Index.build(texts, analyzer=str.split)
    qrels = {"q1": {"d4": 1}, "q2": {"d2": 1}}
    methods = [retrieval.Champions(r=4, weighting="nnn.nnn"), retrieval.Champions(r=1, weighting="nnn.nnn")]
    found = experiments.inexact(index, {"q1": "tie", "q2": "tie"}, qrels, methods, "AP", k=3)
    # d4 is first in all orders; each other document is among the next two with probability 2/3.
    assert found.overlap[1] == pytest.approx([(1 + 3 * (2 / 3) ** 2) / 3] * 2)
    assert found.overlap[2] == pytest.approx([1 / 3] * 2)
    assert found.tied.tolist() == [0.75, 0.75, 0.0]


def test_no_method_is_cheaper_and_better_than_one_on_the_frontier(outcome):
    means = outcome.results.mean()[:, 0]
    for cost, costs in (("time", outcome.times), ("postings", outcome.shares)):
        for i in range(len(outcome.methods)):
            beaten = any(
                (costs[j] <= costs[i] and means[j] > means[i]) or (costs[j] < costs[i] and means[j] >= means[i])
                for j in range(len(outcome.methods))
            )
            assert (i in outcome.frontier(0, cost)) <= (not beaten)
    assert outcome.frontier() == outcome.frontier(0, "time")
    assert "cost: expected one of time, postings, found 'money'" in message_of(outcome.frontier, 0, "money")


def test_methods_that_add_quality_are_compared_with_an_exact_one_that_adds_the_same(collection, index):
    net = [retrieval.NetScore(), retrieval.NetScore(quality_weight=0.25), retrieval.HighLow(r=400)]
    found = experiments.inexact(
        index, collection.topics, collection.qrels, [*net, retrieval.Champions(r=400)], ["AP"], k=K
    )
    exact, half = "ExactNetScore(quality_weight=1.0)", "ExactNetScore(quality_weight=0.25)"
    assert found.methods[:3] == ("Exact()", exact, half)
    assert [found.methods[i] for i in found.baselines] == ["Exact()"] * 3 + [exact, half, exact, "Exact()"]
    # Against exact search, which does not know the quality, they would gain or lose, and find other documents.
    assert (found.results.values[3] != found.results.values[0]).any()
    assert found.tests[0].difference[2:].tolist() == [0.0] * 4
    assert found.overlap[3:6].min() == 1.0 > found.overlap[1].mean()
    notes = " ".join(found.table().notes)
    assert f"NetScore(share=1.0) and HighLow(r=400): compared with {exact}, which adds the same quality." in notes
    # The times that were measured here may be any.
    faster = replace(found, seconds=np.array([1.0] * 3 + [0.5] * 4))
    assert f", or of {exact}, 0." in faster.verdict()
    given = [retrieval.NetScore(), retrieval.ExactNetScore()]
    assert experiments.inexact(index, collection.topics, collection.qrels, given, "AP", k=K).baselines == (0, 2, 0)
    of_net = experiments.inexact(
        index, collection.topics, collection.qrels, [retrieval.NetScore()], "AP", k=K, baseline=given[1]
    )
    assert of_net.methods == (exact, "NetScore(share=1.0)")


def test_every_method_has_a_colour_of_its_own(collection, index):
    names = {
        "MaxScore", "WAND", "BlockMaxWAND", "HighIdf", "AtLeast", "Champions", "Tiers", "ImpactOrdered",
        "ClusterPruning", "NetScore", "HighLow", "RM3",
    }  # fmt: skip
    methods = [retrieval.parse_method(name) for name in sorted(names)]
    outcome = experiments.inexact(index, collection.topics, collection.qrels, methods, "AP", k=K)
    for name in ("frontier-AP", "postings-AP"):
        (ax,) = outcome.drawings()[name].figure().axes
        legend = {text.get_text() for text in ax.get_legend().get_texts()}
        assert legend == {"best by cost", "Exact", "ExactNetScore", *names}
        # Each family of methods is drawn as one container of error bars.
        assert len({bars.lines[0].get_color() for bars in ax.containers}) == len(legend) - 1


def test_methods_that_find_nothing_agree(collection, index):
    topics = dict.fromkeys(collection.topics, "unheard")
    methods = [retrieval.Champions(r=3)]
    found = experiments.inexact(index, topics, collection.qrels, methods, "AP")
    assert found.overlap.tolist() == found.agreement.tolist() == [[1.0] * 12] * 2
    assert found.shares.tolist() == [1.0, 1.0]
