"""The documents that the grouping looks at one by one: the weighted and the excluded ones of each list."""

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
        The position of each in its list, from 0.
    weight : float64[n_weightings, n_weighted]
    rank : int64[n_weighted], optional
        The place of each in the order in which the tie rule puts tied documents of its list, ascending in each list;
        for a rule that has such an order.
    """

    offsets: Offsets
    position: Integers
    weight: Values
    rank: Integers | None = None

    @classmethod
    def of(
        cls, lists: JudgedLists, labels: Labels, weights: Weights, wanted: Pass, order: Integers | None
    ) -> WeightedDocuments:
        """Select the weighted documents and put those of each list in the order of the tie rule.

        For a spread, and for the best and the worst order, that is by label, descending.

        Parameters
        ----------
        lists : JudgedLists
        labels : int32[n_judged]
            The labels of the listed documents, as `weights` numbers them.
        weights : Weights
        wanted : Pass
        order : int64[n_docs] or None
            As for `tieaware.engine.prepared.prepare`.
        """
        offsets, position, label, weight = _labels.weighted(
            lists.judged_offsets, lists.positions, labels, weights.first, weights.by_label
        )
        permutation, rank = wanted.rule.arrange(lists.offsets, offsets, position, label, order)
        if wanted.spread:
            permutation = by_label(offsets, label)
        if permutation is not None:
            position, weight = position[permutation], np.ascontiguousarray(weight[:, permutation])
        return cls(offsets, position, weight, rank)


class ExcludedDocuments(NamedTuple):
    """The documents that have scores but are not ranked, none of them weighted.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
    position : int64[n_excluded]
        The position of each in its list, in the order in which the tie rule puts tied documents.
    before : int64[n_weighted], optional
        How many excluded documents of its list precede each weighted document in that order; for a rule that has one.
    """

    offsets: Offsets
    position: Integers
    before: Integers | None = None

    @classmethod
    def of(
        cls, lists: JudgedLists, rule: TieRule, order: Integers | None, weighted: WeightedDocuments
    ) -> ExcludedDocuments | None:
        """Put the excluded documents of each list in the order of the tie rule; None if there are none."""
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
