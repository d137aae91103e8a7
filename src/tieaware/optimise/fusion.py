"""Fusion of runs: the scores of several runs become one score for each document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import number, one_of, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.errors import InputError
from tieaware.inputs import Run, RunLike, RunSource, as_sources
from tieaware.kernels import _identifiers
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists
from tieaware.optimise.normalisation import NORMALISATIONS, NormalisationName, RankedLists


class Aligned(NamedTuple):
    """The scores that several runs give to the same documents.

    Queries, and the documents of each query, are in the order in which the runs have them first. The rows of query q
    are ``offsets[q]`` to ``offsets[q + 1]``. `scores`, float64[n_runs, n_rows], is NaN where a run does not have the
    document.
    """

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    scores: Values


def align(runs: Sequence[Run]) -> Aligned:
    """Align runs by query and document; raise InputError if identifiers are text in one run and integers in another."""
    for run in runs[1:]:
        run.queries.check_kind(runs[0].queries, f"{run.name}.query", runs[0].name)
        run.documents.check_kind(runs[0].documents, f"{run.name}.doc", runs[0].name)
    all_queries = _concatenated([run.queries for run in runs])
    all_documents = _concatenated([run.documents for run in runs])
    query_numbers, first_queries = _identifiers.number(all_queries.data, all_queries.offsets)
    document_numbers, first_documents = _identifiers.number(all_documents.data, all_documents.offsets)
    sizes = np.concatenate([np.diff(run.offsets) for run in runs])
    pairs = np.repeat(query_numbers, sizes) * max(len(first_documents), 1) + document_numbers
    rows, firsts, row_of = _numbered(pairs, max(len(first_documents), 1))
    scores = np.full((len(runs), rows), np.nan)
    end = 0
    for i, run in enumerate(runs):
        start, end = end, end + len(run.documents)
        scores[i, row_of[start:end]] = run.scores
    offsets = np.zeros(len(first_queries) + 1, np.int64)
    query_of_row = pairs[firsts] // max(len(first_documents), 1)
    np.cumsum(np.bincount(query_of_row, minlength=len(first_queries)), out=offsets[1:])
    return Aligned(all_queries.take(first_queries), offsets, all_documents.take(firsts), scores)


def _numbered(pairs: Integers, n_documents: int) -> tuple[int, Integers, Integers]:
    """Number the distinct pairs of query and document: by query, then by first appearance.

    Returns the number of distinct pairs, the index at which each of them appears first, and the number of each pair.
    """
    distinct, firsts, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.lexsort((firsts, distinct // n_documents))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return len(distinct), firsts[order].astype(np.int64), numbers[inverse.ravel()]


def _concatenated(columns: Sequence[Identifiers]) -> Identifiers:
    """Return the identifiers of several columns as one column, of the kind that all non-empty columns have."""
    ends = np.cumsum([0, *(len(column.data) for column in columns)])
    offsets = [column.offsets[1:] + end for column, end in zip(columns, ends[:-1], strict=True)]
    kinds = {column.kind for column in columns if len(column)}
    return Identifiers.of(
        np.concatenate([column.data for column in columns]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        kinds.pop() if len(kinds) == 1 else "any",
    )


FusionMethod: TypeAlias = Literal["sum", "mnz", "max", "min", "med", "rrf", "isr", "borda"]
Missing: TypeAlias = Literal["least", "zero"] | float
Minimum: TypeAlias = float | Mapping[str, float] | Sequence[float]


def fuse(
    runs: Mapping[str, RunLike] | Sequence[RunLike],
    method: FusionMethod = "sum",
    weights: Mapping[str, float] | Sequence[float] | None = None,
    normalise: NormalisationName = "min-max",
    *,
    missing: Missing = "least",
    k: float = 60,
    name: str | None = None,
    depth: int | None = None,
    minimum: Minimum | None = None,
) -> Run:
    """Combine several runs into one run, which has every document that any of the runs has.

    Two documents with equal scores in each of the runs get equal fused scores, to the bit. The ranks of tied documents
    are averaged over all of their orders, so that no method depends on the order of the input.

    Parameters
    ----------
    runs : {name: run}, or sequence of runs
        At least two runs, in any form that `evaluate` accepts. They are read as a whole.
    method : str
        "sum": the weighted sum of the normalised scores (CombSUM). "mnz": this sum, multiplied by the number of runs
        that have the document (CombMNZ). "max", "min", "med": the maximum, minimum or median of the weighted scores
        in all runs, with `missing` for the runs that lack the document.
        "rrf": reciprocal rank fusion, the weighted sum of 1 / (k + rank). "isr": the weighted sum of 1 / rank²,
        multiplied by the number of runs that have the document. "borda": the weighted sum of n + 1 - rank, where n is
        the number of documents that any run has for the query; documents that a run lacks share the ranks below its
        last document.
    weights : {name: float} or sequence of float, optional
        The weight of each run; 1 by default.
    normalise : str
        How the scores of each run are normalised, for each query: "min-max": to 0 … 1 (1 if all scores are equal).
        "theoretical-min-max": the least score that the run could have, `minimum`, becomes 0, and the greatest score of
        the list 1; then the last document of a good list keeps a good score. "z": to mean 0 and standard deviation 1 (0
        if all scores are equal). "sum": the least score becomes 0, and the sum 1; if all scores are equal, each becomes
        1 / n, for n documents in the list. "rank": 1 - (rank - 1) / n. "rrf": 1 / (60 + rank), so that the best weights
        of reciprocal rank fusion can be found. "none". The methods by rank do not use it.
    missing : "least", "zero" or float
        The normalised score of a document that a run does not have. "least": with "z" and "none", the least normalised
        score of the run for this query; with the others, and for queries that the run does not answer, 0. "zero": 0. A
        number: this number. The methods by rank do not use it.
    k : float
        The constant of reciprocal rank fusion, at least 0.
    name : str, optional
        The name of the fused run; by default the names of the runs, joined by "+".
    depth : int, optional
        The number of documents to keep for each query, at least 1: those with the highest fused scores, and all that
        tie with the last of these. By default, the run has all documents. Only the fused run is cut.
    minimum : float, {name: float} or sequence of float, optional
        For "theoretical-min-max", and required there: the least score that each run could have, such as 0 for BM25 and
        -1 for cosines. One number serves all runs.

    Returns
    -------
    Run
        Queries and documents are in the order in which the runs have them first; scores are float64.

    Raises
    ------
    InputError
        There are fewer than two runs, they have no query in common, a score is infinite or below `minimum`, weights do
        not fit the runs, or an argument is unknown or out of range.

    References
    ----------
    Fox, E. A. and Shaw, J. A. (1994). Combination of multiple searches. TREC-2. Aslam, J. A. and Montague, M. (2001).
    Models for metasearch. SIGIR 2001. Cormack, G. V., Clarke, C. L. A. and Büttcher, S. (2009). Reciprocal rank fusion
    outperforms Condorcet and individual rank learning methods. SIGIR 2009. Mourão, A., Martins, F. and Magalhães, J.
    (2015). Multimodal medical information retrieval with unsupervised rank fusion. Computerized Medical Imaging and
    Graphics 39. Bruch, S., Gai, S. and Ingber, A. (2023). An analysis of fusion functions for hybrid retrieval. ACM
    Transactions on Information Systems 42(1), section 4 ("theoretical-min-max").

    Examples
    --------
    The first run ties two documents: each has rank 1 or 2, with equal probability.

    >>> import tieaware
    >>> bm25 = {"q1": {"d1": 7.0, "d2": 7.0}}
    >>> dense = {"q1": {"d2": 0.9, "d3": 0.5}}
    >>> tieaware.fuse({"bm25": bm25, "dense": dense}, weights={"bm25": 0.25, "dense": 0.75}).to_dict()
    {'q1': {'d1': 0.25, 'd2': 1.0, 'd3': 0.0}}
    >>> tieaware.fuse({"bm25": bm25, "dense": dense}, "rrf", k=1).to_dict()
    {'q1': {'d1': 0.41666666666666663, 'd2': 0.9166666666666666, 'd3': 0.3333333333333333}}
    >>> tieaware.fuse({"bm25": bm25, "dense": dense}, "rrf", k=1, depth=1).to_dict()
    {'q1': {'d2': 0.9166666666666666}}
    >>> scale = {"normalise": "theoretical-min-max", "minimum": {"bm25": 0, "dense": -1}}
    >>> tieaware.fuse({"bm25": bm25, "dense": dense}, weights=[0.25, 0.75], **scale).to_dict()["q1"]["d3"]
    0.5921052631578947
    """
    one_of("method", method, _METHODS)
    missing = checked_scale(normalise, missing)
    k = number("k", k, 0, 1e300)
    depth = None if depth is None else whole_number("depth", depth, 1)
    sources = sources_to_fuse(runs)
    names = tuple(sources)
    weighted = checked_weights(weights, names)
    minima = checked_minimum(minimum, normalise, names)
    aligned = aligned_sources(sources, minima)
    if method in _BY_RANK:
        scores = _fused_ranks(aligned, weighted, method, k)
    else:
        scores = _fused_scores(normalised_scores(aligned, normalise, missing, minima), aligned, weighted, method)
    lists = Lists(aligned.queries, aligned.offsets, aligned.documents, scores)
    if depth is not None:
        lists = _first(lists, depth)
    return Run.of(lists, "+".join(names) if name is None else name)


def checked_scale(normalise: Any, missing: Any) -> Missing:
    """Return the argument `missing`; raise InputError if it or `normalise` is unknown."""
    one_of("normalise", normalise, NORMALISATIONS)
    if isinstance(missing, str):
        if missing not in ("least", "zero"):
            raise unexpected("missing", "'least', 'zero' or a number", shown(missing))
        return "zero" if missing == "zero" else "least"
    return number("missing", missing, -1e300, 1e300)


def sources_to_fuse(runs: Any) -> dict[str, RunSource]:
    """Return the sources of at least two runs, by name."""
    sources = as_sources(runs)
    if len(sources) < 2:
        raise InputError("runs", "must be at least two runs to fuse")
    return sources


def aligned_sources(sources: Mapping[str, RunSource], minima: Sequence[float] | None = None) -> Aligned:
    """Read and align runs; raise InputError if they cannot be fused, or if a score is below its run's minimum."""
    aligned = align([source.whole() for source in sources.values()])
    _check_scores(aligned, tuple(sources))
    for name, scores, minimum in zip(sources, aligned.scores, minima or (), strict=False):
        least = float(np.nanmin(scores))
        if least < minimum:
            raise InputError(name, f"has the score {least:g}, which is below its minimum, {minimum:g}")
    return aligned


