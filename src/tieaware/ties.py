"""Tie rules: how documents with equal scores are ordered or averaged over.

====================  ==========================================================================================
``average``           the expectation over all orders of tied documents
``run_order``         by score, then by position in the input
``trec_eval``         by score, then by document id, descending, compared as bytes
``docid_ascending``   by score, then by document id, ascending, as in Lucene and sentence-transformers
``optimistic``        the best order of tied documents, mostly by label, descending: the maximum
``pessimistic``       the worst order of tied documents, mostly by label, ascending: the minimum
====================  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Integers, Labels, Offsets
from tieaware.kernels._groups import AVERAGE, BEST_FIRST, IN_ORDER, WORST_FIRST
from tieaware.lists.identifiers import Identifiers


class Arranged(NamedTuple):
    """The order in which a rule wants the selected documents of each list, such as the weighted ones.

    Parameters
    ----------
    permutation : int64[n] or None
        The indices of the selected documents in the rule's order, list after list; None if they are in it already.
    rank : int64[n] or None
        For each selected document, after the permutation, its place in the rule's order of its whole list; None if the
        rule does not need it.
    """

    permutation: Integers | None
    rank: Integers | None


_UNCHANGED = Arranged(None, None)


@dataclass(frozen=True, kw_only=True)
class TieRule:
    """A tie rule.

    Parameters
    ----------
    name, title : str
        The name that callers use, and a description.
    placement : int
        How ext/engine/_groups.pyx places tied documents: AVERAGE, IN_ORDER, BEST_FIRST or WORST_FIRST.
    by_document : "ascending", "descending" or None
        The direction in which document identifiers, compared as bytes, order tied documents; None for rules that do not
        use identifiers.
    """

    name: str
    title: str
    placement: int
    by_document: str | None = None

    @property
    def averages(self) -> bool:
        """True if the value is an average over all orders of tied documents, so that it has a spread."""
        return self.placement == AVERAGE

    @property
    def extreme(self) -> str | None:
        """The extreme over all orders of tied documents that the rule gives: "max", "min" or None."""
        return {BEST_FIRST: "max", WORST_FIRST: "min"}.get(self.placement)

    @property
    def by_position(self) -> bool:
        """True if tied documents keep the order of the input."""
        return self.placement == IN_ORDER and self.by_document is None

    @property
    def by_score_alone(self) -> bool:
        """True if the rule needs neither document identifiers nor the order of the input."""
        return self.placement != IN_ORDER

    def order(self, documents: Identifiers, offsets: Offsets) -> Integers:
        """Return the positions of each list, int64[n_docs], in the order of the document identifiers."""
        return documents.order(offsets, descending=self.by_document == "descending")

    def places(self, documents: Identifiers, offsets: Offsets, labels: Integers) -> Integers:
        """Return the place of each document among those with its score, int64[n_docs]: the smallest stands first.

        For a rule by label, documents with equal labels share a place, and so do all with negative labels. For a rule
        that averages, the places are the positions in the input.
        """
        if self.extreme is not None:
            return np.maximum(labels, -1) * (-1 if self.extreme == "max" else 1)
        places = np.arange(len(labels))
        if self.by_document is not None:
            starts = np.repeat(offsets[:-1], np.diff(offsets))
            places[starts + self.order(documents, offsets)] = np.arange(len(labels))
        return places

    def arrange(
        self, offsets: Offsets, selected_offsets: Offsets, positions: Integers, labels: Labels, order: Integers | None
    ) -> Arranged:
        """Return the order in which the rule wants the selected documents of each list.

        Parameters
        ----------
        offsets : int64[n_queries + 1]
            Where each list starts.
        selected_offsets : int64[n_queries + 1]
            Where the selected documents of each list start.
        positions, labels : arrays of length n
            The position in its list and the label of each selected document; positions ascend in each list.
        order : int64[n_docs] or None
            The positions of each list in the order of tied documents, as `order` returns them; None for the order of
            the list. An array of another length is the order of every list.
        """
        if self.placement == AVERAGE:
            return _UNCHANGED
        if self.placement != IN_ORDER:
            return Arranged(by_label(selected_offsets, labels), None)
        if order is None:
            return Arranged(None, positions)
        query = _list_of_each(selected_offsets)
        place = np.empty_like(order)
        if len(order) == offsets[-1]:
            starts = np.repeat(offsets[:-1], np.diff(offsets))
            place[starts + order] = np.arange(len(order)) - starts
            rank = place[offsets[query] + positions]
        else:
            place[order] = np.arange(len(order))
            rank = place[positions]
        permutation = np.lexsort((rank, query))
        return Arranged(permutation, rank[permutation])


def by_label(offsets: Offsets, labels: Labels) -> Integers:
    """Return the indices of documents sorted by label, descending, within each list."""
    return np.lexsort((-labels.astype(np.int64), _list_of_each(offsets)))


def _list_of_each(offsets: Offsets) -> Integers:
    """Return the index of the list to which each document belongs."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


RULES = {
    rule.name: rule
    for rule in (
        TieRule(name="average", title="all orders, equally likely: the expectation", placement=AVERAGE),
        TieRule(name="run_order", title="in the order of the input", placement=IN_ORDER),
        TieRule(
            name="trec_eval",
            title="by document id, descending",
            placement=IN_ORDER,
            by_document="descending",
        ),
        TieRule(
            name="docid_ascending",
            title="by document id, ascending",
            placement=IN_ORDER,
            by_document="ascending",
        ),
        TieRule(name="optimistic", title="the best order: the maximum", placement=BEST_FIRST),
        TieRule(name="pessimistic", title="the worst order: the minimum", placement=WORST_FIRST),
    )
}


def tie_rule(ties: Any) -> TieRule:
    """Return the rule of this name; InputError if there is none."""
    return RULES[one_of("ties", ties, RULES)]
