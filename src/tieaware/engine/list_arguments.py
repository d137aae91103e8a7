"""Validation of the arguments that describe an evaluator's lists: offsets, group, qid, docids, undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, unexpected
from tieaware.checks.arrays import (
    Integers,
    Offsets,
    as_offsets,
    offsets_from_qid,
    offsets_from_sizes,
)
from tieaware.errors import InputError
from tieaware.lists.identifiers import Identifiers
from tieaware.ties import TieRule


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
