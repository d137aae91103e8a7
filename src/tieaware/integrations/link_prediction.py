"""Evaluation of link prediction: each positive edge is ranked among negative edges.

If g negatives score higher than a positive and e negatives tie with it, OGB and PyKEEN report 1 / (1 + g + e/2), the
reciprocal of the positive's mean rank. The functions here return the mean of its reciprocal ranks, (1/(g+1) + … +
1/(g+e+1)) / (e+1), which is never less than the reciprocal of the mean rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware import evaluator as tieaware_evaluator
from tieaware.checks.arguments import flag, one_of, unexpected, whole_number
from tieaware.checks.arrays import Integers, Scores, Values, as_array, as_numpy, as_scores, check_no_nan
from tieaware.checks.rounding import ratio, rounding_of, without_rounding
from tieaware.engine.means import means
from tieaware.engine.prepared import prepare
from tieaware.engine.sampled_ranks import MOST_NEGATIVES, sampled_moments
from tieaware.engine.totals import Totals
from tieaware.engine.views import OF_CHANCE
from tieaware.engine.weights import also_weighted
from tieaware.errors import InputError
from tieaware.lists.judgments import JudgedLists
from tieaware.measures import Measure, parse_measures
from tieaware.output.tables import counted
from tieaware.ties import RULES, TieRule

# The tie rules that need only scores: negatives have no identifiers, and their order in the input is arbitrary.
LinkTieRule: TypeAlias = Literal["average", "optimistic", "pessimistic"]
_RULES: dict[LinkTieRule, TieRule] = {name: RULES[name] for name in get_args(LinkTieRule)}

# The most candidates of the lists for which chance is computed together; only their numbers take memory.
_SIZES_AT_ONCE = 1 << 24
# The number of scores that are copied and evaluated together. So many fit in the processor's second-level cache.
_SCORES_AT_ONCE = 1 << 15


def evaluate(
    positive: npt.ArrayLike,
    negatives: npt.ArrayLike | Sequence[npt.ArrayLike],
    measures: str | Measure | Sequence[str | Measure] = ("RR", "Hits@10"),
    *,
    exclude: npt.ArrayLike | None = None,
    ties: LinkTieRule = "average",
) -> Values:
    """Rank each positive among its negatives, and evaluate the ranking: its only relevant document is the positive.

    Scores are read once, a few lists at a time. Nothing is sorted, and the matrix of negatives is not copied.

    Parameters
    ----------
    positive : real numbers, shape (n,)
        The score of each positive, in any form that `tieaware.Evaluator` accepts.
    negatives : real numbers, shape (n, m) or (m,), or a sequence of n arrays
        The scores of each positive's negatives, a row or list for each positive; or of m negatives that all positives
        share.
    measures : sequence of str or Measure
        The measures to compute. With one relevant document, R, Success and Hits are the same measure, and AP is RR.
    exclude : bools, shape (n, m), optional
        True for the negatives to leave out; their scores may be NaN. In the filtered setting, these are the negatives
        that are known to be true edges.
    ties : str
        "average": the mean over all orders of the positive and the negatives that tie with it. "optimistic": the
        positive is first among them. "pessimistic": the positive is last.

    Returns
    -------
    float64[n, n_measures]
        One row for each positive; the values have the same bits as those of a `tieaware.Evaluator`.

    Raises
    ------
    InputError
        If a score is NaN, a shape is wrong, or a measure needs judged negatives, as Bpref does.

    Examples
    --------
    One negative ties with the first positive. Nine negatives tie with the second positive.

    >>> from tieaware.integrations import link_prediction
    >>> negatives = [[7.0] + [1.0] * 9, [7.0] * 9 + [1.0]]
    >>> link_prediction.evaluate([7.0, 7.0], negatives, ["RR", "Hits@1"]).round(4)
    array([[0.75  , 0.5   ],
           [0.2929, 0.1   ]])

    The reciprocals of the mean ranks are lower: 2/3 and 2/11.
    """
    asked = _checked_measures(measures)
    one_of("ties", ties, _RULES)
    first = as_scores(positive, "positive", flat=True)
    if exclude is None and _have_different_lengths(negatives):
        return _evaluate_lists(first, negatives, asked, ties)
    others: npt.NDArray[Any] = as_scores(negatives, "negatives")
    if others.ndim == 1 and len(others):
        others = np.broadcast_to(others, (len(first), len(others)))
    if others.ndim != 2 or len(others) != len(first):
        raise _of_wrong_shape(len(first), others.shape)
    return _evaluate_rows(first, others, None if exclude is None else _mask(exclude, others.shape), asked, ties)


def _checked_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Parse the measures, and raise InputError for a measure that needs judged negatives."""
    asked = parse_measures(measures)
    for measure in asked:
        if any(also_weighted((measure,)).values()) or measure.judged_only:
            raise InputError("measures", f"{measure} needs judged negatives, which link prediction does not have")
    return asked


