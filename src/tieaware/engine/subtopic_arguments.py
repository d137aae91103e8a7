"""Validation of arrays of labels for subtopics, and of the weights of these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Labels, Offsets, Values, as_array, as_scores, element
from tieaware.engine.list_arguments import lacking_judgments, offsets_of_judgments
from tieaware.errors import InputError
from tieaware.lists.grades import Missing, whole_or_real
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.judgments import POOLED, JudgedLists, Judgments
from tieaware.lists.subtopics import MOST_SUBTOPICS, SubtopicGrades, Subtopics, combined


class SubtopicLabels(NamedTuple):
    """A label of each listed document for each subtopic of its query.

    Parameters
    ----------
    labels : int32[n_docs, n_subtopics] or float64[n_docs, n_subtopics]
    missing : "unjudged" or None
        Whether NaN among further labels means that a document is unjudged.
    """

    labels: Labels | Values
    missing: Missing | None

    @classmethod
    def read(cls, labels: npt.NDArray[Any], missing: Missing | None) -> SubtopicLabels:
        """Return labels of shape (n_docs, n_subtopics) or (n_queries, depth, n_subtopics)."""
        if labels.ndim not in (2, 3):
            shape = "shape (n_docs, n_subtopics) or (n_queries, depth, n_subtopics)"
            raise unexpected("labels", f"{shape} with subtopics=True", f"shape {labels.shape}")
        if not 1 <= labels.shape[-1] <= MOST_SUBTOPICS:
            raise unexpected("labels", f"1 to {MOST_SUBTOPICS} subtopics in the last dimension", f"{labels.shape[-1]}")
        numbers = whole_or_real(labels, "labels", missing=missing)
        return cls(_with_pool(numbers.reshape(-1, numbers.shape[-1])), missing)

    def judged(
        self, offsets: Offsets, intents: npt.ArrayLike | None, judgments: tuple[Any, Any] | None, *, pool: bool
    ) -> tuple[JudgedLists, Judgments]:
        """Return the lists, and the judgments of their queries.

        Parameters
        ----------
        offsets : int64[n_queries + 1]
            The documents of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
        intents : numbers, shape (n_subtopics,) or (n_queries, n_subtopics), or None
            The weights of the subtopics.
        judgments : pair (labels, offsets), or None
            All judged documents of each query; by default those of the lists.
        pool : bool
            Whether documents that are in the pool but not judged matter to a measure.
        """
        subtopics = self._subtopics(len(offsets) - 1, intents)
        if judgments is None:
            codes, grades = combined(self.labels, offsets)
            lists = JudgedLists.of_labels(codes, offsets, zeros=True, pool=pool, grades=grades)
            return lists, Judgments(lists.labels, lists.judged_offsets, grades=grades, subtopics=subtopics)
        all_labels, all_offsets = self._all_judged(*judgments, len(offsets) - 1)
        codes, judged, grades = _combined_alike(self.labels, offsets, all_labels, all_offsets)
        lists = JudgedLists.of_labels(codes, offsets, zeros=True, pool=pool, grades=grades)
        _check_includes(Judgments(judged, all_offsets), lists.judgments)
        return lists, Judgments(judged, all_offsets, grades=grades, subtopics=subtopics)

    def _all_judged(
        self, labels: npt.ArrayLike, offsets: npt.ArrayLike, n_queries: int
    ) -> tuple[Labels | Values, Offsets]:
        name = "labels of judgments"
        array = as_array(labels, name)
        if array.ndim != 2 or array.shape[1] != self.labels.shape[1]:
            raise unexpected(name, f"shape (n_judged, {self.labels.shape[1]})", f"shape {array.shape}")
        numbers = whole_or_real(array, name, missing=self.missing)
        return _with_pool(numbers), offsets_of_judgments(offsets, len(numbers), n_queries)

    def _subtopics(self, n_queries: int, intents: npt.ArrayLike | None) -> Subtopics:
        """Number the subtopics of each query by their columns."""
        n = self.labels.shape[1]
        names = Identifiers.from_sequence(range(n)).take(np.tile(np.arange(n), n_queries))
        weights = None if intents is None else _weights(intents, n_queries, n)
        return Subtopics(names, np.arange(n_queries + 1) * n, weights)


def _with_pool(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels in which a document that is judged for no subtopic is in the pool for all of them, or for none."""
    in_pool = (labels.max(axis=1) < 0) & (labels.min(axis=1) <= POOLED)
    return np.where(in_pool[:, None], np.int32(POOLED), labels)


def _weights(intents: npt.ArrayLike, n_queries: int, n_subtopics: int) -> Values:
    """Return the weight of each subtopic of each query."""
    array = as_scores(intents, "intents")
    if array.shape not in ((n_subtopics,), (n_queries, n_subtopics)):
        expected = f"shape ({n_subtopics},) or ({n_queries}, {n_subtopics})"
        raise unexpected("intents", expected, f"shape {array.shape}")
    weights = array.astype(np.float64)
    wrong = ~((weights >= 0.0) & (weights < np.inf))
    if wrong.any():
        row = int(wrong.argmax())
        problem = f"must be a finite number of at least 0, not {weights.reshape(-1)[row]}"
        raise InputError(element("intents", weights.shape, row), problem)
    return np.broadcast_to(weights, (n_queries, n_subtopics)).reshape(-1)


def _combined_alike(
    listed: Labels | Values, offsets: Offsets, judged: Labels | Values, judged_offsets: Offsets
) -> tuple[Labels, Labels, SubtopicGrades]:
    """Return the codes of listed and of judged documents, which have the same combinations."""
    queries = np.arange(len(offsets) - 1)
    query = np.concatenate([np.repeat(queries, np.diff(each)) for each in (offsets, judged_offsets)])
    by_query = np.argsort(query, kind="stable")
    ordered, grades = combined(np.concatenate((listed, judged))[by_query], offsets + judged_offsets)
    codes = np.empty_like(ordered)
    codes[by_query] = ordered
    return codes[: len(listed)], codes[len(listed) :], grades


def _check_includes(judged: Judgments, listed: Judgments) -> None:
    """Raise InputError if a query has fewer judged documents with some labels than its list has."""
    codes = np.concatenate((judged.labels, listed.labels)).astype(np.int64)
    query = np.concatenate((judged.query, listed.query))
    signs = np.repeat([1.0, -1.0], [len(judged.labels), len(listed.labels)])
    is_judged = codes >= 0
    pairs, pair = np.unique(query[is_judged] << 32 | codes[is_judged], return_inverse=True)
    lacking = np.flatnonzero(np.bincount(pair, weights=signs[is_judged]) < 0)
    if len(lacking):
        raise lacking_judgments(int(pairs[lacking[0]] >> 32))
