"""Views: the tie rule and precision with which a run is evaluated; and the passes over the scores that views need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.precision import Coarsening, parse_precision
from tieaware.ties import RULES, TieRule, tie_rule


class RankBands(Protocol):
    """A coarsening that makes equal the ranks of each band, so that the kernel can average over the bands itself."""

    def starts(self, depth: int) -> Integers:
        """Return the first rank of each band down to a depth, from 1."""


class Pass(NamedTuple):
    """One grouping of the scores. A pass fills one or more *outputs*: arrays float64[n_queries, n_measures].

    Parameters
    ----------
    rule : TieRule
    coarsening : Coarsening or None
        What rounds the scores first.
    bands : tuple of RankBands
        If given, the values are averages over the orders inside bands of ranks instead of over the orders of tied
        documents. The kernel groups the ranks of one ordering, so one pass serves several kinds of bands.
    spread : bool
        Whether the pass fills four outputs: the mean, standard deviation, minimum and maximum.
    outputs : tuple of int
        The indices of the outputs that the pass fills, among the outputs of all views.
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
    """The tie rule and precision with which a run is evaluated.

    Parameters
    ----------
    ties : str
        The tie rule.
    precision : str, Coarsening or None
        What rounds the scores first.
    spread : bool
        Whether to compute the spread over the orders of tied documents, besides the average.

    Raises
    ------
    InputError
        If the rule or precision is unknown, or a spread is wanted with a rule that leaves one order only.
    """

    __slots__ = ("precision", "rule", "spread")

    def __init__(self, ties: Any = "average", precision: str | Coarsening | None = None, spread: bool = False) -> None:
        self.rule = tie_rule(ties)
        self.precision = None if precision is None else parse_precision(precision)
        self.spread = flag("spread", spread)
        if self.spread and not self.rule.averages:
            raise InputError("ties", f"{self.rule.name!r} leaves one order only; a spread needs 'average'")

    @property
    def n_outputs(self) -> int:
        """The number of outputs: the value, and with a spread the standard deviation, minimum and maximum."""
        return 4 if self.spread else 1


def passes(views: Sequence[View]) -> list[Pass]:
    """Return the passes that fill the outputs of all views, numbered one view after another.

    All views that average over bands of ranks share one pass.
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
        # The kernel joins into bands the ranks of the order in which the run lists its documents.
        needed.append(Pass(RULES["run_order"], bands=tuple(banded.values()), outputs=tuple(banded)))
    return needed
