"""Champion lists: search among the documents that are best for a term of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import flag, number, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _largest
from tieaware.kernels._term_lists import PostingLists
from tieaware.retrieval.accumulators import Found, TermLists, accumulate, posting_lists, score_union
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, share_of, single_term_scores, weighted
from tieaware.retrieval.postings import LARGEST, Numbers, Postings, over_terms


class TermDocuments(NamedTuple):
    """A list of documents for each term: ``documents[starts[t]:starts[t + 1]]`` for term ``t``, in ascending order."""

    starts: Offsets
    documents: Numbers

    def lists(self) -> PostingLists:
        """Return the lists in the form that the kernels take; they have no weights."""
        nothing = np.zeros(len(self.documents), np.uint8)
        return posting_lists(self.starts[:-1], self.starts[1:], self.documents, nothing)


def best_documents(postings: Postings, values: NDArray[np.floating | np.integer], sizes: Integers) -> TermDocuments:
    """Return, for each term, the documents whose postings have the largest values.

    If values tie, the documents with the lowest numbers are returned.

    Parameters
    ----------
    values : float[n_postings]
        The value of each posting.
    sizes : int64[n_terms]
        The number of documents to return for each term.
    """
    sizes = np.minimum(sizes, postings.document_frequencies)

    def find(first: int, stop: int) -> Numbers:
        own = slice(postings.starts[first], postings.starts[stop])
        begins = postings.starts[first : stop + 1] - postings.starts[first]
        kept = _largest.largest(begins, values[own], sizes[first:stop]).view(bool)
        documents: Numbers = postings.documents[own][kept]
        return documents

    documents = np.concatenate([np.empty(0, np.int32), *over_terms("champion lists", postings.starts, find)])
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return TermDocuments(starts, documents)


@dataclass(frozen=True, kw_only=True)
class Champions(Method):
    """Score only the union of the query terms' champion lists, which hold the best documents of each term.

    The best documents of a term are those in which it has the largest weight; if weights tie, the documents with the
    lowest numbers. The documents of the union are scored by all terms of the query. A document that is good for the
    query, but not among the best for any single term, is missed.

    See Introduction to Information Retrieval, section 7.1.3. With `r` equal to the number of documents, or a share of
    1, the result is that of `Exact`, bit for bit. The costs count two kinds of postings as read: those of the champion
    lists, and those that score the documents of the union. `GlobalChampions` makes the lists by static quality and
    weight.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.r):
            whole_number("r", self.r, 1)
        number("share", self.share, 0, 1)
        flag("fallback", self.fallback)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the champion lists, and return the search function."""
        champions = champions_of(index, self.weighting, self.r, self.share)
        lists = weighted(index, self.weighting, bitmaps=True)
        return among(champions, lists, len(index), k, whole_ties, fallback=self.fallback)


def champions_of(
    index: Index, weighting: str, r: int | Callable[[Integers], ArrayLike], share: float = 0.0
) -> TermDocuments:
    """Return the champion list of each term: at least `r` documents, and at least a share of the term's documents."""

    def prepare() -> TermDocuments:
        df = index.postings.document_frequencies
        sizes = np.maximum(_lengths(r, df) if callable(r) else r, share_of(df, share))
        return best_documents(index.postings, single_term_scores(index, weighting), sizes)

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
    champions: TermDocuments, lists: Callable[[Query], TermLists], n_documents: int, k: int, whole_ties: bool, *,
    base: Values | None = None, fallback: bool = False, at_least: int = 1,
) -> Callable[[Query], Found]:  # fmt: skip
    """Return a search function for the candidates that the champion lists of a query's terms contain.

    Parameters
    ----------
    base : float64[n_documents], optional
        A number that is added to each document's score.
    fallback : bool
        Whether to search exactly if there are fewer than k candidates.
    at_least : int
        The smallest number of champion lists that a candidate must be in. If the query has fewer terms, the candidate
        must be in the lists of all terms.
    """
    candidates = champions.lists()

    def find(query: Query) -> Found:
        terms, term_lists = query.terms, lists(query)
        found = score_union(
            candidates, terms, term_lists, n_documents, k, at_least=max(1, min(at_least, len(terms))),
            fewest=k if fallback else 0, base=base, whole_ties=whole_ties,
        )  # fmt: skip
        if found is None:
            found = accumulate(term_lists, n_documents, k, base=base, whole_ties=whole_ties)
            n_entries = int((champions.starts[terms + 1] - champions.starts[terms]).sum())
            found = found._replace(n_postings=found.n_postings + n_entries)
        return found

    return find
