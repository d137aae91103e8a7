"""Evaluator: labels once, then scores in and values out, thousands of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected, whole_number
from tieaware.checks.arrays import (
    Integers,
    Offsets,
    Scores,
    Values,
    as_array,
    as_flat,
    as_integer_labels,
    as_labels,
    as_numpy,
    as_offsets,
    as_scores,
    element,
    offsets_from_qid,
    offsets_from_sizes,
)
from tieaware.engine.prepared import Prepared, prepare
from tieaware.engine.spread import Spread
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.engine.weights import also_weighted
from tieaware.errors import InputError
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.lists.sparse import Relevance
from tieaware.measures import Measure, parse_measures
from tieaware.precision import Coarsening
from tieaware.runtime.threads import checked_threads, over_chunks
from tieaware.ties import TieRule


class Evaluator:
    """Evaluates the same lists again and again, with new scores each time.

    Everything that does not depend on the scores is computed here, once; a call computes the rest without copying.
    An evaluator is immutable: it may be called from several threads at once, pickled, and used after a fork.

    Parameters
    ----------
    labels : whole numbers of 32 bits, also as floats, shape (n_docs,) or (n_queries, depth)
        The label of each document, list after list; negative for an unjudged one (below -1 if it is in the pool,
        which infAP asks). In two dimensions each row is a list, and `offsets`, `group` and `qid` are not given.
    measures : sequence of str or Measure, or a string of several
        What to compute, e.g. ``["AP", "RR@10"]``, or ``"AP RR@10"``.
    offsets : integers, shape (n_queries + 1,), optional
        Where each list starts, and the end of the last. Without `offsets`, `group` and `qid`, flat labels are one list.
    group : integers, shape (n_queries,), optional
        The sizes of the lists, instead of `offsets`, as LightGBM takes them.
    qid : shape (n_docs,), optional
        The query of each document, instead of `offsets`, equal values adjacent, as XGBoost takes them.
    judgments : (labels, offsets), optional
        The labels of *all* judged documents of each query, retrieved or not, which decide the number of relevant
        documents and the ideal gain. By default the judged documents of the lists.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`: "average" is the expectation over all orderings of tied documents.
    docids : sequence of str or bytes, length n_docs, optional
        The document identifiers, for tie rules that go by them, such as "trec_eval".
    precision : str or Coarsening, optional
        What the scores are coarsened to first, e.g. "decimals:2" or "bfloat16"; see `tieaware.precision`.
    threads : int or None
        How many threads a call may use; None for one per core. The values are the same bits for any number.
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
        A ValueError whose one line names the argument, what was expected, and what was found.

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
        *,
        offsets: npt.ArrayLike | None = None,
        group: npt.ArrayLike | None = None,
        qid: npt.ArrayLike | None = None,
        judgments: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        ties: str = "average",
        docids: Sequence[str | bytes] | None = None,
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
    ) -> None:
        self.measures = parse_measures(measures)
        self._view = View(ties, precision)
        workers = checked_threads(threads)
        array = as_array(labels, "labels")
        whole = as_integer_labels(array, "labels")
        list_offsets = _list_offsets(array, offsets, group, qid)
        lists = JudgedLists.of_labels(whole, list_offsets, **also_weighted(self.measures))
        judged = lists.judgments if judgments is None else _judgments(judgments, lists.judgments)
        order = _document_order(self._view.rule, docids, list_offsets, "label")
        self._prepare_lists(lists, judged, array.shape, order, undefined, workers)

    @classmethod
    def from_sparse(
        cls,
        relevance: Any,
        measures: str | Measure | Sequence[str | Measure],
        *,
        exclude: Any = None,
        ties: str = "average",
        docids: Sequence[str | bytes] | None = None,
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
    ) -> Evaluator:
        """Prepare whole catalogues: every query ranks all items, of which few are judged.

        Nothing here is of the size of all scores; a call takes these dense, or a block of rows at a time (`rows`).

        Parameters
        ----------
        relevance : sparse matrix in CSR form, shape (n_queries, n_items)
            Anything with `indptr`, `indices`, `data` and `shape`, such as scipy.sparse's ``csr_array``. An entry is the
            label of an item, a whole number; an explicit 0 is judged nonrelevant. Items without an entry are unjudged.
        measures : sequence of str or Measure
            What to compute, e.g. ``["nDCG@10", "R@100"]``.
        exclude : sparse matrix in CSR form, the same shape, optional
            The items that are not to be ranked for a query, e.g. those seen in training, whatever the `data`. The
            values are those of lists without them; their scores may be anything, also NaN. None may be relevant
            (label 1 or more); if one has another label, that does not count.
        ties : str
            The tie rule, as for labels.
        docids : sequence of str or bytes, length n_items, optional
            The identifiers of the items, for tie rules that go by them.
        precision, threads, undefined
            As for labels.

        Returns
        -------
        Evaluator
            Its scores have shape (n_queries, n_items).

        Raises
        ------
        InputError
            If an argument cannot be used, a place in a matrix comes twice or is out of range, or a relevant item is
            excluded.

        Examples
        --------
        The user has seen item 0, and knows 2; 3 ties with 1.

        >>> import numpy as np, scipy.sparse as sp, tieaware
        >>> relevance = sp.csr_array(([1], ([0], [3])), shape=(1, 5))
        >>> seen = sp.csr_array(([1, 1], ([0, 0], [0, 2])), shape=(1, 5))
        >>> evaluator = tieaware.Evaluator.from_sparse(relevance, ["RR", "R@1"], exclude=seen)
        >>> evaluator(np.array([[0.9, 0.5, 0.7, 0.5, 0.1]], dtype=np.float32))
        array([[0.75, 0.5 ]])
        """
        evaluator = cls.__new__(cls)
        evaluator.measures = parse_measures(measures)
        evaluator._view = View(ties, precision)
        workers = checked_threads(threads)
        judged = Relevance.of(relevance, exclude)
        lists = judged.lists(also_weighted(evaluator.measures)["pool"])
        order = _document_order(evaluator._view.rule, docids, np.array([0, judged.n_items]), "item")
        evaluator._prepare_lists(lists, lists.judgments, judged.shape, order, undefined, workers)
        return evaluator

    def _prepare_lists(
        self,
        lists: JudgedLists,
        judgments: Judgments,
        shape: tuple[int, ...],
        order: Integers | None,
        undefined: Any,
        threads: int,
    ) -> None:
        """Prepare lists whose scores have this shape, or are flat."""
        self._shape = shape
        self._in_rows = len(shape) == 2
        self._offsets = lists.offsets
        self.n_queries = len(lists.offsets) - 1
        self.n_docs = int(lists.offsets[-1])
        self._prepare = partial(
            prepare,
            self.measures,
            lists,
            Totals.of(self.measures, judgments),
            order=order,
            undefined=_checked_undefined(undefined),
            threads=threads,
        )
        self._prepared = self._prepare(*passes([self._view]))
        self._prepared_for_spread: Prepared | None = None
        # The evaluator of which these are rows, and which of its rows.
        self._part_of: tuple[Evaluator, int, int] | None = None
        # Whether a call needs nothing but the engine.
        self._short = threads == 1 and self._prepared.in_kernel

    def rows(self, first: int, last: int) -> Evaluator:
        """Return the evaluator of some of the lists, so that not all scores need be in memory at once.

        It shares what is prepared with this one, and takes microseconds to make.

        Parameters
        ----------
        first : int
            The first list, from 0.
        last : int
            The list after the last; beyond the number of lists, their end, as in a slice.

        Returns
        -------
        Evaluator
            Its values are these rows of all values, in the same bits.

        Raises
        ------
        InputError
            If there are no such lists.

        Examples
        --------
        >>> import numpy as np, tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0], [0, 1]], ["RR"])
        >>> scores = [[2.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
        >>> np.concatenate([evaluator.rows(i, i + 2)(scores[i:i + 2]) for i in range(0, 3, 2)])
        array([[0.5 ],
               [1.  ],
               [0.75]])
        """
        first = whole_number("first", first, 0, self.n_queries)
        last = min(whole_number("last", last, first), self.n_queries)
        some = copy(self)
        some._offsets = self._offsets[first : last + 1] - self._offsets[first]
        some.n_queries, some.n_docs = last - first, int(some._offsets[-1])
        some._shape = (some.n_docs,) if len(self._shape) == 1 else (last - first, *self._shape[1:])
        some._prepared = self._prepared.rows(first, last)
        some._prepared_for_spread = None
        some._part_of = self, first, last
        return some

    def __call__(self, scores: npt.ArrayLike, out: Values | None = None) -> Values:
        """Evaluate every query.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            float64 and float32 are read as they are, others are converted: arrays of other types, bfloat16 of ml_dtypes
            among them, lists, and tensors on any device. A higher score is a higher rank.
        out : float64[n_queries, n_measures], optional
            Where to write the values; C-contiguous.

        Returns
        -------
        float64[n_queries, n_measures]
            Rows in the order of the queries, columns in that of the measures; `out`, if it was given.

        Raises
        ------
        InputError
            If a score is NaN or a whole number that float64 does not hold, or a shape or type does not fit; `out` is
            then unspecified.
        """
        values = np.empty((self.n_queries, len(self.measures))) if out is None else out
        if not (self._short and self._prepared.engine.call(scores, values, self._in_rows) == -1):
            self._evaluate(self._prepared, scores, self._checked_out(values))
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
            GMAP the geometric mean, of counts the arithmetic one. A query whose value is undefined (NaN, with
            ``undefined=nan``) is left out; the mean is NaN if none is left.

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
        averages: Values = self._means(self._flat(scores)[None, :], lambda _: "scores")[0]
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
        out = np.empty((4, self.n_queries, len(self.measures)))
        self._evaluate(self._with_spread(), scores, out)
        return Spread(*out)

    def _with_spread(self) -> Prepared:
        """Prepare what the spread needs, when it is first asked for."""
        if self._prepared_for_spread is None:
            if self._part_of is None:
                (wanted,) = passes([View(self._view.rule.name, self._view.precision, spread=True)])
                self._prepared_for_spread = self._prepare(wanted)
            else:
                whole, first, last = self._part_of
                self._prepared_for_spread = whole._with_spread().rows(first, last)
        return self._prepared_for_spread

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
            If a score is NaN or a whole number that float64 does not hold, a shape or type does not fit, or there is
            no query.

        Examples
        --------
        The second candidate ties both documents of each list.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.many([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        array = as_scores(candidates, "candidates")
        if array.shape[1:] not in ((self.n_docs,), self._shape) or array.ndim == 0:
            raise unexpected("candidates", self._shapes("n_candidates, "), f"shape {array.shape}")
        rows = array.reshape(len(array), self.n_docs)
        return self._means(rows, lambda candidate: f"candidates[{candidate}]")

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
            If a feature is NaN or a whole number that float64 does not hold, a shape or type does not fit, or there is
            no query.

        Examples
        --------
        The first feature ranks the relevant document first, the second ties it with another.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR", "P@1"])
        >>> evaluator.columns([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        given = as_numpy(features, "features")
        array = given if isinstance(given, np.ndarray) else as_scores(given, "features")
        if array.shape[:-1] not in ((self.n_docs,), self._shape) or array.ndim == 0:
            raise unexpected("features", self._shapes("", ", n_features"), f"shape {array.shape}")
        n_features = array.shape[-1]
        rows = array.reshape(self.n_docs, n_features)
        averages = np.empty((n_features, len(self.measures)))
        all_documents = ":, " * (array.ndim - 1)

        def evaluate(first: int, last: int) -> None:
            def place(i: int) -> str:
                feature, document = divmod(i, self.n_docs)
                return element("features", array.shape, document * n_features + first + feature)

            columns = as_scores(np.ascontiguousarray(rows[:, first:last].T), "features", place)
            averages[first:last] = self._means(columns, lambda i: f"features[{all_documents}{first + i}]")

        # A few columns at a time, so that their copy stays in the cache where the lists allow it.
        edges = np.append(np.arange(0, n_features, 8), n_features)
        over_chunks(evaluate, edges, self._prepared.threads)
        return averages

    def _means(self, candidates: Scores, name: Callable[[int], str]) -> Values:
        """Return the means of each candidate, float64[n_candidates, n_measures]; the name says which one has a NaN."""
        if self.n_queries == 0:
            raise unexpected("mean", "at least one query", "none")
        averages, failure = self._prepared.means(candidates)
        if failure is not None:
            raise self._nan(candidates[failure[0]], failure[1], name(failure[0]))
        return averages

    def _evaluate(self, prepared: Prepared, scores: npt.ArrayLike, values: Values) -> None:
        """Write the values of all queries."""
        array = self._flat(scores)
        failed = prepared.evaluate(array, values)
        if failed >= 0:
            raise self._nan(array, failed, "scores")

    def _flat(self, scores: npt.ArrayLike) -> Scores:
        """Return the scores of one call, flat, as the kernels need them."""
        array = as_scores(scores, "scores")
        if array.shape not in ((self.n_docs,), self._shape):
            raise unexpected("scores", self._shapes(), f"shape {array.shape}")
        return array.reshape(self.n_docs)

    def _shapes(self, before: str = "", after: str = "") -> str:
        """Say which shapes are expected: flat, or that of the labels."""
        flat = f"({before}{self.n_docs}{after or ('' if before else ',')})"
        if self._shape == (self.n_docs,):
            return f"shape {flat}"
        return f"shape {flat} or ({before}{', '.join(map(str, self._shape))}{after})"

    def _checked_out(self, out: Values) -> Values:
        shape = (self.n_queries, len(self.measures))
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
            raise unexpected("out", f"float64{list(shape)}", found)
        if not out.flags.carray:
            raise unexpected("out", "a C-contiguous, aligned and writeable array", "another")
        return out

    def _nan(self, scores: Scores, query: int, name: str) -> InputError:
        """Say where the NaN is."""
        missing = np.isnan(scores[self._offsets[query] : self._offsets[query + 1]])
        if self._prepared.excluded is not None:
            missing[self._prepared.excluded.of(query)] = False
        position = int(np.flatnonzero(missing)[0])
        return unexpected(name, "numbers", f"NaN for document {position} of query {query}")


def _list_offsets(
    labels: npt.NDArray[Any], offsets: npt.ArrayLike | None, group: npt.ArrayLike | None, qid: npt.ArrayLike | None
) -> Offsets:
    """Return the offsets of the lists, however they were given."""
    lists = {"offsets": offsets, "group": group, "qid": qid}
    given = [name for name in lists if lists[name] is not None]
    if labels.ndim not in (1, 2):
        raise unexpected("labels", "1 dimension, or 2 with a list in each row", f"{labels.ndim}")
    if labels.ndim == 2:
        if given:
            raise unexpected(given[0], "none beside labels of 2 dimensions, each row of which is a list", "it")
        rows: Offsets = np.arange(labels.shape[0] + 1, dtype=np.int64) * labels.shape[1]
        return rows
    if len(given) > 1:
        raise unexpected(" and ".join(given), "one of them", "both" if len(given) == 2 else "all")
    n_docs = len(labels)
    if offsets is not None:
        return as_offsets(offsets, n_docs, "offsets", "labels")
    if group is not None:
        return offsets_from_sizes(group, n_docs, "group", "labels")
    if qid is not None:
        return offsets_from_qid(qid, n_docs, "qid", "labels")
    return np.array([0, n_docs], dtype=np.int64)


def _judgments(judgments: tuple[npt.ArrayLike, npt.ArrayLike], in_lists: Judgments) -> Judgments:
    """Return the judgments of all documents, among which those in the lists must be."""
    try:
        given_labels, given_offsets = judgments
    except (TypeError, ValueError):
        raise unexpected("judgments", "a pair (labels, offsets)", shown(judgments)) from None
    labels = as_labels(as_flat(given_labels, "labels of judgments"), "labels of judgments")
    offsets = as_offsets(given_offsets, len(labels), "offsets of judgments", "judged documents")
    if len(offsets) != in_lists.n_queries + 1:
        raise unexpected("judgments", f"as many queries as labels, {in_lists.n_queries}", f"{len(offsets) - 1}")
    judged = Judgments(labels, offsets)
    short = judged.short_of(in_lists)
    if short is not None:
        raise unexpected(
            f"judgments of query {short}", "the judged documents of its list among them", "fewer of some label or more"
        )
    return judged


def _document_order(
    rule: TieRule, docids: Sequence[str | bytes] | None, offsets: Offsets, of: str
) -> Integers | None:
    """Return the order of the identifiers, one for each `of` what, if the rule goes by them."""
    if rule.by_document is None:
        return None
    if docids is None:
        raise unexpected("docids", f"the document identifiers, by which ties={rule.name!r} orders", "none")
    documents = Identifiers.from_sequence(docids, "docids")
    if len(documents) != offsets[-1]:
        raise unexpected("docids", f"{offsets[-1]}, one for each {of}", f"{len(documents)}")
    return rule.order(documents, offsets)


def _checked_undefined(undefined: Any) -> float:
    """Return the value of a query of which a measure says nothing: any number, also NaN."""
    if isinstance(undefined, float | np.floating) and np.isnan(undefined):
        return float("nan")
    return number("undefined", undefined, -np.inf, np.inf)
