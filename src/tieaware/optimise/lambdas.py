"""LambdaMART's gradients of a measure, averaged over the orders of tied documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, number, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values, as_contiguous, as_scores, element
from tieaware.engine.list_arguments import judged_lists
from tieaware.engine.totals import Totals
from tieaware.engine.weights import also_weighted
from tieaware.errors import Hinted, InputError
from tieaware.kernels import _labels, _lambdas
from tieaware.lists.grades import Missing
from tieaware.lists.judgments import JudgedLists
from tieaware.measures import Measure, parse_measure
from tieaware.runtime.threads import checked_threads, even_chunks, over_chunks

# The measures that can be trained, by their kernels. Those of the first line add up gains, each times the weight of its
# rank; "hits" gives all ranks to the cut-off the same weight.
_FAMILIES = {
    **dict.fromkeys(("discounted_to_ideal", "discounted", "patience", "inverse_squares", "hits"), _lambdas.ADDITIVE),
    "average_precision": _lambdas.AVERAGE_PRECISION,
    "reciprocal_rank": _lambdas.RECIPROCAL_RANK,
}
_TRAINABLE = "nDCG, DCG, RBP, RR, AP, and with a cut-off P, R and F1"

_NO_TRUNCATION = 2**62
# With fewer documents, starting threads takes longer than they save.
_WORTH_THREADS = 5_000


class Lambdas(Hinted):
    """LambdaMART's gradients of one measure, for fixed lists of labelled documents and any number of scorings of them.

    For documents i and j of one list, i worth more than j, the loss is σ E|ΔM| log2(1 + exp(σ (s_j - s_i))) up to a
    factor: E|ΔM| is the expected change of the measure M by swapping the ranks of i and j, over all orders of tied
    documents. So the gradients do not depend on the order of the documents, and documents that all tie are told apart
    in the first round. Swapping two documents of one tie group changes the measure, too: it depends on their order.

    An instance is called with scores, and is immutable: it can be pickled and shared between threads.

    Parameters
    ----------
    labels : integers or real numbers, shape (n_docs,) or (n_queries, depth)
        The label of each document, as for `Evaluator`.
    measure : str or Measure
        nDCG or DCG with any gains and discount, RBP, RR, AP, or P, R, F1 with a cut-off.
    offsets, group, qid, judgments, missing
        As for `Evaluator`.
    weights : real numbers of at least 0, shape (n_docs,) or (n_queries,), optional
        The weight of each document or query, by which gradients and hessians are multiplied.
    truncation : int, optional
        Count a pair only in orders in which the upper document is among this many, as LightGBM does by
        ``lambdarank_truncation_level``. By default only the measure's cut-off matters.
    sigma : float
        The slope σ of the logistic loss, from 1e-9 to 1e9; ``sigmoid`` in LightGBM.
    normalise : bool
        Whether the change of each pair is divided by 0.01 + the distance of its scores (unless all documents of the
        list tie), and the gradients of each list by their sum S, times log2(1 + S): ``lambdarank_norm`` in LightGBM.
    threads : int or None
        The largest number of threads; None means one per core. The gradients have the same bits for any number.

    Attributes
    ----------
    measure : Measure
    n_queries, n_docs : int

    References
    ----------
    Burges, C. J. C. (2010), From RankNet to LambdaRank to LambdaMART: an overview, Microsoft Research MSR-TR-2010-82.
    Wang, X. and others (2018), The LambdaLoss framework for ranking metric optimization, CIKM.

    Examples
    --------
    All documents tie. The relevant document is pushed up (its gradient is negative), the others down.

    >>> import tieaware
    >>> lambdas = tieaware.optimise.Lambdas([1, 0, 0], "RR", normalise=False)
    >>> gradient, hessian = lambdas([0.0, 0.0, 0.0])
    >>> gradient.round(4), hessian.round(4)
    (array([-0.4444,  0.2222,  0.2222]), array([0.2222, 0.1111, 0.1111]))
    """

    def __init__(
        self,
        labels: npt.ArrayLike,
        measure: str | Measure,
        *,
        offsets: npt.ArrayLike | None = None,
        group: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
        judgments: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        weights: npt.ArrayLike | None = None,
        truncation: int | None = None,
        sigma: float = 1.0,
        normalise: bool = True,
        threads: int | None = 1,
        missing: Missing | None = None,
    ) -> None:
        self.measure: Measure = trainable(measure)
        self._loss = Loss.checked(truncation, sigma, normalise)
        self._threads = checked_threads(threads)
        weighted = also_weighted((self.measure,))
        self._shape, lists, judged = judged_lists(
            labels, (offsets, group, qid), judgments, missing, subtopics=False, intents=None, weighted=weighted
        )
        self._offsets: Offsets = as_contiguous(lists.offsets, np.int64)
        self.n_queries: int = len(self._offsets) - 1
        self.n_docs: int = int(self._offsets[-1])
        totals = Totals.of((self.measure,), judged).totals
        self._gains = self._weighed(lists)
        self._order = _by_gain(self._gains, self._offsets)
        norms = np.empty((self.n_queries, 1))
        norms[:, 0] = self.measure.definition.norm(self.measure, totals[:, 0], lists.lengths)
        norms[~(totals > 0.0)] = 0.0
        self._norms: Values = norms[:, 0].copy()
        self._slots = _slot_weights(self.measure, _labels.longest(self._offsets))
        self._weights = None if weights is None else self._checked_weights(weights)

    def __repr__(self) -> str:
        return f"Lambdas({self.measure}, {self.n_queries} queries, {self.n_docs} documents)"

    def __call__(self, scores: npt.ArrayLike) -> tuple[Values, Values]:
        """Compute the gradients and hessians for scores.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or that of the labels
            The score of each document, finite.

        Returns
        -------
        gradient, hessian : float64, in the shape of the scores
            The derivatives of the loss by the scores. A learner subtracts a multiple of the gradient from the scores,
            or, with Newton's method, of the gradient divided by the hessian. Queries without relevant documents have 0.

        Raises
        ------
        InputError
            If the scores have another shape, or one is NaN or infinite.
        """
        # A copy: the kernel reads the scores several times, and another thread must not change them meanwhile.
        array = np.array(as_scores(scores, "scores"), np.float64)
        if array.shape not in ((self.n_docs,), self._shape):
            either = "" if len(self._shape) == 1 else f" or {self._shape}"
            raise unexpected("scores", f"shape ({self.n_docs},){either}", f"shape {array.shape}")
        finite = np.isfinite(array)
        if not finite.all():
            place = int(np.flatnonzero(~finite)[0])
            raise unexpected(element("scores", array.shape, place), "a finite number", f"{array.reshape(-1)[place]}")
        flat = array.reshape(-1)
        gradient, hessian = np.empty(self.n_docs), np.empty(self.n_docs)

        def work(first: int, last: int) -> None:
            _lambdas.lambdas(
                flat, self._gains, self._order, self._offsets, self._norms, self._slots,
                _FAMILIES[self.measure.definition.kernel], *self._loss, gradient, hessian, first, last,
            )  # fmt: skip

        threads = self._threads if self.n_docs >= _WORTH_THREADS else 1
        over_chunks(work, even_chunks(self._offsets, threads), threads)
        if self._weights is not None:
            gradient *= self._weights
            hessian *= self._weights
        return gradient.reshape(array.shape), hessian.reshape(array.shape)

    def _weighed(self, lists: JudgedLists) -> Values:
        """Return the gain of each document; unjudged documents have none."""
        judged = lists.judgments
        gains = np.zeros(self.n_docs)
        sizes = np.diff(lists.judged_offsets)
        rows = np.repeat(self._offsets[:-1], sizes) + lists.positions
        gains[rows] = self.measure.definition.weighting.weigh(self.measure, judged.values, lists.grades)[0]
        return gains

    def _checked_weights(self, weights: npt.ArrayLike) -> Values:
        """Return the weight of each document."""
        array = as_contiguous(as_scores(weights, "weights", flat=True), np.float64)
        wrong = np.flatnonzero(~((array >= 0) & np.isfinite(array)))
        if len(wrong):
            raise unexpected(f"weights[{wrong[0]}]", "a finite number of at least 0", f"{array[wrong[0]]}")
        if len(array) == self.n_docs:
            return array.copy()
        if len(array) != self.n_queries:
            expected = f"one for each of {self.n_docs} documents or of {self.n_queries} queries"
            raise unexpected("weights", expected, f"{len(array)}")
        return np.repeat(array, np.diff(self._offsets))


class Loss(NamedTuple):
    """The parameters of the loss, as the kernel takes them."""

    truncation: int
    sigma: float
    normalise: bool

    @classmethod
    def checked(cls, truncation: int | None, sigma: float, normalise: bool) -> Loss:
        """Check the parameters of `Lambdas`; raise InputError if one is out of its range."""
        return cls(
            _NO_TRUNCATION if truncation is None else whole_number("truncation", truncation, 1, _NO_TRUNCATION),
            number("sigma", sigma, 1e-9, 1e9),
            flag("normalise", normalise),
        )


def trainable(measure: str | Measure) -> Measure:
    """Return a measure; raise InputError if the change of its value by a swap is not known."""
    parsed = parse_measure(measure)
    definition = parsed.definition
    problem = ""
    if definition.kernel not in _FAMILIES or definition.summary != "mean" or definition.needs_subtopics:
        problem = f"{parsed} cannot be trained by swaps of two documents; write one of {_TRAINABLE}"
    elif "rel" not in definition.parameters and definition.kernel == "hits":
        problem = f"{parsed} does not depend on relevance; write one of {_TRAINABLE}"
    elif parsed.judged_only:
        problem = f"{parsed} ranks judged documents only; write it without judged_only"
    elif definition.kernel == "hits" and parsed.cutoff is None:
        problem = f"{parsed} is the same for every order of the documents; write a cut-off, as in P@10"
    if problem:
        raise InputError("measure", problem)
    return parsed


def _slot_weights(measure: Measure, longest: int) -> Values:
    """Return the weight of each rank, from rank 1, to the cut-off or the length of the longest list."""
    depth = longest if measure.cutoff is None else min(longest, measure.cutoff)
    if measure.definition.inputs.slots is None:
        return np.ones(depth)
    sums = measure.definition.inputs.slots(measure, depth)[: depth + 1]
    return np.diff(sums[:, 0]) + np.diff(sums[:, 1])


def _by_gain(gains: Values, offsets: Offsets) -> Integers:
    """Return the positions of the documents in their lists, for each list by descending gain: int64[n_docs]."""
    sizes = np.diff(offsets)
    rows = np.lexsort((-gains, np.repeat(np.arange(len(sizes)), sizes)))
    return rows - np.repeat(offsets[:-1], sizes)
