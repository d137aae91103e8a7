"""Champion lists: search among the documents that are best for a term of the query."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import flag, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _top
from tieaware.kernels._term_lists import PostingLists
from tieaware.retrieval.accumulators import (
    EntryBounds,
    FoundLists,
    TermLists,
    accumulate,
    posting_lists,
    score_unions,
)
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQueries,
    a_share,
    document_parts,
    filters_of,
    nth_largest,
    nth_largest_of,
    posting_weights,
    rounded_rank,
    share_of,
    single_term_scores,
    weighted_lists,
)
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers, Postings, over_terms


class TermDocuments(NamedTuple):
    """A list of documents for each term: ``documents[starts[t]:starts[t + 1]]`` for term ``t``, in ascending order.

    The best documents of a term also have their weights in it, and no other document has a value above ``missing[t]``.
    """

    starts: Offsets
    documents: Numbers
    weights: DocumentWeights
    missing: Values

    def lists(self) -> PostingLists:
        """Return the lists in the form that the kernels take."""
        return posting_lists(self.starts[:-1], self.starts[1:], self.documents, self.weights)


def best_documents(
    postings: Postings, weights: DocumentWeights, values: NDArray[np.floating | np.integer], sizes: Integers
) -> TermDocuments:
    """Return, for each term, the documents whose postings have the largest values, at most as many as its size.

    Postings also have a weight. If values tie, the documents with the lowest numbers are returned.
    """
    sizes = np.minimum(sizes, postings.document_frequencies)
    missing = np.where(sizes < postings.document_frequencies, np.inf, 0.0)
    starts = np.append(0, np.cumsum(sizes))

    def find(first: int, stop: int) -> tuple[Numbers, DocumentWeights]:
        own = slice(postings.starts[first], postings.starts[stop])
        begins = postings.starts[first : stop + 1] - postings.starts[first]
        kept = _top.largest(begins, values[own].astype(np.float64), sizes[first:stop])
        # The smallest value of each list that lacks documents, unless the list is empty.
        cut = first + np.flatnonzero((missing[first:stop] > 0) & (sizes[first:stop] > 0))
        if len(cut):
            begins = starts[cut] - starts[first]
            edges = np.column_stack([begins, begins + sizes[cut]]).ravel()
            missing[cut] = np.minimum.reduceat(np.append(values[own][kept], 0), edges)[::2]
        documents: Numbers = postings.documents[own][kept]
        return documents, weights[own][kept]

    found = over_terms("champion lists", postings.starts, find)
    documents = np.concatenate([np.empty(0, np.int32), *(each for each, _ in found)])
    own_weights = np.concatenate([np.empty(0, weights.dtype), *(each for _, each in found)])
    return TermDocuments(starts, documents, own_weights, missing)


@dataclass(frozen=True, kw_only=True)
class Champions(Method):
    """Score only the union of the query terms' champion lists, which hold the best documents of each term.

    The best documents of a term are those in which it has the largest weight; if weights tie, the documents with the
    lowest numbers. The documents of the union are scored by all terms of the query, except those that cannot be among
    the top K: K documents of a single list may reach a score that a document of another list cannot reach, even with
    the largest weights of the other terms. A document that is good for the query, but not among the best for any single
    term, is missed.

    See Introduction to Information Retrieval, section 7.1.3. With `r` equal to the number of documents, or a share of
    1, the result is that of `Exact`, bit for bit. The costs count two kinds of postings as read: those of the champion
    lists, unless a whole list is left out, and those that score the documents of the union. `GlobalChampions` makes the
    lists by static quality and weight.

    Parameters
    ----------
    r : int or callable, default: 100
        The length of a champion list; shorter if the term has fewer documents. A function takes the number of documents
        that contain each term, at least 1, as an array, and returns the lengths, which are rounded up. The name of the
        method then has the name of the function.
    share : float, default: 0
        The smallest share of a term's documents that its list contains, rounded up. A share gives frequent terms longer
        lists.
    fallback : bool, default: False
        Whether to search exactly if the union has fewer than K documents. If False, the search then finds fewer than K
        documents.

    Examples
    --------
    >>> index = Index.build([("d1", "tie"), ("d2", "tie"), ("d3", "tie tie tie rank")], analyzer=str.split)
    >>> Champions(r=1, weighting="nnn.nnn").search(index, {"q": "tie rank"}).documents.to_list()
    ['d3']
    >>> run = Champions(r=1, weighting="nnn.nnn", fallback=True).search(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d3', 'd1'], [4.0, 1.0])

    Longer lists for rarer terms, as the book suggests:

    >>> def for_rare_terms(df):
    ...     return 2 / df
    >>> Champions(r=for_rare_terms, weighting="nnn.nnn").search(index, {"q": "tie rank"}).documents.to_list()
    ['d3']
    """

    r: int | Callable[[Integers], ArrayLike] = 100
    share: float = 0.0
    fallback: bool = False

    _checks: ClassVar[Checks] = {
        "r": lambda name, r: callable(r) or whole_number(name, r, 1), "share": a_share, "fallback": flag,
    }  # fmt: skip

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        champions = champions_of(index, self.weighting, self.r, self.share)
        name = ("champions", self.weighting, self.r, self.share)
        return among(champions, name, index, self.weighting, k, whole_ties, fallback=self.fallback)


def champions_of(
    index: Index, weighting: str, r: int | Callable[[Integers], ArrayLike], share: float = 0.0
) -> TermDocuments:
    """Return the champion list of each term: at least `r` documents, and at least a share of the term's documents."""

    def prepare() -> TermDocuments:
        df = index.postings.document_frequencies
        sizes = np.maximum(_lengths(r, df) if callable(r) else r, share_of(df, share))
        values = single_term_scores(index, weighting)
        return best_documents(index.postings, posting_weights(index, weighting), values, sizes)

    return index.prepared(("champions", weighting, r, share), prepare)


def _lengths(r: Callable[[Integers], ArrayLike], df: Integers) -> Integers:
    """Return the lengths of lists that a function computes from document frequencies, and check them."""
    lengths = np.asarray(r(np.maximum(df, 1)))
    if lengths.shape != df.shape or lengths.dtype.kind not in "iuf":
        found = f"{lengths.dtype} of shape {lengths.shape}"
        raise unexpected("r", f"a function that returns a length for each of {len(df)} terms", found)
    wrong = ~(lengths >= 0)
    if wrong.any():
        raise unexpected("r", "a function that returns lengths of at least 0", shown(lengths[wrong][0].item()))
    rounded: Integers = np.ceil(np.minimum(lengths, LARGEST)).astype(np.int64)
    return rounded


def among(
    champions: TermDocuments, name: Hashable, index: Index, weighting: str, k: int, whole_ties: bool, *,
    base: Values | None = None, fallback: bool = False, at_least: int = 1, by_base: bool = False,
) -> Searcher:  # fmt: skip
    """Return a search function for the candidates that the champion lists of the queries' terms contain.

    Parameters
    ----------
    name : hashable
        The name of the champion lists in the cache of the index.
    base : float64[n_documents], optional
        A number that is added to each document's score. If `by_base`, the lists have the documents with the largest
        sums of weight and base, instead of weight.
    fallback : bool
        Whether to search exactly if there are fewer than k candidates.
    at_least : int
        The number of champion lists that a candidate must be in; all of them if the query has fewer terms.
    """
    lists, n_documents = weighted_lists(index, weighting, bitmaps=True), len(index)
    candidates = index.prepared(("lists", name), champions.lists)
    parts = document_parts(index, weighting)
    rank = rounded_rank(k)

    def make() -> EntryBounds:
        largest, kth = nth_largest(index, weighting, 1), nth_largest_of(champions.starts, champions.weights, rank)
        bases = None if base is None else base[champions.documents]
        most = 0.0 if base is None else float(base.max(initial=0))
        return EntryBounds(largest, champions.missing, kth, bases, most, by_base, *filters_of(index))

    bounds = index.prepared(("bounds of entries", name, base is None, rank), make)

    def find(queries: WeightedQueries) -> FoundLists:
        terms, offsets = queries.terms, queries.offsets
        found = score_unions(
            candidates, terms, offsets, TermLists(lists, terms, queries.weights, parts), offsets, n_documents, k,
            at_least=at_least, fewest=k if fallback else 0, base=base, whole_ties=whole_ties, bounds=bounds,
        )  # fmt: skip
        return found if found.costs.min(initial=0) >= 0 else with_exact(queries, found)

    def with_exact(queries: WeightedQueries, found: FoundLists) -> FoundLists:
        """Search exactly for the queries with too few candidates."""
        every = [found.of_query(i) for i in range(len(queries.queries))]
        for i, query in enumerate(queries.each()):
            if every[i].n_postings < 0:
                own = TermLists(lists, query.terms, query.weights, parts)
                exact = accumulate(own, n_documents, k, base=base, whole_ties=whole_ties)
                n_entries = int((champions.starts[query.terms + 1] - champions.starts[query.terms]).sum())
                every[i] = exact._replace(n_postings=exact.n_postings + n_entries)
        return FoundLists.of(every)

    return find
