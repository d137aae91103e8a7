"""Changes of the ranks of documents between two runs: p-MRR, which mteb's tasks for instruction following report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.inputs import Qrels, RunLike, match, source_named


class RankChange(NamedTuple):
    """p-MRR of two runs, over all orders of tied documents.

    Attributes
    ----------
    mean : float
        The mean over the queries.
    queries : list of str or int
        The queries, as in `documents`.
    values : float64[n_queries]
        The mean over the documents of each query.

    Examples
    --------
    >>> p_mrr({"q": {"d1": 2.0, "d2": 1.0}}, {"q": {"d1": 1.0, "d2": 2.0}}, {"q": ["d1"]}).mean
    0.5
    """

    mean: float
    queries: list[Any]
    values: Values


def p_mrr(original: RunLike, changed: RunLike, documents: Mapping[Any, Iterable[Any]]) -> RankChange:
    """Return p-MRR: how far a changed instruction moves the documents that it makes irrelevant down the ranking.

    Each document contributes 1 - R/S if its rank S under the changed instruction is below its original rank R (S > R),
    and S/R - 1 otherwise. The contributions are averaged over the documents of a query, then over the queries. Where
    the document ties in a run, its contribution is the mean over all ranks in the tie, which is exact. mteb orders ties
    by document id, descending.

    Parameters
    ----------
    original, changed : run
        The runs under the two instructions, each in any form that `tieaware.evaluate` takes, with the same names of
        queries: without mteb's endings "-og" and "-changed". A document that a list lacks has the rank after its last.
    documents : dict as {query: [document, …]}
        The documents whose relevance the changed instruction takes away: mteb's `changed_qrels`.

    Returns
    -------
    RankChange
        The mean, and the value of each query, −1 … 1: positive if the run follows the changed instruction.

    Raises
    ------
    InputError
        If a query has no documents, or is missing from a run.

    References
    ----------
    Weller, O. and others (2024), FollowIR: evaluating and teaching information retrieval models to follow instructions.

    Examples
    --------
    The document has rank 1 at first, and then rank 2, 3 or 4.

    >>> original = {"q": {"d1": 9.0, "d2": 3.0, "d3": 2.0, "d4": 1.0}}
    >>> changed = {"q": {"d2": 8.0, "d1": 5.0, "d3": 5.0, "d4": 5.0}}
    >>> round(p_mrr(original, changed, {"q": ["d1"]}).mean, 4)
    0.6389
    """
    if not isinstance(documents, Mapping) or not documents:
        raise unexpected("documents", "a dict such as {query: [document, …]} of at least one query", shown(documents))
    numbered = {query: _numbered(query, listed) for query, listed in documents.items()}
    qrels = Qrels.from_dict(numbered)
    counts = [len(listed) for listed in numbered.values()]
    offsets = np.concatenate(([0], np.cumsum(counts)))
    before = _places(original, "original", qrels, offsets)
    after = _places(changed, "changed", qrels, offsets)
    of_documents = [_change(*map(int, place)) for place in zip(*before, *after, strict=True)]
    values = np.add.reduceat(of_documents, offsets[:-1]) / counts
    return RankChange(float(values.mean()), list(documents), values)


def _numbered(query: Any, listed: Iterable[Any]) -> dict[Any, int]:
    """Return the documents of a query with their positions, which are read back from the labels of a match."""
    if isinstance(listed, str | bytes):
        raise unexpected(f"documents[{query!r}]", "a list of documents", shown(listed))
    unique = {document: i for i, document in enumerate(dict.fromkeys(listed))}
    if not unique:
        raise InputError(f"documents[{query!r}]", "must have at least one document")
    return unique


def _places(run: RunLike, name: str, qrels: Qrels, offsets: Integers) -> tuple[Integers, Integers]:
    """Return, for each document, how many documents rank above its tie group, and the size of the group."""
    matched = match(qrels, source_named(name, run).whole())
    lists, row_of = matched.lists, {row: i for i, row in enumerate(matched.rows.tolist()) if row >= 0}
    above, size = np.empty(offsets[-1], np.int64), np.ones(offsets[-1], np.int64)
    for row, query in enumerate(qrels.queries.to_list()):
        if row not in row_of:
            raise InputError(name, f"has no documents for the query {query!r}")
        i = row_of[row]
        scores = matched.scores[lists.offsets[i] : lists.offsets[i + 1]]
        # A document that the list lacks has the rank after its last one.
        above[offsets[row] : offsets[row + 1]] = len(scores)
        found = slice(lists.judged_offsets[i], lists.judged_offsets[i + 1])
        for position, number in zip(lists.positions[found], lists.labels[found], strict=True):
            above[offsets[row] + number] = np.count_nonzero(scores > scores[position])
            size[offsets[row] + number] = np.count_nonzero(scores == scores[position])
    return above, size


def _change(above: int, size: int, above_after: int, size_after: int) -> float:
    """Return E[S/R - 1 if R ≥ S else 1 - R/S] for R uniform on above + 1 … above + size, and S likewise.

    For each R, the S up to R add (their sum)/R minus their number, and those after R their number minus R Σ 1/S.
    """
    ranks = np.arange(above + 1.0, above + size + 1)
    later = np.arange(above_after + 1.0, above_after + size_after + 1)
    upto = np.clip(ranks - above_after, 0, size_after).astype(np.int64)
    sums = np.concatenate(([0.0], np.cumsum(later)))[upto]
    reciprocals = np.concatenate((np.cumsum(1.0 / later[::-1])[::-1], [0.0]))[upto]
    per_rank = sums / ranks - upto + (size_after - upto) - ranks * reciprocals
    return float(per_rank.sum()) / size / size_after
