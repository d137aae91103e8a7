"""Link prediction: each positive edge among its negatives, with the exact value where scores tie.

Of g negatives above a positive and e that tie with it, OGB and PyKEEN report 1 / (1 + g + e/2), the reciprocal of the
mean rank. What the ranking is worth is the mean of the reciprocal ranks, (1/(g+1) + … + 1/(g+e+1)) / (e+1), which is
more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware import evaluator
from tieaware.checks.arguments import one_of, shown, unexpected
from tieaware.checks.arrays import Integers, Scores, Values, as_array, as_scores, check_no_nan
from tieaware.engine.means import means
from tieaware.engine.weights import also_weighted
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measures
from tieaware.ties import RULES, TieRule

# The tie rules that need scores only. Negatives have no identifiers, and their order means nothing.
_RULES = {name: rule for name, rule in RULES.items() if rule.by_score_alone}

# So many scores lie beside each other at a time, which the second-level cache holds.
_BLOCK = 1 << 15


def evaluate(
    positive: npt.ArrayLike,
    negatives: npt.ArrayLike | Sequence[npt.ArrayLike],
    measures: str | Measure | Sequence[str | Measure] = ("RR", "Hits@10"),
    *,
    exclude: npt.ArrayLike | None = None,
    ties: str = "average",
) -> Values:
    """Rank each positive among its negatives, and evaluate the list, whose one relevant document it is.

    The scores are read once, a few lists at a time; nothing is sorted, and nothing of the size of all negatives copied.

    Parameters
    ----------
    positive : real numbers, shape (n,)
        The score of each positive. NumPy's arrays, tensors, or anything that `tieaware.Evaluator` takes as scores.
    negatives : real numbers, shape (n, m) or (m,), or a sequence of n arrays
        The scores of the negatives of each positive; or of m that all of them share; or lists of different lengths.
    measures : sequence of str or Measure
        What to compute. With one relevant document R, Success and Hits are one measure, and AP is RR.
    exclude : bools, shape (n, m), optional
        Which negatives do not count, as in the filtered setting, where some are known to be true. Their scores may be
        anything, also NaN.
    ties : str
        "average": over all orders of the negatives that tie with a positive. "optimistic" and "pessimistic": the
        positive comes first, or last, among them.

    Returns
    -------
    float64[n, n_measures]
        A row for each positive, with the same bits as an `Evaluator` gives.

    Raises
    ------
    InputError
        If a score that counts is NaN, a shape does not fit, or a measure asks who judged the negatives, as Bpref does.

    Examples
    --------
    One negative ties with the first positive at the top, nine do with the second, which also has a worse negative.

    >>> from tieaware.integrations import link_prediction
    >>> negatives = [[7.0] + [1.0] * 9, [7.0] * 9 + [1.0]]
    >>> link_prediction.evaluate([7.0, 7.0], negatives, ["RR", "Hits@1"]).round(4)
    array([[0.75  , 0.5   ],
           [0.2929, 0.1   ]])

    The reciprocals of the mean ranks are 2/3 and 2/11.
    """
    asked = parse_measures(measures)
    for measure in asked:
        if any(also_weighted((measure,)).values()) or measure.judged_only:
            raise unexpected("measures", "some of ranks alone, for nobody judged the negatives", str(measure))
    one_of("ties", ties, _RULES)
    first = as_scores(positive, "positive", flat=True)
    if exclude is None and _are_of_different_lengths(negatives):
        return _of_lists(first, negatives, asked, ties)
    others: npt.NDArray[Any] = as_scores(negatives, "negatives")
    if others.ndim == 1 and len(others):
        others = np.broadcast_to(others, (len(first), len(others)))
    if others.ndim != 2 or len(others) != len(first):
        wanted = f"shape ({len(first)}, m), a row for each positive, or (m,)"
        raise unexpected("negatives", wanted, f"shape {others.shape}")
    return _of_rows(first, others, None if exclude is None else _mask(exclude, others.shape), asked, ties)


def _are_of_different_lengths(negatives: Any) -> bool:
    """Whether negatives are a sequence of lists that make no matrix."""
    if not isinstance(negatives, list | tuple):
        return False
    with suppress(ValueError):
        return len({len(each) for each in negatives if hasattr(each, "__len__") and np.ndim(each) == 1}) > 1
    # One of them is a list of such lists.
    return False


def _mask(exclude: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return which negatives do not count."""
    mask = as_array(exclude, "exclude")
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise unexpected("exclude", f"bools of shape {shape}, that of the negatives", f"{mask.dtype} of {mask.shape}")
    return mask


