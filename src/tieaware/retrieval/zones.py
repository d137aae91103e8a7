"""Weighted zones: a document's score is the sum of the weights of the zones that match the query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import number, one_of, sequence, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.retrieval.accumulators import Found, top
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, document_numbers
from tieaware.retrieval.postings import Numbers, Postings

_MATCHES = ("all", "any")


@dataclass(frozen=True, kw_only=True)
class WeightedZones(Method):
    """Rank by weighted zone scores: the weights of the zones that match the query, added up.

    There are few different scores, at most two to the power of the number of zones, so that most documents tie.

    Parameters
    ----------
    weighting : str
        As for every `Method`; it makes no difference here.
    weights : mapping of str to float, or sequence of pairs, optional
        The weight of each zone, from 0 to 1, which add up to 1; by default all zones of the index weigh the same. A
        zone that is not named weighs nothing.
    match : "all" or "any"
        Whether a zone matches if it has all terms of the query that the index knows, or any of them.

    See Also
    --------
    learn_zone_weight : Learns the weights of two zones.

    Notes
    -----
    Introduction to Information Retrieval, section 6.1. All postings of the query's terms are read, in the zones that
    weigh something.

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
    match: str = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            # Tuples can be hashed.
            object.__setattr__(self, "weights", _checked_weights(self.weights))
        one_of("match", self.match, _MATCHES)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Return what finds the top documents of a query."""
        zones = _zones_of(index)
        weights = dict.fromkeys(zones, 1 / len(zones)) if self.weights is None else dict(self.weights)
        for zone in weights:
            if zone not in zones:
                raise unexpected("weights", f"zones of the index, {', '.join(zones)}", repr(zone))
        weighing = [(zones[zone], weight) for zone, weight in weights.items() if weight > 0]

        def find(query: Query) -> Found:
            matching = [_matching(postings, query, self.match) for postings, _ in weighing]
            each = np.repeat([weight for _, weight in weighing], [len(documents) for documents in matching])
            documents, whose = np.unique(np.concatenate([np.empty(0, np.int32), *matching]), return_inverse=True)
            n_postings = sum(_n_postings(postings, query) for postings, _ in weighing)
            scores = np.bincount(whose, each).astype(np.float64)
            return top(documents, scores, n_postings, k, whole_ties=whole_ties)

        return find


def _checked_weights(weights: Any) -> tuple[tuple[str, float], ...]:
    """Return weights of zones as pairs, which add up to 1."""
    pairs = sequence("weights", weights.items() if isinstance(weights, Mapping) else weights, "zones with weights")
    for i, pair in enumerate(pairs):
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise unexpected(f"weights[{i}]", "the name of a zone and its weight", shown(pair))
    checked = tuple((zone, number(f"weights[{zone!r}]", weight, 0, 1)) for zone, weight in pairs)
    if len(dict(checked)) < len(checked) or abs(sum(weight for _, weight in checked) - 1) > 1e-9:
        raise unexpected("weights", "a weight of each zone, which add up to 1", shown(weights))
    return checked


def _zones_of(index: Index) -> dict[str, Postings]:
    """Return the zones of an index, which must have some."""
    if not index.zones:
        raise unexpected("index.zones", "zones, Index.build([(id, {zone: text}), …])", "none")
    return index.zones


def _matching(postings: Postings, query: Query, match: str) -> Numbers:
    """Return the documents with all terms of the query, or with any, ascending."""
    terms = query.terms[query.frequencies > 0]
    lists = [postings.documents[postings.starts[term] : postings.starts[term + 1]] for term in terms]
    documents, times = np.unique(np.concatenate([np.empty(0, np.int32), *lists]), return_counts=True)
    return documents[times == len(lists)] if match == "all" else documents


def _n_postings(postings: Postings, query: Query) -> int:
    return int((postings.starts[query.terms + 1] - postings.starts[query.terms]).sum())


def zone_matches(
    index: Index, query: str | Iterable[str] | Query, documents: ArrayLike, *, match: str = "all"
) -> NDArray[np.bool_]:
    """Return which zones of documents match a query.

    Parameters
    ----------
    index : Index
        An index with zones.
    query : str, iterable of str, or Query
        The query, as `Index.query` takes it; terms that the index does not know are left out.
    documents : int[n]
        Numbers of documents, in any order.
    match : "all" or "any"
        Whether a zone matches if it has all terms of the query, or any of them.

    Returns
    -------
    bool[n, n_zones]
        A column for each zone, in the order of `Index.zones`.

    Raises
    ------
    InputError
        The index has no zones, there is no document of a number, or `match` is none of the two.

    See Also
    --------
    zone_scores : What such matches are worth.

    Examples
    --------
    >>> documents = [("d1", {"title": "tie", "body": "no rank"}), ("d2", {"title": "rank", "body": "the tie"})]
    >>> index = Index.build(documents, analyzer=str.split, zones=("title", "body"))
    >>> zone_matches(index, "tie", [0, 1]).tolist()
    [[True, False], [False, True]]
    """
    one_of("match", match, _MATCHES)
    query = query if isinstance(query, Query) else index.query(query)
    numbers = document_numbers(index, documents)
    columns = [np.isin(numbers, _matching(postings, query, match)) for postings in _zones_of(index).values()]
    return np.column_stack(columns)


def zone_scores(matches: ArrayLike, weights: ArrayLike) -> Values:
    """Return the weighted zone scores of documents, under one set of weights after another.

    `tieaware.Evaluator.columns` evaluates them all at once: a sweep over the weights.

    Parameters
    ----------
    matches : bool[n_docs, n_zones]
        Which zones match, as `zone_matches` says.
    weights : float[n_weights, n_zones]
        The weights of the zones, a row for each set of them; for two zones and g from 0 to 1, g and 1 - g.

    Returns
    -------
    float64[n_docs, n_weights]
        The score of each document under each set of weights, summed in the order of the zones.

    Raises
    ------
    InputError
        The shapes do not fit together.

    Notes
    -----
    Introduction to Information Retrieval, section 6.1.

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
        raise unexpected(
            "matches and weights", "a row for each document and each set of weights, of as many zones",
            f"shapes {flags.shape} and {rows.shape}",
        )  # fmt: skip
    scores = np.zeros((len(flags), len(rows)))
    for zone in range(rows.shape[1]):
        scores += flags[:, zone, None] * rows[:, zone]
    return scores


