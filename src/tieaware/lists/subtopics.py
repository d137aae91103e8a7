"""Labels for each subtopic of a query, in place of one label for each document.

The subtopics of a query are numbered from 0. A document has one label for each of them; these labels together are its
*combination*. Documents of different queries that have the same combination share a code, and arrays of labels hold
these codes. A higher code never has a lower highest label, so code that only compares labels can compare codes. A
`SubtopicGrades` object holds the combinations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Offsets, Values
from tieaware.errors import InputError
from tieaware.lists.grades import Grades
from tieaware.lists.identifiers import Identifiers

# The most subtopics of a query: the kernels hold a set of subtopics in 64 bits.
MOST_SUBTOPICS = 64

# The label of a document for a subtopic for which it is not judged.
UNJUDGED = -1


class SubtopicGrades(Grades):
    """The combinations of labels for subtopics, by code. Immutable.

    Code 0 stands for the label 0 without any subtopic.

    Parameters
    ----------
    values : int32[n_codes] or float64[n_codes]
        The highest label of each combination, ascending from 0. int32 if all labels are whole numbers.
    subtopics : int32[n_subtopics, n_codes] or float64[n_subtopics, n_codes]
        The label of each combination for the i-th subtopic of a query; -1 if a document is not judged for it.
    number : int64[n_codes]
        Combinations that occur in one query have different numbers, from 0. Code 0 has the number -1.
    """

    __slots__ = ("number", "subtopics")

    number: Integers
    subtopics: npt.NDArray[Any]

    def __init__(self, values: npt.NDArray[Any], subtopics: npt.NDArray[Any], number: Integers) -> None:
        super().__init__(values)
        self.subtopics = subtopics
        self.number = number
        for array in (subtopics, number):
            array.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SubtopicGrades)
            and np.array_equal(self.subtopics, other.subtopics)
            and np.array_equal(self.number, other.number)
        )

    def __hash__(self) -> int:
        return hash(self.subtopics.tobytes())

    def __reduce__(self) -> tuple[type[SubtopicGrades], tuple[Any, ...]]:
        return SubtopicGrades, (np.asarray(self.values), np.asarray(self.subtopics), np.asarray(self.number))

    @property
    def are_real(self) -> bool:
        """True if some label is not a whole number."""
        return self.values.dtype == np.float64

    def relevant(self, rel: float) -> npt.NDArray[np.bool_]:
        """Return whether documents of each code are relevant to the i-th subtopic: bool[n_subtopics, n_codes]."""
        return (self.subtopics >= rel) & (self.subtopics >= 0)


class Subtopics(NamedTuple):
    """The subtopics of each query.

    Parameters
    ----------
    names : Identifiers
        The subtopics, query by query, in the order of their numbers.
    offsets : int64[n_queries + 1]
        The subtopics of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    weights : float64[n_subtopics], optional
        How much each subtopic counts, 0 or more; None if all count alike.
    """

    names: Identifiers
    offsets: Offsets
    weights: Values | None = None


def combined(labels: npt.NDArray[Any], offsets: Offsets) -> tuple[Labels, SubtopicGrades]:
    """Return the code of each document, and the combinations.

    Parameters
    ----------
    labels : int32[n_documents, n_subtopics] or float64[n_documents, n_subtopics]
        The label of each document for the i-th subtopic of its query; UNJUDGED if it has none.
    offsets : int64[n_queries + 1]
        The documents of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    """
    highest = labels.max(axis=1, initial=UNJUDGED - 1)
    codes = np.clip(highest, -2, -1).astype(np.int32)
    judged = np.flatnonzero(highest >= 0)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[judged]
    # Sorting by the highest label first, then by the others, gives codes that ascend with the highest label.
    keyed = np.column_stack([highest[judged], labels[judged]])
    keyed[keyed < 0] = UNJUDGED
    combinations, of_document = _distinct_rows(keyed)
    # Combinations are numbered within each query; a code is a combination together with this number.
    pairs, of_pair = np.unique(query * np.int64(max(len(combinations), 1)) + of_document, return_inverse=True)
    query_of_pair, combination = np.divmod(pairs, max(len(combinations), 1))
    number = np.arange(len(pairs)) - np.searchsorted(query_of_pair, query_of_pair)
    numbered, code_of_pair = np.unique(combination * np.int64(max(len(pairs), 1)) + number, return_inverse=True)
    codes[judged] = 1 + code_of_pair[of_pair]
    of_code, number = np.divmod(numbered, max(len(pairs), 1))
    table = combinations[of_code].T
    nothing = np.full((table.shape[0] - 1, 1), UNJUDGED, labels.dtype)
    return codes, SubtopicGrades(
        np.concatenate(([0], table[0])).astype(labels.dtype),
        np.ascontiguousarray(np.concatenate((nothing, table[1:]), axis=1), labels.dtype),
        np.concatenate(([-1], number)).astype(np.int64),
    )


def _distinct_rows(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
    """Return the distinct rows in ascending order, and the index of each row among them."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_first = np.ones(len(rows), bool)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    index = np.empty(len(rows), np.int64)
    index[order] = np.cumsum(is_first) - 1
    return ordered[is_first], index


def check_number_of_subtopics(offsets: Offsets, queries: Identifiers, where: str) -> None:
    """Raise InputError if a query has more subtopics than `MOST_SUBTOPICS`."""
    sizes = np.diff(offsets)
    if len(sizes) and sizes.max() > MOST_SUBTOPICS:
        query = queries.take(np.array([sizes.argmax()])).to_list()[0]
        problem = f"query {query!r} has {sizes.max()} subtopics, but at most {MOST_SUBTOPICS} are possible"
        raise InputError(where, problem)