class _Matrix(NamedTuple):
    """What `Evaluator.from_sparse` reads of a matrix in CSR form."""

    indptr: Integers
    indices: Integers
    data: npt.NDArray[np.int8]
    shape: tuple[int, int]


def _of_rows(
    positive: Scores,
    negatives: npt.NDArray[Any],
    exclude: npt.NDArray[np.bool_] | None,
    measures: Sequence[Measure],
    ties: str,
) -> Values:
    """Evaluate lists of equal length, each with its positive in the first column: a block of rows at a time."""
    n, width = len(negatives), negatives.shape[1] + 1
    step = max(1, _BLOCK // width)
    scores = np.empty((min(step, n), width), np.result_type(positive, negatives))
    values = np.empty((n, len(measures)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        size = rows.stop - start
        if start == 0 or exclude is not None:
            lists = _lists(size, width, None if exclude is None else exclude[rows], measures, ties)
        elif size < step:
            lists = lists.rows(0, size)
        block = scores[:size]
        block[:, 0], block[:, 1:] = positive[rows], negatives[rows]
        try:
            lists(block, out=values[rows])
        except InputError:
            check_no_nan(positive, "positive")
            check_no_nan(negatives if exclude is None else np.where(exclude, 0.0, negatives), "negatives")
            raise
    return values


def _lists(
    n: int, width: int, exclude: npt.NDArray[np.bool_] | None, measures: Sequence[Measure], ties: str
) -> evaluator.Evaluator:
    """Prepare n lists whose first document is relevant."""
    relevant = _Matrix(np.arange(n + 1), np.zeros(n, np.int64), np.ones(n, np.int8), (n, width))
    left_out = None
    if exclude is not None:
        rows, columns = np.nonzero(exclude)
        ends = np.searchsorted(rows, np.arange(n + 1))
        left_out = _Matrix(ends, columns + 1, np.zeros(len(columns), np.int8), (n, width))
    return evaluator.Evaluator.from_sparse(relevant, measures, exclude=left_out, ties=ties)


def _of_lists(positive: Scores, negatives: Any, measures: Sequence[Measure], ties: str) -> Values:
    """Evaluate lists of different lengths."""
    if len(negatives) != len(positive):
        raise unexpected("negatives", f"{len(positive)} lists, one for each positive", f"{len(negatives)}")
    others = [as_scores(each, f"negatives[{i}]", flat=True) for i, each in enumerate(negatives)]
    for i, each in enumerate(others):
        check_no_nan(each, f"negatives[{i}]")
    check_no_nan(positive, "positive")
    offsets = np.concatenate(([0], np.cumsum([len(each) + 1 for each in others])))
    labels = np.full(offsets[-1], -1, np.int8)
    labels[offsets[:-1]] = 1
    scores = np.concatenate([part for i, each in enumerate(others) for part in (positive[i : i + 1], each)])
    return evaluator.Evaluator(labels, measures, offsets=offsets, ties=ties)(scores)


# What OGB measures each of its collections by.
_METRICS = {
    "ogbl-ppa": "hits@100", "ogbl-collab": "hits@50", "ogbl-ddi": "hits@20", "ogbl-citation2": "mrr",
    "ogbl-wikikg2": "mrr", "ogbl-biokg": "mrr", "ogbl-vessel": "rocauc",
}  # fmt: skip


class Evaluator:
    """Takes the place of ``ogb.linkproppred.Evaluator``: its names, arguments and keys, and the exact values.

    Parameters
    ----------
    name : str
        A collection of OGB, such as "ogbl-citation2".
    ties : str
        As for `evaluate`. OGB itself is between: hits@K of shared negatives is its pessimistic value.

    Attributes
    ----------
    name, eval_metric : str
        The collection, and what OGB measures it by: "mrr", "hits@K" or "rocauc".

    Raises
    ------
    InputError
        If there is no such collection.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware.integrations.link_prediction import Evaluator
    >>> scores = {"y_pred_pos": np.array([7.0]), "y_pred_neg": np.array([[7.0, 1.0]])}
    >>> Evaluator("ogbl-citation2").eval(scores)["mrr_list"]
    array([0.75])
    """

    def __init__(self, name: str, ties: str = "average") -> None:
        self.name = one_of("name", name, _METRICS)
        self.eval_metric = _METRICS[name]
        self._rule = _RULES[one_of("ties", ties, _RULES)]

    def eval(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate positive and negative edges.

        Parameters
        ----------
        input_dict : mapping
            ``y_pred_pos``: the scores of the positives, of shape (n,). ``y_pred_neg``: for "mrr" those of the negatives
            of each, (n, m); else of all negatives, (m,), which the positives share.

        Returns
        -------
        dict
            For "mrr" the keys ``hits@1_list``, ``hits@3_list``, ``hits@10_list`` and ``mrr_list``, each with a value
            for every positive: float64[n], or of torch's scores a tensor of float32 on their device. Else one float
            under ``hits@K`` or ``rocauc``.

        Raises
        ------
        InputError
            If a key is missing, or as by `evaluate`.
        """
        missing = [key for key in ("y_pred_pos", "y_pred_neg") if key not in input_dict]
        if missing:
            raise unexpected("input_dict", "y_pred_pos and y_pred_neg", f"no {missing[0]}: {shown(list(input_dict))}")
        given = input_dict["y_pred_pos"]
        positive = as_scores(given, "y_pred_pos").reshape(-1)
        negatives = as_scores(input_dict["y_pred_neg"], "y_pred_neg")
        if self.eval_metric == "mrr":
            values = evaluate(positive, negatives, ("Hits@1", "Hits@3", "Hits@10", "RR"), ties=self._rule.name)
            keys = "hits@1_list", "hits@3_list", "hits@10_list", "mrr_list"
            return {key: _as_given(values[:, i].copy(), given) for i, key in enumerate(keys)}
        check_no_nan(positive, "y_pred_pos")
        check_no_nan(negatives, "y_pred_neg")
        shared = _Shared.of(positive, negatives.reshape(-1), self._rule)
        if self.eval_metric == "rocauc":
            return {"rocauc": shared.mean_precedence()}
        return {self.eval_metric: shared.mean_hits(int(self.eval_metric.partition("@")[2]))}


def _as_given(values: Values, given: Any) -> Any:
    """Return values as a tensor, where the scores were one that can make another."""
    return given.float().new_tensor(values) if hasattr(given, "new_tensor") else values


class _Shared(NamedTuple):
    """Positives that share their negatives: of each, how many are above it, and how many tie with it."""

    above: Integers
    tied: Integers
    n_negatives: int

    @classmethod
    def of(cls, positive: Scores, negatives: Scores, rule: TieRule) -> _Shared:
        """Count, with those that tie taken as better or worse than the positive where the rule says so."""
        ascending = np.sort(negatives)
        end = np.searchsorted(ascending, positive, side="right")
        above, tied = len(negatives) - end, end - np.searchsorted(ascending, positive, side="left")
        if rule.extreme == "min":
            above = above + tied
        return cls(above, tied if rule.averages else np.zeros_like(tied), len(negatives))

    def mean_hits(self, k: int) -> float:
        """Average Hits@k: min(1, max(0, (k - above) / (tied + 1)))."""
        return float(means(np.clip((k - self.above) / (self.tied + 1.0), 0.0, 1.0)[:, None], _MEAN)[0])

    def mean_precedence(self) -> float:
        """Average the share of negatives that a positive precedes, where a tie counts one half: the area under ROC."""
        precedes = (self.n_negatives - self.above - 0.5 * self.tied) / self.n_negatives
        return float(means(precedes[:, None], _MEAN)[0])


_MEAN = parse_measures("Hits")
