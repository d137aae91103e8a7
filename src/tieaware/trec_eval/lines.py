"""The lines that trec_eval prints. The value of a line comes from measures or from a function of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import Definition, Measure, parse_measure
from tieaware.measures.definitions import IPrec, NumRel, NumRelRet, NumRet, P, R
from tieaware.trec_eval import kernel_measures, own_measures
from tieaware.trec_eval.families import PATIENCE, Request
from tieaware.trec_eval.kernel_measures import gains_text
from tieaware.trec_eval.own_measures import Ranking

_Combination: TypeAlias = Callable[..., Values]


@dataclass(frozen=True)
class Line:
    """One number or text that trec_eval prints for a query, or for all queries.

    A line shows the values of measures, or the result of a function of a ranking (`walk` or `text`). A line without
    measures and functions shows the tag of the run.

    Parameters
    ----------
    name : str
        The printed name, with the parameters.
    family : str
        The name without the parameters.
    measures : tuple of Measure
        The measures that the value is computed from.
    combine : callable, optional
        Takes the values of the measures, float64[n_queries] each, and returns the values of the line. A line without
        `combine` shows the values of its only measure.
    walk : callable, optional
        Takes the ranking of a query and returns the value.
    text : callable, optional
        Takes the ranking of a query and returns the text to print; the value is 0.
    """

    name: str
    family: str
    measures: tuple[Measure, ...] = ()
    combine: _Combination | None = None
    walk: Callable[[Ranking], float] | None = None
    text: Callable[[Ranking], str] | None = None

    def value(self, *values: Values) -> Values:
        """Return the values of the line, float64[n_queries], from the values of its measures."""
        return values[0] if self.combine is None else self.combine(*values)

    @property
    def definition(self) -> Definition | None:
        """The definition of the measure that the line shows; None if the line combines measures or has none."""
        return self.measures[0].definition if self.measures and self.combine is None else None

    @property
    def is_tag(self) -> bool:
        """True if the line shows the tag of the run."""
        return not self.measures and self.walk is None and self.text is None

    @property
    def is_count(self) -> bool:
        """True if the value is a count, which is summed over the queries."""
        return self.definition is not None and self.definition.is_count

    @property
    def is_geometric(self) -> bool:
        """True if the queries are summarised by their geometric mean."""
        return self.definition is not None and self.definition.is_geometric

    @property
    def of_queries(self) -> bool:
        """True if trec_eval prints the line for each query."""
        return not self.is_tag and not (self.definition is not None and self.definition.summary_only)

    @property
    def of_all(self) -> bool:
        """True if trec_eval prints the line for all queries together."""
        return self.text is None


class _Wanted(NamedTuple):
    """A line to make: its name, its parameter, and the options of trec_eval that it depends on."""

    name: str
    family: str
    parameter: Any
    level: float
    n_collection: int

    def of(self, *measures: Measure, combine: _Combination | None = None) -> Line:
        """Return the line for these measures; `level` becomes the parameter `rel` of each measure that has one."""
        levelled = [measure(rel=self.level) if "rel" in measure.parameters else measure for measure in measures]
        return Line(self.name, self.family, tuple(levelled), combine)


def lines(requested: Iterable[Request], *, level: float = 1, n_collection: int = 0) -> list[Line]:
    """Return the lines for the families that are asked for.

    Parameters
    ----------
    requested : iterable of Request
    level : float
        The smallest relevant label: trec_eval's option -l.
    n_collection : int
        The number of documents in the collection, for the measure utility: trec_eval's option -N.

    Returns
    -------
    list of Line

    Raises
    ------
    InputError
        If a family cannot have the parameters that are given.
    """
    return [
        _BUILDERS.get(request.family.name, _known)(_Wanted(name, request.family.name, parameter, level, n_collection))
        for request in requested
        for name, parameter in request.by_line()
    ]


def _known(wanted: _Wanted) -> Line:
    """Return the line of a measure that `tieaware.parse_measure` knows by trec_eval's name."""
    return wanted.of(parse_measure(wanted.name))


def _mean_interpolated_precision(wanted: _Wanted) -> Line:
    measures = [IPrec @ recall for recall in wanted.parameter]
    return wanted.of(*measures, combine=lambda *values: reduce(np.add, values) / len(values))


def _unjudged(wanted: _Wanted) -> Line:
    k = wanted.parameter
    return wanted.of(
        NumRet,
        kernel_measures.JUDGED_RETRIEVED @ k,
        combine=lambda retrieved, judged: (np.minimum(retrieved, k) - judged) / k,
    )


