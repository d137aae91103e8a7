"""Matching of runs with judgments, which finds the judged documents in each list, and signs that both do not match."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown
from tieaware.checks.arrays import Integers, Scores
from tieaware.errors import InputError, warn
from tieaware.inputs.judgments.qrels import Qrels
from tieaware.inputs.runs.run import Run, RunSource
from tieaware.inputs.runs.topk import has_zero
from tieaware.kernels import _join
from tieaware.lists.identifiers import Identifiers, number_names, quoted
from tieaware.lists.judgments import POOLED, JudgedLists
from tieaware.lists.query_lists import Lists
from tieaware.lists.swapped import look_like_scores

# The end of a message if a run has text, and the judgments are a matrix without names.
_NAMES_OF_COLUMNS = "name the columns of the matrix with Qrels.from_sparse(relevance, documents=...)"

# The end of a message if a run has integers, and the judgments have text.
_NAMES_OF_NUMBERS = (
    "make both text, or both integers; Run.from_topk(ids, scores, documents=...) names the documents of top-k lists"
)


# Numbers count from 1 if this number of the first queries' documents, and this times more, are relevant for less 1.
_FEW_QUERIES, _FEWEST_RELEVANT, _MORE_RELEVANT = 100, 10, 4


class Matched(NamedTuple):
    """The judged documents of a run, or of a chunk of a run, with the scores of all its documents.

    Parameters
    ----------
    rows : int64[n_queries]
        For each query of the run, the index of this query in the judgments; -1 if the query is not judged.
    scores : float64[n_documents] or float32[n_documents]
        The scores of all documents, in the order of the run.
    lists : JudgedLists
        The judged documents of each query of the run. Their labels may be negative.
    """

    rows: Integers
    scores: Scores
    lists: JudgedLists

    @property
    def labels(self) -> NDArray[Any]:
        """The label of each document of the run, as `Evaluator` takes them; -1 if it is not judged."""
        lists = self.lists
        known = lists.judgments.values
        labels = np.full(len(self.scores), -1, known.dtype)
        found = np.repeat(lists.offsets[:-1], np.diff(lists.judged_offsets)) + lists.positions
        # In judgments, negative labels mean "in the pool, but not judged"; in an evaluator, -1 means "not in the pool".
        labels[found] = np.where(known < 0, POOLED, known)
        return labels


def match(qrels: Qrels, run: RunSource) -> Matched:
    """Return the judged documents of each query in a run, or in a chunk of a run, and the scores of all documents.

    Raises
    ------
    InputError
        Queries or documents are integers in the run and text in the judgments, or the reverse; or the run is invalid.
    """
    if run.mapping is not None:
        walked = _join.match_dict(qrels.index, run.mapping)
        if walked is not None:
            rows, offsets, scores, judged_offsets, positions, labels = walked
            lists = JudgedLists(offsets, judged_offsets, positions, labels, None, None, qrels.grades)
            return Matched(rows, scores, lists)
        # The kernel found something other than dicts, str and numbers. The run is converted to columns, which either
        # works or raises an error that names the invalid value.
    columns = run.whole()
    columns.queries.check_kind(qrels.queries, f"{columns.name}.query", qrels.name)
    # Text such as "7" is the number itself, rather than its name.
    are_names = columns.documents.kind == "integer" and len(qrels.documents) and not qrels.documents[0].isdigit()
    # The documents of a matrix are its column numbers, unless these have names.
    remedy = _NAMES_OF_COLUMNS if qrels.n_columns is not None else (
        _NAMES_OF_NUMBERS if are_names else "make both text, or both integers"
    )  # fmt: skip
    columns.documents.check_kind(qrels.documents, f"{columns.name}.doc", qrels.name, remedy)
    rows, judged_offsets, positions, labels = _join.match(
        qrels.index,
        columns.queries.data,
        columns.queries.offsets,
        columns.offsets,
        columns.documents.data,
        columns.documents.offsets,
    )
    lists = JudgedLists(columns.offsets, judged_offsets, positions, labels, grades=qrels.grades)
    return Matched(rows, columns.scores, lists)


def match_whole(qrels: Qrels, run: Run, name: str) -> Matched:
    """Match a whole run, which has this name in messages.

    Raise InputError if no query of the run is judged; warn if some query is, but no document of the run.
    """
    matched = match(qrels, run)
    if not (matched.rows >= 0).any():
        raise InputError(name, no_query_judged(qrels, run, first_query(run)))
    example = "" if len(matched.lists.positions) else differing(qrels, run, matched)
    if example:
        warn(f"{name}: no document is judged in {qrels.name}; {example}")
    return matched


def check_numbers(qrels: Qrels, run: RunSource, name: str) -> None:
    """Raise InputError if the numbers of queries or documents in a run are not those of the judgments.

    If the queries of both are numbered, there must be as many. If the judgments are a matrix, the ids of top-k lists
    must be numbers of its columns.

    With fewer rows than queries, row i is probably not query i, but the i-th of some chosen queries. `name` is the name
    of the run in messages.
    """
    n, n_rows = 0 if run.n_numbered is None else len(qrels), run.n_numbered
    if n_rows and n and qrels.queries.kind == "text":
        problem = f"its rows are numbered, but {qrels.name} has queries with names, such as {_shown(qrels.queries, 0)}"
        raise InputError(name, f"{problem}; pass Run.from_topk(ids, scores, queries=...)")
    if n_rows is not None and n_rows != n > 0 and (qrels.queries[0], qrels.queries[n - 1]) == (b"0", b"%d" % (n - 1)):
        remedy = "pass Run.from_topk(ids, scores, queries=...) to name the query of each row"
        if n_rows < n:
            remedy += ", and queries='both' to leave out the other queries, which count as 0 otherwise"
        raise InputError(name, f"has {n_rows} rows, but {qrels.name} has {n} queries; {remedy}")
    if qrels.n_columns is not None:
        run.check_columns(qrels.n_columns, qrels.name, name)


def first_query(run: RunSource) -> str:
    """Return the first query of a run, or of a chunk of a run, as a message shows it; "" if there is none."""
    queries = run.whole().queries
    return _shown(queries, 0) if len(queries) else ""


def no_query_judged(qrels: Qrels, run: RunSource, query: str) -> str:
    """Say that no query of a run is judged, for a message.

    The run is read again to find its first query, because several threads read its chunks in any order. If it can be
    read only once, the message shows `query`, which is the result of `first_query` for some chunk.
    """
    with suppress(InputError):
        query = next(filter(None, map(first_query, run.chunks())), query)
    if len(qrels) == 0:
        reason = "there are no judgments"
    elif not query:
        reason = "the run is empty" if run.rereadable else "the run is empty, or was read before"
    else:
        reason = f"the run has {query}, the judgments {_shown(qrels.queries, 0)}"
    return f"no query of this run is judged in {qrels.name}: {reason}"


def _shown(identifiers: Identifiers, i: int) -> str:
    return shown(identifiers.take(np.array([i])).to_list()[0])


def differing(qrels: Qrels, run: RunSource, matched: Matched) -> str:
    """Show how document identifiers differ, for a message about a run none of whose documents is judged.

    The first query with documents in the run and in the judgments is shown, with its first document in each of them.
    Return "" if there is no such query.
    """
    columns = run.whole()
    for i in np.flatnonzero((matched.rows >= 0) & (np.diff(columns.offsets) > 0)).tolist():
        row = matched.rows[i]
        if qrels.offsets[row] < qrels.offsets[row + 1]:
            here, there = columns.documents[columns.offsets[i]], qrels.documents[qrels.offsets[row]]
            query = _shown(columns.queries, i)
            return f"for query {query}, the run has document {quoted(here)}, and the judgments have {quoted(there)}"
    return ""


def seem_to_count_from_one(qrels: Qrels, chunk: RunSource) -> bool:
    """Return whether the documents of a run are numbers from 1, and those of the judgments numbers of columns from 0.

    They are if none of them is 0, and if the numbers less 1 are relevant far more often. The first 100 queries count.
    """
    if qrels.n_columns is None:
        return False
    run = chunk.whole()
    first = np.arange(min(len(run.queries), _FEW_QUERIES))
    queries, offsets = run.queries.take(first), run.offsets[: len(first) + 1]
    ids = run.documents.take(np.arange(offsets[-1]))
    if ids.kind != "integer" or has_zero(ids):
        return False
    reduced = number_names(np.array(ids.to_list(), np.int64) - 1)
    both = (Lists(queries, offsets, each, run.scores[: offsets[-1]]) for each in (ids, reduced))
    as_given, less_one = (np.count_nonzero(match(qrels, Run.of(lists, run.name)).labels > 0) for lists in both)
    return bool(less_one >= _FEWEST_RELEVANT and less_one > _MORE_RELEVANT * as_given)


def asking_for_run(error: InputError, qrels: Qrels) -> InputError:
    """Return an error about labels; if they are all too low, it asks whether these are the scores of a run."""
    if qrels.grades is None or not error.where.endswith(": labels"):
        return error
    if not look_like_scores(qrels.labels, qrels.offsets):
        return error
    return InputError(error.where, f"{error.problem}; or are judgments and run swapped?")
