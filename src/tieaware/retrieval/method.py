"""The base class of all retrieval methods, the names of methods, and data of an index that several methods use.

A subclass of `Method` implements `_searcher`. The base class searches many queries with it, applies their filters,
counts the costs, and builds the run.
"""

from __future__ import annotations

import ast
import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import did_you_mean, flag, number, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values, first
from tieaware.errors import InputError
from tieaware.inputs.runs.run import Run
from tieaware.kernels import _top
from tieaware.kernels._term_lists import PostingLists
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists
from tieaware.retrieval.accumulators import (
    Bitmaps,
    DenseLists,
    Filters,
    Found,
    FoundLists,
    TermLists,
    posting_lists,
    score,
)
from tieaware.retrieval.index import Index, Query, QueryTerms, as_index, as_queries
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers, over_terms, ranges
from tieaware.retrieval.weighting import weighting_of
from tieaware.runtime.progress import stage
from tieaware.runtime.threads import checked_threads, over_items

# The largest number of queries in a chunk that one thread searches.
_CHUNK = 64
_ALWAYS_SHOWN = object()
_FEEDBACK = (
    "it makes queries from judgments, in Python, with which any method can search; BlindFeedback() needs no judgments"
)
# Functions that users may take for methods, and what to do instead.
_FUNCTIONS = {
    "rocchio": _FEEDBACK,
    "ide_dec_hi": _FEEDBACK,
    "Thesaurus": "it expands queries, in Python, with which any method can search",
}


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of a search, for each query.

    Attributes
    ----------
    postings, documents : int64[n_queries]
        The number of postings read, and of documents scored.
    comparisons : int64[n_queries]
        The number of comparisons between two scores that were needed to select and sort the top documents.
    """

    postings: NDArray[np.int64]
    documents: NDArray[np.int64]
    comparisons: NDArray[np.int64]


class WeightedQuery(NamedTuple):
    """A query with the weights of its terms."""

    query: Query
    terms: Integers
    weights: Values


class WeightedQueries(NamedTuple):
    """Several queries with the weights of their terms, which are concatenated.

    The terms of query ``i`` are ``terms[offsets[i]:offsets[i + 1]]``; `weights` has the weight of each of them.
    """

    queries: Sequence[Query]
    terms: Integers
    weights: Values
    offsets: Offsets

    @classmethod
    def of(cls, index: Index, name: str, queries: Sequence[Query]) -> WeightedQueries:
        """Weight the terms of the queries, together because queries are short."""
        together = QueryTerms.of(queries)
        if all(query.weights is None for query in queries):
            weights = term_weights(index, name, together)
        else:
            own = [query_weights(index, name, query) for query in queries]
            if any(len(each) != len(query.terms) for each, query in zip(own, queries, strict=True)):
                raise InputError("queries", "each term of a query must have a weight")
            weights = np.concatenate([np.empty(0), *own])
        return cls(queries, together.terms, weights, together.offsets)

    @property
    def sizes(self) -> Integers:
        """The number of terms of each query."""
        return self.offsets[1:] - self.offsets[:-1]

    def those(self, which: Integers) -> WeightedQueries:
        """Return the queries with these indices."""
        sizes = self.sizes[which]
        rows = ranges(self.offsets[which], sizes)
        queries = [self.queries[i] for i in which.tolist()]
        return WeightedQueries(queries, self.terms[rows], self.weights[rows], np.append(0, np.cumsum(sizes)))

    def chunk(self, first: int, stop: int) -> WeightedQueries:
        """Return the queries from `first` to `stop`."""
        a, b = self.offsets[first], self.offsets[stop]
        offsets = self.offsets[first : stop + 1] - a
        return WeightedQueries(self.queries[first:stop], self.terms[a:b], self.weights[a:b], offsets)

    def each(self) -> Iterator[WeightedQuery]:
        """Yield each query with its weights."""
        edges = self.offsets.tolist()
        for query, a, b in zip(self.queries, edges, edges[1:], strict=False):
            yield WeightedQuery(query, self.terms[a:b], self.weights[a:b])


# A function that finds the top documents of several queries. Several threads may call it at a time.
Searcher: TypeAlias = Callable[[WeightedQueries], FoundLists]


# A function that checks the value of a parameter, given its name and the value.
Check: TypeAlias = Callable[[str, Any], object]
Checks: TypeAlias = Mapping[str, Check]

# The checks of a whole number of at least 1, and of a number from 0 to 1.
a_count: Check = partial(whole_number, least=1)
a_share: Check = partial(number, least=0, most=1)


def or_none(check: Check) -> Check:
    """Return a check that also allows None."""
    return lambda name, value: value is None or check(name, value)


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """The base class of all retrieval methods. An instance is a method with its parameters.

    This docstring describes what all methods share; the docstring of a method describes only its own parameters.
    ``str(method)`` gives its name, such as "Champions(r=100)".

    Parameters
    ----------
    weighting : str
        How terms are weighted: SMART notation such as "lnc.ltc" or "Lnu.ltu:slope=0.25", "bm25", the language models
        "lm-dirichlet:2000" and "lm-jm:0.1", "inl2:c=1", or "impact:8" for integers of 8 bits.

    Raises
    ------
    InputError
        A parameter is out of its range.

    Examples
    --------
    >>> from tieaware.retrieval import Champions, Exact
    >>> str(Champions(r=10)), isinstance(Exact(), Method)
    ('Champions(r=10)', True)
    """

    weighting: str = "lnc.ltc"

    # The functions that check the parameters, by name, and raise InputError for a value that is not allowed.
    _checks: ClassVar[Checks] = {}
    # True if the method adds the document parts of a weighting that has them.
    _adds_document_parts: ClassVar[bool] = True
    # True if the function that `_searcher` returns applies the filters of queries itself.
    _applies_filter: ClassVar[bool] = False
    # True if the method finds the top documents of all that contain a query term, with the sums of their weights.
    _is_exact: ClassVar[bool] = False
    # The numbers by which quality and score are multiplied; None if the method does not add quality.
    net_weights: ClassVar[tuple[float, float] | None] = None

    def __post_init__(self) -> None:
        if weighting_of(self.weighting).has_document_parts and not self._adds_document_parts:
            problem = f"{type(self).__name__} cannot use {self.weighting}, whose scores have a part for each document"
            raise InputError("weighting", problem)
        for name, check in self._checks.items():
            check(name, getattr(self, name))

    def __str__(self) -> str:
        values = [(name, getattr(self, name), default) for name, default in _parameters(type(self))]
        parameters = [
            f"{name}={_written(value)}" for name, value, default in values
            if value != default and value not in (None, ())
        ]  # fmt: skip
        return f"{type(self).__name__}({', '.join(parameters)})"

    def search(
        self, index: Index, queries: Mapping[Any, Any], k: int = 1000, *, whole_ties: bool = False,
        threads: int | None = None,
    ) -> Run:  # fmt: skip
        """Return the top documents of each query.

        Parameters
        ----------
        index : Index
        queries : mapping of ids to queries
            A query is text, a sequence of terms, or a `Query`. Text is analysed in the same way as the documents.
        k : int
            The number of documents to return for each query, at least 1. A query may match fewer.
        whole_ties : bool
            What to do if rank K falls inside a tie group: True returns the whole group, so more than K documents;
            False keeps the documents of the group that come first in the index, as most engines do.
        threads : int or None
            The number of queries to search at a time; None for one per core. The result does not depend on this number.

        Returns
        -------
        Run
            The run, named after the method. Documents are in descending order of score; tied documents are in the order
            of the index.

        Raises
        ------
        InputError
            `k` or `threads` is out of its range, a query is neither text nor terms, two queries have the same id, or
            the index lacks something that the method needs, such as positions.

        Examples
        --------
        >>> from tieaware.retrieval import Exact
        >>> index = Index.build([("d1", "tied scores"), ("d2", "scores tied"), ("d3", "order")])
        >>> run = Exact().search(index, {"q1": "tied scores", "q2": "disorder"}, k=1)
        >>> run.documents.to_list(), run.offsets.tolist()
        (['d1'], [0, 1, 1])
        >>> Exact().search(index, {"q1": "tied scores"}, k=1, whole_ties=True).documents.to_list()
        ['d1', 'd2']
        """
        return self.counted(index, queries, k, whole_ties=whole_ties, threads=threads)[0]

    def counted(
        self, index: Index, queries: Mapping[Any, Any], k: int = 1000, *, whole_ties: bool = False,
        threads: int | None = None,
    ) -> tuple[Run, Costs]:  # fmt: skip
        """Return the top documents of each query, and the costs of finding them.

        Parameters, result and errors as for `search`.

        Examples
        --------
        >>> from tieaware.retrieval import Exact
        >>> index = Index.build([("d1", "tied scores"), ("d2", "scores tied"), ("d3", "order")])
        >>> run, costs = Exact().counted(index, {"q1": "tied scores"})
        >>> costs.postings.tolist(), costs.documents.tolist()
        ([4], [2])
        """
        k = whole_number("k", k, 1)
        n_threads = checked_threads(threads)
        weighted = WeightedQueries.of(index, self.weighting, list(as_queries(queries, index).values()))
        names, n = _names(queries), len(weighted.queries)
        search = filtering(self, index, k, flag("whole_ties", whole_ties))
        size = _CHUNK if n_threads == 1 else max(1, min(_CHUNK, n // (4 * n_threads)))
        starts = range(0, n, size)
        with stage("queries", n, shown=False) as advance:

            def find(first: int) -> FoundLists:
                stop = min(first + size, n)
                result = search(weighted.chunk(first, stop))
                advance(stop - first)
                return result

            found = FoundLists.joined(over_items(find, starts, min(n_threads, max(len(starts), 1))))
        return run_of(str(self), index, names, found), Costs(*found.costs.T)

    @abstractmethod
    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        """Prepare everything that does not depend on the queries, and return the function that searches them.

        The function ignores the filters of queries. An index that lacks something, such as positions, is an error.
        """


def one_by_one(find: Callable[[WeightedQuery], Found]) -> Searcher:
    """Return a function that searches several queries, given one that searches a single query."""
    return lambda queries: FoundLists.of([find(query) for query in queries.each()])


def filtering(method: Method, index: Index, k: int, whole_ties: bool) -> Searcher:
    """Return the search function of a method that also applies the filters of queries.

    A query with a filter is searched for k documents, for 8 k, 64 k and so on, until k documents of the ranking pass
    the filter or the ranking has no more documents. For exact methods, scoring the documents that pass gives the same
    documents and scores, and takes less time.
    """
    search = method._searcher(index, k, whole_ties)
    scores_those = method._is_exact and document_parts(index, method.weighting) is None
    lists = term_lists(index, method.weighting) if scores_those else None
    deeper = cache(lambda depth: method._searcher(index, depth, True))

    def find(queries: WeightedQueries) -> FoundLists:
        if method._applies_filter or all(query.documents is None for query in queries.queries):
            return search(queries)
        every = [queries.chunk(i, i + 1) for i in range(len(queries.queries))]
        return FoundLists.joined(
            [
                search(one) if (allowed := one.queries[0].documents) is None else FoundLists.of([passing(one, allowed)])
                for one in every
            ]
        )

    def passing(one: WeightedQueries, allowed: Numbers) -> Found:
        """Return the top documents of one query among those that its filter allows."""
        if lists is not None:
            return score(allowed, lists(next(one.each())), len(index), k, whole_ties=whole_ties)
        costs, depth = np.zeros(3, np.int64), min(k, max(len(index), 1))
        while len(allowed):
            found = deeper(depth)(one).of_query(0)
            costs += found[2:]
            passed = np.isin(found.documents, allowed)
            if passed.sum() >= k or len(found.documents) < depth or depth >= len(index):
                return Found(*_first(found.documents[passed], found.scores[passed], k, whole_ties), *costs.tolist())
            depth = min(8 * depth, len(index))
        return Found(np.empty(0, np.int32), np.empty(0), 0, 0, 0)

    return find


def _first(documents: Numbers, scores: Values, k: int, whole_ties: bool) -> tuple[Numbers, Values]:
    """Return the first k documents and scores of a ranking, with whole ties all those that tie with the k-th."""
    if whole_ties and len(scores) > k:
        k = int(np.searchsorted(-scores, -scores[k - 1], side="right"))
    return documents[:k], scores[:k]


@cache
def _parameters(method: type[Method]) -> list[tuple[str, Any]]:
    """Return the name of each parameter, and the default, which the name of a method omits.

    The first parameter of the method itself is always shown, so its default is replaced. The weighting, which every
    method has, comes last.
    """
    weighting, *own = fields(method)
    return [(each.name, _ALWAYS_SHOWN if each in own[:1] else each.default) for each in (*own, weighting)]


def _written(value: Any) -> str:
    """Return a parameter as the name of a method shows it."""
    if isinstance(value, Method):
        return repr(str(value))
    return value.__name__ if hasattr(value, "__name__") else repr(value)


def parse_method(text: str, **usual: Any) -> Method:
    """Return the retrieval method with this name; ``str(method)`` gives the name of a method.

    Parameters
    ----------
    text : str
        The name, such as "Champions(r=100)". Parameters that are not in the name have their defaults, so "Champions" is
        a name, too.
    **usual
        Values to use instead of the defaults for parameters that are not in the name.

    Returns
    -------
    Method

    Raises
    ------
    InputError
        The method or a parameter is unknown, or a parameter is out of its range.

    Examples
    --------
    >>> method = parse_method("Champions(r=10)", weighting="bm25")
    >>> str(method), parse_method(str(method)) == method
    ("Champions(r=10, weighting='bm25')", True)
    """
    try:
        call: Any = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if isinstance(call, ast.Name):
        call = ast.Call(call, [], [])
    is_call = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args
    if not is_call or any(each.arg is None for each in call.keywords):
        raise unexpected("method", "a name such as Champions(r=100)", shown(text))
    known = known_methods()
    if call.func.id in _FUNCTIONS:
        raise InputError("method", f"{call.func.id} is not a method: {_FUNCTIONS[call.func.id]}")
    if call.func.id not in known:
        hint = did_you_mean(call.func.id, known) or f"; the methods are {', '.join(sorted(known))}"
        raise InputError("method", f"unknown method {shown(call.func.id)}{hint}")
    method = known[call.func.id]
    try:
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except ValueError:
        raise InputError("method", f"parameters must be numbers or text in quotes; found {shown(text)}") from None
    parameters = inspect.signature(method).parameters
    for name, times in Counter(str(each.arg) for each in call.keywords).items():
        if times > 1:
            raise InputError("method", f"{name} is given {times} times in {shown(text.strip())}")
        if name not in parameters:
            problem = f"{method.__name__} has no parameter {shown(name)}; its parameters are {', '.join(parameters)}"
            raise InputError("method", problem)
    try:
        return method(**usual | given)
    except InputError as error:
        if error.where.partition("[")[0] not in given:
            raise
        raise error.at(f"{error.where} of {text.strip()}", "method") from None


def known_methods() -> dict[str, type[Method]]:
    """Return all methods by name: all concrete classes that are derived from `Method`."""
    found: dict[str, type[Method]] = {}
    bases: list[type[Method]] = [Method]  # type: ignore[type-abstract]
    for base in bases:
        bases += base.__subclasses__()
        if not inspect.isabstract(base):
            found[base.__name__] = base
    return found


def share_of(n: int | Integers, share: float) -> Integers:
    """Return this share of n, rounded up to a whole number.

    A product that exceeds a whole number by less than 1e-9, because of floating-point error, is rounded down.
    """
    return np.ceil(share * np.asarray(n) - 1e-9).astype(np.int64)


def document_numbers(index: Index, documents: ArrayLike) -> Numbers:
    """Convert document numbers to int32; raise InputError if the index has no document with one of these numbers."""
    numbers = np.asarray(documents)
    if numbers.ndim != 1 or not (numbers.dtype.kind in "iu" or numbers.size == 0):
        raise unexpected("documents", "whole numbers in one dimension", f"{numbers.dtype} of shape {numbers.shape}")
    row = first((numbers < 0) | (numbers >= len(index)))
    if row is not None:
        raise unexpected(f"documents[{row}]", f"a number from 0 to {len(index) - 1}", str(numbers[row]))
    return numbers.astype(np.int32)


def posting_weights(index: Index, name: str) -> DocumentWeights:
    """Return the weight of every posting of the index."""
    return as_index(index).prepared(("weights", name), lambda: weighting_of(name).of_postings(index.postings))


def document_parts(index: Index, name: str) -> Values | None:
    """Return the part of the score that belongs to each document, or None if the weighting has no such parts."""
    return index.prepared(("document parts", name), lambda: weighting_of(name).of_documents(index.postings))


def single_term_scores(index: Index, name: str) -> NDArray[np.floating | np.integer]:
    """Return, for each posting, the score of its document for a query of this term alone, with the weight 1."""
    weights, parts = posting_weights(index, name), document_parts(index, name)
    return weights if parts is None else weights + parts[index.postings.documents]


def term_weights(index: Index, name: str, queries: QueryTerms) -> Values:
    """Return the weight of each term of each query. The bits do not depend on the other queries."""
    of = index.prepared(("weights of queries", name), lambda: weighting_of(name).for_queries(index.postings))
    return of(queries)


def query_weights(index: Index, name: str, query: Query) -> Values:
    """Return the weights of a query's terms: the query's own weights if it has any, else those of the weighting."""
    return term_weights(index, name, QueryTerms.of([query])) if query.weights is None else query.weights


def nth_largest(index: Index, name: str, rank: int) -> Values:
    """Return, for each term, a weight that at least `rank` of its postings reach; 0 if the term has fewer postings."""
    rank = rounded_rank(rank)

    def find() -> Values:
        return nth_largest_of(index.postings.starts, posting_weights(index, name), rank)

    return index.prepared(("largest weights", name, rank), find)


def rounded_rank(rank: int) -> int:
    """Round a rank up to a power of two, so that the index caches few arrays of weights with some rank."""
    return 1 << (rank - 1).bit_length()


def nth_largest_of(starts: Offsets, weights: DocumentWeights, rank: int) -> Values:
    """Return the weight with this rank of each term; 0 if the term has fewer postings."""
    rank = min(rank, LARGEST)

    def find(first: int, stop: int) -> Values:
        begins = starts[first : stop + 1] - starts[first]
        own = weights[starts[first] : starts[stop]]
        enough = np.diff(begins) >= rank
        marks = _top.largest(begins, own.astype(np.float64), np.where(enough, rank, 0))
        largest = np.zeros(stop - first)
        largest[enough] = own[marks].reshape(-1, rank).min(axis=1)
        return largest

    return np.concatenate([np.empty(0), *over_terms("largest weights", starts, find)])


def dense_lists(index: Index, name: str) -> DenseLists:
    """Return the longest posting lists of the index in dense form."""
    return index.prepared(("dense lists", name), lambda: DenseLists.of(index.postings, posting_weights(index, name)))


def bitmaps_of(index: Index) -> Bitmaps:
    """Return the bitmaps of the longer posting lists of the index."""
    return index.prepared("bitmaps", lambda: Bitmaps.of(index.postings))


def filters_of(index: Index) -> Filters:
    """Return the filters of the posting lists of medium length."""
    return index.prepared("filters", lambda: Filters.of(index.postings))


def weighted_lists(index: Index, name: str, *, bitmaps: bool = False) -> PostingLists:
    """Return the weighted posting lists of all terms, with bitmaps if these are needed."""
    postings = index.postings

    def make() -> PostingLists:
        weights, all_bitmaps = posting_weights(index, name), bitmaps_of(index) if bitmaps else None
        starts, stops = postings.starts[:-1], postings.starts[1:]
        return posting_lists(starts, stops, postings.documents, weights, dense_lists(index, name), all_bitmaps)

    return index.prepared(("posting lists", name, bitmaps), make)


def term_lists(index: Index, name: str, *, bitmaps: bool = False) -> Callable[[WeightedQuery], TermLists]:
    """Return a function that gives the weighted posting lists of a query's terms, with bitmaps if these are needed."""
    lists, parts = weighted_lists(index, name, bitmaps=bitmaps), document_parts(index, name)
    return lambda query: TermLists(lists, query.terms, query.weights, parts)


def _names(queries: Mapping[Any, Any]) -> Identifiers:
    """Return the ids of the queries; raise InputError if an id appears twice."""
    names = Identifiers.from_sequence(list(queries), "queries")
    # Distinct integers have distinct digits.
    if names.kind != "integer" and len(set(names)) < len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise InputError("queries", f"the id {quoted(twice)} appears twice, as text and as a number")
    return names


def run_of(name: str, index: Index, queries: Identifiers, found: FoundLists) -> Run:
    """Build a run from the documents found for each query."""
    documents = index.documents.take(found.documents)
    return Run.of(Lists(queries, found.offsets, documents, found.scores), name)