def _utility(wanted: _Wanted) -> Line:
    """Return the line of utility, a weighted sum of the numbers of documents (not) relevant and (not) retrieved."""
    weights = wanted.parameter
    if len(weights) != 4:
        found = ",".join(f"{weight:g}" for weight in weights)
        raise InputError("parameters of measure 'utility'", f"must be four numbers; found {found!r}")

    def combine(hits: Values, retrieved: Values, relevant: Values) -> Values:
        others = wanted.n_collection + hits - retrieved - relevant
        kinds = hits, retrieved - hits, relevant - hits, others
        return np.asarray(sum(weight * kind for weight, kind in zip(weights, kinds, strict=True)))

    return wanted.of(NumRelRet, NumRet, NumRel, combine=combine)


def _set_f(wanted: _Wanted) -> Line:
    # trec_eval does not square this number, which F does with its beta.
    x = number("beta of set_F", wanted.parameter[0], 0, 1e9, ends=False)

    def combine(hits: Values, retrieved: Values, relevant: Values) -> Values:
        # trec_eval's order of operations: another order can round the fourth digit differently.
        some = hits > 0.0
        precision, recall = hits / np.where(some, retrieved, 1.0), hits / np.where(some, relevant, 1.0)
        found: Values = (x + 1.0) * precision * recall / np.where(some, x * precision + recall, 1.0)
        return np.where(some, found, 0.0)

    return wanted.of(NumRelRet, NumRet, NumRel, combine=combine)


def _ndcg(wanted: _Wanted) -> Line:
    gains = gains_text(wanted.parameter)
    return wanted.of(kernel_measures.NDCG(gains=gains) if wanted.parameter else parse_measure(wanted.family))


def _rbp(wanted: _Wanted) -> Line:
    pairs = wanted.parameter
    return wanted.of(kernel_measures.RBP(p=pairs.get("p", PATIENCE), gains=gains_text(pairs)))


def _rbp_residual(wanted: _Wanted) -> Line:
    """Return the line of rbp_resid. Unlike RBPResidual, it is 0 for a query without unjudged documents."""
    return wanted.of(
        kernel_measures.RBP_RESIDUAL(p=wanted.parameter.get("p", PATIENCE)),
        NumRet,
        kernel_measures.JUDGED_RETRIEVED,
        combine=lambda residual, retrieved, judged: np.where(retrieved > judged, residual, 0.0),
    )


def _relevance_string(wanted: _Wanted) -> Line:
    length = int(wanted.parameter[0])
    return Line(wanted.name, wanted.family, text=partial(own_measures.relevance_string, length=length))


def _of_gains(measure: Callable[..., float]) -> Callable[[_Wanted], Line]:
    """Return the builder for one of trec_eval's own measures that depends on gains."""
    return lambda wanted: Line(wanted.name, wanted.family, walk=partial(measure, gains=gains_text(wanted.parameter)))


# The functions that make the lines of those families that `tieaware.parse_measure` cannot parse, or cannot parse with
# parameters.
_BUILDERS: dict[str, Callable[[_Wanted], Line]] = {
    "runid": lambda wanted: Line(wanted.name, wanted.family),
    # Only the printed name rounds the recall to two decimals.
    "iprec_at_recall": lambda wanted: wanted.of(IPrec @ wanted.parameter),
    "11pt_avg": _mean_interpolated_precision,
    "Rprec_mult": lambda wanted: wanted.of(kernel_measures.RPREC_MULT(multiple=wanted.parameter)),
    # Hits / min(k, N) is the larger one of hits / k and hits / N, in every order of tied documents.
    "relative_P": lambda wanted: wanted.of(P @ wanted.parameter, R @ wanted.parameter, combine=np.maximum),
    "unj": _unjudged,
    "utility": _utility,
    "num_nonrel_judged_ret": lambda wanted: wanted.of(kernel_measures.NONRELEVANT_RETRIEVED),
    "set_F": _set_f,
    "gm_bpref": lambda wanted: wanted.of(kernel_measures.GM_BPREF),
    "ndcg": _ndcg,
    "rbp": _rbp,
    "rbp_resid": _rbp_residual,
    "relstring": _relevance_string,
    "binG": lambda wanted: Line(wanted.name, wanted.family, walk=own_measures.binary_gain),
    "G": _of_gains(own_measures.normalised_gain),
    "ndcg_rel": _of_gains(own_measures.ndcg_at_relevant),
    "Rndcg": _of_gains(own_measures.ndcg_at_levels),
}
