"""Views, passes and plans. A view is a tie rule and a precision with which a run is evaluated.

A pass evaluates all scores once. `passes` returns the passes that several views of the same run need. A plan is the
measures and views of an evaluation, with everything that depends on these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Protocol, cast

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.measures import Measure, cached_by_measures, named_measures
from tieaware.precision import Coarsening, parse_precision
from tieaware.ties import RULES, TieRule, TieRuleName, tie_rule

# The names of the outputs of a spread, and of those that describe a random order.
SPREAD = ("std", "min", "max")
CHANCE = ("chance", "chance_std", "ideal")


class RankBands(Protocol):
    """A coarsening that ties all documents whose ranks lie in the same band, such as the ranks 1 to 10.

    The kernel can average over the orders inside the bands itself, without coarsened scores.
    """

    def starts(self, depth: int) -> Integers:
        """Return the first rank of each band down to rank `depth`; the first rank of the first band is 1."""


class Pass(NamedTuple):
    """One evaluation of all scores: they are rounded and grouped once, which gives the values of one or more outputs.

    An *output* is an array of values, float64[n_queries, n_measures].

    Parameters
    ----------
    rule : TieRule
    coarsening : Coarsening or None
        The coarsening that is applied to the scores before they are grouped.
    bands : tuple of RankBands
        If given, documents tie if their ranks lie in the same band, and the rule applies to these ties. Equal scores
        keep the order of the run. Each division into bands has its own outputs. One pass serves all of them, because
        the kernel groups the ranks of one and the same ordering.
    spread : bool
        Whether the pass fills four outputs, or four for each division into bands: the mean, standard deviation, minimum
        and maximum.
    outputs : tuple of int
        The outputs that the pass fills, as indices into the outputs of all views.
    chance : bool
        Whether the pass ignores the scores, and evaluates each list as if all its documents tied. It fills three
        outputs: the mean, the standard deviation and the best value over all orders.
    """

    rule: TieRule
    coarsening: Coarsening | None = None
    bands: tuple[RankBands, ...] = ()
    spread: bool = False
    outputs: tuple[int, ...] = (0,)
    chance: bool = False

    @property
    def ordering(self) -> TieRule:
        """The rule by which the kernel ranks documents with equal scores."""
        return RULES["run_order"] if self.bands else self.rule

    @property
    def by_position(self) -> bool:
        """True if the values depend on the order of equal scores in the input."""
        return self.ordering.by_position or bool(getattr(self.coarsening, "groups_ranks", False))

    @property
    def sorts_by_label(self) -> bool:
        """True if the documents inside each tie group or band are needed in the order of their labels."""
        return self.spread or self.rule.extreme is not None

    @property
    def needs_whole_list(self) -> bool:
        """True if the coarsened score of a document depends on the other documents of its list, judged or not."""
        return bool(getattr(self.coarsening, "whole_list", False))


class View:
    """A tie rule and a precision with which a run is evaluated.

    Parameters
    ----------
    ties : str
        The name of the tie rule.
    precision : str, Coarsening or None
        The coarsening that is applied to the scores before ties are found.
    spread : bool
        Whether to compute the standard deviation, minimum and maximum over the orders of tied documents, too.
    chance : bool
        Whether to compute what a random order of each list earns, too.

    Raises
    ------
    InputError
        If the rule or precision is unknown, or if a spread is wanted with a rule other than "average".

    Attributes
    ----------
    is_shared : bool
        Whether the view holds nothing mutable, so that caches may hold it.
    """

    __slots__ = ("chance", "is_shared", "outputs", "precision", "rule", "spread")

    def __init__(
        self, ties: TieRuleName = "average", precision: str | Coarsening | None = None, spread: bool = False,
        chance: bool = False,
    ) -> None:  # fmt: skip
        self.is_shared: bool = False
        self.rule: TieRule = tie_rule(ties)
        self.precision: Coarsening | None = None if precision is None else parse_precision(precision)
        self.spread: bool = flag("spread", spread)
        self.chance: bool = flag("chance", chance)
        if self.spread and not self.rule.averages:
            raise InputError("ties", f"{self.rule.name!r} gives tied documents one order; a spread requires 'average'")
        # The names of the outputs in their order, which are those of the arrays of `Results`.
        self.outputs: tuple[str, ...] = (
            "values", *(SPREAD if self.spread else ()), *(CHANCE if self.chance else ())
        )  # fmt: skip

    @classmethod
    def of(cls, ties: TieRuleName, precision: str | Coarsening | None, spread: bool, chance: bool) -> View:
        """Return a view with these parameters, from a cache unless the precision is an object, which may be mutable."""
        if precision is None or type(precision) is str:
            try:
                return _shared_view(ties, precision, spread, chance)
            except TypeError:
                # An argument is not hashable, so it is invalid. The constructor raises the error that shows it.
                pass
        return cls(ties, precision, spread, chance)

    @property
    def n_outputs(self) -> int:
        """The number of outputs: the names of `outputs`."""
        return len(self.outputs)


@lru_cache(maxsize=256, typed=True)
def _shared_view(ties: TieRuleName, precision: str | None, spread: bool, chance: bool) -> View:
    view = View(ties, precision, spread, chance)
    view.is_shared = True
    return view


def passes(views: Sequence[View]) -> list[Pass]:
    """Return the passes that compute all views. Together, they fill the outputs of all views.

    Outputs are numbered view by view. Views of bands of ranks with the same rule share one pass, unless the rule orders
    tied documents by position or identifier: such views coarsen the scores.
    """
    needed: list[Pass] = []
    banded: dict[tuple[TieRuleName, bool], list[tuple[RankBands, range]]] = {}
    output = 0
    for view in views:
        outputs = range(output, output + (4 if view.spread else 1))
        if getattr(view.precision, "groups_ranks", False) and view.rule.by_score_alone:
            same = banded.setdefault((view.rule.name, view.spread), [])
            same.append((cast(RankBands, view.precision), outputs))
        else:
            needed.append(Pass(view.rule, view.precision, spread=view.spread, outputs=tuple(outputs)))
        output += view.n_outputs
        if view.chance:
            random = tuple(range(output - len(CHANCE), output))
            needed.append(Pass(RULES["average"], spread=True, outputs=random, chance=True))
    for (rule, spread), same in banded.items():
        bands, filled = zip(*same, strict=True)
        needed.append(Pass(RULES[rule], bands=bands, spread=spread, outputs=tuple(chain.from_iterable(filled))))
    return needed


# The pass that computes what a random order of each list earns.
OF_CHANCE = Pass(RULES["average"], spread=True, outputs=(0, 1, 2), chance=True)


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
