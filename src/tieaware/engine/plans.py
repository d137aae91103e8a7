"""Plans of evaluations: measures and views, with everything that depends on these alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tieaware.engine.views import Pass, View, passes
from tieaware.measures import Measure, cached_by_measures, named_measures


class Plan:
    """The measures and views of an evaluation, and everything that depends on these alone. Immutable.

    Parameters
    ----------
    measures : tuple of Measure
    names : tuple of str
        The names of the measures in results.
    views : sequence of View

    Attributes
    ----------
    passes : list of Pass
        The passes that compute all views.
    n_outputs : int
        The number of outputs of all views.
    by_document : bool
        Whether a tie rule orders documents by identifier.
    is_single_pass : bool
        Whether one pass fills all outputs, in their order.
    needs_pool, needs_subtopics : bool
        Whether a measure needs the documents that are in the pool but not judged, or labels of subtopics.
    """

    __slots__ = (
        "by_document", "is_single_pass", "measures", "n_outputs", "names", "needs_pool", "needs_subtopics", "passes",
        "views",
    )  # fmt: skip

    def __init__(self, measures: tuple[Measure, ...], names: tuple[str, ...], views: Sequence[View]) -> None:
        self.measures: tuple[Measure, ...] = measures
        self.names: tuple[str, ...] = names
        self.views: tuple[View, ...] = tuple(views)
        self.passes: list[Pass] = passes(views)
        self.n_outputs: int = sum(len(view.outputs) for view in views)
        self.by_document: bool = any(each.rule.by_document for each in self.passes)
        self.is_single_pass: bool = [each.outputs for each in self.passes] == [tuple(range(self.n_outputs))]
        self.needs_pool: bool = any(measure.definition.needs_pool(measure) for measure in measures)
        self.needs_subtopics: bool = any(measure.definition.needs_subtopics for measure in measures)


def plan_of(measures: str | Measure | Sequence[str | Measure], views: Sequence[View]) -> Plan:
    """Return the plan for measures and views, if possible from a cache.

    The cache has only plans with a single view that `View.of` shares: other views may hold mutable objects.

    Raises
    ------
    InputError
        As for `named_measures`.
    """
    if len(views) == 1 and views[0].is_shared:
        return cached_by_measures(_plan_of, measures, views[0])
    return Plan(*named_measures(measures), views)


@lru_cache(maxsize=256)
def _plan_of(measures: tuple[str | Measure, ...], view: View) -> Plan:
    return Plan(*named_measures(measures), (view,))
