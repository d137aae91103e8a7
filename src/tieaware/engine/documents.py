"""Selection of the weighted documents and of the excluded documents of each list, for the grouping of scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Labels, Offsets, Values, as_contiguous
from tieaware.engine.views import Pass
from tieaware.engine.weights import Weights
from tieaware.kernels import _labels
from tieaware.lists.judgments import JudgedLists
from tieaware.ties import TieRule, by_label


class WeightedDocuments(NamedTuple):
    """The weighted documents of all lists: those with a non-zero weight for some measure.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
        The weighted documents of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    position : int64[n_weighted]
        The position of each weighted document in its list, from 0.
    weight : float64[n_weightings, n_weighted]
        The weight of each weighted document under each weighting.
    rank : int64[n_weighted], optional
        The place of each weighted document if all documents of its list were tied, ascending in each list. None if the
        tie rule does not order tied documents by position or identifier.
    by_label : int64[n_weighted], optional
        The indices of the weighted documents of each list, sorted by label, descending. None if they are not needed, or
        if the weighted documents themselves are in this order.
    """

    offsets: Offsets
    position: Integers
    weight: Values
    rank: Integers | None = None
    by_label: Integers | None = None

    @classmethod
    def of(
        cls, lists: JudgedLists, labels: Labels, weights: Weights, wanted: Pass, order: Integers | None
    ) -> WeightedDocuments:
        """Select the weighted documents, and sort those of each list in the order in which the tie rule puts them.

        For a spread, and for the tie rules that want the best or the worst order, sort them by label, descending. For
        bands, sort only the array `by_label`, because ranks are found in run order.

        Parameters
        ----------
        lists : JudgedLists
        labels : int32[n_judged]
            The labels of the judged documents, numbered as in `weights.by_label`.
        weights : Weights
        wanted : Pass
        order : int64[n_docs] or None
            The order of tied documents; see `tieaware.engine.prepared.prepare`.
        """
        offsets, position, label, weight = _labels.weighted(
            lists.judged_offsets, lists.positions, labels, weights.first, weights.by_label
        )
        permutation, rank = wanted.ordering.arrange(lists.offsets, offsets, position, label, order)
        if wanted.spread and not wanted.bands:
            permutation = by_label(offsets, label)
        if permutation is not None:
            position, weight = position[permutation], np.ascontiguousarray(weight[:, permutation])
            label = label[permutation]
        labelled = by_label(offsets, label) if wanted.bands and wanted.sorts_by_label else None
        return cls(offsets, position, weight, rank, labelled)


class ExcludedDocuments(NamedTuple):
    """The documents that have scores but are not ranked. They have no weight.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
    position : int64[n_excluded]
        The position of each excluded document in its list. Those of a list are in the order in which the tie rule puts
        tied documents.
    before : int64[n_weighted], optional
        For each weighted document, how many excluded documents of its list precede it in that order. None if the tie
        rule does not order tied documents by position or identifier.
    """

    offsets: Offsets
    position: Integers
    before: Integers | None = None

    @classmethod
    def of(
        cls, lists: JudgedLists, rule: TieRule, order: Integers | None, weighted: WeightedDocuments
    ) -> ExcludedDocuments | None:
        """Sort the excluded documents of each list in the order of the tie rule; return None if there are none."""
        excluded = lists.excluded
        if excluded is None:
            return None
        positions, unlabelled = excluded.positions, np.zeros(len(excluded.positions), dtype=np.int32)
        permutation, place = rule.arrange(lists.offsets, excluded.offsets, positions, unlabelled, order)
        before = None
        if weighted.rank is not None and place is not None:
            query = np.repeat(np.arange(len(weighted.offsets) - 1), np.diff(weighted.offsets))
            above = np.searchsorted(lists.offsets[excluded.query] + place, lists.offsets[query] + weighted.rank)
            before = as_contiguous(above - excluded.offsets[query], np.int64)
        if permutation is not None:
            positions = positions[permutation]
        return cls(as_contiguous(excluded.offsets, np.int64), as_contiguous(positions, np.int64), before)
