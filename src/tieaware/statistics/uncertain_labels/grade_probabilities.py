"""Reading of probabilities of grades: arrays with a column for each grade, or dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Values, as_array, as_offsets, as_scores, check_no_nan, element
from tieaware.errors import InputError
from tieaware.inputs import Matched, Qrels, as_sources, check_numbers, match
from tieaware.statistics.tie_counts import flat_lists
from tieaware.statistics.uncertain_labels.uncertain_lists import UncertainList

# Probabilities in single precision add up to 1 only nearly.
_TOLERANCE = 1e-5
_LARGEST_GRADE = float(2**31 - 1)


class UncertainLists(NamedTuple):
    """The queries, their lists, and the grades of the columns."""

    queries: tuple[str | int, ...]
    lists: list[UncertainList]
    grades: Values


def of_arrays(
    scores: Any, probabilities: Any, offsets: npt.ArrayLike | None, grades: Any, unretrieved: Any
) -> UncertainLists:
    """Return the lists of arrays; see `with_uncertain_labels`."""
    given = as_scores(scores, "scores")
    flat, bounds = flat_lists(given, offsets)
    check_no_nan(given, "scores")
    chances = _numbers(probabilities, "probabilities")
    if chances.shape[:-1] != given.shape or chances.shape[-1:] == (0,):
        wanted = ", ".join(map(str, (*given.shape, "n_grades")))
        raise InputError(
            "probabilities", f"must have the shape ({wanted}), one column for each grade; found {chances.shape}"
        )
    values = _checked_grades(grades, chances.shape[-1])
    chances = _checked(chances, "probabilities").reshape(-1, chances.shape[-1])
    other, other_bounds = _unretrieved(unretrieved, len(bounds) - 1, chances.shape[-1])
    lists = []
    for q in range(len(bounds) - 1):
        own, missed = slice(bounds[q], bounds[q + 1]), slice(other_bounds[q], other_bounds[q + 1])
        lists.append(UncertainList.ranked(flat[own], chances[own], other[missed], values))
    return UncertainLists(tuple(range(len(lists))), lists, values)


def of_dicts(run: Any, probabilities: Mapping[Any, Any]) -> UncertainLists:
    """Return the lists of a run and of probabilities {query: {document: {grade: probability}}}."""
    sources = as_sources(run)
    if len(sources) != 1:
        raise InputError("scores", f"must be one run; found {len(sources)}")
    ((name, source),) = sources.items()
    numbered, every, values = _numbered(probabilities)
    judged = Qrels.from_dict({query: numbered.get(query, {}) for query in probabilities}, name="probabilities")
    check_numbers(judged, source, name)
    matched = match(judged, source.whole())
    if np.isnan(matched.scores).any():
        raise InputError(name, "a score is NaN")
    list_of = dict(zip(matched.rows.tolist(), range(len(matched.rows)), strict=True))
    lists = [_list_of(matched, list_of.get(q), _numbers_of(judged, q), every, values) for q in range(len(judged))]
    return UncertainLists(tuple(judged.queries.to_list()), lists, values)


def _numbers_of(judged: Qrels, q: int) -> Integers:
    """Return the labels of a query, which are the numbers of its documents."""
    return judged.labels[judged.offsets[q] : judged.offsets[q + 1]].astype(np.int64)


def _list_of(matched: Matched, i: int | None, numbers: Integers, every: Values, grades: Values) -> UncertainList:
    """Return list i of a run; an empty list for None. `numbers` are the rows of the query's documents in `every`."""
    if i is None:
        return UncertainList.ranked(np.zeros(0), np.zeros((0, len(grades))), every[numbers], grades)
    lists = matched.lists
    found = slice(lists.judged_offsets[i], lists.judged_offsets[i + 1])
    retrieved = lists.labels[found].astype(np.int64)
    scores = matched.scores[lists.offsets[i] : lists.offsets[i + 1]]
    chances = np.zeros((len(scores), len(grades)))
    chances[lists.positions[found]] = every[retrieved]
    return UncertainList.ranked(scores, chances, every[np.setdiff1d(numbers, retrieved)], grades)


def _numbered(probabilities: Mapping[Any, Any]) -> tuple[dict[Any, dict[Any, int]], Values, Values]:
    """Number the judged documents; return {query: {document: number}}, their probabilities, and the grades."""
    numbered: dict[Any, dict[Any, int]] = {}
    names: list[str] = []
    rows: list[dict[float, float]] = []
    for where, query, document, chances in _documents(probabilities):
        numbered.setdefault(query, {})[document] = len(rows)
        names.append(where)
        rows.append(chances)
    grades = sorted({grade for chances in rows for grade in chances}) or [0.0]
    every = np.zeros((len(rows), len(grades)))
    for i, chances in enumerate(rows):
        for grade, chance in chances.items():
            every[i, grades.index(grade)] = chance
    return numbered, _sums_checked(every, names.__getitem__), np.array(grades)


