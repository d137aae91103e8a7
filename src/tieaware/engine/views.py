"""Views and passes. A view is a tie rule and a precision with which a run is evaluated.

A pass evaluates all scores once. `passes` returns the passes that several views of the same run need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.precision import Coarsening, parse_precision
from tieaware.ties import RULES, TieRule, TieRuleName, tie_rule


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
        If given, the values are averages over the orders inside bands of ranks instead of over the orders of tied
        documents. Each division into bands has one output. One pass serves all of them, because the kernel groups the
        ranks of one and the same ordering.
    spread : bool
        Whether the pass fills four outputs: the mean, standard deviation, minimum and maximum.
    outputs : tuple of int
        The outputs that the pass fills, as indices into the outputs of all views.
    """

    rule: TieRule
    coarsening: Coarsening | None = None
    bands: tuple[RankBands, ...] = ()
    spread: bool = False
    outputs: tuple[int, ...] = (0,)

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

    Raises
    ------
    InputError
        If the rule or precision is unknown, or if a spread is wanted with a rule other than "average".
    """

    __slots__ = ("precision", "rule", "spread")

    def __init__(
        self, ties: TieRuleName = "average", precision: str | Coarsening | None = None, spread: bool = False
    ) -> None:
        self.rule: TieRule = tie_rule(ties)
        self.precision: Coarsening | None = None if precision is None else parse_precision(precision)
        self.spread: bool = flag("spread", spread)
        if self.spread and not self.rule.averages:
            raise InputError("ties", f"{self.rule.name!r} gives tied documents one order; a spread requires 'average'")

    @property
    def n_outputs(self) -> int:
        """The number of outputs: 4 with a spread (mean, standard deviation, minimum and maximum), otherwise 1."""
        return 4 if self.spread else 1


def passes(views: Sequence[View]) -> list[Pass]:
    """Return the passes that compute all views. Together, they fill the outputs of all views.

    Outputs are numbered view by view. All views that average over bands of ranks share one pass.
    """
    needed: list[Pass] = []
    banded: dict[int, RankBands] = {}
    output = 0
    for view in views:
        if getattr(view.precision, "groups_ranks", False) and view.rule.averages and not view.spread:
            banded[output] = cast(RankBands, view.precision)
        else:
            outputs = tuple(range(output, output + view.n_outputs))
            needed.append(Pass(view.rule, view.precision, spread=view.spread, outputs=outputs))
        output += view.n_outputs
    if banded:
        # Bands are bands of ranks in run order: for these, the kernel needs every document at a rank of its own.
        needed.append(Pass(RULES["run_order"], bands=tuple(banded.values()), outputs=tuple(banded)))
    return needed