def _of_wrong_shape(n: int, shape: tuple[int, ...]) -> InputError:
    return unexpected("negatives", f"shape ({n}, m), a row for each positive, or shape (m,)", f"shape {shape}")


class Adjusted(NamedTuple):
    """The means of measures over all positives, compared with those of random scores.

    Attributes
    ----------
    mean, chance : float64[n_measures]
        The mean of each measure, and its expectation if each positive has every rank among its candidates with equal
        probability.
    adjusted : float64[n_measures]
        (mean - chance) / (best - chance), where the best has every positive first: 0 for chance, 1 for the best. NaN if
        every rank is as good.
    z : float64[n_measures]
        How many standard deviations of the mean of random ranks the mean is better than chance.
    """

    mean: Values
    chance: Values
    adjusted: Values
    z: Values


def adjusted(
    positive: npt.ArrayLike,
    negatives: npt.ArrayLike | Sequence[npt.ArrayLike],
    measures: str | Measure | Sequence[str | Measure] = ("RR", "Hits@10", "MeanRank"),
    *,
    exclude: npt.ArrayLike | None = None,
    ties: LinkTieRule = "average",
) -> Adjusted:
    """Compare the means of measures with chance, so that data sets with other numbers of candidates can be compared.

    Parameters
    ----------
    positive, negatives, exclude, ties
        As for `evaluate`.
    measures : sequence of str or Measure
        The measures to compute. With one positive, MeanRank is its rank: the adjusted MeanRank is PyKEEN's AMRI, and
        mean / chance is AMR. The adjusted Hits@k and RR are PyKEEN's adjusted Hits@k and adjusted inverse harmonic mean
        rank.

    Returns
    -------
    Adjusted
        The means, their values by chance, the adjusted means and z.

    Raises
    ------
    InputError
        As for `evaluate`, or if there is no positive.

    References
    ----------
    Hoyt, C. T., Berrendorf, M. and others (2022), A unified framework for rank-based evaluation metrics for link
    prediction in knowledge graphs.

    Examples
    --------
    The positives have the ranks 2 and 1 … 4, of four candidates each.

    >>> from tieaware.integrations import link_prediction
    >>> found = link_prediction.adjusted([2.0, 1.0], [[1.0, 3.0, 0.0], [1.0, 1.0, 1.0]], ["MeanRank", "Hits@2"])
    >>> found.mean, found.chance, found.adjusted.round(4)
    (array([2.25, 0.75]), array([2.5, 0.5]), array([0.1667, 0.5   ]))
    """
    asked = parse_measures(measures)
    values = evaluate(positive, negatives, asked, exclude=exclude, ties=ties)
    if not len(values):
        raise InputError("positive", "must have at least one element")
    sizes, of_size = np.unique(_numbers_of_candidates(len(values), negatives, exclude), return_inverse=True)
    mean, std, best = (each[of_size.reshape(-1)] for each in _chance(sizes, asked))
    value, chance, ideal = (means(each, asked) for each in (values, mean, best))
    error = np.sqrt((std**2).sum(axis=0)) / len(values)
    better = np.where([measure.definition.less_is_better for measure in asked], chance - value, value - chance)
    room = without_rounding(ideal - chance, rounding_of(np.stack((chance, ideal)), axis=0))
    return Adjusted(value, chance, ratio(value - chance, room), ratio(better, np.where(room == 0.0, 0.0, error)))


