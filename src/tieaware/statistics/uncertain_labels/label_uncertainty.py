"""The mean and standard deviation of measures if both the labels and the order of tied documents are uncertain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import Measure, named_measures
from tieaware.output.tables import Table, counted, significant
from tieaware.statistics.uncertain_labels.grade_probabilities import UncertainLists, of_arrays, of_dicts
from tieaware.statistics.uncertain_labels.uncertain_formulas import by_formula, check_grades
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList
from tieaware.statistics.uncertain_labels.uncertain_samples import enumerated, sampled

# The most assignments of labels to a list that are enumerated.
_MOST_ENUMERATED = 4096

Method: TypeAlias = Literal["formula", "enumeration", "sampling"]


@dataclass(frozen=True, eq=False)
class UncertainValues:
    """The values of measures for lists whose labels are uncertain.

    Attributes
    ----------
    names : tuple of str
        The names of the measures.
    queries : tuple of str or of int
        The queries; 0, 1, … for arrays.
    mean : float64[n_queries, n_measures]
        The mean over the labels and the orders of tied documents.
    std : float64[n_queries, n_measures]
        The standard deviation over both: std² = std_of_labels² + std_of_ties².
    std_of_labels : float64[n_queries, n_measures]
        The standard deviation, over the labels, of the mean over the orders.
    std_of_ties : float64[n_queries, n_measures]
        The root of the mean, over the labels, of the variance over the orders. NaN for infAP.
    error : float64[n_queries, n_measures]
        The standard error of the mean: 0 unless labels were sampled.
    method : array of str, shape (n_queries, n_measures)
        How each value was computed: "formula" and "enumeration" of all labels are exact, "sampling" of labels is not.

    Examples
    --------
    >>> from tieaware import statistics
    >>> found = statistics.with_uncertain_labels([2.0, 1.0, 1.0], [[0.5, 0.5], [0, 1], [1, 0]], "RR")
    >>> found
    UncertainValues(RR: 0.708 ± 0.298)
    >>> found.std_of_labels.round(4), found.std_of_ties.round(4)
    (array([[0.2917]]), array([[0.0589]]))
    """

    names: tuple[str, ...]
    queries: tuple[str | int, ...]
    mean: Values
    std: Values
    std_of_labels: Values
    std_of_ties: Values
    error: Values
    method: npt.NDArray[np.str_]

    def table(self) -> Table:
        """Return a table of the means over the queries, with a row for each measure.

        The labels of different queries are independent, so the variances of the values of the queries add up. The
        standard deviation says how much the mean of these queries could change, and not how much other queries would
        differ.

        Returns
        -------
        Table
        """
        n = len(self.queries)
        columns = ("measure", "mean", "std", "std of labels", "std of ties", "standard error", "computed")
        rows: list[tuple[str | float | None, ...]] = []
        for j, name in enumerate(self.names):
            parts = self.std, self.std_of_labels, self.std_of_ties, self.error
            of_mean = [float(np.sqrt((each[:, j] ** 2).sum())) / n if n else None for each in parts]
            is_sampled = bool((self.method[:, j] == "sampling").any())
            mean = float(self.mean[:, j].mean()) if n else None
            rows.append((name, mean, *of_mean[:3], of_mean[3] or None, "sampled" if is_sampled else "exact"))
        return Table(f"Means over {counted(n, 'query', 'queries')}, labels uncertain, ties averaged", columns, rows)

    def __repr__(self) -> str:
        if not self.queries:
            return "UncertainValues(no queries)"
        means, deviations = self.mean.mean(axis=0), np.sqrt((self.std**2).sum(axis=0)) / len(self.queries)
        shown = ", ".join(
            f"{name}: {significant(mean)} ± {significant(deviation)}"
            for name, mean, deviation in zip(self.names[:4], means.tolist(), deviations.tolist(), strict=False)
        )
        return f"UncertainValues({shown}{', …' if len(self.names) > 4 else ''})"


def with_uncertain_labels(
    scores: Any,
    probabilities: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    offsets: npt.ArrayLike | None = None,
    grades: npt.ArrayLike | None = None,
    unretrieved: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    samples: int = 2_000,
    seed: int = 0,
) -> UncertainValues:
    """Compute the mean and standard deviation of measures if each label is known only with probabilities.

    A model that grades documents gives a probability for each grade; several assessors give shares. The labels of
    different documents are independent, and every order of tied documents is equally likely. The standard deviation has
    two parts: that of the labels, which better judgments would reduce, and that of the ties, which finer scores would.

    Exact formulas serve sums such as DCG, RBP, SDCG, INSQ and P@k; R, F1, AP, RR and Success; ERR; and nDCG if there
    are few grades or a small cut-off. For other measures, all labels are enumerated if there are at most 4,096
    assignments of them, and sampled otherwise. The orders of ties are never sampled. The value of an assignment without
    relevant documents is 0, as in trec_eval.

    Parameters
    ----------
    scores : real numbers, shape (n_docs,) or (n_queries, depth); or a run
        The score of each document; documents with higher scores rank higher. A run, in any form that
        `tieaware.evaluate` reads, if the probabilities are a dict.
    probabilities : numbers, shape (*scores.shape, n_grades); or {query: {document: {grade: probability}}}
        The probability of each grade. Those of a document add up to 1 (within 10^-5). A row of NaN means that the
        document is unjudged; in a dict, unjudged documents are missing, and so are grades of probability 0.
    measures : str, Measure or sequence of these
        As for `tieaware.evaluate`, except for GMAP and measures of subtopics.
    offsets : integers, shape (n_queries + 1,), optional
        The index at which each list starts, and the end of the last list, for arrays of one dimension.
    grades : real numbers, shape (n_grades,), optional
        The label that each column stands for, at least 0; by default 0, 1, 2, ….
    unretrieved : (probabilities, offsets), optional
        The judged documents that are not in the lists: numbers of shape (n_unretrieved, n_grades), and integers of
        shape (n_queries + 1,). With a dict, they are those that the run does not have.
    samples : int
        The number of assignments of labels that are sampled, where there is no exact way: 2 … 10^6.
    seed : int
        The seed of the samples. The same seed gives the same values on every machine.

    Returns
    -------
    UncertainValues
        The mean, the standard deviation and its two parts for each query, and how they were computed.

    Raises
    ------
    InputError
        If probabilities are negative, do not add up to 1, or have another shape than the scores; if a score is NaN, a
        measure is unknown or does not take the grades, or another argument is out of range.

    See Also
    --------
    tieaware.experiments.assessors : what changes if one assessor's labels stand for another's.

    Notes
    -----
    The formulas are tieaware's own, checked by enumeration of all labels and orders. The documentation has them: see
    the page on uncertain labels.

    Examples
    --------
    The first document is relevant with probability 0.9. Two documents tie; one of them is relevant.

    >>> from tieaware import statistics
    >>> scores, chances = [3.0, 2.0, 2.0], [[0.1, 0.9], [0.0, 1.0], [1.0, 0.0]]
    >>> found = statistics.with_uncertain_labels(scores, chances, ["P@2", "AP"])
    >>> found.mean.round(4), found.std_of_labels.round(4), found.std_of_ties.round(4)
    (array([[0.7   , 0.8667]]), array([[0.15, 0.15]]), array([[0.25  , 0.0833]]))

    With a run and a dict; the last document is judged, but not retrieved:

    >>> run = {"q1": {"d1": 3, "d2": 2, "d3": 2}}
    >>> chances = {"q1": {"d1": {0: 0.5, 2: 0.5}, "d2": {1: 1.0}, "d4": {0: 0.75, 1: 0.25}}}
    >>> print(statistics.with_uncertain_labels(run, chances, ["nDCG", "R@2"]).table())
    Means over 1 query, labels uncertain, ties averaged
    <BLANKLINE>
    measure    mean     std  std of labels  std of ties  standard error  computed
    nDCG     0.7235  0.2326         0.2280       0.0458               –  exact
    R@2      0.5625  0.3947         0.1654       0.3584               –  exact
    """
    asked, names = named_measures(measures)
    for measure in asked:
        if measure.definition.is_geometric:
            raise InputError("measures", f"{measure} has a geometric mean; write AP")
        if measure.definition.needs_subtopics:
            raise InputError("measures", f"{measure} needs subtopics, whose labels cannot be uncertain")
    samples, seed = whole_number("samples", samples, 2, 10**6), checked_seed(seed)
    lists = _lists(scores, probabilities, offsets, grades, unretrieved)
    check_grades(asked, lists.grades)
    shape = len(lists.lists), len(asked)
    found, method = np.zeros((4, *shape)), np.full(shape, "formula", dtype="<U11")
    for q, listed in enumerate(lists.lists):
        for j, (moments, how) in enumerate(_moments(listed, asked, samples, [seed, q])):
            found[:, q, j] = moments.mean, moments.of_labels, moments.of_ties, moments.error
            method[q, j] = how
    mean, of_labels, of_ties, error = found
    deviations = np.sqrt(of_labels + of_ties), np.sqrt(of_labels), np.sqrt(of_ties)
    return UncertainValues(names, lists.queries, mean, *deviations, error, method)


def _lists(scores: Any, probabilities: Any, offsets: Any, grades: Any, unretrieved: Any) -> UncertainLists:
    """Return the lists, whose probabilities are arrays or a dict."""
    if not isinstance(probabilities, Mapping):
        return of_arrays(scores, probabilities, offsets, grades, unretrieved)
    for name, argument in (("offsets", offsets), ("grades", grades), ("unretrieved", unretrieved)):
        if argument is not None:
            raise InputError(name, "must not be given with a dict of probabilities, which already says it")
    return of_dicts(scores, probabilities)


def _moments(
    listed: UncertainList, measures: tuple[Measure, ...], samples: int, seed: list[int]
) -> list[tuple[Moments, Method]]:
    """Return the moments of each measure for one list, and how they were computed."""
    found: list[tuple[Moments, Method] | None] = []
    for measure in measures:
        moments = by_formula(listed, measure)
        found.append(None if moments is None else (moments, "formula"))
    others = tuple(measure for measure, known in zip(measures, found, strict=True) if known is None)
    if others:
        method: Method = "enumeration" if listed.n_assignments <= _MOST_ENUMERATED else "sampling"
        computed = iter(
            enumerated(listed, others) if method == "enumeration" else sampled(listed, others, samples, seed)
        )
        return [known or (next(computed), method) for known in found]
    return [known for known in found if known is not None]
