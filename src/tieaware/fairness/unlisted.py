"""Judged documents that a list does not hold: they deserve exposure, and have none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Values, as_scores, check_no_nan
from tieaware.engine.list_arguments import lacking_judgments, offsets_of_judgments
from tieaware.errors import InputError
from tieaware.fairness.group_sums import numbered


class Documents(NamedTuple):
    """The documents of each list, followed by its unlisted judged documents.

    Attributes
    ----------
    labels : float64[n_all]
        The label of each document.
    groups : str or integers, shape (n_all,), or None
        The group of each document.
    offsets : int64[n_queries + 1]
        The index at which the documents of each query start, and the end of the last.
    listed : int64[n_docs]
        The index of each listed document.
    """

    labels: Values
    groups: npt.NDArray[Any] | None
    offsets: Offsets
    listed: Integers


def with_unlisted(
    labels: npt.NDArray[Any], offsets: Offsets, groups: npt.ArrayLike | None, judgments: Any
) -> Documents:
    """Return the listed documents with the judged documents that are only in `judgments`.

    Parameters
    ----------
    labels : float64 or float32, shape (n_docs,) or (n_queries, depth)
        The labels of the listed documents; negative if they are unjudged.
    offsets : int64[n_queries + 1]
    groups : str or integers, the same shape, or None
    judgments : tuple
        Labels, offsets and, with groups, the group of each judged document of each query.

    Raises
    ------
    InputError
        If a judged document of a list is not among the judgments, or these have the wrong form.
    """
    given, bounds, given_groups = _read(judgments, len(offsets) - 1, groups is not None)
    names = None if groups is None else _all_groups(groups, labels.shape, given_groups, len(given))
    n_listed = labels.size
    values = np.concatenate((labels.reshape(-1).astype(np.float64), given))
    query = np.concatenate([np.repeat(np.arange(len(each) - 1), np.diff(each)) for each in (offsets, bounds)])
    rows = np.concatenate((np.arange(n_listed), _unlisted(query, values, names, n_listed)))
    rows = rows[np.argsort(query[rows], kind="stable")]
    sizes = np.bincount(query[rows], minlength=len(offsets) - 1)
    ends = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Documents(values[rows], None if names is None else names[rows], ends, np.flatnonzero(rows < n_listed))


def _read(judgments: Any, n_queries: int, has_groups: bool) -> tuple[Values, Offsets, Any]:
    """Return the labels, offsets and groups of judgments."""
    expected = "a tuple (labels, offsets, groups)" if has_groups else "a pair (labels, offsets)"
    if not isinstance(judgments, tuple | list) or len(judgments) != (3 if has_groups else 2):
        raise unexpected("judgments", expected, shown(judgments))
    labels = as_scores(judgments[0], "labels of judgments", flat=True).astype(np.float64)
    check_no_nan(labels, "labels of judgments")
    return labels, offsets_of_judgments(judgments[1], len(labels), n_queries), judgments[2] if has_groups else None


def _all_groups(
    listed: npt.ArrayLike, shape: tuple[int, ...], judged: npt.ArrayLike, n_judged: int
) -> npt.NDArray[Any]:
    """Return the groups of the listed and then of the judged documents."""
    names, codes = numbered(listed, shape)
    try:
        names_of_judged, codes_of_judged = numbered(judged, (n_judged,))
    except InputError as error:
        raise error.at("groups of judgments") from None
    if names and names_of_judged and type(names[0]) is not type(names_of_judged[0]):
        found = f"{type(names_of_judged[0]).__name__}, not {type(names[0]).__name__}"
        raise InputError("groups of judgments", f"must have the type of the groups; found {found}")
    all_names = np.array([*names, *names_of_judged])
    return all_names[np.concatenate((codes, len(names) + codes_of_judged))]


def _unlisted(query: Integers, labels: Values, groups: npt.NDArray[Any] | None, n_listed: int) -> Integers:
    """Return the indices of the judged documents that are not listed.

    The first `n_listed` documents are those of the lists, the others those of the judgments. Documents of one query,
    label and group are interchangeable.
    """
    code = np.zeros(len(query), np.int64) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    judged = np.flatnonzero(labels >= 0.0)
    keys = np.stack([query[judged], labels[judged], code[judged]], axis=1)
    kind = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    is_listed = judged < n_listed
    n_listed_of_kind = np.bincount(kind[is_listed], minlength=len(judged))
    given, kind_of_given = judged[~is_listed], kind[~is_listed]
    short = n_listed_of_kind > np.bincount(kind_of_given, minlength=len(judged))
    if short.any():
        raise lacking_judgments(int(query[judged][short[kind]].min()))
    order = np.argsort(kind_of_given, kind="stable")
    ordered = kind_of_given[order]
    place = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    return np.sort(given[order][place >= n_listed_of_kind[ordered]])
