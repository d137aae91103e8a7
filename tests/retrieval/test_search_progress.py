"""The progress and the interruption of searches, and that ranges of terms give what all terms at once give."""

import os
import signal
import threading
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from tieaware.retrieval import (
    Champions,
    ClusterPruning,
    Exact,
    ImpactOrdered,
    Index,
    MaxScore,
    Tiers,
    accumulators,
    clusters,
    method,
    postings,
    tiers,
)
from tieaware.runtime import progress

STAGES = {
    Exact(): {"dense lists", "largest weights"},
    MaxScore(): {"dense lists", "largest weights"},
    Champions(r=3): {"dense lists", "champion lists", "bitmaps"},
    ImpactOrdered(postings=0.5): {"impact order"},
    Tiers(thresholds=(0.5, 0.2)): {"dense lists", "largest weights", "tiers"},
    ClusterPruning(): {"clusters"},
}


@pytest.fixture
def shown(monkeypatch) -> dict[str, list[float]]:
    """Record the steps done and the total of each stage that can be the outermost."""
    stages: dict[str, list[float]] = {}

    @contextmanager
    def stage(title, total=None, *, unit="", shown=True):
        if shown:
            done = stages[title] = [0, total]
        yield lambda steps: done.__setitem__(0, done[0] + steps) if shown else None

    for module in (clusters, postings, progress):
        monkeypatch.setattr(module, "stage", stage)
    return stages


def indexed() -> Index:
    """Return an index with two terms that are in all of 5,000 documents, so that they have a dense form."""
    rng = np.random.default_rng(3)
    tokens = np.minimum(rng.zipf(1.3, (5000, 6)) + 1, 299).astype(np.int32)
    tokens[:, :2] = 0, 1
    return Index.from_tokens((tokens.ravel(), np.arange(0, 30_001, 6)), [str(i) for i in range(300)])


@pytest.mark.parametrize("method", STAGES, ids=lambda method: type(method).__name__)
def test_long_preparations_show_their_progress(method, shown, monkeypatch):
    queries = {"q": ["0", "1", "2", "7"], "r": ["3", "250"]}
    expected = method.search(indexed(), queries, 20)
    assert not shown
    for module in (accumulators, clusters, postings, tiers):
        monkeypatch.setattr(module, "LONG", 10_000)
    monkeypatch.setattr(postings, "_STEP", 1000)
    run = method.search(indexed(), queries, 20)
    assert STAGES[method] <= set(shown)
    for done, total in shown.values():
        assert done == total > 0
    assert run.documents == expected.documents
    assert run.scores.tobytes() == expected.scores.tobytes()


def test_ranges_of_terms_have_all_terms_once(monkeypatch):
    monkeypatch.setattr(postings, "_STEP", 3)
    sizes = [0, 0, 7, 1, 1, 1, 0, 2, 5, 0, 1, 0]
    starts = np.append(0, np.cumsum(sizes))
    ranges = postings.over_terms("terms", starts, lambda first, stop: range(first, stop))
    assert Counter(term for each in ranges for term in each) == Counter(range(len(sizes)))
    assert len(ranges) > 3
    assert postings.over_terms("terms", np.array([0]), range) == []
    assert postings.over_terms("terms", np.array([0, 0, 0]), range) == [range(2)]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_queries_done_are_shown_within_another_stage(threads, monkeypatch):
    counts = []

    @contextmanager
    def stage(title, total=None, *, shown=True):
        done = []
        yield done.append
        counts.append((title, total, sum(done), shown))

    monkeypatch.setattr(method, "stage", stage)
    Exact().search(indexed(), {"q": ["0", "7"], "r": ["3"], "s": []}, 20, threads=threads)
    assert counts == [("queries", 3, 3, False)]


def test_an_interruption_stops_a_search():
    # All 60 lists share the same postings. Searching them takes seconds.
    n = 1_000_000
    starts, stops, own = np.zeros(60, np.int64), np.full(60, n), np.ones(60)
    documents, weights = np.arange(n, dtype=np.int32), np.linspace(1, 0.5, n, dtype=np.float32)

    def search(k):
        lists = accumulators.posting_lists(starts, stops, documents, weights)
        terms = accumulators.TermLists(lists, np.repeat(np.arange(60), 60), np.repeat(own, 60))
        return accumulators.accumulate(terms, n, k)

    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search(n - 1)
    timer.join()
    # An interrupted search leaves nothing behind.
    stops[:] = 1000
    assert search(5).documents.tolist() == [0, 1, 2, 3, 4]
