"""The tie rules: what the groups are that a measure sees.

================  ==============================================================================================
``average``       the tied groups as they are: the expectation over all orderings that the scores allow
``run_order``     each document its own group, ordered by score, then by position in the input
``trec_eval``     the same, ordered by score, then by document id, descending, compared as bytes
``optimistic``    each document its own group, the best label of each tied group first: the maximum
``pessimistic``   the worst label first: the minimum
================  ==============================================================================================
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware._groups import AVERAGE, BEST_FIRST, IN_ORDER, WORST_FIRST
from tieaware.errors import InputError

Integers = npt.NDArray[np.int64]

_PLACEMENT = {
    "average": AVERAGE,
    "run_order": IN_ORDER,
    "trec_eval": IN_ORDER,
    "optimistic": BEST_FIRST,
    "pessimistic": WORST_FIRST,
}
RULES = tuple(_PLACEMENT)


def placement(ties: str) -> int:
    """Return the kernel's number for a rule.

    Parameters
    ----------
    ties : str
        The rule.

    Returns
    -------
    int
        0 … 3: how ext/_groups.pyx places the documents inside a tie.

    Raises
    ------
    InputError
        If there is no such rule; the nearest is named.

    Examples
    --------
    >>> placement("average"), placement("run_order"), placement("trec_eval")
    (0, 1, 1)
    """
    if ties not in _PLACEMENT:
        import difflib

        near = difflib.get_close_matches(str(ties), RULES, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"ties={ties!r}: expected one of {', '.join(RULES)}{hint}")
    return _PLACEMENT[ties]


def arrange(
    ties: str,
    lists: Integers,
    query: Integers,
    position: Integers,
    labels: npt.NDArray[np.int32],
    order: Integers | None,
) -> tuple[Integers, Integers | None]:
    """Bring the keys of each query into the rule's order.

    Parameters
    ----------
    ties : str
        The rule.
    lists : int64[n_queries + 1]
        The offsets of the lists.
    query, position : int64[n_keys]
        Each key's query and its position in the list, from 0; the keys ascend by both.
    labels : int32[n_keys]
        Each key's label.
    order : int64[n_docs], optional
        For "trec_eval": the positions of each list by document id, descending.

    Returns
    -------
    permutation : int64[n_keys]
        The keys in the rule's order, query by query.
    rank : int64[n_keys] or None
        Each key's place in the order of its list, in the permuted order, for the rules that need it.

    Examples
    --------
    A list of three documents, the second and the third of which are judged.

    >>> lists, query, position = np.array([0, 3]), np.array([0, 0]), np.array([1, 2])
    >>> labels = np.array([0, 1], np.int32)
    >>> arrange("optimistic", lists, query, position, labels, None)
    (array([1, 0]), None)
    >>> arrange("trec_eval", lists, query, position, labels, np.array([2, 0, 1]))
    (array([1, 0]), array([0, 2]))
    """
    in_place = np.arange(len(position))
    if ties == "run_order":
        return in_place, position
    if ties == "trec_eval":
        assert order is not None
        place = np.empty_like(order)
        sizes = np.diff(lists)
        starts = np.repeat(lists[:-1], sizes)
        place[starts + order] = np.arange(len(order)) - starts
        rank = place[lists[query] + position]
        permutation = np.lexsort((rank, query))
        return permutation, rank[permutation]
    if ties in ("optimistic", "pessimistic"):
        return by_label(query, labels), None
    return in_place, None


def by_label(query: Integers, labels: npt.NDArray[np.int32]) -> Integers:
    """Return the keys of each query by label, descending.

    Parameters
    ----------
    query : int64[n_keys]
        Each key's query.
    labels : int32[n_keys]
        Each key's label.

    Returns
    -------
    int64[n_keys]
        The keys, query by query; equal labels in the order of the keys.

    Examples
    --------
    >>> by_label(np.array([0, 0, 1]), np.array([0, 2, 1], np.int32))
    array([1, 0, 2])
    """
    return np.lexsort((-labels.astype(np.int64), query))
