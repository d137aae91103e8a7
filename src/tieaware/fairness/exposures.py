"""The exposure of documents: the attention that each can expect, if tied documents are equally likely in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, Scores, Values, as_offsets, as_scores
from tieaware.engine.list_arguments import document_order
from tieaware.engine.weights import NO_CUTOFF
from tieaware.errors import InputError
from tieaware.kernels import _exposure
from tieaware.measures import Measure, parse_measure
from tieaware.precision import Coarsening, parse_precision
from tieaware.precision.coarsening import coarsened
from tieaware.runtime.threads import checked_threads, even_chunks, over_chunks
from tieaware.ties import TieRule, TieRuleName, tie_rule

# The kernels of the measures whose definitions have the weight of each rank, and of those that weight all ranks alike.
_WEIGHTED = ("discounted", "discounted_to_ideal", "patience", "reciprocal_rank", "inverse_squares")
_UNIFORM = ("hits", "success")


def exposure(
    scores: npt.ArrayLike,
    offsets: npt.ArrayLike | None = None,
    weights: str | Measure = "DCG",
    *,
    ties: TieRuleName = "average",
    docids: Sequence[str | bytes] | None = None,
    precision: str | Coarsening | None = None,
    threads: int | None = 1,
) -> Values:
    """Compute the exposure of each document: the weight that its rank can expect.

    Tied documents are equally likely in any order, so each has the mean weight of the ranks that they share. No orders
    are sampled.

    Parameters
    ----------
    scores : real numbers, shape (n_docs,) or (n_queries, depth)
        The score of each document, list after list, in any form that `tieaware.Evaluator` accepts. In two dimensions,
        each row is a list.
    offsets : integers, shape (n_queries + 1,), optional
        The index at which each list starts, and the end of the last list. By default, one-dimensional scores are one
        list.
    weights : str or Measure
        A measure that gives each rank a weight: DCG or nDCG, 1 / log2(1 + rank) or another discount; RBP,
        (1 - p) p^(rank - 1); RR, 1 / rank; INSQ, 1 / (rank + 2T - 1)²; and P@k, R@k or Success@k, 1 for the ranks to k,
        so that the exposure is the probability of a place among the first k. With a cut-off, as in "DCG@10", lower
        ranks have the weight 0.
    ties : str
        The tie rule: "average", or one that orders tied documents by position or identifier, such as "run_order".
    docids : sequence of str or bytes, length n_docs, optional
        The document identifiers, for the tie rules that use them.
    precision : str or Coarsening, optional
        The precision to which scores are rounded before ties are found; see `tieaware.precision`.
    threads : int or None
        The largest number of threads; None means one per core. The exposures have the same bits for any number.

    Returns
    -------
    float64[n_docs] or float64[n_queries, depth]
        In the shape of the scores. The exposures of a list add up to the weights of its ranks.

    Raises
    ------
    InputError
        If a score is NaN, a shape is wrong, the measure gives ranks no weights, or the tie rule needs labels.

    References
    ----------
    Singh, A. and Joachims, T. (2018), Fairness of exposure in rankings, KDD. Diaz, F. and others (2020), Evaluating
    stochastic rankings with expected exposure, CIKM.

    Examples
    --------
    The last two documents of the first list tie: each is second or third, with equal probability.

    >>> import tieaware
    >>> tieaware.exposure([3.0, 1.0, 1.0, 5.0, 4.0], offsets=[0, 3, 5], weights="RR")
    array([1.        , 0.41666667, 0.41666667, 1.        , 0.5       ])
    >>> tieaware.exposure([[3.0, 1.0, 1.0]], weights="P@2")
    array([[1. , 0.5, 0.5]])
    """
    rule, workers = _checked_rule(ties), checked_threads(threads)
    given = as_scores(scores, "scores")
    bounds = lists_of(given, offsets)
    flat = given.reshape(-1)
    slots = SlotWeights.of(weights, int(np.diff(bounds).max(initial=0)))
    order = document_order(rule, docids, bounds, "score")
    if precision is not None:
        coarsening = parse_precision(precision)
        flat = flat if np.isnan(flat).any() else coarsened(coarsening, flat, bounds)
    out = np.empty(len(flat))
    _write(flat, bounds, order, rule, slots, workers, out, given)
    return out.reshape(given.shape)


def _write(
    scores: Scores, offsets: Offsets, order: Integers | None, rule: TieRule, slots: SlotWeights, threads: int,
    out: Values, given: npt.NDArray[Any],
) -> None:  # fmt: skip
    """Write the exposures of all lists; raise InputError if a score is NaN."""

    def work(first: int, last: int) -> int:
        return _exposure.exposures(scores, offsets, order, rule.averages, *slots, out, first, last)

    failed = next((query for query in over_chunks(work, even_chunks(offsets, threads), threads) if query >= 0), -1)
    if failed >= 0:
        index = int(np.isnan(scores).argmax())
        place = f"[{index}]" if given.ndim == 1 else f"[{failed}, {index - int(offsets[failed])}]"
        raise InputError(f"scores{place}", "must be a number, not NaN")


def _checked_rule(ties: TieRuleName) -> TieRule:
    """Return the tie rule; raise InputError if it orders documents by label."""
    rule = tie_rule(ties)
    if rule.extreme is not None:
        raise InputError("ties", f"{rule.name!r} orders tied documents by label, but an exposure has no labels")
    return rule


def lists_of(scores: npt.NDArray[Any], offsets: npt.ArrayLike | None, name: str = "scores") -> Offsets:
    """Return the offsets of the lists in an array that has a row for each list, or one dimension and offsets."""
    if scores.ndim not in (1, 2):
        raise InputError(name, f"must have one or two dimensions, not {scores.ndim}")
    if scores.ndim == 2:
        if offsets is not None:
            raise InputError("offsets", f"must not be given with two-dimensional {name}: each row is already one list")
        rows: Offsets = np.arange(scores.shape[0] + 1, dtype=np.int64) * scores.shape[1]
        return rows
    return np.array([0, len(scores)]) if offsets is None else as_offsets(offsets, len(scores), "offsets", name)


class SlotWeights(NamedTuple):
    """The weights of ranks.

    Attributes
    ----------
    prefix_sums : float64[depth + 1, 2]
        The two numbers of row j add up to the total weight of the first j ranks, plus a constant.
    cutoff : int
        Ranks below this one have the weight 0.
    """

    prefix_sums: Values
    cutoff: int

    @classmethod
    def of(cls, weights: str | Measure, longest: int) -> SlotWeights:
        """Return the slot weights of a measure, for lists of up to `longest` documents.

        InputError is raised if the measure does not give each rank a weight.
        """
        measure = _parsed(weights)
        cutoff = NO_CUTOFF if measure.cutoff is None else measure.cutoff
        depth = min(longest, cutoff)
        if measure.judged_only:
            raise InputError("weights", f"{measure} ranks judged documents only; write it without judged_only")
        if measure.definition.kernel in _WEIGHTED and measure.definition.inputs.slots is not None:
            return cls(measure.definition.inputs.slots(measure, depth), cutoff)
        if measure.definition.kernel not in _UNIFORM:
            raise InputError("weights", f"{measure} gives ranks no weights; write DCG, RBP(p=0.8), RR or P@10")
        if measure.cutoff is None:
            raise InputError("weights", f"{measure} gives every rank the same weight; write a cut-off, as in P@10")
        sums = np.zeros((depth + 1, 2))
        sums[:, 0] = np.arange(depth + 1)
        return cls(sums, cutoff)


def _parsed(weights: str | Measure) -> Measure:
    """Return the measure; an error names the argument `weights`."""
    try:
        return parse_measure(weights)
    except InputError as error:
        raise error.at("weights") from None
