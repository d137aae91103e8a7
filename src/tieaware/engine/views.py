"""How a run's scores are taken: with which tie rule and precision; and the passes over them that several views need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tieaware.checks.arguments import flag, unexpected
from tieaware.precision import Bands, Coarsening, Levels, parse_precision
from tieaware.ties import RULES, TieRule, tie_rule


class Pass(NamedTuple):
    """One way to group the scores, which fills one table of values, or several.

    Parameters
    ----------
    rule : TieRule
    coarsening : Coarsening or None
        What is done to the scores first.
    bands : tuple of Bands
        What is averaged over, instead of ties: the kernel groups ranks, so that one pass serves several bands.
    spread : bool
        Whether it fills four tables: the average, standard deviation, minimum and maximum.
    tables : tuple of int
        Which tables these are.
    """

    rule: TieRule
    coarsening: Coarsening | None = None
    bands: tuple[Bands, ...] = ()
    spread: bool = False
    tables: tuple[int, ...] = (0,)

    @property
    def needs_whole_list(self) -> bool:
        """Whether the scores are coarsened by what the whole list is, unjudged documents and all."""
        return isinstance(self.coarsening, Bands | Levels)


class View:
    """How a run's scores are taken.

    Parameters
    ----------
    ties : str
        The tie rule.
    precision : str, Coarsening or None
        What the scores are coarsened to first.
    spread : bool
        Whether the spread over the orders is wanted, besides their average.

    Raises
    ------
    InputError
        If there is no such rule or precision, or there are not several orders to spread over.
    """

    __slots__ = ("precision", "rule", "spread")

    def __init__(self, ties: Any = "average", precision: str | Coarsening | None = None, spread: bool = False) -> None:
        self.rule = tie_rule(ties)
        self.precision = None if precision is None else parse_precision(precision)
        self.spread = flag("spread", spread)
        if self.spread and not self.rule.averages:
            raise unexpected("ties", "'average', for a spread", f"{self.rule.name!r}, which leaves one order alone")

    @property
    def n_tables(self) -> int:
        """How many tables of values it fills: the value, and with the spread the std, min and max."""
        return 4 if self.spread else 1


def passes(views: Sequence[View]) -> list[Pass]:
    """Return the passes that views need, whose tables lie one after another: all averages over bands are one pass."""
    needed: list[Pass] = []
    banded: dict[int, Bands] = {}
    table = 0
    for view in views:
        if isinstance(view.precision, Bands) and view.rule.averages and not view.spread:
            banded[table] = view.precision
        else:
            tables = tuple(range(table, table + view.n_tables))
            needed.append(Pass(view.rule, view.precision, spread=view.spread, tables=tables))
        table += view.n_tables
    if banded:
        # The kernel joins the ranks of the run's own order.
        needed.append(Pass(RULES["run_order"], bands=tuple(banded.values()), tables=tuple(banded)))
    return needed
