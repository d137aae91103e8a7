"""What each line of trec_eval is made of: measures of tieaware, or a walk down the ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values
from tieaware.measures import Measure, parse_measure
from tieaware.measures.definitions import AP, IPrec, NumRel, NumRelRet, NumRet, P, R, SetF
from tieaware.trec_eval import rankings
from tieaware.trec_eval.families import Request
from tieaware.trec_eval.rankings import Ranking

_Combination: TypeAlias = Callable[..., Values]


def _alone(values: Values) -> Values:
    return values


@dataclass(frozen=True)
class Line:
    """One number that trec_eval prints for a query, or of all.

    Parameters
    ----------
    name : str
        As it is printed, with the parameters.
    family : str
        Without parameters.
    measures : tuple of Measure
        What its value is computed from, if not by a walk.
    combine : callable
        Makes it of their values; by default, it is the value of the only one.
    walk : callable, optional
        Makes it of a ranking.
    text : callable, optional
        Makes text of a ranking, for the line of a query; the value is 0.
    """

    name: str
    family: str
    measures: tuple[Measure, ...] = ()
    combine: _Combination = _alone
    walk: Callable[[Ranking], float] | None = None
    text: Callable[[Ranking], str] | None = None

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number, added up over the queries."""
        return self.family.startswith("num_")

    @property
    def is_geometric(self) -> bool:
        """Whether its summary is the geometric mean."""
        return self.family.startswith("gm_")

    @property
    def of_queries(self) -> bool:
        """Whether it is printed for a query."""
        return self.family not in ("runid", "num_q", "gm_map", "gm_bpref")

    @property
    def of_all(self) -> bool:
        """Whether it is printed for all queries together."""
        return self.text is None


def lines(requested: Iterable[Request], *, level: int = 1, n_collection: int = 0) -> list[Line]:
    """Return the lines of the families that were asked for.

    Parameters
    ----------
    requested : iterable of Request
    level : int
        The smallest relevant label: trec_eval's option -l.
    n_collection : int
        How many documents the collection has, for utility: option -N.

    Returns
    -------
    list of Line

    Raises
    ------
    InputError
        If the parameters of a family are none that it can have.
    """
    return [line for request in requested for line in _of_family(request, level, n_collection)]


def _of_family(request: Request, level: int, n_collection: int) -> list[Line]:
    name, kind = request.family.name, request.family.parameters
    if name in ("runid", "num_q"):
        return [Line(name, name)]
    if kind == "ranks":
        return [_at_rank(f"{name}_{k}", name, k, level) for k in request.ranks()]
    if kind == "fractions":
        return [_at_fraction(f"{name}_{x:.2f}", name, x, level) for x in request.fractions()]
    named = f"{name}_{request.written}" if request.written and kind != "none" else name
    if kind == "pairs" and (name != "ndcg" or request.written):
        return [Line(named, name, walk=partial(_WALKS[name], parameters=request.pairs()))]
    if name == "binG":
        return [Line(name, name, walk=rankings.binary_gain)]
    if name == "relstring":
        return [Line(named, name, text=partial(rankings.relevance_string, length=int(request.numbers()[0])))]
    return [Line(named, name, *_of_measures(request, level, n_collection))]


_WALKS: dict[str, Callable[..., float]] = {
    "G": rankings.normalised_gain,
    "ndcg": rankings.ndcg,
    "ndcg_rel": rankings.ndcg_at_relevant,
    "Rndcg": rankings.ndcg_at_levels,
    "rbp": rankings.rbp,
    "rbp_resid": rankings.rbp_residual,
}


def _at_rank(named: str, name: str, k: int, level: int) -> Line:
    if name == "unj":
        return Line(named, name, walk=partial(rankings.unjudged, k=k))
    if name == "relative_P":
        # Hits / min(k, N): the greater of hits / k and hits / N, in every order.
        return Line(named, name, (_relevant(P @ k, level), _relevant(R @ k, level)), np.maximum)
    return Line(named, name, (_relevant(parse_measure(named), level),))


def _at_fraction(named: str, name: str, x: float, level: int) -> Line:
    if name == "Rprec_mult":
        return Line(named, name, walk=partial(rankings.precision_at_multiple, multiple=x))
    return Line(named, name, (_relevant(IPrec @ x, level),))


def _of_measures(request: Request, level: int, n_collection: int) -> tuple[tuple[Measure, ...], _Combination]:
    """Return the measures that a line without a cut-off is made of, and how."""
    name = request.family.name
    if name == "11pt_avg":
        recalls = request.numbers()
        return tuple(_relevant(IPrec @ x, level) for x in recalls), lambda *at: reduce(np.add, at) / len(at)
    if name == "utility":
        return (NumRelRet(rel=level), NumRet, NumRel(rel=level)), _utility(request, n_collection)
    if name == "num_nonrel_judged_ret":
        return (NumRelRet(rel=0), NumRelRet(rel=level)), np.subtract
    if name == "set_F":
        return (SetF(beta=request.numbers()[0], rel=level),), _alone
    if name == "gm_map":
        return (AP(rel=level),), _alone
    return (_relevant(parse_measure(name.removeprefix("gm_")), level),), _alone


def _utility(request: Request, n_collection: int) -> _Combination:
    """Weigh the four kinds of documents: relevant or not, retrieved or not."""
    weights = request.numbers()
    if len(weights) != 4:
        raise unexpected("parameters of measure 'utility'", "four numbers", repr(request.parameters))

    def combine(hits: Values, retrieved: Values, relevant: Values) -> Values:
        others = n_collection + hits - retrieved - relevant
        kinds = hits, retrieved - hits, relevant - hits, others
        return np.asarray(sum(weight * kind for weight, kind in zip(weights, kinds, strict=True)))

    return combine


def _relevant(measure: Measure, level: int) -> Measure:
    """Return the measure with that level of relevance, if it looks at one."""
    return measure(rel=level) if "rel" in measure.parameters else measure