def checked_weights(weights: Any, names: Sequence[str]) -> list[float]:
    """Return the weight of each run."""
    if weights is None:
        return [1.0] * len(names)
    return _numbers_of_runs(weights, "weights", "weight", names)


def checked_minimum(minimum: Any, normalise: str, names: Sequence[str]) -> list[float] | None:
    """Return the least score that each run could have; None if the normalisation does not need it."""
    if not NORMALISATIONS[normalise].needs_minimum:
        if minimum is not None:
            raise InputError("minimum", f'is for normalise="theoretical-min-max", not for {normalise!r}')
        return None
    if minimum is None:
        example = "{" + ", ".join(f"{name!r}: 0" for name in names[:2]) + "}"
        problem = f"theoretical-min-max needs the least score that each run could have, such as {example}"
        raise InputError("minimum", problem)
    if isinstance(minimum, Mapping | Sequence | np.ndarray) and not isinstance(minimum, str | bytes):
        return _numbers_of_runs(minimum, "minimum", "number", names)
    return [number("minimum", minimum, -1e300, 1e300)] * len(names)


def _numbers_of_runs(given: Any, argument: str, noun: str, names: Sequence[str]) -> list[float]:
    """Return the number of each run, from a mapping or a sequence."""
    if isinstance(given, Mapping):
        if set(given) != set(names):
            found = ", ".join(map(str, given))
            raise InputError(argument, f"must have one {noun} for each run, {', '.join(names)}; found {found}")
        numbers = [given[name] for name in names]
    elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        numbers = list(given)
        if numbers and isinstance(numbers[0], Sequence | np.ndarray) and not isinstance(numbers[0], str | bytes):
            raise InputError(argument, f"must be one list of {noun}s per call, not several; call it in a loop")
        if len(numbers) != len(names):
            raise InputError(argument, f"must have one {noun} for each of the {len(names)} runs; found {len(numbers)}")
    else:
        raise unexpected(argument, "a list of numbers or {name: number}", shown(given))
    return [number(f"{argument}[{i}]", each, -1e300, 1e300) for i, each in enumerate(numbers)]