class ZoneWeight(NamedTuple):
    """A weight learned from examples, and its error.

    Attributes
    ----------
    weight : float
        That of the first zone; that of the second is 1 - weight.
    error : float
        The sum of the squared differences between the examples' scores and their relevance, 1 or 0.
    """

    weight: float
    error: float


def learn_zone_weight(first: ArrayLike, second: ArrayLike, relevant: ArrayLike) -> ZoneWeight:
    """Learn the weight of the first of two zones from judged documents, with the least squared error, in closed form.

    Only documents in which one zone matches alone count: the weight is the share of them that are relevant with the
    first, or not with the second.

    Parameters
    ----------
    first, second : bool[n]
        Whether the zone matches the query, for documents of any queries.
    relevant : bool[n]
        Whether the document is relevant.

    Returns
    -------
    ZoneWeight
        The weight, ½ if there are no such documents, and its error.

    Raises
    ------
    InputError
        The arrays are of different lengths.

    Notes
    -----
    Introduction to Information Retrieval, section 6.1.2: g = (n10r + n01n) / (n10r + n10n + n01r + n01n).

    Examples
    --------
    The book's examples, of which those where the body matches alone tie; judgments disagree about them:

    >>> title = [1, 0, 0, 0, 1, 0, 1]
    >>> body = [1, 1, 1, 0, 1, 1, 0]
    >>> learn_zone_weight(title, body, relevant=[1, 0, 1, 0, 1, 1, 0])
    ZoneWeight(weight=0.25, error=0.75)
    """
    one, two, label = (np.asarray(each).astype(bool) for each in (first, second, relevant))
    if not (one.ndim == 1 and one.shape == two.shape == label.shape):
        shapes = f"shapes {one.shape}, {two.shape} and {label.shape}"
        raise unexpected("first, second and relevant", "as many of each, in one dimension", shapes)
    single = one != two
    weight = float((one == label)[single].mean()) if single.any() else 0.5
    differences = label - (weight * one + (1 - weight) * two)
    return ZoneWeight(weight, float((differences * differences).sum()))
