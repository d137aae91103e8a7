"""Evaluation of arrays: an Evaluator prepares labels once, then evaluates any number of scorings of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected, whole_number
from tieaware.checks.arrays import Integers, Scores, Values, as_numpy, as_scores, element
from tieaware.engine.chance import ListsWithChance
from tieaware.engine.device_lists import ListsOnDevices
from tieaware.engine.label_arguments import judged_lists
from tieaware.engine.list_arguments import checked_undefined, document_order
from tieaware.engine.prepared import Prepared, prepare
from tieaware.engine.spread import Spread
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.engine.weights import also_weighted
from tieaware.errors import Hinted, InputError
from tieaware.lines import ListsWithLines
from tieaware.lists.grades import Missing
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.lists.sparse import Relevance
from tieaware.measures import Measure, named_measures, parse_measures
from tieaware.precision import Coarsening
from tieaware.results import Results
from tieaware.results.named_scores import results_of_scores
from tieaware.runtime.threads import checked_threads, over_chunks
from tieaware.ties import TieRuleName

# The most measures that repr() shows.
_SHOWN_MEASURES = 6


class Evaluator(ListsWithChance, ListsWithLines, ListsOnDevices, Hinted):
    """Evaluator of fixed lists of labelled documents, for any number of scorings of these documents.

    The constructor computes everything that does not depend on the scores; a call then reads the scores without copying
    them. An evaluator is immutable: it can be pickled, shared between threads, and used after a fork.

    Parameters
    ----------
    labels : integers of up to 32 bits, or real numbers up to 2^31 - 1, shape (n_docs,) or (n_queries, depth)
        The label of each document, list after list. Documents with negative labels are unjudged. Those with labels of
        -2 or less are in the pool, too; only infAP distinguishes these. In two dimensions, each row is a
        list, and `offsets`, `group` and `qid` must not be given.
    measures : sequence of str or Measure, or a string of several
        The measures to compute, e.g. ``["AP", "RR@10"]``, or ``"AP RR@10"``.
    offsets : integers, shape (n_queries + 1,), optional
        The index at which each list starts, and the end of the last list. Without `offsets`, `group` and `qid`,
        one-dimensional labels are one list.
    group : integers, shape (n_queries,), optional
        The sizes of the lists, as in LightGBM.
    qid : shape (n_docs,), optional
        The query of each document, with equal values adjacent, as in XGBoost.
    judgments : (labels, offsets), optional
        The labels of *all* judged documents of each query, retrieved or not, which determine the number of relevant
        documents and the ideal gain. By default, these are the judged documents of the lists.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. "average" is the expectation over all orders of tied documents.
    docids : sequence of str or bytes, length n_docs, optional
        The document identifiers, for the tie rules that use them, such as "trec_eval".
    precision : str or Coarsening, optional
        The precision to which scores are rounded before ties are found, e.g. "decimals:2" or "bfloat16"; see
        `tieaware.precision`.
    threads : int or None
        The largest number of threads that a call uses; None means one per core. The values have the same bits for any
        number of threads.
    undefined : float
        The value for a query without a relevant judged document. The default is 0, as in trec_eval. NaN excludes such
        queries from means.
    missing : "unjudged", optional
        Whether NaN among the labels means that a document is unjudged. By default, NaN is an error.
    subtopics : bool
        Whether the labels, and those of `judgments`, have a last dimension of 1 to 64 subtopics, for measures of
        diversity: whole numbers, shape (n_docs, n_subtopics) or (n_queries, depth, n_subtopics). A document that is not
        judged for a subtopic has a negative label for it. Other measures take the highest label of each document.
    intents : numbers, shape (n_subtopics,) or (n_queries, n_subtopics), optional
        The weights of the subtopics; by default, all with a relevant document count alike.

    Attributes
    ----------
    measures : tuple of Measure
        The measures, one for each column of the values.
    n_queries, n_docs : int
        The number of lists, and the total number of their documents.

    Raises
    ------
    InputError
        A ValueError whose message names the argument and says what is wrong with it.

    Examples
    --------
    Two documents tie in second place, and one of them is relevant: its rank is 2 or 3, with equal probability.

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
        ties: TieRuleName = "average",
        docids: Sequence[str | bytes] | None = None,
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
        missing: Missing | None = None,
        subtopics: bool = False,
        intents: npt.ArrayLike | None = None,
    ) -> None:
        self._set_measures(measures)
        self._view = View(ties, precision)
        workers = checked_threads(threads)
        places, weighted = (offsets, group, qid), also_weighted(self.measures)
        shape, lists, judged = judged_lists(labels, places, judgments, missing, subtopics, intents, weighted)
        order = document_order(self._view.rule, docids, lists.offsets, "label")
        self._prepare_lists(lists, judged, shape, order, undefined, workers)

    @classmethod
    def from_sparse(
        cls,
        relevance: Any,
        measures: str | Measure | Sequence[str | Measure],
        *,
        exclude: Any = None,
        ties: TieRuleName = "average",
        docids: Sequence[str | bytes] | None = None,
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
        missing: Missing | None = None,
    ) -> Evaluator:
        """Prepare the evaluation of whole catalogues: every query ranks all items, and few items are judged.

        The evaluator's memory grows with the number of entries of the matrices, not with the number of scores. A call
        takes the scores of all items as a dense array; to have only a part of the scores in memory at a time, use
        `rows`. Parameters that are not listed here are as for `Evaluator`.

        Parameters
        ----------
        relevance : sparse matrix in CSR form, shape (n_queries, n_items)
            Any object with `indptr`, `indices`, `data` and `shape`, such as scipy.sparse's ``csr_array``. An entry is
            the label of an item. An item with an explicit 0 is judged nonrelevant; an item without an
            entry is unjudged.
        exclude : sparse matrix in CSR form, the same shape, optional
            Its entries are the items that are not ranked for a query, such as those seen in training; `data` is
            ignored. Values are computed as if the lists did not contain these items, whose scores may be anything, even
            NaN. Relevant items (label 1 or more) must not be excluded; other labels of excluded items are ignored.
        docids : sequence of str or bytes, length n_items, optional
            The identifiers of the items, for the tie rules that use them.

        Returns
        -------
        Evaluator
            An evaluator of scores of shape (n_queries, n_items). Scores of shape (n_items,) or (1, n_items), such as
            the popularity of the items, are those of every query. They are read in place, without a copy for each
            query. Only with both `exclude` and a precision that depends on the whole list ("levels", "gap"), up to
            4 MiB of copies are made.

        Raises
        ------
        InputError
            If an argument cannot be used, an entry of a matrix is repeated or out of range, or a relevant item is
            excluded.

        Examples
        --------
        The user has seen items 0 and 2 already; item 3, which is relevant, ties with item 1.

        >>> import numpy as np, scipy.sparse as sp, tieaware
        >>> relevance = sp.csr_array(([1], ([0], [3])), shape=(1, 5))
        >>> seen = sp.csr_array(([1, 1], ([0, 0], [0, 2])), shape=(1, 5))
        >>> evaluator = tieaware.Evaluator.from_sparse(relevance, ["RR", "R@1"], exclude=seen)
        >>> evaluator(np.array([[0.9, 0.5, 0.7, 0.5, 0.1]], dtype=np.float32))
        array([[0.75, 0.5 ]])
        >>> evaluator([5, 3, 2, 3, 0])                                                  # one score for each item
        array([[0.75, 0.5 ]])
        """
        evaluator = cls.__new__(cls)
        evaluator._set_measures(measures)
        evaluator._view = View(ties, precision)
        workers = checked_threads(threads)
        judged = Relevance.of(relevance, exclude, missing)
        lists = judged.lists(also_weighted(evaluator.measures)["pool"])
        order = document_order(evaluator._view.rule, docids, np.array([0, judged.n_items]), "item")
        evaluator._prepare_lists(lists, lists.judgments, judged.shape, order, undefined, workers)
        evaluator._n_items = judged.n_items
        return evaluator

    def _set_measures(self, measures: str | Measure | Sequence[str | Measure]) -> None:
        # A sequence is copied, because the caller may change it, and `results` needs the names that the caller used.
        self._given_measures = tuple(measures) if isinstance(measures, list) else measures
        self.measures: tuple[Measure, ...] = parse_measures(self._given_measures)

    def _prepare_lists(
        self, lists: JudgedLists, judgments: Judgments, shape: tuple[int, ...], order: Integers | None, undefined: Any,
        threads: int,
    ) -> None:  # fmt: skip
        """Prepare the evaluation of lists whose scores are one-dimensional or have this shape."""
        self._shape = shape
        # The number of items of each list if the lists of all queries have the same items; otherwise None.
        self._n_items: int | None = None
        self._first = 0  # The index of the first list in the evaluator whose `rows` these are.
        self._in_rows = len(shape) == 2
        self._offsets = lists.offsets
        self.n_queries: int = len(lists.offsets) - 1
        self.n_docs: int = int(lists.offsets[-1])
        self._prepare = partial(
            prepare,
            self.measures,
            lists,
            Totals.of(self.measures, judgments),
            order=order,
            undefined=checked_undefined(undefined),
            threads=threads,
        )
        self._prepared = self._prepare(*passes([self._view]))
        self._prepared_for = {}
        self._rows_of = None
        # True if `Engine.call` may be used, which is faster than `Prepared.evaluate`.
        self._short = threads == 1 and self._prepared.in_kernel

    def rows(self, first: int, last: int) -> Evaluator:
        """Return an evaluator of a range of the lists, so that not all scores have to be in memory at once.

        The new evaluator shares the prepared arrays with this evaluator, so making it takes only microseconds.

        Parameters
        ----------
        first : int
            The first list, from 0.
        last : int
            The index after that of the last list. As in a slice, a number that is too large is reduced.

        Returns
        -------
        Evaluator
            An evaluator of the lists first … last - 1. Its values have the same bits as the rows first … last - 1 of
            the values of this evaluator.

        Raises
        ------
        InputError
            If `first` or `last` is not a whole number or is out of range.

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
        some._prepared_for = {}
        some._rows_of = self, first, last
        some._first = self._first + first
        return some

    def __repr__(self) -> str:
        n_queries = f"{self.n_queries:,} quer{'y' if self.n_queries == 1 else 'ies'}"
        n_docs = f"{self.n_docs:,} document{'' if self.n_docs == 1 else 's'}"
        names = " ".join(map(str, self.measures[:_SHOWN_MEASURES]))
        more = f" … ({len(self.measures)} in all)" if len(self.measures) > _SHOWN_MEASURES else ""
        precision = "" if self._view.precision is None else f", precision: {self._view.precision}"
        return f"Evaluator({n_queries}, {n_docs}, measures: {names}{more}, ties: {self._view.rule.name}{precision})"

    def __call__(self, scores: npt.ArrayLike, out: Values | None = None) -> Values:
        """Evaluate one scoring: return the value of every measure for every query.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            The score of each document; documents with higher scores rank higher. Arrays of float64 and float32 are read
            in place, tensors on a device are counted there. Everything else is converted: lists, arrays of other types
            (including ml_dtypes.bfloat16), and other tensors.
        out : float64[n_queries, n_measures], optional
            The array to which the values are written; C-contiguous.

        Returns
        -------
        float64[n_queries, n_measures]
            Rows in the order of the queries, columns in the order of the measures; `out` if it was given.

        Raises
        ------
        InputError
            If a score is NaN or an integer that float64 cannot represent, if a shape or type is wrong, or if a tensor
            requires gradients or is on several devices. The contents of `out` are then undefined.
        """
        values = np.empty((self.n_queries, len(self.measures))) if out is None else out
        if not (self._short and self._prepared.engine.call(scores, values, self._in_rows) == -1):
            self._evaluate(self._prepared, scores, self._checked_out(values))
        return values

    def mean(self, scores: npt.ArrayLike) -> Values:
        """Evaluate one scoring: return the mean of every measure over the queries.

        The parameters and errors are as for `__call__`. An evaluator without queries has no mean: InputError.

        Returns
        -------
        float64[n_measures]
            The means in the order of the measures, with the same bits as `Results.mean`. GMAP has a geometric mean, all
            other measures arithmetic ones. Undefined values (NaN, with ``undefined=nan``) are skipped; a mean is NaN if
            all values are.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.mean([[2.0, 2.0], [2.0, 1.0]])
        array([0.875, 0.75 ])
        """
        counts = self._counted(self._prepared, scores)
        given = self._flat(scores) if counts is None else counts
        averages: Values = self._means(given[None], lambda _: "scores")[0]
        return averages

    def score(self, scores: npt.ArrayLike) -> float:
        """Evaluate one scoring with an evaluator of one measure: return the mean over the queries as a plain float.

        An objective function of an optimiser can return this number. For a measure of which less is better, such as
        ESL, it is the mean itself, not negated: minimise it. The parameters are as for `__call__`.

        Returns
        -------
        float
            The only element of `mean`.

        Raises
        ------
        InputError
            If the evaluator has several measures, or as for `mean`.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Evaluator([0, 1, 0, 1], "RR").score([4.0, 3.0, 3.0, 2.0])
        0.41666666666666663
        """
        if len(self.measures) != 1:
            raise InputError(
                "score()",
                f"needs an evaluator of one measure; this one has {len(self.measures)}: use mean(scores), or "
                f"Evaluator(..., {str(self.measures[0])!r})",
            )
        return float(self.mean(scores)[0])

    def results(
        self,
        scores: Mapping[str, npt.ArrayLike],
        queries: Iterable[str | int] | None = None,
        *,
        spread: bool = False,
        chance: bool = False,
    ) -> Results:
        """Evaluate one scoring or more, each under a name: return `Results`, with frames, tables, tests and plots.

        Parameters
        ----------
        scores : {name: scores}
            The name of each run, and its scores as for `__call__`.
        queries : sequence of str or of int, length n_queries, optional
            The names of the queries. By default they are the whole numbers 0 … n_queries - 1. For ``rows(i, j)`` they
            are i … j - 1, so that `Results.concat` joins the results of blocks of rows.
        spread : bool
            Whether to compute the standard deviation, minimum and maximum of each value over the orders of tied
            documents, too. Requires the tie rule "average".
        chance : bool
            Whether to add `chance`: what a random order of each list earns.

        Returns
        -------
        Results
            The names of the measures are those that were requested. Queries for which every measure is undefined (NaN,
            with ``undefined=nan``) are left out, so that tests and tables are over the queries that count.

        Raises
        ------
        InputError
            If `scores` is not a dict or is empty, if scores cannot be used (the message names the run), if the names of
            the queries are too few, too many or not different, or if two measures have the same name.

        Examples
        --------
        The second run ties all documents.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> result = evaluator.results({"fp32": [[1.0, 2.0], [2.0, 1.0]], "int8": [[1, 1], [1, 1]]}, ["q1", "q2"])
        >>> print(result.means())
        Means over 2 queries, ties: average
        <BLANKLINE>
        run       RR     P@1
        fp32  1.0000  1.0000
        int8  0.7500  0.5000
        >>> result["int8", "RR", "q2"]
        0.75
        """
        view = View(self._view.rule.name, self._view.precision, spread, chance)
        evaluate = partial(self._evaluate, self._prepared_also(chance=False) if spread else self._prepared)
        numbers = range(self._first, self._first + self.n_queries)
        of_chance = np.stack(self.chance()) if view.chance else None
        measures = named_measures(self._given_measures)
        return results_of_scores(scores, queries, numbers, measures, view, evaluate, of_chance)

    def spread(self, scores: npt.ArrayLike) -> Spread:
        """Evaluate every query, and compute how much each value depends on the order of tied documents.

        The parameters and errors are as for `__call__`. InputError if the tie rule is not "average".

        Returns
        -------
        Spread
            The mean, standard deviation, minimum and maximum of each value over all orders of tied documents, which are
            equally likely. With a `precision`, documents tie if their coarsened scores are equal. All four are computed
            exactly, not by sampling.

        References
        ----------
        McSherry, F. and Najork, M. (2008) derive the means; the formulas of the variances are tieaware's own.

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
        self._evaluate(self._prepared_also(chance=False), scores, out)
        return Spread(*out)

    def many(self, candidates: npt.ArrayLike) -> Values:
        """Evaluate many scorings of the same documents: return the mean of every measure for each scoring.

        Parameters
        ----------
        candidates : real numbers, shape (n_candidates, n_docs) or (n_candidates, *labels.shape)
            The candidates: each is one scoring of all documents. Types and errors are as for `__call__`.

        Returns
        -------
        float64[n_candidates, n_measures]
            The means over the queries; see `mean`.

        Examples
        --------
        The second candidate ties both documents of each list.

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.many([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        counts = self._counted_candidates(candidates)
        if counts is not None:
            return self._means(counts, str)
        array = as_scores(candidates, "candidates")
        if array.shape[1:] not in ((self.n_docs,), self._shape) or array.ndim == 0:
            raise unexpected("candidates", self._shapes("n_candidates, "), f"shape {array.shape}")
        rows = array.reshape(len(array), self.n_docs)
        return self._means(rows, lambda candidate: f"candidates[{candidate}]")

    def columns(self, features: npt.ArrayLike) -> Values:
        """Evaluate each feature as if it were the score of the documents.

        Parameters
        ----------
        features : real numbers, shape (n_docs, n_features) or (*labels.shape, n_features)
            The features of each document; documents with higher values rank higher. Types and errors are as for
            `__call__`.

        Returns
        -------
        float64[n_features, n_measures]
            The means over the queries; see `mean`.

        Examples
        --------
        The first feature ranks the relevant document first, the second ties it with another document.

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

        # Copy only a few columns at a time, so that the copy fits in the processor's cache unless lists are very long.
        edges = np.append(np.arange(0, n_features, 8), n_features)
        over_chunks(evaluate, edges, self._prepared.threads)
        return averages

    def _means(self, candidates: Any, name: Callable[[int], str]) -> Values:
        """Return the means of each candidate, float64[n_candidates, n_measures]; counts may take the place of scores.

        `name` returns the name of the candidate with a given index for error messages.
        """
        if self.n_queries == 0:
            raise InputError("mean", "needs at least one query")
        prepared = self._prepared if candidates.ndim == 3 else self._for(self._prepared, candidates.shape[1])
        averages, failure = prepared.means(candidates)
        if failure is not None:
            raise self._nan(self._list_of(candidates[failure[0]], failure[1]), failure[1], name(failure[0]))
        return averages

    def _evaluate(self, prepared: Prepared, scores: npt.ArrayLike, values: Values, name: str = "scores") -> None:
        """Write the values of all queries; raise InputError if a score is NaN."""
        counts = self._counted(prepared, scores, name)
        if counts is not None:
            prepared.evaluate(counts, values)
            return
        array = self._flat(scores, name)
        failed = self._for(prepared, len(array)).evaluate(array, values)
        if failed >= 0:
            raise self._nan(self._list_of(array, failed), failed, name)

    def _for(self, prepared: Prepared, n_scores: int) -> Prepared:
        """Return the prepared evaluation for an array of this length: of all documents, or of items for all queries."""
        return prepared if n_scores == self.n_docs else prepared.sharing_scores()

    def _flat(self, scores: npt.ArrayLike, name: str = "scores") -> Scores:
        """Return the scores of one call as the one-dimensional array that the kernels need."""
        # A large array in another order, such as a transposed one, is copied only after its shape was checked.
        array = scores if isinstance(scores, np.ndarray) and scores.dtype.kind == "f" else as_scores(scores, name)
        if array.shape not in ((self.n_docs,), self._shape, (self._n_items,), (1, self._n_items)):
            shared = "" if self._n_items in (None, self.n_docs) else f", or ({self._n_items},) for all queries"
            raise unexpected(name, self._shapes() + shared, f"shape {array.shape}")
        # A sum over the rows of a SciPy matrix has one row, the scores of all queries.
        return as_scores(array, name).reshape(-1)

    def _checked_out(self, out: Values) -> Values:
        shape = (self.n_queries, len(self.measures))
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
            found = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
            raise unexpected("out", f"float64{list(shape)}", found)
        if not out.flags.carray:
            raise InputError("out", "must be C-contiguous, aligned and writeable")
        return out

    def _list_of(self, scores: Scores, query: int) -> Scores:
        """Return the scores of one list."""
        first, last = self._offsets[query : query + 2] if len(scores) == self.n_docs else (0, len(scores))
        return scores[first:last]
