"""Expected exposure: how equally a ranking policy treats documents of equal relevance (Diaz and others, 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Values, as_scores, check_no_nan
from tieaware.engine.list_arguments import lacking_judgments, offsets_of_judgments
from tieaware.errors import InputError
from tieaware.fairness.exposures import exposure, lists_of
from tieaware.fairness.group_sums import group_exposure, numbered
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.ties import TieRuleName


class ExpectedExposure(NamedTuple):
    """The metrics of expected exposure, with the system's exposures ε and the target exposures ε*.

    Attributes
    ----------
    EED : float64[n_queries]
        The disparity Σ ε²: lower if the exposure is distributed more equally.
    EER : float64[n_queries]
        The relevance Σ ε ε*: higher if documents that deserve exposure have it.
    EEL : float64[n_queries]
        The loss Σ (ε - ε*)² = EED - 2 EER + Σ ε*²: 0 if all have their target.

    Examples
    --------
    >>> from tieaware import fairness
    >>> found = fairness.expected_exposure([2.0, 1.0], [1, 1], weights="RR")
    >>> found.EED, found.EER, found.EEL
    (array([1.25]), array([1.125]), array([0.125]))
    """

    EED: Values
    EER: Values
    EEL: Values


def target_exposure(
    labels: npt.ArrayLike,
    offsets: npt.ArrayLike | None = None,
    weights: str | Measure = "DCG",
    *,
    threads: int | None = 1,
) -> Values:
    """Compute the exposure that documents deserve: that of a policy that ranks by label and ties equal labels.

    Parameters
    ----------
    labels : real numbers, shape (n_docs,) or (n_queries, depth)
        The label of each document. Unjudged documents, with negative labels, are as documents of label 0.
    offsets, weights, threads
        As for `tieaware.exposure`.

    Returns
    -------
    float64[n_docs] or float64[n_queries, depth]
        In the shape of the labels.

    Raises
    ------
    InputError
        If a label is NaN, or another argument cannot be used.

    Examples
    --------
    The two relevant documents deserve the mean weight of the first two ranks each.

    >>> from tieaware import fairness
    >>> fairness.target_exposure([1, 0, 1], weights="RR")
    array([0.75      , 0.33333333, 0.75      ])
    """
    given = as_scores(labels, "labels")
    bounds = lists_of(given, offsets, "labels")
    check_no_nan(given, "labels")
    target = exposure(np.maximum(given, 0.0).reshape(-1), bounds, weights, threads=threads)
    return target.reshape(given.shape)


def expected_exposure(
    scores: npt.ArrayLike,
    labels: npt.ArrayLike,
    offsets: npt.ArrayLike | None = None,
    weights: str | Measure = "DCG",
    *,
    groups: npt.ArrayLike | None = None,
    amortised: bool = False,
    ties: TieRuleName = "average",
    docids: Sequence[str | bytes] | None = None,
    precision: str | Coarsening | None = None,
    threads: int | None = 1,
    judgments: tuple[npt.ArrayLike, ...] | None = None,
) -> ExpectedExposure:
    """Compute the expected exposure metrics EE-D, EE-R and EE-L of each query.

    Tied documents are equally likely in any order, so a ranking with ties is a stochastic policy, and its expected
    exposures are exact without sampling. The metrics are functions of these exposures. They are not means over orders:
    each single order has a greater disparity than the policy.

    Parameters
    ----------
    scores, labels : real numbers, shape (n_docs,) or (n_queries, depth)
        The score and the label of each document, in the same shape. Without `judgments`, documents that a list does
        not hold have neither exposure nor target.
    offsets, weights, docids, precision, threads
        As for `tieaware.exposure`.
    groups : str or integers, the same shape, optional
        The group of each document, for the metrics of groups: exposures and targets are added up for each group first.
    amortised : bool
        Whether to average the exposures and targets of each group over the queries, for one value of each metric. With
        the identifiers of documents as groups, this amortises repeated rankings of the same documents.
    ties : str
        The tie rule, as for `tieaware.exposure`.
    judgments : tuple (labels, offsets), optional
        The labels of all judged documents of each query, listed or not, and the index at which each query starts, as
        for `tieaware.Evaluator`. Judged documents that the list does not hold then have a target, but no exposure.
        Negative labels mean unjudged. With `groups`, a tuple (labels, offsets, groups).

    Returns
    -------
    ExpectedExposure
        With `amortised`, each array has one element.

    Raises
    ------
    InputError
        If the shapes differ, `amortised` is given without groups, `judgments` lack a judged document of a list, or
        another argument cannot be used.

    References
    ----------
    Diaz, F., Mitra, B., Ekstrand, M. D., Biega, A. J. and Carterette, B. (2020), Evaluating stochastic rankings with
    expected exposure, CIKM. With ``weights="RBP(p=γ)"``, values are (1 - γ)² times those of the paper, whose weights
    γ^(rank - 1) do not add up to 1.

    Examples
    --------
    Both documents are equally relevant. To tie them is fair; to put one of them first is not.

    >>> from tieaware import fairness
    >>> fairness.expected_exposure([[1.0, 1.0], [2.0, 1.0]], [[1, 1], [1, 1]], weights="RR").EEL
    array([0.   , 0.125])

    If the second ranking of the same documents puts the other one first, the exposures are fair over time:

    >>> scores, ids = [[2.0, 1.0], [1.0, 2.0]], [["a", "b"], ["a", "b"]]
    >>> fairness.expected_exposure(scores, [[1, 1], [1, 1]], weights="RR", groups=ids, amortised=True).EEL
    array([0.])

    A second relevant document that the system does not retrieve deserves the same exposure:

    >>> fairness.expected_exposure([2.0], [1], weights="RR", judgments=([1, 1], [0, 2])).EEL
    array([0.625])
    """
    given, deserved = as_scores(scores, "scores"), as_scores(labels, "labels")
    if given.shape != deserved.shape:
        raise InputError("labels", f"must have the shape of the scores, {given.shape}, not {deserved.shape}")
    bounds = lists_of(given, offsets)
    own = exposure(scores, offsets, weights, ties=ties, docids=docids, precision=precision, threads=threads)
    if judgments is not None:
        check_no_nan(deserved, "labels")
        labels, groups, bounds, listed = _with_unlisted(deserved, bounds, groups, judgments)
        offsets, exposures = bounds, own
        own = np.zeros(len(labels))
        own[listed] = exposures.reshape(-1)
    target = target_exposure(labels, offsets, weights, threads=threads)
    if groups is None:
        if flag("amortised", amortised):
            raise InputError("amortised", "requires groups: pass the identifiers of the documents as groups=")
        return _metrics(own.reshape(-1), target.reshape(-1), bounds)
    sums = [group_exposure(each, groups, offsets) for each in (own, target)]
    if flag("amortised", amortised):
        system, ideal = (each.amortised() for each in sums)
        return _metrics(system, ideal, np.array([0, len(system)]))
    system, ideal = (each.values.reshape(-1) for each in sums)
    return _metrics(system, ideal, np.arange(len(bounds)) * len(sums[0].groups))


def _metrics(system: Values, target: Values, offsets: Offsets) -> ExpectedExposure:
    """Compute the metrics of each list from the exposures and targets of its documents or groups."""
    lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))

    def total(products: Values) -> Values:
        return np.bincount(lists, products, len(offsets) - 1).astype(np.float64)

    return ExpectedExposure(total(system**2), total(system * target), total((system - target) ** 2))


def _with_unlisted(
    labels: npt.NDArray[Any], offsets: Offsets, groups: npt.ArrayLike | None, judgments: Any
) -> tuple[Values, npt.NDArray[Any] | None, Offsets, Integers]:
    """Append the judged documents that are only in `judgments` to the documents of each list.

    Return the labels and the groups of all documents, their offsets, and the index of each listed document.

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
    return values[rows], None if names is None else names[rows], ends, np.flatnonzero(rows < n_listed)


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
