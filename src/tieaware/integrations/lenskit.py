"""Tie-aware metrics for LensKit's run analysis.

LensKit's own metrics take the order of a list, in which ties have the order that a sort or a top-n selection leaves.
The metrics of this module use the scores alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName


def metric(
    measure: str | Measure,
    *,
    gain: str | None = None,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
) -> Any:
    """Make a metric for ``lenskit.metrics.RunAnalysis``.

    Parameters
    ----------
    measure : str or Measure
        The measure, with its cut-off.
    gain : str, optional
        The field of the test lists with the labels, such as "rating". By default, all test items have the label 1.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.

    Returns
    -------
    lenskit.metrics.ListMetric
        Its label is the measure, with the field, the tie rule and the precision if they are given. Lists rank by their
        scores, in any order; an ordered list without scores ranks in its order. For a user without test items it is
        NaN, as LensKit's metrics are, which LensKit's tables show as 0, unless less is better.

    Raises
    ------
    MissingExtraError
        If LensKit is not installed. It is a subclass of ImportError.
    InputError
        If the measure or an option is unknown. The metric raises it if a list has neither scores nor an order, a score
        is NaN, an item is in a list twice, or the test lists lack the field.

    Examples
    --------
    >>> from lenskit.metrics import RunAnalysis                                             # doctest: +SKIP
    >>> result = RunAnalysis(metric("nDCG@10"), metric("RR")).measure(recs, test)           # doctest: +SKIP
    """
    base = load("lenskit.metrics", "lenskit").ListMetric
    parsed = parse_measure(measure)
    # The columns of LensKit's results are named by the labels.
    options = [each for each in (gain or "", ties if ties != "average" else "", precision and str(precision)) if each]
    name = f"{measure} ({', '.join(options)})" if options else str(measure)
    # Report an unknown option now, and not in the middle of an experiment.
    Evaluator([[1]], [parsed], ties=ties, precision=precision)

    class RankingMetric(base):  # type: ignore[misc, valid-type]
        """A tie-aware metric, evaluated for one list at a time."""

        default = None if parsed.definition.less_is_better else 0.0

        @property
        def label(self) -> str:
            return name

        def measure_list(self, output: Any, test: Any, /) -> float:
            """Return the value of a list of recommendations."""
            if len(test) == 0:
                return math.nan
            labels = _labels(test, gain)
            judgments = np.array([*labels.values()]), [0, len(labels)]
            ids = output.ids().tolist()
            if len(set(ids)) < len(ids):
                raise InputError("output", "an item is in the list twice")
            listed = [labels.get(item, -1) for item in ids]
            evaluator = Evaluator(listed, [parsed], judgments=judgments, ties=ties, precision=precision)
            return float(evaluator(_scores(output))[0, 0])

    return RankingMetric()


def _labels(test: Any, field: str | None) -> dict[Any, float]:
    """Return the labels of the test items."""
    items = test.ids().tolist()
    if field is None:
        return dict.fromkeys(items, 1)
    labels = test.field(field)
    if labels is None:
        raise InputError("gain", f"the test items have no field {field!r}")
    return dict(zip(items, labels.tolist(), strict=True))


def _scores(output: Any) -> Any:
    """Return the scores of a list; without scores, those that give its order."""
    scores = output.scores()
    if scores is not None:
        return scores
    if not output.ordered:
        raise InputError("output", "a list needs scores, or must be ordered")
    return np.arange(len(output), 0, -1.0)
