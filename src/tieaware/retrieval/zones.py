"""Weighted zone scoring: the score of a document is the sum of the weights of the zones that match the query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import number, one_of, sequence, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.retrieval.accumulators import Found, top
from tieaware.retrieval.index import Index, Query, as_index
from tieaware.retrieval.method import Method, Searcher, WeightedQuery, document_numbers, one_by_one
from tieaware.retrieval.postings import Numbers, Postings

Match: TypeAlias = Literal["all", "any"]
_MATCHES: tuple[Match, ...] = get_args(Match)


@dataclass(frozen=True, kw_only=True)
class WeightedZones(Method):
    """Rank by the sum of the weights of the zones that match the query.

    There are few distinct scores, at most two to the power of the number of zones, so most documents tie. The parameter
    `weighting` has no effect.

    See Introduction to Information Retrieval, section 6.1. All postings of the query's terms are read, in the zones
    with a weight above 0.

    Parameters
    ----------
    weights : mapping of str to float, or sequence of pairs, optional
        The weight of each zone, from 0 to 1; the weights must add up to 1. A zone that is not named has weight 0. By
        default, all zones of the index have equal weights. `learn_zone_weight` learns the weights of two zones.
    match : "all" or "any"
        Which zones match: those that contain all terms of the query, or those that contain at least one of them. Terms
        that are not in the index are ignored.

    Examples
    --------
    >>> documents = [
    ...     ("d1", {"title": "tie", "body": "no rank"}),
    ...     ("d2", {"title": "rank", "body": "the tie"}),
    ...     ("d3", {"title": "no", "body": "a tie"}),
    ... ]
    >>> index = Index.build(documents, analyzer=str.split, zones=("title", "body"))
    >>> run = WeightedZones(weights={"title": 0.75, "body": 0.25}).search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2', 'd3'], [0.75, 0.25, 0.25])
    """

    weights: Mapping[str, float] | tuple[tuple[str, float], ...] | None = None
    match: Match = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            # Convert a mapping to a tuple of pairs, because methods must be hashable.
            object.__setattr__(self, "weights", _checked_weights(self.weights))
        one_of("match", self.match, _MATCHES)

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        zones = _zones_of(index)
        weights = dict.fromkeys(zones, 1 / len(zones)) if self.weights is None else dict(self.weights)
        for zone in weights:
            if zone not in zones:
                raise InputError("weights", f"unknown zone {zone!r}; the zones of the index are {', '.join(zones)}")
        weighted_zones = [(zones[zone], weight) for zone, weight in weights.items() if weight > 0]

        def find(weighted: WeightedQuery) -> Found:
            query = weighted.query
            matching = [_matching(postings, query, self.match) for postings, _ in weighted_zones]
            summands = np.repeat([weight for _, weight in weighted_zones], [len(documents) for documents in matching])
            documents, places = np.unique(np.concatenate([np.empty(0, np.int32), *matching]), return_inverse=True)
            sizes = [each.starts[query.terms + 1] - each.starts[query.terms] for each, _ in weighted_zones]
            scores = np.bincount(places, summands).astype(np.float64)
            return top(documents, scores, sum(int(each.sum()) for each in sizes), k, whole_ties=whole_ties)

        return one_by_one(find)


def _checked_weights(weights: Any) -> tuple[tuple[str, float], ...]:
    """Check that each zone has one weight and that the weights add up to 1, and return them as pairs."""
    pairs = sequence("weights", weights.items() if isinstance(weights, Mapping) else weights, "zones with weights")
    for i, pair in enumerate(pairs):
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise unexpected(f"weights[{i}]", "a pair of a zone's name and its weight", shown(pair))
    checked = tuple((zone, number(f"weights[{zone!r}]", weight, 0, 1)) for zone, weight in pairs)
    if len(dict(checked)) < len(checked) or abs(math.fsum(weight for _, weight in checked) - 1) > 1e-9:
        raise InputError("weights", f"must name each zone once and add up to 1; found {shown(weights)}")
    return checked


def _zones_of(index: Index) -> dict[str, Postings]:
    """Return the zones of an index; raise InputError if it has none."""
    if not index.zones:
        raise InputError("index", "has no zones; build it from documents that have them, such as a title and a body")
    return index.zones


def _matching(postings: Postings, query: Query, match: str) -> Numbers:
    """Return the documents that contain all terms of the query (or, with `match` "any", any of them), ascending."""
    terms = query.terms[query.frequencies > 0]
    lists = [postings.documents[postings.starts[term] : postings.starts[term + 1]] for term in terms]
    documents, times = np.unique(np.concatenate([np.empty(0, np.int32), *lists]), return_counts=True)
    return documents[times == len(lists)] if match == "all" else documents


def zone_matches(
    index: Index, query: str | Iterable[str] | Query, documents: ArrayLike, *, match: Match = "all"
) -> NDArray[np.bool_]:
    """Find which zones of documents match a query: bool[n, n_zones], the zones in the order of `Index.zones`.

    Index, query, documents and errors as for `smallest_windows`, but the index needs zones; match as for
    `WeightedZones`.

    Examples
    --------
    >>> documents = [("d1", {"title": "tie", "body": "no rank"}), ("d2", {"title": "rank", "body": "the tie"})]
    >>> index = Index.build(documents, analyzer=str.split, zones=("title", "body"))
    >>> zone_matches(index, "tie", [0, 1]).tolist()
    [[True, False], [False, True]]
    """
    one_of("match", match, _MATCHES)
    as_index(index)
    query = query if isinstance(query, Query) else index.query(query)
    numbers = document_numbers(index, documents)
    columns = [np.isin(numbers, _matching(postings, query, match)) for postings in _zones_of(index).values()]
    return np.column_stack(columns)


def zone_scores(matches: ArrayLike, weights: ArrayLike) -> Values:
    """Return the weighted zone scores of documents for several sets of weights.

    `tieaware.Evaluator.columns` evaluates all sets in one call, which makes a sweep over the weights fast.

    See Introduction to Information Retrieval, section 6.1.

    Parameters
    ----------
    matches : bool[n_docs, n_zones]
        Which zones match, as `zone_matches` returns.
    weights : float[n_weights, n_zones]
        The weights of the zones, a row for each set of weights.

    Returns
    -------
    float64[n_docs, n_weights]
        The score of each document with each set of weights, summed in the order of the zones.

    Raises
    ------
    InputError
        Matches and weights are not two-dimensional, or have different numbers of zones.

    Examples
    --------
    >>> g = np.array([0.25, 0.5])
    >>> features = zone_scores([[True, False], [False, True], [True, True]], np.column_stack([g, 1 - g]))
    >>> features.tolist()
    [[0.25, 0.5], [0.75, 0.5], [1.0, 1.0]]
    >>> Evaluator([1, 0, 0], ["RR"]).columns(features).round(3).tolist()
    [[0.333], [0.417]]
    """
    flags, rows = np.asarray(matches, np.float64), np.asarray(weights, np.float64)
    if flags.ndim != 2 or rows.ndim != 2 or flags.shape[1] != rows.shape[1]:
        found = f"shapes {flags.shape} and {rows.shape}"
        problem = f"must be two-dimensional, with a column for each zone; found {found}"
        raise InputError("matches and weights", problem)
    scores = np.zeros((len(flags), len(rows)))
    for zone in range(rows.shape[1]):
        scores += flags[:, zone, None] * rows[:, zone]
    return scores


class ZoneWeight(NamedTuple):
    """The weight of the first of two zones, learned from examples, and its error.

    Attributes
    ----------
    weight : float
        The weight of the first zone. The weight of the second zone is 1 - weight.
    error : float
        The sum of the squared differences between the examples' scores and their relevance, 1 or 0.
    """

    weight: float
    error: float


def learn_zone_weight(first: ArrayLike, second: ArrayLike, relevant: ArrayLike) -> ZoneWeight:
    """Learn the weights of two zones from judged documents: the weights with the least squared error, in closed form.

    Only documents in which exactly one zone matches have an influence. The weight of the first zone is the share of
    these documents for which the first zone is right: it matches and the document is relevant, or it does not match and
    the document is nonrelevant.

    See Introduction to Information Retrieval, section 6.1.2: the weight is (n10r + n01n) / (n10r + n10n + n01r + n01n),
    where n10 counts the documents in which only the first zone matches, n01 those in which only the second matches, r
    means relevant and n means nonrelevant.

    Parameters
    ----------
    first, second : bool[n]
        Whether each zone matches the query, for judged documents of one or more queries.
    relevant : bool[n]
        Whether each document is relevant.

    Returns
    -------
    ZoneWeight
        The weight of the first zone, ½ if no document has exactly one matching zone, and its error.

    Raises
    ------
    InputError
        The arrays have different lengths.

    Examples
    --------
    The book's examples. All documents in which only the body matches have the same score, although some of them are
    relevant and others are not:

    >>> title = [1, 0, 0, 0, 1, 0, 1]
    >>> body = [1, 1, 1, 0, 1, 1, 0]
    >>> learn_zone_weight(title, body, relevant=[1, 0, 1, 0, 1, 1, 0])
    ZoneWeight(weight=0.25, error=0.75)
    """
    one, two, label = (np.asarray(each).astype(bool) for each in (first, second, relevant))
    if not (one.ndim == 1 and one.shape == two.shape == label.shape):
        shapes = f"shapes {one.shape}, {two.shape} and {label.shape}"
        raise InputError("first, second and relevant", f"must be one-dimensional and equally long; found {shapes}")
    differ = one != two
    weight = float((one == label)[differ].mean()) if differ.any() else 0.5
    differences = label - (weight * one + (1 - weight) * two)
    return ZoneWeight(weight, float((differences * differences).sum()))
