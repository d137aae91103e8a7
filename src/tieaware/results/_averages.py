"""The values of runs, their averages over the queries, and how certain these are: the base of Results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.engine.spread import Chance
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.errors import Hinted, InputError
from tieaware.measures import Measure
from tieaware.output.tables import Table
from tieaware.results import certainty, exports, summaries
from tieaware.results.exports import Export, ExportColumn
from tieaware.results.lookup import position_of_measure
from tieaware.results.provenance import Provenance, title_of

if TYPE_CHECKING:
    from tieaware.statistics.intervals import IntervalMethod
    from tieaware.statistics.multiple_comparisons import Correction
    from tieaware.statistics.procedures import PairTest

_FLOAT64 = np.dtype(np.float64)
# The names of the arrays beside the values.
FURTHER = (*SPREAD, *CHANCE)


AnyResults = TypeVar("AnyResults", bound="Averages")


@dataclass(frozen=True, eq=False, repr=False)
class Averages(Hinted):
    """The fields of `tieaware.Results`, and the methods that average them over the queries."""

    values: Values
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    std: Values | None = None
    min: Values | None = None
    max: Values | None = None
    names: tuple[str, ...] = ()
    provenance: Provenance | None = None
    unanswered: dict[str, int] = field(default_factory=dict)
    chance: Values | None = None
    chance_std: Values | None = None
    ideal: Values | None = None

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, self.measures)))
        for measure in self.measures:
            if not isinstance(measure, Measure):
                raise unexpected("measures of results", "a Measure", shown(measure))
        if len(self.names) != len(self.measures):
            n_names, n = len(self.names), len(self.measures)
            raise InputError("names of results", f"the number of names is {n_names}, the number of measures {n}")
        shape = (len(self.runs), len(self.queries), len(self.measures))
        for name, cube in self.cubes().items():
            if not (isinstance(cube, np.ndarray) and cube.dtype == _FLOAT64 and cube.shape == shape):
                found = f"{cube.dtype} of shape {cube.shape}" if isinstance(cube, np.ndarray) else shown(cube)
                raise unexpected(f"{name} of results", f"an array of float64 of shape {shape}", found)

    def cubes(self) -> dict[str, Values]:
        """Return the arrays by name: values; with a spread std, min and max; with chance chance, chance_std and ideal.

        Returns
        -------
        dict of str to float64[n_runs, n_queries, n_measures]
        """
        cubes = {"values": self.values}
        for name in FURTHER:
            cube = getattr(self, name)
            if cube is not None:
                cubes[name] = cube
        return cubes

    @property
    def title(self) -> str:
        """One line that states the number of queries that the means are over, and the options of the evaluation."""
        return title_of(len(with_values(self).queries), self.provenance, self.unanswered)

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """True if each run has a value for each query, bool[n_runs, n_queries].

        By default, unanswered queries have values too, those of an empty list; `unanswered` counts them. With
        ``queries="both"``, they have none.
        """
        return np.asarray(~np.isnan(self.values).all(axis=2))

    def mean(self, *, weights: str | Measure | None = None) -> Values:
        """Average the values of each run and measure over the queries.

        The mean is arithmetic, except for GMAP: its mean is geometric, with values below 0.00001 replaced by 0.00001,
        as in trec_eval. Sums do not depend on the order of the queries. Counts such as NumRet are averaged, too.

        Parameters
        ----------
        weights : str or Measure, optional
            A count among the measures of the results, by which the queries are weighted. Weighted by NumRel, the mean
            of recall is its micro-average: relevant documents found for all queries, divided by relevant documents of
            all queries. Weighted by NumRet, the mean of P (without a cut-off) is the micro-average of precision.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN values are left out: unanswered queries, and queries for which the measure is undefined. The mean is
            NaN if no value is left. A weighted mean is also NaN if the weights add up to 0, and for GMAP.

        Raises
        ------
        InputError
            If the weights are not a count.
        KeyError
            If they are not among the measures of the results.

        Examples
        --------
        The first query has one relevant document, which ties. The second has three, and none is found:

        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1, "d3": 1, "d4": 1}}
        >>> run = {"q1": {"d1": 2.0, "d5": 2.0}, "q2": {"d1": 2.0}}
        >>> result = tieaware.evaluate(qrels, run, ["R@1", "NumRel"], spread=True)
        >>> result.mean(), result.mean(weights="NumRel"), result.summary(), result.mean_std()
        (array([[0.25, 2.  ]]), array([[0.125, 2.5  ]]), array([[0.25, 4.  ]]), array([[0.25, 0.  ]]))
        """
        return summaries.averages(self.values, self.measures, None if weights is None else self._weights(weights))

    def _weights(self, measure: str | Measure) -> Values:
        """Return the values of the count with this name, float64[n_runs, n_queries]; raise an error without one."""
        place = position_of_measure(self.measures, self.names, measure)
        if not self.measures[place].definition.is_count:
            raise InputError("weights", f"must be a count, such as NumRel or NumRet; {measure} is not")
        return self.values[..., place]

    def mean_std(self, *, weights: str | Measure | None = None) -> Values:
        """Return the standard deviation of the means over the orders of tied documents. Needs ``spread=True``.

        Parameters and errors are as for `mean`. The orders of different queries are independent.

        Returns
        -------
        float64[n_runs, n_measures]
            In the unit of the measure. NaN for GMAP, and for infAP, whose spread is not known.
        """
        if self.std is None:
            raise InputError("mean_std", "the results have no spread; evaluate with spread=True")
        by_query = None if weights is None else self._weights(weights)
        return summaries.std_of_means(self.std, self.values, self.measures, by_query)

    def summary(self) -> Values:
        """Summarise the queries as trec_eval does: sum counts, average all other measures, as for `mean`."""
        return summaries.sums_or_means(self.values, self.measures)

    def adjusted(self) -> Values:
        """Return each value adjusted for chance: 0 is what a random order earns on average, 1 what the best order does.

        That is (value - chance) / (ideal - chance), for results with ``chance=True``. The ideal is the value of the
        best order of the run's documents; where less is better, the least value.

        Returns
        -------
        float64[n_runs, n_queries, n_measures]
            At most 1; negative for values worse than chance. NaN if all orders give the same value, as in a list
            without relevant documents.

        Raises
        ------
        InputError
            If the results were computed without ``chance=True``.

        Examples
        --------
        One of four documents is relevant. It ties with another in first place.

        >>> import tieaware
        >>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0, "d4": 0.5}}
        >>> result = tieaware.evaluate(qrels, run, ["RR", "P@1"], chance=True)
        >>> result.chance.round(4), result.chance_std.round(4)
        (array([[[0.5208, 0.25  ]]]), array([[[0.2909, 0.433 ]]]))
        >>> result.adjusted().round(4), result.z().round(4)
        (array([[[0.4783, 0.3333]]]), array([[[0.7877, 0.5774]]]))
        """
        return summaries.adjusted(self.values, self._chance("adjusted"))

    def adjusted_mean(self) -> Values:
        """Return the mean of each run and measure, adjusted for chance as for `adjusted`: a ratio of means.

        That is (mean value - mean chance) / (mean ideal - mean chance), over the queries that the run answers. For
        ranks and hits of one relevant document, it is PyKEEN's AMRI and adjusted Hits@k.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN if all orders give the same values; for GMAP; and for infAP, whose ideal is not known.
        """
        return summaries.adjusted_means(self.values, self._chance("adjusted_mean"), self.measures)

    def z(self) -> Values:
        """Return how many standard deviations of a random order each value is better than chance.

        That is (value - chance) / chance_std, or where less is better, the negative of it. NaN for infAP, whose
        standard deviation is not known. Otherwise as for `adjusted`.
        """
        return summaries.z_scores(self.values, self._chance("z"), self.measures)

    def mean_z(self) -> Values:
        """Return how many standard deviations each mean is better than chance. Otherwise as for `adjusted_mean`.

        The orders of different queries are independent, so their variances add up. With many queries, the distribution
        is nearly normal: above 1.64, less than 5 % of the random orders are better.
        `tieaware.statistics.better_than_chance` computes exact p values.
        """
        return summaries.z_scores_of_means(self.values, self._chance("mean_z"), self.measures)

    def _chance(self, method: str) -> Chance:
        """Return the arrays chance, chance_std and ideal; raise InputError if the results do not have them."""
        if self.chance is None or self.chance_std is None or self.ideal is None:
            raise InputError(method, "the results have no values of chance; evaluate with chance=True")
        return Chance(self.chance, self.chance_std, self.ideal)

    def intervals(
        self, level: float = 0.95, *, method: IntervalMethod = "t", baseline: str | None = None, ratio: bool = False,
        resamples: int = 10_000, seed: int = 0,
    ) -> certainty.Intervals:  # fmt: skip
        """Return the confidence interval of each mean over the queries, of each difference, or of each ratio.

        Parameters
        ----------
        level : float
            The confidence level of each single interval, between 0 and 1.
        method : str
            "t", "percentile", "bca" or "bootstrap-t" (not for ratios), as for `tieaware.statistics.mean_interval`.
        baseline : str, optional
            A run. The intervals are then of the differences from its means, over the same queries.
        ratio : bool
            With a baseline: whether the intervals are of the ratios of the means instead.
        resamples, seed : int
            As for `tieaware.statistics.mean_interval`.

        Returns
        -------
        Intervals
            NaN for counts and for GMAP, whose summaries are not arithmetic means; and for the ratio to a mean of 0.

        Raises
        ------
        InputError
            If an argument is not valid, there are fewer than two queries, or a run does not answer all queries.
        MissingExtraError
            If SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(5)}
        >>> run = {query: {"d": 1.0, "x": 1.0 + (query > "q1")} for query in qrels}
        >>> result = tieaware.evaluate(qrels, {"bm25": run}, "RR", spread=True)
        >>> print(result.intervals())
        Means over 5 queries, ties: average
        <BLANKLINE>
        run   RR                    ties RR
        bm25  0.600 [0.430, 0.770]  57.1%
        <BLANKLINE>
        In brackets: the interval of the mean over queries (Student's t, level 0.95).
        Ties: their share of the variance if one order of the tied documents is drawn for each query.
        """
        return certainty.intervals(export_of(self), level, method, baseline, ratio, resamples, seed)

    def ranks(self, level: float = 0.95, *, resamples: int = 10_000, seed: int = 0) -> Table:
        """Return the ranks that each run may have by each measure, with simultaneous confidence over all runs.

        Other parameters and errors are as for `intervals`; the method is that of
        `tieaware.statistics.rank_intervals`.

        Parameters
        ----------
        level : float
            The probability, between 0 and 1, that all intervals of a measure contain the true ranks.

        Returns
        -------
        Table
            With a row for each run, and intervals such as "1–3"; data frames and files have the best rank there. A
            column is empty for counts and for GMAP, which are not arithmetic means.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(20)}
        >>> good = {query: {"d": 2.0, "x": 1.0, "y": 1.0} for query in qrels}
        >>> tied = {query: {"d": 1.0, "x": 1.0, "y": float(i % 3)} for i, query in enumerate(qrels)}
        >>> result = tieaware.evaluate(qrels, {"good": good, "tied": tied}, "RR")
        >>> result.ranks().to_dict(), result.groups()
        ({'run': ['good', 'tied'], 'RR': [1, 2]}, (('good',), ('tied',)))
        """
        return certainty.ranks(export_of(self), level, resamples, seed)

    def groups(
        self, measure: str | Measure | None = None, *, test: PairTest = "t", correction: Correction | None = None,
        alpha: float = 0.05,
    ) -> tuple[tuple[str, ...], ...]:  # fmt: skip
        """Return the largest groups of runs such that no test separates two runs of a group, the best first.

        That a test does not separate two runs does not show that they are equally good. Other parameters are as for
        `table`, errors as for `intervals`; the measure must not be a count or GMAP. Example as for `ranks`.

        Parameters
        ----------
        measure : str or Measure, optional
            By default the first.

        Returns
        -------
        tuple of tuples of str
            The runs of each group, the best mean first. A run can be in several groups.
        """
        place = 0 if measure is None else position_of_measure(self.measures, self.names, measure)
        return certainty.groups(export_of(self), place, test, correction, alpha)

    def topics_needed(
        self, difference: float, measure: str | Measure | None = None, baseline: str | None = None, *,
        alpha: float = 0.05,
    ) -> int:  # fmt: skip
        """Return the number of topics with which a paired t-test would find a true difference with probability 0.8.

        `tieaware.statistics.topics_needed` has other choices. Needs `tieaware[analysis]`.

        Parameters
        ----------
        difference : float
            The difference of means, not 0, in the unit of the measure.
        measure : str or Measure, optional
            By default the first measure.
        baseline : str, optional
            The run with which the others are compared: the variance over topics is that of their differences from it.
            By default it is that of the differences of all pairs.
        alpha : float
            The level of the test, from 1e-9 to 0.999.

        Returns
        -------
        int
            At least 3.

        Raises
        ------
        InputError
            If there are fewer than two runs or two queries, a run lacks values, or no two runs differ.
        KeyError
            If there is no such measure.

        Examples
        --------
        >>> from tieaware import AP, Results
        >>> values = np.array([[0.5, 0.6, 0.7, 0.2], [0.1, 0.7, 0.3, 0.4]])
        >>> Results(values[..., None], ("a", "b"), ("q1", "q2", "q3", "q4"), (AP,)).topics_needed(0.1)
        83
        """
        place = 0 if measure is None else position_of_measure(self.measures, self.names, measure)
        return certainty.topics_needed(export_of(self), place, difference, baseline, alpha)

    def columns(self) -> list[ExportColumn]:
        """Return the columns of exports: the value of each measure, and what else is known of it.

        Returns
        -------
        list of ExportColumn
            In the order of the measures, under the names that were requested. With a spread, the std, min and max of a
            measure follow its value, as in "RR_std"; with chance, the chance, chance_std and ideal. Counts have a value
            only.
        """
        return exports.columns_of(self.measures, self.names, self.cubes())


def with_values(results: AnyResults) -> AnyResults:
    """Return the results of the queries for which a run has a value: those that means, tests and tables are over."""
    some = np.asarray(~np.isnan(results.values).all(axis=(0, 2)))
    if some.all():
        return results
    cubes: dict[str, Any] = {name: cube[:, some] for name, cube in results.cubes().items()}
    return replace(results, queries=tuple(compress(results.queries, some.tolist())), **cubes)


def export_of(results: Averages, weights: str | Measure | None = None, *, every: bool = False) -> Export:
    """Return the content of results that exports show; with means that are weighted as by `Results.mean`.

    The queries are those with a value; if `every`, also those for which no measure is defined.
    """
    is_whole = every and results.provenance is not None and results.provenance.queries == "judged"
    results = results if is_whole else with_values(results)
    answered = np.ones_like(results.answered) if is_whole else results.answered
    by_query = None if weights is None else results._weights(weights)
    columns = exports.columns_of(results.measures, results.names, results.cubes(), by_query)
    has_spread = results.std is not None
    return Export(results.title, results.runs, results.queries, answered, columns, has_spread, results.provenance)
