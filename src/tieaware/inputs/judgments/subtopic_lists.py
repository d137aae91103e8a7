"""Rows (query, subtopic, document, label) of judgments, and their combination into one label for each document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown
from tieaware.checks.arrays import Integers, Labels, Values, as_flat, as_numpy
from tieaware.errors import InputError
from tieaware.inputs.files.text import number_in
from tieaware.kernels import _identifiers
from tieaware.lists.grades import Missing, whole_or_real
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, grouped
from tieaware.lists.subtopics import (
    UNJUDGED,
    SubtopicGrades,
    Subtopics,
    check_number_of_subtopics,
    combined,
)

# A label below all that a document may have for a subtopic: the document has none.
_NONE = UNJUDGED - 2**30


class SubtopicLists(NamedTuple):
    """Judgments of subtopics.

    `lists` has each judged document of each query once, with the highest of its labels; `codes`, int32[n_documents],
    its combination of labels, which is one of `grades`. `subtopics` are in the order of first appearance in each query.
    """

    lists: Lists
    codes: Labels
    grades: SubtopicGrades
    subtopics: Subtopics

    @classmethod
    def of_rows(cls, lists: Lists, subtopics: Identifiers, name: str) -> SubtopicLists:
        """Combine rows (query, subtopic, document, label), in which a document may be repeated.

        `subtopics` has the subtopic of each row of the input. `name` is that of the judgments in messages. InputError
        is raised if a query has too many subtopics, or a document has two different labels for a subtopic.
        """
        if lists.sources is not None:
            subtopics = subtopics.take(lists.sources)
        query = np.repeat(np.arange(len(lists.queries)), np.diff(lists.offsets))
        number, of_query = _numbered(query, subtopics, len(lists.queries))
        check_number_of_subtopics(of_query.offsets, lists.queries, name)
        first = np.arange(len(query))
        repeated = lists.duplicates()
        first[repeated[:, 0]] = repeated[:, 1]
        documents, of_document = np.unique(first, return_inverse=True)
        labels = np.full((len(documents), int(np.diff(of_query.offsets).max(initial=0))), _NONE, lists.values.dtype)
        _, first = np.unique(of_document * np.int64(labels.shape[1]) + number, return_index=True)
        labels[of_document[first], number[first]] = lists.values[first]
        conflicts = labels[of_document, number] != lists.values
        if conflicts.any():
            raise _conflict(lists, subtopics, of_document, number, int(conflicts.argmax()))
        once = lists.without(repeated[:, 0]) if len(repeated) else lists
        codes, grades = combined(labels, once.offsets)
        # The function that describes places cannot be pickled, and is no longer needed.
        once = replace(once, values=labels.max(axis=1, initial=_NONE), place=str)
        return cls(once, codes, grades, of_query)

    def to_dict(self) -> dict[str | int, dict[str | int, dict[str | int, Any]]]:
        """Return the judgments as ``{query: {subtopic: {document: label}}}``."""
        names, subtopics = self.lists.documents.to_list(), self.subtopics.names.to_list()
        labels = self.grades.subtopics[:, np.maximum(self.codes, 0)]
        nested: dict[str | int, dict[str | int, dict[str | int, Any]]] = {}
        for q, query in enumerate(self.lists.queries.to_list()):
            rows = range(self.lists.offsets[q], self.lists.offsets[q + 1])
            first, last = self.subtopics.offsets[q : q + 2].tolist()
            nested[query] = {
                subtopics[i]: {
                    names[row]: labels[i - first, row].item() for row in rows if labels[i - first, row] != UNJUDGED
                }
                for i in range(first, last)
            }
        return nested

    def with_weights(self, weights: Mapping[Any, Mapping[Any, float]]) -> SubtopicLists:
        """Return the same judgments with a weight for each subtopic, from ``{query: {subtopic: weight}}``."""
        return self._replace(subtopics=self.subtopics._replace(weights=_weights(self, weights)))


def is_nested(qrels: Mapping[Any, Any]) -> bool:
    """Return whether a mapping has the form {query: {subtopic: {document: label}}}."""
    for listed in qrels.values():
        if isinstance(listed, Mapping):
            for inner in listed.values():
                return isinstance(inner, Mapping)
    return False


def from_nested(qrels: Mapping[Any, Any], name: str, missing: Missing | None = None) -> SubtopicLists:
    """Combine the rows of {query: {subtopic: {document: label}}}."""
    sections: list[Any] = []
    subtopics: list[Any] = []
    documents: list[Any] = []
    labels: list[Any] = []
    ends = [0]
    for query, listed in qrels.items():
        if not isinstance(listed, Mapping):
            problem = f"must be a dict {{subtopic: {{document: label}}}}, not {_type(listed)}"
            raise InputError(f"qrels[{shown(query)}]", problem)
        for subtopic, judged in listed.items():
            where = f"qrels[{shown(query)}][{shown(subtopic)}]"
            if not isinstance(judged, Mapping):
                raise InputError(where, f"must be a dict {{document: label}}, not {_type(judged)}")
            documents.extend(judged.keys())
            labels.extend(judged.values())
            subtopics.extend([subtopic] * len(judged))
        sections.append(query)
        ends.append(len(documents))

    def place(row: int) -> str:
        query = sections[int(np.searchsorted(ends, row, side="right")) - 1]
        return f"qrels[{shown(query)}][{shown(subtopics[row])}][{shown(documents[row])}]"

    values = as_flat(as_numpy(labels, "qrels", place), "qrels")
    lists = grouped(
        Identifiers.from_sequence(sections, "queries of qrels").matching_any(),
        np.array(ends, np.int64),
        Identifiers.from_sequence(documents, "documents of qrels").matching_any(),
        whole_or_real(values, "qrels", place, missing),
        place,
    )
    return SubtopicLists.of_rows(lists, Identifiers.from_sequence(subtopics, "subtopics of qrels"), name)


def _type(value: Any) -> str:
    return type(value).__name__


def _numbered(query: Integers, subtopics: Identifiers, n_queries: int) -> tuple[Integers, Subtopics]:
    """Number the subtopics of each query in the order of first appearance; return the number of each row, and them."""
    names, _ = _identifiers.number(subtopics.data, subtopics.offsets)
    pairs, firsts, of_row = np.unique(
        query * np.int64(max(len(subtopics), 1)) + names, return_index=True, return_inverse=True
    )
    query_of_pair = query[firsts]
    # Rows of a query are contiguous, so sorting by first row sorts by query too.
    order = np.argsort(firsts, kind="stable")
    place = np.empty(len(pairs), np.int64)
    place[order] = np.arange(len(pairs))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(query_of_pair, minlength=n_queries)))).astype(np.int64)
    number = place - offsets[query_of_pair]
    return number[of_row], Subtopics(subtopics.take(firsts[order]), offsets)


def _conflict(
    lists: Lists, subtopics: Identifiers, of_document: Integers, number: Integers, row: int
) -> InputError:
    """Return the error about a document with two labels for a subtopic; `row` is the second of its rows."""
    first = int(np.flatnonzero((of_document == of_document[row]) & (number == number[row]))[0])
    what = f"document {quoted(lists.documents[row])} of query {lists.query_of(row)}, subtopic {quoted(subtopics[row])},"
    return InputError(
        lists.place_of(row),
        f"{what} has label {lists.values[row]} here, but label {lists.values[first]} at {lists.place_of(first)}",
    )


def _weights(judged: SubtopicLists, weights: Mapping[Any, Mapping[Any, float]]) -> Values:
    """Return the weight of each subtopic of the judgments, from {query: {subtopic: weight}}."""
    found: list[float] = []
    subtopics, offsets = judged.subtopics.names.to_list(), judged.subtopics.offsets.tolist()
    if not isinstance(weights, Mapping):
        raise InputError("intents", f"must be a dict {{query: {{subtopic: weight}}}}, not {_type(weights)}")
    named = {str(query): of_query for query, of_query in weights.items()}
    for q, query in enumerate(judged.lists.queries.to_list()):
        of_query = named.get(str(query))
        if not isinstance(of_query, Mapping):
            raise InputError("intents", f"has no weights for query {query!r}")
        given = {str(subtopic): weight for subtopic, weight in of_query.items()}
        for subtopic in subtopics[offsets[q] : offsets[q + 1]]:
            where = f"intents[{query!r}][{subtopic!r}]"
            if str(subtopic) not in given:
                raise InputError(where, "is missing; give a weight, or 0, for each subtopic")
            try:
                weight = given[str(subtopic)]
                weight = number_in(weight) if isinstance(weight, str) else float(weight)
            except (TypeError, ValueError):
                raise InputError(where, f"must be a number, not {shown(given[str(subtopic)])}") from None
            if not 0.0 <= weight < np.inf:
                raise InputError(where, f"must be a finite number of at least 0, not {weight}")
            found.append(weight)
    return np.array(found, dtype=np.float64)
