"""Validation of the arguments that describe an evaluator's lists: labels, judgments, subtopics, offsets, docids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, number, shown, unexpected
from tieaware.checks.arrays import (
    Integers,
    Labels,
    Offsets,
    Values,
    as_array,
    as_flat,
    as_labels,
    as_offsets,
    as_scores,
    element,
    offsets_from_qid,
    offsets_from_sizes,
)
from tieaware.errors import InputError
from tieaware.lists.grades import GradedLabels, Missing, numbered_alike, whole_or_real
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.judgments import POOLED, JudgedLists, Judgments
from tieaware.lists.subtopics import MOST_SUBTOPICS, SubtopicGrades, Subtopics, combined
from tieaware.ties import TieRule


def judged_lists(
    labels: npt.ArrayLike,
    places: tuple[npt.ArrayLike | None, npt.ArrayLike | None, npt.ArrayLike | None],
    judgments: tuple[npt.ArrayLike, npt.ArrayLike] | None,
    missing: Missing | None,
    subtopics: bool,
    intents: npt.ArrayLike | None,
    weighted: dict[str, bool],
) -> tuple[tuple[int, ...], JudgedLists, Judgments]:
    """Return the shape of the scores, the lists, and all judgments, from the arguments of an evaluator.

    Parameters
    ----------
    labels, judgments, missing, subtopics, intents
        As for `Evaluator`.
    places : tuple
        The arguments offsets, group and qid.
    weighted : dict
        The result of `also_weighted`.
    """
    array = as_array(labels, "labels")
    pair = None if judgments is None else _pair(judgments)
    if flag("subtopics", subtopics):
        of_subtopics = SubtopicLabels.read(array, missing)
        array = array[..., 0]
        offsets = list_offsets(array, *places)
        return array.shape, *of_subtopics.judged(offsets, intents, pair, pool=weighted["pool"])
    if intents is not None:
        raise InputError("intents", "are weights of subtopics: pass subtopics=True, and a label for each subtopic")
    numbers, grades = GradedLabels.read(array, "labels", missing=missing)
    lists = JudgedLists.of_labels(numbers, list_offsets(array, *places), **weighted, grades=grades)
    if pair is None:
        return array.shape, lists, lists.judgments
    return array.shape, *_all_judged(pair, lists, missing)


def _pair(judgments: Any) -> tuple[Any, Any]:
    try:
        labels, offsets = judgments
    except (TypeError, ValueError):
        raise unexpected("judgments", "a pair (labels, offsets)", shown(judgments)) from None
    return labels, offsets


def _all_judged(pair: tuple[Any, Any], lists: JudgedLists, missing: Missing | None) -> tuple[JudgedLists, Judgments]:
    """Return the lists and all judgments, after checking that these include the judged documents of the lists.

    If labels are real numbers, those of the lists and those of the judgments are numbered alike.
    """
    read = GradedLabels.read(as_flat(pair[0], "labels of judgments"), "labels of judgments", missing=missing)
    labels = as_labels(read.labels, "labels of judgments")
    offsets = offsets_of_judgments(pair[1], len(labels), len(lists.offsets) - 1)
    (listed, labels), grades = numbered_alike([(lists.labels, lists.grades), (labels, read.grades)])
    lists, judged = lists._replace(labels=listed, grades=grades), Judgments(labels, offsets, grades=grades)
    short = judged.short_of(lists.judgments)
    if short is not None:
        raise lacking_judgments(short)
    return lists, judged


def list_offsets(
    labels: npt.NDArray[Any], offsets: npt.ArrayLike | None, group: npt.ArrayLike | None, qid: npt.ArrayLike | None
) -> Offsets:
    """Return the offsets of the lists, from the one of the arguments offsets, group and qid that was given."""
    lists = {"offsets": offsets, "group": group, "qid": qid}
    given = [name for name in lists if lists[name] is not None]
    if labels.ndim not in (1, 2):
        raise unexpected("labels", "one or two dimensions", f"{labels.ndim}")
    if labels.ndim == 2:
        if given:
            raise InputError(given[0], "must not be given with two-dimensional labels: each row is already one list")
        rows: Offsets = np.arange(labels.shape[0] + 1, dtype=np.int64) * labels.shape[1]
        return rows
    if len(given) > 1:
        raise InputError(" and ".join(given), "only one of them may be given")
    n_docs = len(labels)
    if offsets is not None:
        return as_offsets(offsets, n_docs, "offsets", "labels")
    if group is not None:
        return _offsets_of_groups(group, n_docs)
    if qid is not None:
        return offsets_from_qid(qid, n_docs, "qid", "labels")
    return np.array([0, n_docs], dtype=np.int64)


def _offsets_of_groups(group: npt.ArrayLike, n_docs: int) -> Offsets:
    """Return the offsets of lists of the given sizes; an error says what to write if `group` is not sizes."""
    try:
        return offsets_from_sizes(group, n_docs, "group", "labels")
    except InputError as error:
        instead = ""
        if _has_length(group, n_docs):
            instead = "; if these are query ids, one for each label, pass them as qid="
        elif isinstance(group, int | np.integer) and group > 1 and n_docs % group == 0:
            instead = f"; for lists of {group} documents each, write group=[{group}] * {n_docs // group}"
        raise InputError(error.where, f"{error.problem}{instead}") from None


def _has_length(values: Any, n: int) -> bool:
    """Return whether values are a sequence or array of n elements."""
    try:
        return len(values) == n
    except TypeError:
        return False


def offsets_of_judgments(given: npt.ArrayLike, n_judged: int, n_queries: int) -> Offsets:
    """Return the offsets of all judged documents, after checking that they are for as many queries as the lists."""
    offsets = as_offsets(given, n_judged, "offsets of judgments", "judged documents")
    if len(offsets) != n_queries + 1:
        problem = f"must have as many queries as the labels, {n_queries}; found {len(offsets) - 1}"
        raise InputError("judgments", problem)
    return offsets


def lacking_judgments(query: int) -> InputError:
    """Return the error about a query with judged documents in its list that are not among the judgments."""
    return InputError("judgments", f"must include every judged document of the list; query {query} lacks some")


def document_order(rule: TieRule, docids: Sequence[str | bytes] | None, offsets: Offsets, item: str) -> Integers | None:
    """Return the order of the documents by identifier if the tie rule uses identifiers, otherwise None.

    `item` is the word for what an identifier belongs to, "label" or "item", in error messages.
    """
    if rule.by_document is None:
        return None
    if docids is None:
        raise InputError("docids", f"is required by the tie rule {rule.name!r}, which orders by document identifier")
    documents = Identifiers.from_sequence(docids, "docids")
    if len(documents) != offsets[-1]:
        raise InputError("docids", f"must have one identifier per {item}, {offsets[-1]}; found {len(documents)}")
    return rule.order(documents, offsets)


def wrong_shape(
    name: str, scores: npt.NDArray[Any], shape: tuple[int, ...], n_docs: int, *, before: str = "", after: str = "",
    more: str = "",
) -> InputError:  # fmt: skip
    """Return the error for scores that have neither one dimension nor the shape of the labels.

    `before` and `after` are the additional dimensions before and after those of the documents, `more` is a further
    shape.
    """
    expected = f"shape ({before}{n_docs}{after or ('' if before else ',')})"
    if shape != (n_docs,):
        expected += f" or ({before}{', '.join(map(str, shape))}{after})"
    return unexpected(name, expected + more, f"shape {scores.shape}")


def checked_out(out: Values, shape: tuple[int, int]) -> Values:
    """Return the array for the values; raise InputError if it has another shape or type, or cannot be written to."""
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
        found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
        raise unexpected("out", f"float64{list(shape)}", found)
    if not out.flags.carray:
        raise InputError("out", "must be C-contiguous, aligned and writeable")
    return out


def checked_undefined(undefined: Any) -> float:
    """Return `undefined` as a float: the value for queries without relevant documents, any number or NaN."""
    if type(undefined) is float and undefined == undefined:
        return undefined
    if isinstance(undefined, float | np.floating) and np.isnan(undefined):
        return float("nan")
    try:
        return number("undefined", undefined, -np.inf, np.inf)
    except InputError as error:
        instead = 'float("nan") leaves out queries without relevant documents'
        raise InputError(error.where, f"{error.problem}; {instead}") from None


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
