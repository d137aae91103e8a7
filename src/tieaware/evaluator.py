"""Evaluation of arrays: an Evaluator prepares labels once, then evaluates any number of scorings of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware import lines
from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers, Scores, Values, as_numpy, as_scores
from tieaware.engine import list_arguments
from tieaware.engine.bounds import PreparedBounds, checked_error
from tieaware.engine.cut_values import values_of_cuts
from tieaware.engine.device_counts import counts_of, counts_of_candidates
from tieaware.engine.likely_mistakes import warn_of_one_list, warn_of_scores
from tieaware.engine.list_arguments import checked_out, document_order, judged_lists, wrong_shape
from tieaware.engine.noisy_lists import NoisyLists, UnderNoise, check_noise
from tieaware.engine.prepared import Prepared, prepare
from tieaware.engine.spread import Bounds, Chance, Spread
from tieaware.engine.totals import Totals
from tieaware.engine.views import OF_CHANCE, View, passes
from tieaware.engine.weights import also_weighted
from tieaware.errors import Hinted, InputError
from tieaware.lists.grades import Missing
from tieaware.lists.judgments import JudgedLists
from tieaware.lists.query_lists import rows_of
from tieaware.lists.sparse import Relevance
from tieaware.measures import Measure, named_measures, parse_measures
from tieaware.precision import Coarsening, Noise
from tieaware.results import Results
from tieaware.results.named_scores import results_of_scores
from tieaware.runtime.threads import checked_threads
from tieaware.ties import TieRuleName

# The most measures that repr() shows.
_SHOWN_MEASURES = 6

# The purposes for which lists are prepared once more.
_Purpose: TypeAlias = Literal["spread", "chance", "bounds", "noise"]


class Evaluator(Hinted):
    """Evaluator of fixed lists of labelled documents, for any number of scorings of these documents.

    The constructor computes everything that does not depend on the scores; a call then reads the scores in place. An
    evaluator is immutable: it can be pickled, shared between threads, and used after a fork.

    Parameters
    ----------
    labels : integers of up to 32 bits, or real numbers up to 2^31 - 1, shape (n_docs,) or (n_queries, depth)
        The label of each document, list after list. Documents with negative labels are unjudged. Those with labels of
        -2 or less are in the pool, too, which only infAP distinguishes. In two dimensions, each row is a list.
    measures : sequence of str or Measure, or a string of several
        The measures to compute, e.g. ``["AP", "RR@10"]``, or ``"AP RR@10"``.
    offsets, group, qid : optional
        One of them, for one-dimensional labels, which are one list by default. `offsets`, integers[n_queries + 1]: the
        index at which each list starts, and the end of the last. `group`, integers[n_queries]: the sizes of the lists,
        as in LightGBM. `qid`, [n_docs]: the query of each document, with equal values adjacent, as in XGBoost.
    judgments : (labels, offsets), optional
        The labels of *all* judged documents of each query, retrieved or not, which determine the number of relevant
        documents and the ideal gain. By default, these are the judged documents of the lists.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. "average" is the expectation over all orders of tied documents.
    docids : sequence of str or bytes, length n_docs, optional
        The document identifiers, for the tie rules that use them, such as "trec_eval".
    precision : str or Coarsening, optional
        The precision to which scores are rounded first, e.g. "decimals:2" or "bfloat16"; see `tieaware.precision`.
    threads : int or None
        The largest number of threads of a call; None means one per core. The values have the same bits for any number.
    undefined : float
        The value for a query without a relevant judged document, 0 as in trec_eval. NaN excludes it from means.
    missing : "unjudged", optional
        Whether NaN among the labels means that a document is unjudged. By default, NaN is an error.
    subtopics : bool
        Whether the labels, and those of `judgments`, have a last dimension of 1 to 64 subtopics, for measures of
        diversity. Documents not judged for a subtopic have a negative label there. Other measures take the highest one.
    intents : numbers, shape (n_subtopics,) or (n_queries, n_subtopics), optional
        The weights of the subtopics; by default, all with a relevant document count alike.

    Attributes
    ----------
    measures : tuple of Measure
        One for each column of the values.
    n_queries, n_docs : int
        The number of lists, and of all their documents.

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
        self._set_choices(measures, ties, precision)
        workers = checked_threads(threads)
        places, weighted = (offsets, group, qid), also_weighted(self.measures)
        shape, lists, judged = judged_lists(labels, places, judgments, missing, subtopics, intents, weighted)
        if len(shape) == 1 and all(each is None for each in (*places, judgments)):
            warn_of_one_list(judged, self.measures)
        order = document_order(self._view.rule, docids, lists.offsets, "label")
        self._prepare_lists(lists, Totals.of(self.measures, judged), shape, order, undefined, workers)

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

        Memory grows with the entries of the matrices, not with the number of scores, which are a dense array; to have
        only a part of them in memory at a time, use `rows`. Other parameters and errors are as for `Evaluator`.

        Parameters
        ----------
        relevance : sparse matrix in CSR form, shape (n_queries, n_items)
            Any object with `indptr`, `indices`, `data` and `shape`, such as scipy.sparse's ``csr_array``; COO and CSC
            are converted. An entry is the label of an item: 0 if it is judged nonrelevant. An item without an entry is
            unjudged.
        exclude : sparse matrix in CSR form, the same shape, optional
            Its entries are the items that are not ranked for a query, such as those seen in training; `data` is
            ignored, and scores of these items may be anything, even NaN. Relevant items (label 1 or more) must not be
            excluded; other labels of excluded items are ignored.
        docids : sequence of str or bytes, length n_items, optional
            The identifiers of the items, for the tie rules that use them.

        Returns
        -------
        Evaluator
            An evaluator of scores of shape (n_queries, n_items). Scores of shape (n_items,) or (1, n_items), such as
            the popularity of the items, are those of every query; they are not copied for each query. Only with both
            `exclude` and a precision that depends on the whole list ("levels", "gap"), up to 4 MiB are.

        Examples
        --------
        The user has seen items 0 and 2 already; item 3, which is relevant, ties with item 1.

        >>> import numpy as np, scipy.sparse as sp, tieaware
        >>> relevance, seen = sp.csr_array([[0, 0, 0, 1, 0]]), sp.csr_array([[1, 0, 1, 0, 0]])
        >>> evaluator = tieaware.Evaluator.from_sparse(relevance, ["RR", "R@1"], exclude=seen)
        >>> evaluator(np.array([[0.9, 0.5, 0.7, 0.5, 0.1]])), evaluator([5, 3, 2, 3, 0])     # one score for each item
        (array([[0.75, 0.5 ]]), array([[0.75, 0.5 ]]))
        """
        evaluator = cls.__new__(cls)
        evaluator._set_choices(measures, ties, precision)
        workers = checked_threads(threads)
        judged = Relevance.of(relevance, exclude, missing)
        lists = judged.lists(also_weighted(evaluator.measures)["pool"])
        order = document_order(evaluator._view.rule, docids, np.array([0, judged.n_items]), "item")
        totals = Totals.of(evaluator.measures, lists.judgments)
        evaluator._prepare_lists(lists, totals, judged.shape, order, undefined, workers)
        evaluator._n_items = judged.n_items
        return evaluator

    def _set_choices(
        self, measures: str | Measure | Sequence[str | Measure], ties: TieRuleName, precision: str | Coarsening | None
    ) -> None:
        # A sequence is copied, because the caller may change it, and `results` needs the names that the caller used.
        self._given_measures = tuple(measures) if isinstance(measures, list) else measures
        self.measures: tuple[Measure, ...] = parse_measures(self._given_measures)
        self._view = View(ties, precision)

    def _prepare_lists(
        self, lists: JudgedLists, totals: Totals, shape: tuple[int, ...], order: Integers | None, undefined: Any,
        threads: int,
    ) -> None:  # fmt: skip
        """Prepare the evaluation of lists whose scores are one-dimensional or have this shape."""
        self._shape = shape
        # The number of items of each list if the lists of all queries have the same items; otherwise None.
        self._n_items: int | None = None
        self._first = 0  # The index of the first list in the evaluator whose `rows` these are.
        self._in_rows = len(shape) == 2
        self.n_queries: int = len(lists.offsets) - 1
        self.n_docs: int = int(lists.offsets[-1])
        known = self.measures, lists, totals
        undefined = list_arguments.checked_undefined(undefined)
        self._prepare = partial(prepare, *known, order=order, undefined=undefined, threads=threads)
        self._prepare_noisy = partial(NoisyLists.of, *known, undefined=undefined)
        self._prepared = self._prepare(*passes([self._view]))
        self._prepared_for: dict[_Purpose, Any] = {}
        # (parent, first, last) if this evaluator was made by `rows` and is for a range of the parent's lists.
        self._rows_of: tuple[Evaluator, int, int] | None = None
        self._lists = lists
        # The names of the scores that were looked at for likely mistakes; shared with the evaluators of `rows`.
        self._seen: set[str] = set()
        # True if `Engine.call` may be used, which is faster than `Prepared.evaluate`, but does not look at the scores.
        self._short = False

    def rows(self, first: int, last: int) -> Evaluator:
        """Return an evaluator of a range of the lists, so that not all scores have to be in memory at once.

        It shares the prepared arrays with this evaluator, so making it takes only microseconds.

        Parameters
        ----------
        first, last : int
            The first list, from 0, and the index after that of the last; as in a slice, a larger number is reduced.

        Returns
        -------
        Evaluator
            Its values have the same bits as the rows first … last - 1 of the values of this evaluator.

        Raises
        ------
        InputError
            If `first` or `last` is not a whole number or is out of range.

        Examples
        --------
        >>> import numpy as np, tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0], [0, 1]], ["RR"])
        >>> scores = [[2.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
        >>> np.concatenate([evaluator.rows(i, i + 2)(scores[i:i + 2]) for i in range(0, 3, 2)]).ravel()
        array([0.5 , 1.  , 0.75])
        """
        first = whole_number("first", first, 0, self.n_queries)
        last = min(whole_number("last", last, first), self.n_queries)
        some = copy(self)
        some._prepared = self._prepared.rows(first, last)
        some.n_queries, some.n_docs = last - first, int(some._prepared.offsets[-1])
        some._shape = (some.n_docs,) if len(self._shape) == 1 else (last - first, *self._shape[1:])
        some._prepared_for, some._rows_of, some._first = {}, (self, first, last), self._first + first
        return some

    def _part(self, chosen: npt.NDArray[np.bool_]) -> tuple[Evaluator, npt.NDArray[np.bool_]]:
        """Return an evaluator of some of the lists, prepared anew, and which documents are in these.

        Not for tie rules that use document identifiers, nor with excluded items, for which there are no lines.
        """
        _, lists, totals = self._prepare.args
        queries = np.flatnonzero(chosen) + self._first
        sizes = np.diff(lists.offsets)[queries]
        judged, judged_offsets = rows_of(lists.judged_offsets, queries)
        some = lists._replace(
            offsets=np.append(0, np.cumsum(sizes)), judged_offsets=judged_offsets, positions=lists.positions[judged],
            labels=lists.labels[judged], left_out=None if lists.left_out is None else lists.left_out[queries],
        )  # fmt: skip
        part = copy(self)
        part._prepare_lists(some, totals.rows(queries), (int(sizes.sum()),), **self._prepare.keywords)
        return part, np.repeat(chosen, np.diff(self._prepared.offsets))

    def __repr__(self) -> str:
        n_queries = f"{self.n_queries:,} quer{'y' if self.n_queries == 1 else 'ies'}"
        n_docs = f"{self.n_docs:,} document{'' if self.n_docs == 1 else 's'}"
        names = " ".join(map(str, self.measures[:_SHOWN_MEASURES]))
        more = f" … ({len(self.measures)} in all)" if len(self.measures) > _SHOWN_MEASURES else ""
        precision = "" if self._view.precision is None else f", precision: {self._view.precision}"
        return f"Evaluator({n_queries}, {n_docs}, measures: {names}{more}, ties: {self._view.rule.name}{precision})"

    def __call__(self, scores: npt.ArrayLike, out: Values | None = None) -> Values:
        """Evaluate one scoring, where higher scores are better: return the value of every measure for every query.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            Arrays of float64 and float32 are read in place, tensors on a device are counted there. Everything else is
            converted: lists, other tensors, and arrays of other types (including ml_dtypes.bfloat16).
        out : float64[n_queries, n_measures], optional
            The array to which the values are written; C-contiguous.

        Returns
        -------
        float64[n_queries, n_measures]
            Rows in the order of the queries, columns in that of the measures; `out` if it was given.

        Raises
        ------
        InputError
            If a score is NaN or an integer that float64 cannot represent, a shape or type is wrong, or a tensor has
            gradients or is on several devices. The contents of `out` are then undefined.
        """
        values = np.empty((self.n_queries, len(self.measures))) if out is None else out
        if not (self._short and self._prepared.engine.call(scores, values, self._in_rows) == -1):
            self._evaluate(self._prepared, scores, checked_out(values, (self.n_queries, len(self.measures))))
        return values

    def mean(self, scores: npt.ArrayLike) -> Values:
        """Evaluate one scoring: return the mean of every measure over the queries.

        The parameters and errors are as for `__call__`. An evaluator without queries has no mean: InputError.

        Returns
        -------
        float64[n_measures]
            With the same bits as `Results.mean`, geometric means for GMAP, and arithmetic ones for all other measures.
            Undefined values (NaN, with ``undefined=nan``) are skipped; a mean is NaN if all values are.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[0, 1], [1, 0]], ["RR", "P@1"])
        >>> evaluator.mean([[2.0, 2.0], [2.0, 1.0]])
        array([0.875, 0.75 ])
        """
        counts = counts_of(scores, self._prepared, self._shape, "scores")
        given = self._looked_at(scores) if counts is None else counts
        averages: Values = self._prepared.for_scores(given).means(given[None])[0]
        return averages

    def score(self, scores: npt.ArrayLike) -> float:
        """Evaluate one scoring with an evaluator of one measure: return the only element of `mean` as a plain float.

        For a measure whose small values are good, such as ESL, it is the mean itself, not negated: minimise it. The
        parameters and errors are as for `mean`.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Evaluator([0, 1, 0, 1], "RR").score([4.0, 3.0, 3.0, 2.0])
        0.41666666666666663
        """
        if len(self.measures) != 1:
            needs = f"needs an evaluator of one measure; this one has {len(self.measures)}"
            raise InputError("score()", f"{needs}: use mean(scores), or Evaluator(..., {str(self.measures[0])!r})")
        return float(self.mean(scores)[0])

    def results(
        self, scores: Mapping[str, npt.ArrayLike], queries: Iterable[str | int] | None = None, *, spread: bool = False,
        chance: bool = False,
    ) -> Results:  # fmt: skip
        """Evaluate one scoring or more, each under a name: return `Results`, with frames, tables, tests and plots.

        Parameters
        ----------
        scores : {name: scores}
            The name of each run, and its scores as for `__call__`.
        queries : sequence of str or of int, length n_queries, optional
            By default 0 … n_queries - 1, and for ``rows(i, j)`` i … j - 1, so that
            `Results.concat` joins the results of blocks of rows.
        spread, chance : bool
            Whether to compute what `spread` and `chance` return, too.

        Returns
        -------
        Results
            All queries, with NaN where a measure is undefined and ``undefined=nan``. Means skip NaN, and tests and
            tables are over the queries with a value.

        Raises
        ------
        InputError
            If `scores` is not a dict, or is empty or cannot be used (the message names the run), if the queries are too
            few, too many or not different, or if two measures have the same name.

        Examples
        --------
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
        evaluate = partial(self._evaluate, self._once("spread") if spread else self._prepared)
        numbers = range(self._first, self._first + self.n_queries)
        of_chance = np.stack(self.chance()) if view.chance else None
        measures = named_measures(self._given_measures)
        return results_of_scores(scores, queries, numbers, measures, view, evaluate, of_chance)

    def spread(self, scores: npt.ArrayLike) -> Spread:
        """Evaluate every query, and compute how much each value depends on the order of tied documents.

        The parameters and errors are as for `__call__`. InputError if the tie rule is not "average". McSherry, F. and
        Najork, M. (2008) derive the means; the formulas of the variances are tieaware's own.

        Returns
        -------
        Spread
            Computed exactly. With a `precision`, documents tie if their coarsened scores are equal.

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
        self._evaluate(self._once("spread"), scores, out)
        return Spread(*out)

    def bounds(self, scores: npt.ArrayLike, error: npt.ArrayLike) -> Bounds:
        """Compute the least and the greatest value over all orders that are possible if each score may be wrong.

        The score of document i lies between ``scores[i] - error[i]`` and ``scores[i] + error[i]``, each rounded to
        float64. If these intervals of two documents share a point, either may stand before the other. Rounding may join
        intervals that are less than a rounding error apart, but never parts any.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            As for `__call__`.
        error : real number, or numbers in a shape of the scores
            At least 0, and perhaps infinite. With 0, the bounds have the bits of ``min`` and ``max`` of `spread`.

        Returns
        -------
        Bounds
            Exact if the documents have two different gains, so for all measures with ``rel``. If they have more, there
            are certified bounds for sums of gains (DCG, nDCG, RBP, SDCG and INSQ) and for ERR, nERR, iRBU and Compat.
            The time is that of some five spreads for each gain above the lowest one; for ERR, nERR, iRBU and Compat,
            that of sorting all scores twice with NumPy.

        Raises
        ------
        InputError
            As for `spread`; if an error is negative or NaN, or has a wrong shape; if bounds of a measure are not known
            for these labels; or if the precision depends on the whole list. With the error 0, the last two are allowed.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Evaluator([0, 1, 0, 1], ["RR", "P@2"]).bounds([4.0, 3.0, 2.5, 2.0], [0.0, 0.5, 0.1, 0.5])
        Bounds(min=[[0.3333, 0]], max=[[0.5, 0.5]])
        """
        given, errors = self._flat(scores), checked_error(error, self._flat)
        if not errors.any():
            spread, exact = self.spread(given), [measure.definition.has_spread for measure in self.measures]
            return Bounds(spread.min, spread.max, np.array(exact))
        prepared: PreparedBounds = self._once("bounds")
        return prepared.evaluate(given, errors)

    def under_noise(self, scores: npt.ArrayLike, noise: Noise) -> Values:
        """Compute the expected value of every measure for every query if each score has independent noise.

        The values have errors of at most 1e-9, relative to the norm of the measure or the gain of one document if that
        is larger; `under_noise_with_error` returns the errors that were reached. Without noise, a score is as it is,
        and documents tie as in a call; so values for little noise approach those of a call.

        Parameters
        ----------
        scores : real numbers, shape (n_docs,) or the labels' shape
            As for `__call__`. Infinite scores have no noise.
        noise : Noise
            `tieaware.precision.Gaussian`, `Uniform` or `Gumbel`.

        Returns
        -------
        float64[n_queries, n_measures]

        Raises
        ------
        InputError
            As for `__call__`; if `noise` is none, or its sizes have a wrong shape; if a measure is none of P, R, F1,
            Hits, Success, DCG, nDCG, RBP, AP, RR, ERR and their kin; if the tie rule is not "average", or there is a
            precision; or if sizes differ so much that the error is larger.

        Examples
        --------
        The relevant document is third, but nearly as good as the second:

        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([0, 0, 1], ["RR", "P@1"])
        >>> evaluator.under_noise([9.0, 2.1, 2.0], tieaware.precision.Gaussian(0.1)).round(4)
        array([[0.3733, 0.    ]])
        """
        return self.under_noise_with_error(scores, noise).values

    def under_noise_with_error(self, scores: npt.ArrayLike, noise: Noise) -> UnderNoise:
        """Do the work of `under_noise`, and also return the error that was reached.

        Parameters and errors are as for `under_noise`.

        Returns
        -------
        UnderNoise

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([0, 1], "RR")
        >>> evaluator.under_noise_with_error([2.0, 1.0], tieaware.precision.Gumbel(0.5)).error < 1e-9
        array([[ True]])
        """
        check_noise(noise, self._view)
        noisy: NoisyLists = self._once("noise")
        # A copy: the kernel reads the scores several times.
        array = self._flat(scores).astype(np.float64)
        sizes = noise.sizes
        sizes = (self._flat(sizes, "noise") if sizes.ndim else sizes.reshape(1)).astype(np.float64)
        without = self(array)
        if not sizes.any():
            return UnderNoise(without, np.zeros(without.shape))
        return noisy.evaluate(array, sizes, noise, self._prepared.threads)

    def chance(self) -> Chance:
        """Compute what a random order of each list earns, which depends on the labels alone.

        It does not depend on the tie rule and on the precision. If all scores are equal and the rule is
        "average", `spread` returns the same mean and standard deviation as this method.

        Returns
        -------
        Chance

        Examples
        --------
        >>> import tieaware
        >>> chance = tieaware.Evaluator([1, 0, 0, 0], ["RR", "P@1"]).chance()
        >>> chance.mean.round(4), chance.std.round(4), chance.ideal
        (array([[0.5208, 0.25  ]]), array([[0.2909, 0.433 ]]), array([[1., 1.]]))
        """
        prepared: Prepared = self._once("chance")
        return prepared.chance()

    def many(self, candidates: npt.ArrayLike) -> Values:
        """Evaluate many scorings of the same documents: return the mean of every measure for each scoring.

        Parameters
        ----------
        candidates : real numbers, shape (n_candidates, n_docs) or (n_candidates, *labels.shape)
            Types and errors are as for `__call__`.

        Returns
        -------
        float64[n_candidates, n_measures]

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Evaluator([0, 1], ["RR", "P@1"]).many([[1.0, 2.0], [0.0, 0.0]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        counts = counts_of_candidates(candidates, self._prepared, self._shape)
        if counts is not None:
            return self._prepared.means(counts)
        array = as_scores(candidates, "candidates")
        if array.shape[1:] not in ((self.n_docs,), self._shape) or array.ndim == 0:
            raise wrong_shape("candidates", array, self._shape, self.n_docs, before="n_candidates, ")
        rows = array.reshape(len(array), self.n_docs)
        return self._prepared.means(rows, lambda candidate: f"candidates[{candidate}]")

    def columns(self, features: npt.ArrayLike) -> Values:
        """Evaluate each feature as if it were the score of the documents, so that higher values rank higher.

        Parameters
        ----------
        features : real numbers, shape (n_docs, n_features) or (*labels.shape, n_features)
            Types and errors are as for `__call__`.

        Returns
        -------
        float64[n_features, n_measures]
            The means over the queries.

        Examples
        --------
        The second feature ties the relevant document with another.

        >>> import tieaware
        >>> tieaware.Evaluator([1, 0, 0], ["RR", "P@1"]).columns([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
        array([[1.  , 1.  ],
               [0.75, 0.5 ]])
        """
        given = as_numpy(features, "features")
        array = given if isinstance(given, np.ndarray) else as_scores(given, "features")
        if array.shape[:-1] not in ((self.n_docs,), self._shape) or array.ndim == 0:
            raise wrong_shape("features", array, self._shape, self.n_docs, after=", n_features")
        return self._prepared.means_of_columns(array, "features")

    def along(
        self, scores: npt.ArrayLike, direction: npt.ArrayLike, bounds: tuple[float, float] = (-np.inf, np.inf)
    ) -> lines.Line:
        """Compute all means as exact functions of t, at the scores ``scores + t * direction``.

        As t grows, the means change only where the scores of two documents cross. All crossings are computed, so the
        result shows every value that any t attains between two breaks, for the time of some hundreds of evaluations. At
        a break, documents tie, and the value can be higher than in any interval; an interval is the sounder advice.
        Intervals narrower than 1e-9 of the line's length (of t, if the line has no ends) are left out.

        Parameters
        ----------
        scores, direction : real numbers, shape (n_docs,) or the labels' shape
            Finite, at most 2^400.
        bounds : tuple of float
            The least and the greatest t; both may be infinite.

        Returns
        -------
        Line

        Raises
        ------
        InputError
            If the shapes differ, a number is not finite, or the bounds are empty or reversed; if the evaluator has a
            precision, excluded items, the measure GMAP or a tie rule that orders documents by position or identifier;
            or if there are more than 2^28 crossings.

        Examples
        --------
        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0], ["RR"]).along([0.5, 0.0], [0.0, 1.0])
        >>> line.breaks, line.values.ravel()
        (array([0.5]), array([1. , 0.5]))
        """
        return lines.along(self._prepared, self._flat(scores), self._flat(direction, "direction"), bounds)

    def between(self, a: npt.ArrayLike, b: npt.ArrayLike, *, precision: str | Coarsening | None = None) -> lines.Line:
        """Compute all means as exact functions of t, at the scores ``(1 - t) * a + t * b`` for t from 0 to 1.

        Parameters
        ----------
        a, b : real numbers, shape (n_docs,) or the labels' shape
            The scores of two systems. Scores on different scales should be normalised first.
        precision : str or Coarsening, optional
            The precision to which both systems' scores are rounded before they are combined, e.g. "decimals:2"; their
            weighted sums are not. "gap" and "bands" do not round single scores. Other errors are as for `along`.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR"])
        >>> evaluator.between([0.5, 0.9, 0.1], [0.8, 0.4, 0.2]).best()
        Best(t=0.7, value=1.0, interval=(0.5, 1.0))

        In whole numbers, the first system ties the first two documents:

        >>> evaluator.between([0.6, 0.9, 0.1], [0.8, 0.4, 0.2], precision="decimals:0").values.ravel()
        array([1.])
        """
        return lines.between(self._prepared, self._flat(a, "a"), self._flat(b, "b"), precision)

    def combinations(self, features: npt.ArrayLike, weights: npt.ArrayLike) -> Values:
        """Evaluate many weighted sums of features: return the mean of every measure for each vector of weights.

        Memory does not grow with the number of candidates. Each sum adds the features in their order, which matters to
        the last bit of a score, and so to ties.

        Parameters
        ----------
        features : real numbers, shape (n_docs, n_features)
        weights : real numbers, shape (n_candidates, n_features)

        Returns
        -------
        float64[n_candidates, n_measures]
            The means over the queries, as `many` computes them for ``features @ weights.T``.

        Raises
        ------
        InputError
            If a shape is wrong, or a number is not finite.

        Examples
        --------
        >>> import tieaware
        >>> features = [[0.5, 0.2], [0.9, 0.1], [0.1, 0.1]]
        >>> tieaware.Evaluator([1, 0, 0], "RR").combinations(features, [[1.0, 0.0], [1.0, 5.0]]).ravel()
        array([0.5, 1. ])
        """
        return lines.combinations(self._prepared, features, weights)

    def _evaluate(self, prepared: Prepared, scores: npt.ArrayLike, values: Values, name: str = "scores") -> None:
        """Write the values of all queries; raise InputError if a score is NaN."""
        counts = counts_of(scores, prepared, self._shape, name)
        if counts is not None:
            prepared.evaluate(counts, values)
            return
        array = self._looked_at(scores, name)
        prepared.for_scores(array).write(array, values, name)

    def _flat(self, scores: npt.ArrayLike, name: str = "scores") -> Scores:
        """Return the scores of one call as the one-dimensional array that the kernels need."""
        # A large array in another order, such as a transposed one, is copied only after its shape was checked.
        array = scores if isinstance(scores, np.ndarray) and scores.dtype.kind == "f" else as_scores(scores, name)
        if array.shape not in ((self.n_docs,), self._shape, (self._n_items,), (1, self._n_items)):
            shared = "" if self._n_items in (None, self.n_docs) else f", or ({self._n_items},) for all queries"
            raise wrong_shape(name, array, self._shape, self.n_docs, more=shared)
        # A sum over the rows of a SciPy matrix has one row, the scores of all queries.
        return as_scores(array, name).reshape(-1)

    def _looked_at(self, scores: npt.ArrayLike, name: str = "scores") -> Scores:
        """Return the scores of one call as `_flat` does, after a look for likely mistakes.

        The scores of the first call are looked at, and those of each run of `results`, the first time.
        """
        flat = self._flat(scores, name)
        self._short = self._prepared.threads == 1 and self._prepared.in_kernel
        if not self._seen or (name != "scores" and name not in self._seen):
            self._seen.add(name)
            warn_of_scores(self._lists, (self._first, self._first + self.n_queries), flat, scores, name)
        return flat

    def _once(self, purpose: _Purpose) -> Any:
        """Return the lists as they are prepared for a purpose: a `Prepared`, `PreparedBounds` or `NoisyLists`.

        They are prepared only once, when they are first needed.
        """
        if purpose not in self._prepared_for:
            if self._rows_of is not None:
                whole, first, last = self._rows_of
                self._prepared_for[purpose] = whole._once(purpose).rows(first, last)
            else:
                self._prepared_for[purpose] = self._for(purpose)
        return self._prepared_for[purpose]

    def _for(self, purpose: _Purpose) -> Prepared | PreparedBounds | NoisyLists:
        if purpose == "chance":
            return self._prepare(OF_CHANCE)
        if purpose == "noise":
            return self._prepare_noisy()
        of_spread = passes([View(self._view.rule.name, self._view.precision, spread=True)])
        return self._prepare(*of_spread) if purpose == "spread" else PreparedBounds.of(self._prepare, *of_spread)

    def _engines(self, spread: bool) -> Any:
        """Return what the C interface calls; see `Prepared.engines`."""
        return self._prepared.engines(self._once("spread") if spread else None)

    def _values_of_cuts(self, scores: npt.ArrayLike, most: int) -> tuple[Values, Values]:
        """Return what `tieaware.precision.best_thresholds` needs; see `ValuesOfCuts` there."""
        return values_of_cuts(self._prepared, self._flat(scores), most)