def _check_scores(aligned: Aligned, names: Sequence[str]) -> None:
    """Raise InputError if a score is infinite, or if no two runs have a query in common."""
    for name, scores in zip(names, aligned.scores, strict=True):
        if np.isinf(scores).any():
            raise InputError(name, "has an infinite score, which cannot be fused")
        if np.isnan(scores).all():
            raise InputError(name, "has no document")
    lists = list_of_rows(aligned)
    answers = [np.bincount(lists[~np.isnan(scores)], minlength=len(aligned.queries)) > 0 for scores in aligned.scores]
    if not (np.sum(answers, axis=0) > 1).any():
        queries = [quoted(aligned.queries[int(np.argmax(answered))]) for answered in answers]
        shown_queries = " and ".join(f"{name} has {query}" for name, query in zip(names, queries, strict=True))
        raise InputError("runs", f"have no query in common: {shown_queries}")


def normalised_scores(aligned: Aligned, normalise: str, missing: Any, minima: Sequence[float] | None) -> Values:
    """Return the normalised score of each row in each run: float64[n_runs, n_rows]."""
    lists, normalisation = list_of_rows(aligned), NORMALISATIONS[normalise]
    normalised = np.empty_like(aligned.scores)
    for i, (scores, out) in enumerate(zip(aligned.scores, normalised, strict=True)):
        here = np.flatnonzero(~np.isnan(scores))
        ranked = RankedLists(scores[here], lists[here])
        values = normalisation.apply(ranked) if minima is None else normalisation.apply(ranked, minima[i])
        if missing == "least" and not normalisation.from_zero:
            least = np.zeros(len(aligned.queries))
            least[lists[here]] = np.inf
            np.minimum.at(least, lists[here], values)
            out[:] = least[lists]
        else:
            out[:] = 0.0 if isinstance(missing, str) else missing
        out[here] = values
    return normalised


