"""What a random order of each list earns: the mean, the standard deviation and the best value over all orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import Prepared
from tieaware.engine.views import Pass, View, passes
from tieaware.errors import InputError
from tieaware.kernels._engine import Engine
from tieaware.measures import Measure
from tieaware.ties import RULES

# The pass that computes chance.
OF_CHANCE = Pass(RULES["average"], spread=True, outputs=(0, 1, 2), chance=True)


class Chance(NamedTuple):
    """The values of a random order of each list, in which all orders are equally likely.

    Attributes
    ----------
    mean, std : float64[n_queries, n_measures]
        The mean and the standard deviation of the value over all orders, computed exactly, not by sampling. The
        standard deviation of infAP is not known: it is NaN.
    ideal : float64[n_queries, n_measures]
        The value of the best order: the least one for measures of which less is better. NaN for infAP.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([1, 0], "RR").chance().mean
    array([[0.75]])
    """

    mean: Values
    std: Values
    ideal: Values


class ListsWithChance:
    """The part of `tieaware.Evaluator` that prepares its lists for a spread and for chance, when they are first needed.

    Attributes
    ----------
    measures : tuple of Measure
    n_queries : int
    """

    measures: tuple[Measure, ...]
    n_queries: int
    _view: View
    _prepare: Callable[[Pass], Prepared]
    _prepared: Prepared
    # (parent, first, last) if this evaluator was made by `rows` and is for a range of the parent's lists.
    _rows_of: tuple[ListsWithChance, int, int] | None
    # The lists, prepared with a spread (key False) and for chance (key True).
    _prepared_for: dict[bool, Prepared]

    def chance(self) -> Chance:
        """Compute what a random order of each list earns, which depends on the labels alone.

        It does not depend on the tie rule and on the precision of the evaluator. With the rule "average", `spread` has
        the same mean and standard deviation if all scores are equal.

        Returns
        -------
        Chance
            The mean, the standard deviation and the best value over all orders.

        Examples
        --------
        >>> import tieaware
        >>> chance = tieaware.Evaluator([1, 0, 0, 0], ["RR", "P@1"]).chance()
        >>> chance.mean.round(4), chance.std.round(4), chance.ideal
        (array([[0.5208, 0.25  ]]), array([[0.2909, 0.433 ]]), array([[1., 1.]]))
        """
        out = np.empty((3, self.n_queries, len(self.measures)))
        self._prepared_also(chance=True).evaluate(np.empty(0), out)
        return Chance(*out)

    def _prepared_also(self, *, chance: bool) -> Prepared:
        """Return the evaluation of the lists with a spread, or of the values of chance; it is prepared only once."""
        if chance not in self._prepared_for:
            if self._rows_of is None:
                self._prepared_for[chance] = self._prepare(OF_CHANCE if chance else self._pass_of_spread())
            else:
                whole, first, last = self._rows_of
                self._prepared_for[chance] = whole._prepared_also(chance=chance).rows(first, last)
        return self._prepared_for[chance]

    def _engines(self, spread: bool) -> tuple[Engine, Engine | None, Engine | None, list[int], int]:
        """Return what compiled code calls: the engine of the values, and that of the spread, if wanted.

        If the tie rule seeks extremes that sorting by label does not find, also an engine of the spread of some
        measures, their columns, and which of its outputs they take.
        """
        with_spread = self._prepared_also(chance=False) if spread else None
        if not (self._prepared.in_engines and (with_spread is None or with_spread.in_engines)):
            problem = f"with precision={self._view.precision}, Python computes a part of the values"
            raise InputError("Evaluator", f"cannot be called from compiled code: {problem}")
        found = self._prepared.extremes
        some = (None, [], 0) if found is None else (found.engine, found.columns, found.output)
        return self._prepared.engine, None if with_spread is None else with_spread.engine, *some

    def _pass_of_spread(self) -> Pass:
        """Return the pass with a spread; raise InputError if the tie rule is not "average"."""
        return passes([View(self._view.rule.name, self._view.precision, spread=True)])[0]
