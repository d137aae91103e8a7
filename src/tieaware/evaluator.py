"""Evaluator: labels once, then scores in and values out, thousands of times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError
from tieaware.inputs import Identifiers
from tieaware.measures import POOLED, Measure, Values
from tieaware.precision import Coarsening, parse_precision
from tieaware.preparation import Integers, Judgments, Labels, Prepared, parse_measures, prepare
from tieaware.results import Spread, means
from tieaware.threads import checked_threads, even_chunks, over_chunks

_LARGEST_LABEL = 2**31 - 1


class Evaluator:
    """Evaluates the same lists again and again, with new scores each time.

    Everything that does not depend on the scores is computed here, once; a call computes the rest without copying.
    An evaluator is immutable: it may be called from several threads at once, pickled, and used after a fork.

    Parameters
    ----------
    labels : integers, shape (n_docs,) or (n_queries, depth)
        The label of each document, list after list; negative for an unjudged one (below -1 if it is in the pool,
        which infAP asks). In two dimensions each row is a list, and `offsets`, `group` and `qid` are not given.
    measures : sequence of str or Measure
        What to compute, e.g. ``["AP", "RR@10"]``.
    offsets : integers, shape (n_queries + 1,), optional
        Where each list starts, and the end of the last. Without `offsets`, `group` and `qid`, flat labels are one list.
    judgments : (labels, offsets), optional
        The labels of *all* judged documents of each query, retrieved or not, which decide the number of relevant
        documents and the ideal gain. By default the judged documents of the lists.
    ties : str
        The tie rule: "average" (the expectation over all orderings of tied documents), "run_order", "trec_eval",
        "optimistic" or "pessimistic".
    docids : sequence of str or bytes, length n_docs, optional
        The document identifiers, for ``ties="trec_eval"`` only.
    precision : str or Coarsening, optional
        What the scores are coarsened to first, e.g. "decimals:2" or "bfloat16"; see `tieaware.precision`.
    threads : int or None
        How many threads a call may use; None for one per core. The values are the same bits for any number.
    group : integers, shape (n_queries,), optional
        The sizes of the lists, instead of `offsets`, as LightGBM takes them.
    qid : shape (n_docs,), optional
        The query of each document, instead of `offsets`, equal values adjacent, as XGBoost takes them.
    undefined : float
        The value for a query without a relevant judged document: 0, as in trec_eval. With NaN such a query is left out
        of the means; a mean is NaN if no query is left.

    Attributes
    ----------
    measures : tuple of Measure
        What is computed, one for each column of the values.
    n_queries, n_docs : int
        The number of lists, and of their documents together.

    Raises
    ------
    InputError
        A ValueError whose one line names the argument, what was found, and what was expected.

    Examples
    --------
    Two documents tie in second place, one of them relevant: it comes second or third, with equal chance.

    >>> import tieaware
    >>> evaluator = tieaware.Evaluator([0, 1, 0, 1], ["RR", "AP", "P@2"])
    >>> evaluator([4.0, 3.0, 3.0, 2.0]).round(4)
    array([[0.4167, 0.4583, 0.25  ]])
    """

    def __init__(
        self,
        labels: npt.ArrayLike,
        measures: str | Measure | Sequence[str | Measure],
        offsets: npt.ArrayLike | None = None,
        judgments: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        ties: str = "average",
        docids: Sequence[str | bytes] | None = None,
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        *,
        group: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
        undefined: float = 0.0,
    ) -> None:
        self.measures = parse_measures(measures)
        self._threads = checked_threads(threads)
        array = np.asarray(labels)
        self._shape = array.shape
        lists = _lists(array, offsets, group, qid)
        flat = checked_labels(array.reshape(-1), "labels")
        self._lists = lists
        self.n_queries = len(lists) - 1
        self.n_docs = len(flat)

        of_pool = any(measure.definition.of_pool for measure in self.measures)
        positions = np.flatnonzero((flat >= 0) | (flat <= POOLED) if of_pool else flat >= 0)
        judged_offsets = np.searchsorted(positions, lists)
        in_lists = Judgments(flat[positions], judged_offsets)
        judged = in_lists if judgments is None else _judgments(judgments, in_lists, self.n_queries)
        self._ties = ties
        self._prepare = partial(
            prepare,
            self.measures,
            ties,
            lists,
            judged_offsets,
            positions - np.repeat(lists[:-1], np.diff(judged_offsets)),
            in_lists.labels,
            judged.totals(self.measures),
            order=_document_order(ties, docids, lists),
            undefined=float(undefined),
            precision=None if precision is None else parse_precision(precision),
        )
        self._prepared = self._prepare()
        self._prepared_for_spread: Prepared | None = None
        self._chunks = even_chunks(lists, self._threads)
        # Whether the kernel can do it all, and whether it can take many scorings in one go.
        self._in_kernel = self._prepared.in_kernel
        self._one_by_one = not self._in_kernel

    def __call__(self, scores: npt.ArrayLike, out: Values | None = None) -> Values:
        """Evaluate every query.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            float64 and float32 are read as they are, others are converted. A higher score is a higher rank.
        out : float64[n_queries, n_measures], optional
            Where to write the values; C-contiguous.

        Returns
        -------
        float64[n_queries, n_measures]
            Rows in the order of the queries, columns in that of the measures; `out`, if it was given.

        Raises
        ------
        InputError
            If a score is NaN, or a shape or type does not fit; `out` is then unspecified.
        """
        if self._threads == 1 and out is not None and self._in_kernel:
            failed = self._prepared.engine.call(scores, out)
            if failed == -1:
                return out
        array = self._prepared.coarsen(self._scores(scores, self._shape))
        values = np.empty((self.n_queries, len(self.measures))) if out is None else self._checked_out(out)
        failures = over_chunks(
            lambda first, last: self._prepared.evaluate(array, values, first, last), self._chunks, self._threads
        )
        for query in failures:
            if query >= 0:
                raise self._nan(array, query)
        return values

    def mean(self, scores: npt.ArrayLike) -> Values:
        """Evaluate every query and average.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            As in the call.

        Returns
        -------
        float64[n_measures]
            The means over the queries, in the order of the measures, with the same bits as those of `Results.mean`; of
            GMAP the geometric mean, of counts the arithmetic one. A query whose value is NaN is left out.

        Raises
        ------
        InputError
            As in the call; or if there is no query.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.mean([[2.0, 2.0], [2.0, 1.0]])
        array([0.875, 0.75 ])
        """
        averages: Values = self.many(self._scores(scores, self._shape).reshape(1, self.n_docs))[0]
        return averages

    def spread(self, scores: npt.ArrayLike) -> Spread:
        """Evaluate every query, and tell how far the order of tied documents can move each value.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            As in the call.

        Returns
        -------
        Spread
            The mean, standard deviation, minimum and maximum over all orders that the scores allow, equally likely;
            with `precision`, over those that the coarsened scores allow. Exact, not sampled.

        Raises
        ------
        InputError
            As in the call; or if the ties of this evaluator are not averaged.

        References
        ----------
        McSherry, F. and Najork, M. (2008), for means; the variances are tieaware's own.

        Examples
        --------
        >>> import tieaware
        >>> spread = tieaware.Evaluator([0, 1, 0, 1], ["RR", "P@2"]).spread([4.0, 3.0, 3.0, 2.0])
        >>> spread.mean.round(4), spread.std.round(4)
        (array([[0.4167, 0.25  ]]), array([[0.0833, 0.25  ]]))
        >>> spread.min.round(4), spread.max.round(4)
        (array([[0.3333, 0.    ]]), array([[0.5, 0.5]]))
        """
        if self._ties != "average":
            raise InputError(f"spread: ties={self._ties!r} leaves one order alone, expected ties='average'")
        if self._prepared_for_spread is None:
            self._prepared_for_spread = self._prepare(spread=True)
        prepared = self._prepared_for_spread
        array = prepared.coarsen(self._scores(scores, self._shape))
        out = np.empty((4, self.n_queries, len(self.measures)))

        for query in over_chunks(partial(prepared.spread, array, out), self._chunks, self._threads):
            if query >= 0:
                raise self._nan(array, query)
        return Spread(*out)

    def many(self, candidates: npt.ArrayLike) -> Values:
        """Evaluate many scorings of the same documents.

        Parameters
        ----------
        candidates : real numbers, shape (n_candidates, n_docs) or (n_candidates, *labels.shape)
            The scores of each candidate; types as in the call.

        Returns
        -------
        float64[n_candidates, n_measures]
            The means over the queries, as `mean` gives them.

        Raises
        ------
        InputError
            If a score is NaN, a shape or type does not fit, or there is no query.

        Examples
        --------
        The second candidate ties both documents of each list.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.many([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        array = np.asarray(candidates)
        if array.ndim == 0:
            raise InputError("candidates: found a single number, expected an array of shape (n_candidates, n_docs)")
        array = self._scores(array, (array.shape[0], *self._shape), "candidates")
        array = array.reshape(-1, self.n_docs) if self.n_docs else array.reshape(len(array), 0)
        self._check_any_query()
        if self._one_by_one:
            each = [means(self(candidate)[None], self.measures)[0] for candidate in array]
            return np.array(each).reshape(len(array), len(self.measures))
        averages = np.empty((len(array), len(self.measures)))
        edges = np.linspace(0, len(array), 32 * self._threads + 1).astype(np.int64)
        failures = over_chunks(
            lambda first, last: self._prepared.engine.means(array, averages, first, last), edges, self._threads
        )
        for failure in failures:
            if failure is not None:
                candidate, query = failure
                raise self._nan(array[candidate], query, f"candidates[{candidate}]")
        return averages

    def columns(self, features: npt.ArrayLike) -> Values:
        """Take each feature as a scoring function and evaluate it.

        Parameters
        ----------
        features : real numbers, shape (n_docs, n_features) or (*labels.shape, n_features)
            The features of each document; types as in the call. A higher value is a higher rank.

        Returns
        -------
        float64[n_features, n_measures]
            The means over the queries of each feature by itself, as `mean` gives them.

        Raises
        ------
        InputError
            If a feature is NaN, a shape or type does not fit, or there is no query.

        Examples
        --------
        The first feature ranks the relevant document first, the second ties it with another.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR", "P@1"])
        >>> evaluator.columns([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        array = np.asarray(features)
        if array.ndim == 0 or array.shape not in ((self.n_docs, array.shape[-1]), (*self._shape, array.shape[-1])):
            raise InputError(f"features: shape {array.shape}, expected ({self.n_docs}, n_features)")
        rows = array.reshape(self.n_docs, array.shape[-1])
        self._check_any_query()
        if self._one_by_one:
            return self.many(rows.T)
        averages = np.empty((rows.shape[1], len(self.measures)))

        def evaluate(first: int, last: int) -> None:
            columns = self._scores(np.ascontiguousarray(rows[:, first:last].T), (last - first, self.n_docs), "features")
            failure = self._prepared.engine.means(columns, averages[first:last], 0, last - first)
            if failure is not None:
                raise self._nan(columns[failure[0]], failure[1], f"features[:, {first + failure[0]}]")

        # A few columns at a time, so that their copy stays in the cache where the lists allow it.
        over_chunks(evaluate, np.append(np.arange(0, len(averages), 8), len(averages)), self._threads)
        return averages

    def _scores(self, scores: npt.ArrayLike, shape: tuple[int, ...], name: str = "scores") -> npt.NDArray[Any]:
        """Return float64 or float32 scores, contiguous, for lists of the given shape."""
        array = np.asarray(scores)
        flat = (self.n_docs,) if shape == self._shape else (shape[0], self.n_docs)
        if array.shape not in (shape, flat):
            wanted = f"{shape}" if shape == flat else f"{flat} or {shape}"
            raise InputError(f"{name}: shape {array.shape}, expected {wanted}")
        return as_scores(array, name).reshape(flat)

    def _checked_out(self, out: Values) -> Values:
        shape = (self.n_queries, len(self.measures))
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(f"out: found {found}, expected float64{list(shape)}")
        if not out.flags.carray:
            raise InputError("out: expected a C-contiguous, aligned and writeable array")
        return out

    def _check_any_query(self) -> None:
        if self.n_queries == 0:
            raise InputError("there is no query, and so no mean")

    def _nan(self, scores: npt.NDArray[Any], query: int, name: str = "scores") -> InputError:
        """Say where the NaN is."""
        start, end = self._lists[query], self._lists[query + 1]
        position = int(np.flatnonzero(np.isnan(scores.reshape(-1)[start:end]))[0])
        return InputError(f"{name}: NaN for document {position} of query {query}, expected a number")


def as_scores(array: npt.NDArray[Any], name: str = "scores") -> npt.NDArray[Any]:
    """Return the scores as contiguous, aligned, native float32 or float64, without making two of them equal."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    if kind == "b" or (kind in "iu" and size <= 2) or (kind == "f" and size == 2):
        return np.require(array, np.float32, ["C", "A"])
    if kind not in "iuf" and not (kind == "O" and array.size):
        raise InputError(f"{name}: dtype {array.dtype}, expected real numbers")
    try:
        with np.errstate(over="ignore"):
            converted = np.require(array, np.float64, ["C", "A"])
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected real numbers, found {error}") from None
    if size >= 8:
        _check_exact(array, converted, name)
    return converted


def _check_exact(array: npt.NDArray[Any], converted: Values, name: str) -> None:
    """Raise InputError where a score was rounded: it might tie with another then."""
    is_integer = array.dtype.kind in "iu"
    # NumPy would round an integer to compare it with a float64; those below 2^53 are exact, the others go to Python.
    suspects = np.abs(converted) >= 2.0**53 if is_integer else (converted != array) & ~np.isnan(converted)
    for index in zip(*np.nonzero(suspects), strict=True):
        if not is_integer or int(converted[index]) != int(array[index]):
            raise InputError(f"{name}: {array[index]} of dtype {array.dtype} is no float64, and could tie by rounding")


def checked_labels(labels: npt.NDArray[Any], name: str) -> Labels:
    """Return the labels as int32, or raise InputError for one that is not a whole number of that size."""
    if labels.dtype == np.int32:
        return np.require(labels, requirements=["C", "A"])
    if labels.size == 0:
        return np.zeros(0, dtype=np.int32)
    if labels.dtype.kind not in "biuf":
        raise InputError(f"{name}: dtype {labels.dtype}, expected integers")
    wrong = ~((labels >= -_LARGEST_LABEL) & (labels <= _LARGEST_LABEL))
    if labels.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            wrong |= labels != np.floor(labels)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InputError(f"{name}[{index}] is {labels[index]}, expected an integer of at most {_LARGEST_LABEL}")
    return np.require(labels, np.int32, ["C", "A"])


def _integers(values: npt.ArrayLike, name: str) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name}: found {array.dtype}{list(array.shape)}, expected a flat array of integers")
    integers: Integers = array.astype(np.int64)
    return integers


def _lists(
    labels: npt.NDArray[Any],
    offsets: npt.ArrayLike | None,
    group: npt.ArrayLike | None,
    qid: npt.ArrayLike | None,
) -> Integers:
    """Return the offsets of the lists, however they were given."""
    given = [n for n, v in (("offsets", offsets), ("group", group), ("qid", qid)) if v is not None]
    if labels.ndim not in (1, 2):
        raise InputError(f"labels: {labels.ndim} dimensions, expected 1, or 2 with a list in each row")
    if labels.ndim == 2:
        if given:
            raise InputError(f"{given[0]}: found beside labels of 2 dimensions, expected flat labels")
        rows: Integers = np.arange(labels.shape[0] + 1, dtype=np.int64) * labels.shape[1]
        return rows
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: expected one of them")
    n_docs = len(labels)
    if offsets is not None:
        return checked_offsets(offsets, n_docs, "offsets", "labels")
    if group is not None:
        sizes = _integers(group, "group")
        if (sizes < 0).any() or sizes.sum() != n_docs:
            raise InputError(f"group: the sizes add up to {sizes.sum()}, expected {n_docs}, the number of labels")
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    if qid is not None:
        return _adjacent(np.asarray(qid), n_docs)
    return np.array([0, n_docs], dtype=np.int64)


def checked_offsets(offsets: npt.ArrayLike, n: int, name: str, of: str) -> Integers:
    """Return offsets that start at 0, never decrease, and end at n."""
    array = _integers(offsets, name)
    if len(array) == 0 or array[0] != 0 or array[-1] != n:
        ends = f"{array[0]} … {array[-1]}" if len(array) else "none"
        raise InputError(f"{name}: found {ends}, expected 0 … {n}, the number of {of}")
    falls = np.flatnonzero(array[1:] < array[:-1])
    if len(falls):
        i = int(falls[0])
        raise InputError(f"{name}[{i + 1}] is {array[i + 1]}, expected at least {name}[{i}], which is {array[i]}")
    return array


def _adjacent(qid: npt.NDArray[Any], n_docs: int) -> Integers:
    if qid.shape != (n_docs,):
        raise InputError(f"qid: shape {qid.shape}, expected ({n_docs},), one for each label")
    starts = np.flatnonzero(qid[1:] != qid[:-1]) + 1
    first = qid[np.concatenate(([0], starts))] if n_docs else qid
    if len(np.unique(first)) != len(first):
        _, places = np.unique(first, return_index=True)
        again = first.tolist()[np.setdiff1d(np.arange(len(first)), places)[0]]
        raise InputError(f"qid: {again!r} comes back after another query, expected the rows of a query side by side")
    return np.concatenate(([0], starts, [n_docs] if n_docs else [])).astype(np.int64)


def _judgments(judgments: tuple[npt.ArrayLike, npt.ArrayLike], in_lists: Judgments, n_queries: int) -> Judgments:
    try:
        given_labels, given_offsets = judgments
    except (TypeError, ValueError):
        raise InputError("judgments: expected a pair (labels, offsets)") from None
    array = np.asarray(given_labels)
    if array.ndim != 1:
        raise InputError(f"judgments: labels of {array.ndim} dimensions, expected 1")
    labels = checked_labels(array, "judgments: labels")
    offsets = checked_offsets(given_offsets, len(labels), "judgments: offsets", "judged documents")
    if len(offsets) != n_queries + 1:
        raise InputError(f"judgments: {len(offsets) - 1} queries, expected {n_queries}, as in labels")
    judged = Judgments(labels, offsets)
    for least in np.unique(in_lists.labels[in_lists.labels >= 0]):
        short = np.flatnonzero(judged.count(int(least)) < in_lists.count(int(least)))
        if len(short):
            q = int(short[0])
            raise InputError(
                f"judgments: query {q} has {judged.count(int(least))[q]:.0f} documents with a label of at least "
                f"{least}, expected the {in_lists.count(int(least))[q]:.0f} of its list among them"
            )
    return judged


def _document_order(ties: str, docids: Sequence[str | bytes] | None, lists: Integers) -> Integers | None:
    if ties == "trec_eval":
        if docids is None:
            raise InputError("docids: expected the document identifiers, by which ties='trec_eval' orders")
        documents = Identifiers.from_sequence(docids, "docids")
        if len(documents) != lists[-1]:
            raise InputError(f"docids: found {len(documents)}, expected {lists[-1]}, one for each label")
        return documents.descending_order(lists)
    return None