def _documents(probabilities: Mapping[Any, Any]) -> Iterator[tuple[str, Any, Any, dict[float, float]]]:
    """Yield the name in messages, the query, the document, and {grade: probability} of each judged document."""
    for query, documents in probabilities.items():
        if not isinstance(documents, Mapping):
            raise unexpected(f"probabilities[{shown(query)}]", "{document: {grade: probability}}", shown(documents))
        for document, chances in documents.items():
            where = f"probabilities[{shown(query)}][{shown(document)}]"
            if not isinstance(chances, Mapping):
                raise unexpected(where, "{grade: probability}", shown(chances))
            yield (
                where,
                query,
                document,
                {
                    number(f"a grade of {where}", grade, 0.0, _LARGEST_GRADE): number(
                        f"{where}[{shown(grade)}]", chance, 0.0, 1.0
                    )
                    for grade, chance in chances.items()
                },
            )


def _unretrieved(given: Any, n_queries: int, n_grades: int) -> tuple[Values, Offsets]:
    """Return the probabilities of judged documents that are not in the lists, and their offsets."""
    if given is None:
        return np.zeros((0, n_grades)), np.zeros(n_queries + 1, np.int64)
    try:
        chances, offsets = given
    except (TypeError, ValueError):
        raise unexpected("unretrieved", "a pair (probabilities, offsets)", shown(given)) from None
    chances = _numbers(chances, "unretrieved")
    if chances.ndim != 2 or chances.shape[1] != n_grades:
        raise InputError(
            "unretrieved", f"must have {n_grades} columns, one for each grade; found shape {chances.shape}"
        )
    bounds = as_offsets(offsets, len(chances), "offsets of unretrieved", "unretrieved documents")
    if len(bounds) != n_queries + 1:
        raise InputError("unretrieved", f"must have {n_queries} queries, as the scores; found {len(bounds) - 1}")
    return _checked(chances, "unretrieved"), bounds


def _checked_grades(grades: Any, n: int) -> Values:
    """Return the label of each column."""
    if grades is None:
        return np.arange(float(n))
    values = _numbers(grades, "grades")
    if values.shape != (n,):
        raise InputError("grades", f"must have {n} labels, one for each column; found shape {values.shape}")
    if not ((values >= 0.0) & (values <= _LARGEST_GRADE)).all():
        raise InputError("grades", "must be labels from 0 to 2147483647; for an unjudged document, write a row of NaN")
    if len(np.unique(values)) < n:
        raise InputError("grades", "must be different")
    return values


def _numbers(values: Any, where: str) -> Values:
    """Return an array of numbers as float64."""
    array = as_array(values, where)
    if array.dtype.kind == "O" or array.dtype.kind not in "biuf":
        raise InputError(where, f"must be numbers, not an array of {array.dtype}")
    # A number that is too large for float64 becomes infinite, which is no probability and no grade.
    with np.errstate(over="ignore"):
        numbers: Values = array.astype(np.float64)
    return numbers


def _checked(chances: Values, where: str) -> Values:
    """Return probabilities that add up to 1 in each row; rows of NaN, for unjudged documents, become 0."""
    missing = np.isnan(chances)
    unjudged: npt.NDArray[np.bool_] = np.logical_and.reduce(missing, axis=-1)
    wrong = ~(((chances >= 0.0) & (chances <= 1.0 + _TOLERANCE)) | unjudged[..., None])
    if wrong.any():
        at = int(wrong.reshape(-1).argmax())
        problem = shown(float(chances.reshape(-1)[at]))
        if missing.reshape(-1)[at]:
            raise InputError(element(where, chances.shape, at), "is NaN, but other grades of the document are not")
        raise unexpected(element(where, chances.shape, at), "a probability from 0 to 1", problem)
    filled = np.where(unjudged[..., None], 0.0, chances)
    rows = filled.reshape(-1, filled.shape[-1])
    judged = np.flatnonzero(~unjudged.reshape(-1))
    rows[judged] = _sums_checked(rows[judged], lambda i: element(where, chances.shape[:-1], int(judged[i])))
    return rows.reshape(chances.shape)


def _sums_checked(rows: Values, place: Callable[[int], str]) -> Values:
    """Return probabilities divided by their sums, which must be nearly 1; `place` returns the name of a row."""
    sums = rows.sum(axis=1)
    wrong = np.abs(sums - 1.0) > _TOLERANCE
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(place(i), f"the probabilities must add up to 1; they add up to {sums[i]:g}")
    divided: Values = rows / sums[:, None]
    return divided
