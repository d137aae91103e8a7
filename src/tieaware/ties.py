"""Tie rules: a tie rule orders the documents with equal scores in one way, or averages over all their orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Integers, Labels, Offsets
from tieaware.errors import InputError, hints
from tieaware.kernels._groups import AVERAGE, BEST_FIRST, IN_ORDER, WORST_FIRST
from tieaware.lists.identifiers import Identifiers

# The names of RULES, for the signatures of functions.
TieRuleName: TypeAlias = Literal["average", "run_order", "trec_eval", "docid_ascending", "optimistic", "pessimistic"]


class Arranged(NamedTuple):
    """The order in which a tie rule puts some selected documents of each list, such as those with a weight.

    Parameters
    ----------
    permutation : int64[n] or None
        The indices of the selected documents in the rule's order, list after list; None if this order is that in which
        they were given.
    rank : int64[n] or None
        For each selected document, in the new order, its place if the rule ordered its whole list as if all scores were
        equal; None if the rule does not order whole lists.
    """

    permutation: Integers | None
    rank: Integers | None


_UNCHANGED = Arranged(None, None)


@dataclass(frozen=True, kw_only=True)
class TieRule:
    """A rule that says how documents with equal scores are placed.

    Parameters
    ----------
    name : str
        The name by which callers choose the rule, such as "average".
    title : str
        The order of tied documents, for captions; after a colon, what docs/ties.md adds.
    placement : int
        How ext/engine/_places.pyx places tied documents: AVERAGE, IN_ORDER, BEST_FIRST or WORST_FIRST.
    by_document : "ascending", "descending" or None
        The direction in which tied documents are sorted by their identifiers, compared as bytes. None for rules that do
        not use identifiers.
    """

    name: TieRuleName
    title: str
    placement: int
    by_document: Literal["ascending", "descending"] | None = None

    @property
    def averages(self) -> bool:
        """True if values under this rule are averages over all orders of tied documents, so that a spread exists."""
        return self.placement == AVERAGE

    @property
    def extreme(self) -> Literal["max", "min"] | None:
        """The kind of value that the rule selects: "max" or "min" over all orders of tied documents, else None."""
        if self.placement == BEST_FIRST:
            return "max"
        return "min" if self.placement == WORST_FIRST else None

    @property
    def by_position(self) -> bool:
        """True if tied documents keep the order of the input."""
        return self.placement == IN_ORDER and self.by_document is None

    @property
    def by_score_alone(self) -> bool:
        """True if the rule needs neither document identifiers nor the order of the input."""
        return self.placement != IN_ORDER

    def order(self, documents: Identifiers, offsets: Offsets) -> Integers:
        """Sort each list by document identifier, in the rule's direction.

        Returns int64[n_docs]: for each list, the positions of its documents in the sorted order.
        """
        return documents.order(offsets, descending=self.by_document == "descending")

    def places(self, documents: Identifiers, offsets: Offsets, labels: Integers) -> Integers:
        """Return a sort key for each document, int64[n_docs]: among tied documents, the smallest key comes first.

        For the rules that order by label, documents with equal labels have equal keys, and so have all documents with
        negative labels. For a rule that averages, the keys are the positions in the input.
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
        """Return the order in which the rule puts the selected documents of each list.

        Parameters
        ----------
        offsets : int64[n_queries + 1]
            The index at which each list starts, and the end of the last list.
        selected_offsets : int64[n_queries + 1]
            The index at which the selected documents of each list start, and the end of the last.
        positions, labels : arrays of length n
            The position of each selected document in its list, and its label. Positions ascend in each list.
        order : int64[n_docs] or None
            For each list, the positions of its documents in the order of tied documents, as the method `order` returns
            them; None if tied documents keep the order of the list. An array of a length other than n_docs applies to
            every list.
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
    """Return the indices of the documents, list after list, sorted by label, descending, within each list."""
    return np.lexsort((-labels.astype(np.int64), _list_of_each(offsets)))


def _list_of_each(offsets: Offsets) -> Integers:
    """Return the index of the list to which each document belongs."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


RULES: dict[TieRuleName, TieRule] = {
    rule.name: rule
    for rule in (
        TieRule(name="average", title="in all orders, each equally likely: the expectation", placement=AVERAGE),
        TieRule(name="run_order", title="in the order of the input", placement=IN_ORDER),
        TieRule(
            name="trec_eval",
            title="by document id, descending: as in trec_eval, compared as bytes",
            placement=IN_ORDER,
            by_document="descending",
        ),
        TieRule(
            name="docid_ascending",
            title="by document id, ascending: as in Lucene and sentence-transformers, compared as bytes",
            placement=IN_ORDER,
            by_document="ascending",
        ),
        TieRule(
            name="optimistic",
            title="in the best order: the maximum, mostly by label, descending",
            placement=BEST_FIRST,
        ),
        TieRule(
            name="pessimistic",
            title="in the worst order: the minimum, mostly by label, ascending",
            placement=WORST_FIRST,
        ),
    )
}


def tie_rule(ties: Any) -> TieRule:
    """Return the tie rule with this name; raise InputError if there is none."""
    if isinstance(ties, str) and ties not in RULES and (instead := hints("ties").get(ties)):
        raise InputError("ties", f"there is no rule {ties!r}; write {instead}")
    return RULES[one_of("ties", ties, RULES)]
