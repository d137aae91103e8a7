"""The tie rules: what the groups are that a measure sees.

====================  ==========================================================================================
``average``           the tied groups as they are: the expectation over all orderings that the scores allow
``run_order``         each document its own group, ordered by score, then by position in the input
``trec_eval``         the same, ordered by score, then by document id, descending, compared as bytes
``docid_ascending``   the same, but ascending, as in Lucene and sentence-transformers
``optimistic``        each document its own group, the best label of each tied group first: the maximum
``pessimistic``       the worst label first: the minimum
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
    """The keys of lists, the documents that weigh anything, as a rule wants them.

    Parameters
    ----------
    permutation : int64[n_keys] or None
        The keys in the rule's order, query by query; None, where they are in it.
    rank : int64[n_keys] or None
        The place of each, so permuted, in the rule's order of its list; None, where that does not matter.
    """

    permutation: Integers | None
    rank: Integers | None


_AS_THEY_LIE = Arranged(None, None)


@dataclass(frozen=True, kw_only=True)
class TieRule:
    """What tied documents are taken to be.

    Parameters
    ----------
    name, title : str
        What callers call it, and in words.
    placement : int
        How ext/engine/_groups.pyx places the documents inside a tie: AVERAGE, IN_ORDER, BEST_FIRST or WORST_FIRST.
    by_document : "ascending", "descending" or None
        Whether ties go by the identifiers of the documents, compared as bytes, and which way; or by the order of the
        list.
    """

    name: str
    title: str
    placement: int
    by_document: str | None = None

    @property
    def averages(self) -> bool:
        """Whether all orders count, so that there is a spread."""
        return self.placement == AVERAGE

    @property
    def extreme(self) -> str | None:
        """Whether it is the "max" or the "min" over all orders that is wanted."""
        return {BEST_FIRST: "max", WORST_FIRST: "min"}.get(self.placement)

    @property
    def by_position(self) -> bool:
        """Whether ties go by the order of the list, so that the order of the input matters."""
        return self.placement == IN_ORDER and self.by_document is None

    @property
    def by_score_alone(self) -> bool:
        """Whether neither the identifiers of the documents nor their order in the list matter."""
        return self.placement != IN_ORDER

    def order(self, documents: Identifiers, offsets: Offsets) -> Integers:
        """Return the positions of each list, int64[n_docs], in the order that the identifiers of its documents give."""
        return documents.order(offsets, descending=self.by_document == "descending")

    def arrange(
        self, offsets: Offsets, key_offsets: Offsets, positions: Integers, labels: Labels, order: Integers | None
    ) -> Arranged:
        """Bring the keys of each list into the rule's order.

        Parameters
        ----------
        offsets : int64[n_queries + 1]
            Of the lists.
        key_offsets : int64[n_queries + 1]
            Of the keys.
        positions, labels : arrays of length n_keys
            Each key's position in the list and its label, by query and position.
        order : int64[n_docs] or None
            What `order` returned, for a rule that goes by documents; of another length, the order of every list.
        """
        if self.placement == AVERAGE:
            return _AS_THEY_LIE
        if self.placement != IN_ORDER:
            return Arranged(by_label(key_offsets, labels), None)
        if order is None:
            return Arranged(None, positions)
        query = _list_of_each(key_offsets)
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


def by_label(key_offsets: Offsets, labels: Labels) -> Integers:
    """Return the keys of each query by label, descending."""
    return np.lexsort((-labels.astype(np.int64), _list_of_each(key_offsets)))


def _list_of_each(offsets: Offsets) -> Integers:
    """Return the number of the list that each of its elements is in."""
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
    """Return a rule by its name, or raise InputError with the nearest one."""
    return RULES[one_of("ties", ties, RULES)]