def _fused_scores(combined: Values, aligned: Aligned, weights: Sequence[float], method: str) -> Values:
    """Return the fused score of each row, from the normalised scores, which are changed in place."""
    combined *= np.array(weights)[:, None]
    fused: Values = _METHODS[method](combined)
    return fused * (~np.isnan(aligned.scores)).sum(axis=0) if method == "mnz" else fused


def _fused_ranks(aligned: Aligned, weights: Sequence[float], method: str, k: float) -> Values:
    """Return the fused score of each row, from expected ranks."""
    sizes, lists = np.diff(aligned.offsets), list_of_rows(aligned)
    fused = np.zeros(len(lists))
    for scores, weight in zip(aligned.scores, weights, strict=True):
        here = np.flatnonzero(~np.isnan(scores))
        points = np.zeros(len(lists))
        ranked = RankedLists(scores[here], lists[here])
        if method == "borda":
            retrieved = np.bincount(lists[here], minlength=len(sizes))
            # The documents that the run lacks share the points 1 … n - retrieved.
            points[:] = ((sizes - retrieved + 1) / 2)[lists]
            points[here] = sizes[lists[here]] + 1 - ranked.expected(lambda ranks: ranks)
        else:
            points[here] = ranked.expected(partial(_METHODS[method], k))
        fused += weight * points
    return fused * (~np.isnan(aligned.scores)).sum(axis=0) if method == "isr" else fused


def _first(lists: Lists, depth: int) -> Lists:
    """Keep the first documents of each list by score, and those that tie with the last of them."""
    sizes = np.diff(lists.offsets)
    rows = np.lexsort((-lists.values, np.repeat(np.arange(len(sizes)), sizes)))
    last = np.minimum(lists.offsets[:-1] + depth, lists.offsets[1:]) - 1
    # The last document of an empty list is one of another list, and is not used.
    least = lists.values[rows[last]]
    return lists.without(np.flatnonzero(lists.values < np.repeat(least, sizes)))


def list_of_rows(aligned: Aligned) -> Integers:
    """Return the index of the query of each row."""
    return np.repeat(np.arange(len(aligned.queries)), np.diff(aligned.offsets))


def _reciprocal(k: float, ranks: Values) -> Values:
    return 1.0 / (k + ranks)


def _inverse_square(_: float, ranks: Values) -> Values:
    return 1.0 / (ranks * ranks)


# Methods by score reduce float64[n_runs, n_rows] to float64[n_rows]; methods by rank give the weight of a rank. np.sum
# would add the runs in another order if there is a single row.
_METHODS: dict[str, Callable[..., Values]] = {
    "sum": partial(reduce, np.add), "mnz": partial(reduce, np.add), "max": partial(np.max, axis=0),
    "min": partial(np.min, axis=0), "med": partial(np.median, axis=0), "rrf": _reciprocal, "isr": _inverse_square,
    "borda": _reciprocal,
}  # fmt: skip
_BY_RANK = ("rrf", "isr", "borda")