def _numbers_of_candidates(n: int, negatives: Any, exclude: Any) -> Integers:
    """Return how many candidates each of n positives is ranked among, itself included: int64[n]."""
    if exclude is None and _have_different_lengths(negatives):
        return np.array([len(each) + 1 for each in negatives])
    width = np.shape(as_numpy(negatives, "negatives"))[-1] + 1
    candidates = np.full(n, width)
    return candidates if exclude is None else candidates - np.count_nonzero(as_array(exclude, "exclude"), axis=1)


def _chance(sizes: Integers, measures: tuple[Measure, ...]) -> Values:
    """Return the mean, standard deviation and best value of lists of these sizes: float64[3, n_sizes, n_measures]."""
    outputs = np.empty((3, len(sizes), len(measures)))
    step = max(1, _SIZES_AT_ONCE // int(sizes[-1]))
    for start in range(0, len(sizes), step):
        some = sizes[start : start + step]
        ends, one_each = np.concatenate(([0], np.cumsum(some))), np.arange(len(some) + 1)
        lists = JudgedLists(ends, one_each, np.zeros(len(some), np.int64), np.ones(len(some), np.int32))
        prepared = prepare(measures, lists, Totals.of(measures, lists.judgments), OF_CHANCE)
        of_some = np.empty((3, len(some), len(measures)))
        prepared.evaluate(np.empty(0), of_some)
        outputs[:, start : start + step] = of_some
    return outputs


def _have_different_lengths(negatives: Any) -> bool:
    """Return whether negatives are a sequence of flat lists of different lengths."""
    if not isinstance(negatives, list | tuple):
        return False
    with suppress(ValueError):
        return len({len(each) for each in negatives if hasattr(each, "__len__") and np.ndim(each) == 1}) > 1
    # np.ndim raises ValueError for an element that is itself a list of lists of different lengths.
    return False


def _mask(exclude: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Check `exclude`, the mask of negatives to leave out, and return it as an array of bools."""
    mask = as_array(exclude, "exclude")
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise unexpected("exclude", f"bools of shape {shape}, as the negatives", f"{mask.dtype} of shape {mask.shape}")
    return mask


def _evaluate_rows(
    positive: Scores,
    negatives: npt.NDArray[Any],
    exclude: npt.NDArray[np.bool_] | None,
    measures: Sequence[Measure],
    ties: LinkTieRule,
) -> Values:
    """Evaluate lists of equal length, a few lists at a time. The first document of each list is the positive."""
    n, width = len(negatives), negatives.shape[1] + 1
    step = max(1, _SCORES_AT_ONCE // width)
    scores = np.empty((min(step, n), width), np.result_type(positive, negatives))
    values = np.empty((n, len(measures)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        size = rows.stop - start
        if start == 0 or exclude is not None:
            evaluator = _evaluator(size, width, None if exclude is None else exclude[rows], measures, ties)
        elif size < step:
            evaluator = evaluator.rows(0, size)
        chunk = scores[:size]
        chunk[:, 0], chunk[:, 1:] = positive[rows], negatives[rows]
        try:
            evaluator(chunk, out=values[rows])
        except InputError:
            # This error names an index in the chunk. Raise an error with the index in the argument that holds the NaN.
            check_no_nan(positive, "positive")
            check_no_nan(negatives if exclude is None else np.where(exclude, 0.0, negatives), "negatives")
            raise
    return values


def _evaluator(
    n: int, width: int, exclude: npt.NDArray[np.bool_] | None, measures: Sequence[Measure], ties: LinkTieRule
) -> tieaware_evaluator.Evaluator:
    """Return an evaluator of n lists in which only the first document, the positive, is relevant."""
    # Sparse matrices in CSR form.
    matrix = partial(SimpleNamespace, shape=(n, width))
    relevant = matrix(indptr=np.arange(n + 1), indices=np.zeros(n, np.int64), data=np.ones(n, np.int8))
    excluded = None
    if exclude is not None:
        rows, columns = np.nonzero(exclude)
        ends = np.searchsorted(rows, np.arange(n + 1))
        excluded = matrix(indptr=ends, indices=columns + 1, data=np.zeros(len(columns), np.int8))
    return tieaware_evaluator.Evaluator.from_sparse(relevant, measures, exclude=excluded, ties=ties)


def _evaluate_lists(positive: Scores, negatives: Any, measures: Sequence[Measure], ties: LinkTieRule) -> Values:
    """Evaluate positives whose lists of negatives have different lengths."""
    if len(negatives) != len(positive):
        raise unexpected("negatives", f"{counted(len(positive), 'list')}, one for each positive", f"{len(negatives)}")
    others = [as_scores(each, f"negatives[{i}]", flat=True) for i, each in enumerate(negatives)]
    for i, each in enumerate(others):
        check_no_nan(each, f"negatives[{i}]")
    check_no_nan(positive, "positive")
    offsets = np.concatenate(([0], np.cumsum([len(each) + 1 for each in others])))
    labels = np.full(offsets[-1], -1, np.int8)
    labels[offsets[:-1]] = 1
    scores = np.concatenate([array for i, each in enumerate(others) for array in (positive[i : i + 1], each)])
    return tieaware_evaluator.Evaluator(labels, measures, offsets=offsets, ties=ties)(scores)


class Counts(NamedTuple):
    """How many negatives each positive has, and how many of them rank above it or tie with it.

    Attributes
    ----------
    above, tied, negatives : int64[n]
        The numbers of negatives with a higher score, with the same score, and of all.
    """

    above: Integers
    tied: Integers
    negatives: Integers


def counts(positive: npt.ArrayLike, negatives: npt.ArrayLike, *, exclude: npt.ArrayLike | None = None) -> Counts:
    """Count the negatives that rank above each positive or tie with it.

    Parameters
    ----------
    positive : real numbers, shape (n,)
        The score of each positive.
    negatives : real numbers, shape (n, m) or (m,)
        The scores of each positive's negatives, or of m negatives that all positives share.
    exclude : bools, shape (n, m), optional
        True for the negatives to leave out, as for `evaluate`.

    Returns
    -------
    Counts

    Raises
    ------
    InputError
        If a score is NaN, or a shape is wrong.

    Examples
    --------
    >>> counts([7.0, 7.0], [[7.0, 1.0, 8.0], [7.0, 7.0, 1.0]])
    Counts(above=array([1, 0]), tied=array([1, 2]), negatives=array([3, 3]))
    """
    first = as_scores(positive, "positive", flat=True)
    others: npt.NDArray[Any] = as_scores(negatives, "negatives")
    if exclude is None and others.ndim == 1:
        check_no_nan(first, "positive")
        check_no_nan(others, "negatives")
        return _shared(first, others, _RULES["average"])
    others = np.broadcast_to(others, (len(first), len(others))) if others.ndim == 1 else others
    if others.ndim != 2 or len(others) != len(first):
        raise _of_wrong_shape(len(first), others.shape)
    left = None if exclude is None else ~_mask(exclude, others.shape)
    check_no_nan(first, "positive")
    check_no_nan(others if left is None else np.where(left, others, 0.0), "negatives")
    found = np.empty((3, len(first)), np.int64)
    for i, (score, row) in enumerate(zip(first, others, strict=True)):
        row = row if left is None else row[left[i]]
        found[:, i] = np.count_nonzero(row > score), np.count_nonzero(row == score), len(row)
    return Counts(*found)


class Sampled(NamedTuple):
    """The mean and the standard deviation of measures over samples of the negatives.

    Attributes
    ----------
    mean, std : float64[n, n_measures]
        One row for each positive.
    """

    mean: Values
    std: Values


def sampled(
    above: npt.ArrayLike,
    tied: npt.ArrayLike,
    negatives: npt.ArrayLike,
    sample: int,
    measures: str | Measure | Sequence[str | Measure] = ("RR", "Hits@10"),
    *,
    replacement: bool = False,
) -> Sampled:
    """Return what measures of each positive are on average if it is ranked among a sample of its negatives.

    The mean is over all samples of a positive's negatives, and over all orders of those that tie with it. Nothing is
    drawn: with X of the n negatives above the positive, its rank among m sampled ones is 1 + Y, and Y has a
    hypergeometric distribution. With ties, X is each of above … above + tied with equal probability.

    Parameters
    ----------
    above, tied, negatives : int or int64[n]
        For each positive, the number of negatives with a higher score, with the same score, and of all. `counts`
        returns them for scores. An int holds for all positives.
    sample : int
        The number m of negatives in a sample.
    measures : sequence of str or Measure
        The measures to compute, of lists in which the positive is the only relevant document.
    replacement : bool
        Whether the same negative may be drawn more than once. Y then has a binomial distribution.

    Returns
    -------
    Sampled
        The mean and the standard deviation of each measure for each positive. The standard deviation is that of one
        positive; divide the root of the sum of its squares by n for that of the mean over n positives.

    Raises
    ------
    InputError
        If a number is not whole or out of range, a sample is larger than the number of negatives, a measure needs
        judged negatives, or a group of ties is too large for samples with replacement.

    References
    ----------
    Krichene, W. and Rendle, S. (2020). On sampled metrics for item recommendation. KDD 2020.

    Examples
    --------
    Among 10,000 negatives, the first positive has rank 101, and the second ties with all of them.

    >>> found = sampled([100, 0], [0, 10_000], 10_000, 100, ["RR", "Hits@10"])
    >>> found.mean.round(4)
    array([[0.6305, 1.    ],
           [0.0515, 0.099 ]])
    >>> found.std.round(4)
    array([[2.909e-01, 2.000e-04],
           [1.164e-01, 2.987e-01]])
    """
    asked = _checked_measures(measures)
    m = whole_number("sample", sample, 0, MOST_NEGATIVES)
    values, repeated = _values_by_rank(m, asked), flag("replacement", replacement)
    mean, variance = sampled_moments(above, tied, negatives, values, repeated)
    return Sampled(mean, np.sqrt(variance))


def _values_by_rank(m: int, measures: Sequence[Measure]) -> Values:
    """Return the value of each measure for a positive with the rank 1, 2 … m + 1 among m negatives."""
    scores = -np.arange(m + 1.0)
    others = np.broadcast_to(scores[:m], (m + 1, m))
    return np.ascontiguousarray(_evaluate_rows(scores + 0.5, others, None, measures, "average").T)


# The data sets of OGB, each with its metric.
DataSet: TypeAlias = Literal[
    "ogbl-ppa", "ogbl-collab", "ogbl-ddi", "ogbl-citation2", "ogbl-wikikg2", "ogbl-biokg", "ogbl-vessel",
]  # fmt: skip
_METRICS: dict[DataSet, str] = {
    "ogbl-ppa": "hits@100", "ogbl-collab": "hits@50", "ogbl-ddi": "hits@20", "ogbl-citation2": "mrr",
    "ogbl-wikikg2": "mrr", "ogbl-biokg": "mrr", "ogbl-vessel": "rocauc",
}  # fmt: skip


class Evaluator:
    """A replacement of ``ogb.linkproppred.Evaluator`` that averages exactly over ties.

    Parameters
    ----------
    name : str
        A data set of OGB, such as "ogbl-citation2".
    ties : str
        The tie rule, as for `evaluate`. Where all positives share the negatives, OGB itself computes hits@K
        as if the rule were "pessimistic". Otherwise, it computes MRR and hits from mean ranks.

    Attributes
    ----------
    name, eval_metric : str
        The data set, and the metric that OGB uses for it: "mrr", "hits@K" or "rocauc".

    Raises
    ------
    InputError
        If OGB has no data set of this name.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware.integrations.link_prediction import Evaluator
    >>> scores = {"y_pred_pos": np.array([7.0]), "y_pred_neg": np.array([[7.0, 1.0]])}
    >>> Evaluator("ogbl-citation2").eval(scores)["mrr_list"]
    array([0.75])
    """

    def __init__(self, name: DataSet, ties: LinkTieRule = "average") -> None:
        self.name: DataSet = one_of("name", name, _METRICS)
        self.eval_metric: str = _METRICS[name]
        self._ties: LinkTieRule = one_of("ties", ties, _RULES)

    def __repr__(self) -> str:
        return f"Evaluator({self.name!r}, metric: {self.eval_metric}, ties: {self._ties})"

    def eval(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Evaluate positive and negative edges.

        Parameters
        ----------
        input_dict : mapping
            ``y_pred_pos``: the scores of the positives, of shape (n,). ``y_pred_neg``: for "mrr" the scores of each
            positive's negatives, of shape (n, m); otherwise the scores of the negatives that all positives share, of
            shape (m,).

        Returns
        -------
        dict
            For "mrr" the keys ``hits@1_list``, ``hits@3_list``, ``hits@10_list`` and ``mrr_list``, each with one value
            per positive: float64[n], or a float32 tensor on the same device if the scores are torch tensors. Otherwise
            one float under ``hits@K`` or ``rocauc``.

        Raises
        ------
        InputError
            If a key is missing, a score is NaN, or a shape is wrong.
        """
        missing = [key for key in ("y_pred_pos", "y_pred_neg") if key not in input_dict]
        if missing:
            raise InputError("input_dict", f"the key {missing[0]} is missing; needs y_pred_pos and y_pred_neg")
        given = input_dict["y_pred_pos"]
        positive = as_scores(given, "y_pred_pos").reshape(-1)
        negatives = as_scores(input_dict["y_pred_neg"], "y_pred_neg")
        if self.eval_metric == "mrr":
            values = evaluate(positive, negatives, ("Hits@1", "Hits@3", "Hits@10", "RR"), ties=self._ties)
            keys = "hits@1_list", "hits@3_list", "hits@10_list", "mrr_list"
            return {key: _like(given, values[:, i].copy()) for i, key in enumerate(keys)}
        check_no_nan(positive, "y_pred_pos")
        check_no_nan(negatives, "y_pred_neg")
        shared = _shared(positive, negatives.reshape(-1), _RULES[self._ties])
        if self.eval_metric == "rocauc":
            return {"rocauc": _roc_area(shared)}
        return {self.eval_metric: _mean_hits(shared, int(self.eval_metric.partition("@")[2]))}


def _like(given: Any, values: Values) -> Any:
    """Return values as a float32 tensor on the device of `given` if that is a torch tensor, otherwise unchanged."""
    return given.float().new_tensor(values) if hasattr(given, "new_tensor") else values


def _shared(positive: Scores, negatives: Scores, rule: TieRule) -> Counts:
    """Count the negatives that all positives share.

    Ties count as below the positive if the rule is optimistic, as above if it is pessimistic.
    """
    ascending = np.sort(negatives)
    end = np.searchsorted(ascending, positive, side="right")
    above, tied = len(negatives) - end, end - np.searchsorted(ascending, positive, side="left")
    if rule.extreme == "min":
        above = above + tied
    return Counts(above, tied if rule.averages else np.zeros_like(tied), np.full(len(positive), len(negatives)))


def _mean_hits(counts: Counts, k: int) -> float:
    """Return the mean over the positives of Hits@k, which is min(1, max(0, (k - above) / (tied + 1))) for each."""
    return float(means(np.clip((k - counts.above) / (counts.tied + 1.0), 0.0, 1.0)[:, None], _MEAN)[0])


def _roc_area(counts: Counts) -> float:
    """Return the area under the ROC curve: the mean share of negatives below a positive; a tied one counts half."""
    below = (counts.negatives - counts.above - 0.5 * counts.tied) / counts.negatives
    return float(means(below[:, None], _MEAN)[0])


# The function `means` needs a measure, from which it knows that the mean is arithmetic. Any such measure will do.
_MEAN = parse_measures("Hits")
