"""Errors for arguments of `evaluate` and `Evaluator` in another order, and for judgments in place of arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from numbers import Number
from typing import Any

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run
from tieaware.lists.grades import Grades
from tieaware.lists.sparse import is_matrix
from tieaware.measures import Measure, parse_measures

_EVALUATE = "for judgments and runs by document id, write evaluate(qrels, runs, measures)"
_SOURCES = (Mapping, Qrels, Run, str, os.PathLike)
_EVALUATOR = "write Evaluator(labels, measures)(scores)"


def check_evaluator_arguments(labels: Any, measures: Any) -> None:
    """Raise InputError if the measures are numbers, or if the labels are not an array but judgments or a path."""
    if _is_numeric(measures):
        raise InputError("measures", f"must be names such as 'nDCG@10', not numbers; {_EVALUATOR}")
    if _is_source(labels):
        raise InputError("labels", f"must be an array of labels, not {type(labels).__name__}; {_EVALUATE}")


@contextmanager
def labels_or_scores(grades: Grades | None) -> Iterator[None]:
    """Make an error about real labels that are all below 1 ask whether these are scores."""
    try:
        yield
    except InputError as error:
        if grades is None or grades.highest >= 1.0 or not error.where.endswith(": labels"):
            raise
        raise InputError(error.where, f"{error.problem}; if these are scores, {_EVALUATOR}") from None


def check_scores(scores: Any, name: str) -> None:
    """Raise InputError if scores are not an array, but a dict, a run or a path."""
    if not _is_source(scores):
        return
    problem = f"must be an array with a score for each document, not {type(scores).__name__}"
    is_named = isinstance(scores, Mapping) and not any(isinstance(each, Mapping) for each in scores.values())
    instead = "write evaluator.results({name: scores})" if is_named else _EVALUATE
    raise InputError(name, f"{problem}; {instead}")


# Arguments of other tools, for `Evaluator.from_sparse`.
FROM_SPARSE = {
    **dict.fromkeys(("train", "seen", "exclusions"), "write exclude="),
    "users": "take the rows of users from relevance and exclude, or write evaluator.results(scores, queries=users)",
    "queries": "write evaluator.results(scores, queries=...)",
    **dict.fromkeys(("items", "documents"), "write docids=, which only tie rules by document need"),
}


def rows_elsewhere(_: Any, *given: Any) -> str:
    """Say how to write `Evaluator.rows` instead of rows(slice(0, 512))."""
    first, last = (given[0].start or 0, given[0].stop) if given and isinstance(given[0], slice) else (None, None)
    return f"write rows({first}, {last})" if last is not None else "write rows(first, last)"


def instead_of_shape(scores: Any, shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Say what to call for scores of another shape: a pair (ids, scores), or the scores of some lists; else ""."""
    if isinstance(scores, tuple) and len(scores) == 2:
        return "; for a pair (ids, scores), use evaluate"
    if len(shape) == len(expected) == 2 and shape[1] == expected[1] and shape[0] < expected[0]:
        return "; for the scores of some lists, use evaluator.rows(first, last)"
    return ""


def wrong_out(out: Any, shape: tuple[int, ...], n_docs: int) -> InputError:
    """Return the error for an array `out` of another shape or type; it names the usual reason, scores after labels."""
    found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
    error = unexpected("out", f"float64{list(shape)}", found)
    # A list of lists of different lengths has no size.
    with suppress(ValueError):
        if isinstance(out, np.ndarray | list | tuple) and _is_numeric(out) and np.size(out) == n_docs:
            return InputError("out", f"{error.problem}; a call takes the scores alone: write evaluator(scores)")
    return error


def check_judgments(qrels: Any, instead: str = _EVALUATOR) -> None:
    """Raise InputError if judgments are an array of labels; the message says what to write instead."""
    # A matrix in CSR form may be a named tuple of arrays.
    if _is_numeric(qrels) and not is_matrix(qrels):
        raise InputError("qrels", f"must be judgments by document id, not an array; for arrays {instead}")


def measures_first(qrels: Any, runs: Any) -> InputError | None:
    """Return the error for measures that were passed in place of judgments or runs; None if they were not."""
    if _names_measures(qrels) or _names_measures(runs):
        return InputError("measures", "must be the last of the three; write evaluate(qrels, runs, measures)")
    return None


def _is_source(value: Any) -> bool:
    """Return whether a value is judgments or a run, or names a file of them."""
    return not isinstance(value, np.ndarray) and isinstance(value, _SOURCES)


def _is_numeric(value: Any) -> bool:
    """Return whether a value is numbers: an array, or a sequence that begins with a number, an array or a sequence."""
    first = value
    # A list may contain itself. NumPy has arrays of 64 dimensions at most.
    for _ in range(65):
        if isinstance(first, list | tuple) and first:
            first = first[0]
    if isinstance(first, np.ndarray):
        return first.dtype.kind in "biuf" and first.ndim > 0
    return first is not value and isinstance(first, Number)


def _names_measures(value: Any) -> bool:
    """Return whether a value is a measure, or a list of measures or of their names."""
    each_measure = value if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(each, str | Measure) for each in each_measure):
        return False
    try:
        return bool(parse_measures(value))
    except InputError:
        return False
