"""Comparison of values with those of a random order: chance-adjusted values and z-scores."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ratio, rounding_of, without_rounding
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.results import summaries
from tieaware.results.named_values import NamedValues


class AgainstChance(NamedValues):
    """The methods of `tieaware.Results` that compare values with chance; they need ``chance=True``."""

    def adjusted(self) -> Values:
        """Return each value adjusted for chance: 0 is what a random order earns on average, 1 what the best order does.

        That is (value - chance) / (ideal - chance). The ideal is the value of the best order of the documents that the
        run has for the query. Where less is better, the best order has the least value, so 1 is the best there too.

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
        chance, _, ideal = self._chance("adjusted")
        return ratio(self.values - chance, _room(chance, ideal))

    def adjusted_mean(self) -> Values:
        """Return the mean of each run and measure, adjusted for chance: the ratio of means, not the mean of ratios.

        That is (mean value - mean chance) / (mean ideal - mean chance), with all means over the queries that the run
        answers. For ranks and hits of one relevant document, it is PyKEEN's AMRI and adjusted Hits@k.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN if all orders give the same values; for GMAP, whose mean is geometric; and for infAP, whose ideal is not
            known.

        Raises
        ------
        InputError
            If the results were computed without ``chance=True``.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[1, 0, 0], [0, 0, 1]], "RR")
        >>> result = evaluator.results({"model": [[3, 2, 1], [3, 2, 1]]}, chance=True)
        >>> result.adjusted_mean().round(4), result.mean_z().round(4)
        (array([[0.1429]]), array([[0.2774]]))
        """
        chance, _, ideal = (self._mean_of(cube) for cube in self._chance("adjusted_mean"))
        return ratio(self._mean_of(self.values) - chance, _room(chance, ideal))

    def z(self) -> Values:
        """Return how many standard deviations of a random order each value is better than chance. Example: `adjusted`.

        That is (value - chance) / chance_std; for measures of which less is better, the negative of it.

        Returns
        -------
        float64[n_runs, n_queries, n_measures]
            Negative for values worse than chance. NaN if all orders give the same value, and for infAP, whose standard
            deviation is not known.

        Raises
        ------
        InputError
            If the results were computed without ``chance=True``.
        """
        chance, std, ideal = self._chance("z")
        return ratio(self._better(self.values - chance), np.where(_room(chance, ideal) == 0.0, 0.0, std))

    def mean_z(self) -> Values:
        """Return how many standard deviations each mean is better than chance. Example: `adjusted_mean`.

        The orders of different queries are independent, so the variance of the mean of n queries is the sum of their
        variances, divided by n². With many queries, the distribution is nearly normal: above 1.64, less than 5 % of the
        random orders are better. `tieaware.statistics.better_than_chance` computes exact p values.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN if all orders give the same values; for GMAP, whose mean is geometric; and for infAP.

        Raises
        ------
        InputError
            If the results were computed without ``chance=True``.
        """
        chance, std, ideal = self._chance("mean_z")
        of_chance, error = self._mean_of(chance), summaries.std_of_means(std, self.values, self.measures)
        error[_room(of_chance, self._mean_of(ideal)) == 0.0] = 0.0
        return ratio(self._better(self._mean_of(self.values) - of_chance), error)

    def _chance(self, method: str) -> tuple[Values, Values, Values]:
        """Return the arrays chance, chance_std and ideal; raise InputError if the results do not have them."""
        if self.chance is None or self.chance_std is None or self.ideal is None:
            raise InputError(method, "the results have no values of chance; evaluate with chance=True")
        return self.chance, self.chance_std, self.ideal

    def _mean_of(self, cube: Values) -> Values:
        """Return the means over the answered queries, float64[n_runs, n_measures]; NaN for geometric means."""
        unanswered = np.isnan(self.values)
        averages = means(np.where(unanswered, np.nan, cube), self.measures)
        averages[:, summaries.geometric(self.measures)] = np.nan
        # `means` leaves out every NaN, but the ideal of infAP is unknown for a query that has a value.
        averages[(np.isnan(cube) & ~unanswered).any(axis=1)] = np.nan
        return averages

    def _better(self, differences: Values) -> Values:
        """Return differences from chance with a positive sign for what is better; the last axis is that of measures."""
        less = [measure.definition.less_is_better for measure in self.measures]
        return np.asarray(np.where(less, -differences, differences))


def _room(chance: Values, ideal: Values) -> Values:
    """Return the difference between the best order and chance; 0 if it is only rounding."""
    return without_rounding(ideal - chance, rounding_of(np.stack((chance, ideal)), axis=0))
