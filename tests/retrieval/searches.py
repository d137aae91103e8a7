"""Random small collections with queries, searched by a method and by the reference."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from hypothesis import strategies as st
from reference import Collection, Scores, top

from tieaware.retrieval import Index, Method, Query
from tieaware.retrieval.accumulators import Found
from tieaware.retrieval.method import WeightedQueries, posting_weights, query_weights

WEIGHTINGS = ("nnn.nnn", "lnc.ltc", "bm25")


def find(method: Method, index: Index, k: int, whole_ties: bool, query: Query) -> Found:
    """Search for a single query, without its filter."""
    search = method._searcher(index, k, whole_ties)
    return search(WeightedQueries.of(index, method.weighting, [query])).of_query(0)


class Search(NamedTuple):
    """A search to test: an index, the words of its documents and of the query, and the parameters of the search."""

    index: Index
    texts: list[list[str]]
    words: list[str]
    k: int
    whole_ties: bool
    weighting: str

    @property
    def query(self) -> Query:
        """The query as term numbers of the index."""
        return self.index.query(self.words)

    @property
    def needed(self) -> Counter[int]:
        """The frequency of each term in the query; words that the index does not have are counted at -1."""
        numbers = {term: i for i, term in enumerate(self.index.terms)}
        return Counter(numbers.get(word, -1) for word in self.words)

    def collection(self) -> Collection:
        """Return the collection in the form that the reference takes."""
        numbers = {term: i for i, term in enumerate(self.index.terms)}
        postings, weights = self.index.postings, posting_weights(self.index, self.weighting).tolist()
        starts, documents = postings.starts.tolist(), postings.documents.tolist()
        by_term = {t: dict(zip(documents[a:b], weights[a:b], strict=True)) for t, (a, b) in enumerate(pairwise(starts))}
        own = query_weights(self.index, self.weighting, self.query).tolist()
        quality = [] if self.index.quality is None else self.index.quality.tolist()
        texts = [[numbers[word] for word in text] for text in self.texts]
        return Collection(by_term, dict(zip(self.query.terms.tolist(), own, strict=True)), texts, quality)

    def found(self, method: Method) -> list[tuple[int, float]]:
        """Search with a method of the package; return documents with scores."""
        found = find(method, self.index, self.k, self.whole_ties, self.query)
        return list(zip(found.documents.tolist(), found.scores.tolist(), strict=True))

    def expected(self, scores: Scores) -> list[tuple[int, float]]:
        """Rank the scores of the reference; return documents with scores."""
        return top(scores, self.k, self.whole_ties)


QUALITIES = (0.0, 0.25, 0.3, 1.0)
# There are few words, so that scores tie. The query may have a word, z, that no collection has.
WORDS, QUERY_WORDS = "aabbbcde", "abcdez"


def _search(seed: int) -> Search:
    rng = random.Random(seed)
    longest = rng.choice((1, 3, 5, 8))
    texts = [rng.choices(WORDS, k=rng.randint(0, longest)) for _ in range(rng.choice((1, 2, 5, 8, 10)))]
    texts[0] = texts[0] or ["a"]
    quality = rng.choices(QUALITIES, k=len(texts))
    named = ((f"d{i}", " ".join(text)) for i, text in enumerate(texts))
    index = Index.build(named, analyzer=str.split, quality=quality)
    words = rng.choices(QUERY_WORDS, k=rng.choice((0, 1, 2, 2, 3, 3, 4, 5)))
    return Search(index, texts, words, rng.choice((1, 2, 3, 5, 20)), rng.random() < 0.5, rng.choice(WEIGHTINGS))


def searches() -> st.SearchStrategy[Search]:
    """Draw searches, some with special cases: empty documents or queries, unknown or repeated terms, a large K.

    Hypothesis draws only the seed of a random generator. If it drew the documents itself, most collections would have a
    single document.
    """
    return st.integers(0, 2**20).map(_search)
