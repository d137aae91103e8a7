"""Measures and their definitions.

A `Definition` describes a family of measures, such as AP. A `Measure` is a definition with a cut-off and with values of
the parameters, such as AP(rel=2)@100.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import did_you_mean, is_integer, shown, unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.kernels._kernel_measures import Notation
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import Judgments
from tieaware.measures.parameters import Parameter, Setting

# A sum of whole numbers below this is exact in float64, so it does not depend on the order of adding.
LEAST_INEXACT = 2.0**53

_DEEPEST_CUTOFF = 2**62 - 1

# The relevance of each rank of one list, 0 or 1: int8[depth].
Relevance = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Weighting:
    """A rule that gives each document its weight by its label. Some kernels read several weights of each document.

    `rows` takes the labels, int32[n] or float64[n], and the values of `parameters` by name; it returns the weights of
    the documents, float64[n], or float64[n_rows, n] if each document has several. So measures with equal `rows` and
    equal values of these parameters can share their weights. The variance needs the squared weights of row `squared`.
    """

    rows: Callable[..., Values]
    parameters: tuple[str, ...] = ()
    squared: int = 0

    def key(self, measure: Measure) -> tuple[Any, ...]:
        """Return a tuple that is equal for two measures if they have the same weights."""
        return self.rows, *(measure[name] for name in self.parameters)

    def weigh(self, measure: Measure, labels: Labels | Values, grades: Grades | None = None) -> Values:
        """Return the weights of documents with these labels: float64[n_rows, n].

        If `grades` are given, the labels are their values, after the labels of unjudged documents.
        """
        try:
            weights = self.rows(labels, **{name: measure[name] for name in self.parameters})
        except InputError as error:
            raise error.at(f"{measure}: {error.where}") from None
        return weights[None] if weights.ndim == 1 else weights

    def joint(self, measure: Measure, labels: Labels | Values, grades: Grades | None = None) -> Values | None:
        """Return further weights that the variance needs, instead of squared weights: float64[n_rows, n]; or None."""
        return None


@dataclass(frozen=True, eq=False)
class BandingLoss:
    """The formula for the most that a measure can lose or gain when all ranks of a band are treated as tied.

    ``banding_loss.py`` says what `largest` takes and returns. For at most `deepest` ranks, it takes seconds rather than
    minutes.
    """

    largest: Callable[[Measure, Integers, bool], tuple[float, Relevance]]
    with_cutoff: bool = False
    without_cutoff: bool = False
    deepest: int = 100_000

    def holds_for(self, measure: Measure) -> bool:
        """Return whether the formula holds for a measure of the family, with the cut-off that it has.

        The formulas are for lists of relevant and nonrelevant documents, which have the gains 1 and 0.
        """
        if measure.parameters.get("gains"):
            return False
        return self.without_cutoff if measure.cutoff is None else self.with_cutoff

    def notations(self, name: str) -> list[str]:
        """Return the notations of the measures that the formula holds for, such as P@k; `name` is the family's name."""
        return [name] * self.without_cutoff + [f"{name}@k"] * self.with_cutoff


def check_exact(measure: Measure, weights: Values) -> None:
    """Raise InputError if a sum over documents of their weights, float64[n_rows, n], may be inexact."""
    # The largest weight times the number of documents usually proves that all sums are exact: skip the summation.
    if weights.max(initial=0.0) * weights.shape[1] >= LEAST_INEXACT and (weights.sum(axis=1) >= LEAST_INEXACT).any():
        raise InputError(f"{measure}: labels", "the gains add up to 2^53 or more, so their sums would not be exact")


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelInputs:
    """The inputs of a kernel, besides the weights of documents.

    Parameters
    ----------
    slots
        Takes the measure and a depth, and returns an array, usually the prefix sums of the weights of at least `depth`
        ranks.
    query_number
        Takes the measure and the judgments, and returns one number per query.
    query_lookup
        Takes the measure and the judgments, and returns an array in which the values of each query are contiguous, and
        the position of each query's first value. The kernel reads this array instead of what `slots` returns, unless
        the function returns None.
    of_queries
        The same, for a kernel that reads the array beside what `slots` returns.
    measure_number
        The name of a parameter; or takes the measure and returns a number.
    """

    slots: Callable[[Measure, int], Values] | None = None
    query_number: Callable[[Measure, Judgments], Values] | None = None
    query_lookup: Callable[[Measure, Judgments], tuple[Values, Integers] | None] | None = None
    of_queries: Callable[[Measure, Judgments], tuple[Values, Integers] | None] | None = None
    measure_number: str | Callable[[Measure], float] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Definition:
    """The definition of a family of measures.

    Each function in a definition takes the measure (with its cut-off and parameters) as its first argument.

    Parameters
    ----------
    name, title, aliases
        The name in the notation, a description in a few words, and further names in the notation.
    trec_name, trec_name_with_cutoff, trec_names_with_parameters
        The measure's names in trec_eval: without a cut-off, with a cut-off (or a recall), and further names with the
        values of parameters that each name stands for.
    formula, where, source, range
        One line of TeX; what its symbols mean unless docs/measures.md explains them for all measures, and special
        cases; the paper, with the equation or section where it is known, or the tool; and the range of the values.
    kernel
        The name of the kernel, in ext/engine/_kernel_measures.pyx, that sums the contributions of a query's tie groups.
    weighting
        The rule that gives each document its weight.
    total
        Takes the measure and the judgments; returns float64[n_queries], the total weight of all judged documents of
        each query. A total of 0 means that the measure is undefined for the query.
    norm, norm_of_known
        Takes the measure, the totals and the numbers of retrieved documents, or with `norm_of_known` of documents that
        are retrieved or judged; returns the number by which the kernel's sum is divided, or one for each query.
    inputs
        What else the kernel reads.
    parameters, has_cutoff, at_recall
        The parameters by name, in the order of the notation; whether a cut-off may follow ``@``, or the number after
        ``@`` is the parameter `recall`.
    needs_subtopics, needs_pool
        Whether the measure needs judgments of subtopics; and a function that takes the measure, and returns whether
        documents that are pooled but not judged have a weight.
    summary, summary_only
        How the values of the queries are summarised: "mean", "sum" or "geometric" (the geometric mean); and whether
        only the summary has a meaning, so that trec_eval does not print the values of single queries.
    less_is_better, has_spread, first_group, additive
        Whether a lower value is better; whether the spread over the orders of tied documents is known; whether the mean
        over these orders depends only on the first tie group that has a document with a weight; whether it is a sum
        over tie groups whose terms depend only on the documents above a group and in it, and never falls if a document
        without a weight moves down.
    own_extremes
        Takes the measure; returns whether its minimum and maximum can occur in orders that are not sorted by label.
        Otherwise the value never gets worse if a document moves up past one with a lower label.
    linear
        Whether the sum over the groups, divided as `norm` says, is a sum over documents of the weight times a number
        that depends only on the rank and never rises with it.
    increasing
        Whether the value never falls if, for each label and each rank, there are as many or more documents with this or
        a higher label down to this rank.
    ignores_unjudged
        Whether unjudged documents have no influence on the value, so that it does not matter where they stand.
    worst_case
        The formula for the largest loss by banding, if one is known.
    limit
        The error message for a query whose value would take too much time or memory to compute. The kernel returns
        infinity for such a query.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    trec_name: str | None = None
    trec_name_with_cutoff: str | None = None
    trec_names_with_parameters: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)

    formula: str = ""
    where: str = ""
    source: str = ""
    range: str = "0 … 1"

    kernel: str
    weighting: Weighting
    total: Callable[[Measure, Judgments], Values]
    norm: Callable[[Measure, Values, Integers], Values | Integers | float]
    norm_of_known: bool = False
    inputs: KernelInputs = KernelInputs()

    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    has_cutoff: bool = True
    at_recall: bool = False

    needs_subtopics: bool = False
    needs_pool: Callable[[Measure], bool] = lambda measure: False
    summary: str = "mean"
    summary_only: bool = False
    less_is_better: bool = False
    has_spread: bool = True
    first_group: bool = False
    additive: bool = False
    own_extremes: Callable[[Measure], bool] = lambda measure: False
    linear: bool = False
    increasing: bool = False
    ignores_unjudged: bool = False
    worst_case: BandingLoss | None = None
    limit: str | None = None

    def __repr__(self) -> str:
        return f"Definition({self.name!r})"

    def number_for_kernel(self, measure: Measure) -> float:
        """Return the number that the kernel reads, for a measure of the family; 0 if it reads none."""
        number = self.inputs.measure_number
        if number is None:
            return 0.0
        return float(measure[number] if isinstance(number, str) else number(measure))

    @property
    def is_count(self) -> bool:
        """True if the values are counts: whole numbers, defined for every query and summed over the queries."""
        return self.summary == "sum"

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value of the range."""
        least, _, greatest = self.range.removeprefix("≥ ").partition(" … ")
        return float(least), float(greatest or "inf")

    @property
    def is_geometric(self) -> bool:
        """True if the values of the queries are summarised by their geometric mean."""
        return self.summary == "geometric"


class Measure(Notation):
    """A measure: a definition with a cut-off and with values of the parameters. Immutable and hashable.

    Start from a name (``tieaware.AP``), call it with parameters (``AP(rel=2)``), and add the cut-off with ``@``
    (``AP(rel=2) @ 100``). ``str()`` returns the notation that `tieaware.parse_measure` reads.

    Parameters
    ----------
    definition : Definition
        The family, one of ``tieaware.measures.DEFINITIONS``.
    cutoff : int or None
        The number of ranks that count, at least 1; None for all ranks.
    **parameters : int, float, str or bool
        The parameters that differ from their default, such as ``rel``.

    Attributes
    ----------
    parameters : mapping of str to int, float, str or bool
        The values of all parameters of the family.

    Raises
    ------
    InputError
        If the family has no such parameter or no cut-off, or if a value is out of range.

    Examples
    --------
    >>> from tieaware import AP, nDCG
    >>> AP(rel=2) @ 100
    AP(rel=2)@100
    >>> nDCG(dcg="exp-log2") @ 10
    nDCG(dcg='exp-log2')@10
    >>> (nDCG @ 10).cutoff
    10
    """

    __slots__ = ("cutoff", "definition", "parameters")

    definition: Definition
    cutoff: int | None
    parameters: Mapping[str, Setting]

    def __init__(self, definition: Definition, cutoff: int | None = None, **parameters: Setting) -> None:
        if not isinstance(definition, Definition):
            raise unexpected("definition", "one of tieaware.measures.DEFINITIONS", shown(definition))
        set_once = object.__setattr__
        set_once(self, "definition", definition)
        set_once(self, "cutoff", None if cutoff is None else _checked_cutoff(definition, cutoff))
        settings = {name: parameter.default for name, parameter in definition.parameters.items()}
        for name, value in parameters.items():
            if name not in settings:
                known = f"; its parameters are {', '.join(settings)}" if settings else "; the measure has none"
                if name in ("k", "top_k", "depth") and definition.has_cutoff:
                    known = f"; write {definition.name}@{value}"
                elif name == "rel" and is_integer(value) and settings.keys() & {"dcg", "max_rel"}:
                    known = f"; labels are grades here: pass 1 for labels of at least {value} and 0 for the others"
                else:
                    known = did_you_mean(name, settings) or known
                raise InputError(definition.name, f"unknown parameter {name!r}{known}")
            try:
                settings[name] = definition.parameters[name].checked(name, value)
            except InputError as error:
                raise error.at(f"{name} of {definition.name}") from None
        set_once(self, "parameters", MappingProxyType(settings))
        set_once(self, "_text", self._notation())

    def _notation(self) -> str:
        """Return the notation of the measure, such as AP(rel=2)@10, without parameters that have their default."""
        definition = self.definition
        changed = {k: v for k, v in self.parameters.items() if v != definition.parameters[k].default}
        at = changed.pop("recall", 0.0) if definition.at_recall else self.cutoff
        parameters = f"({','.join(f'{k}={v!r}' for k, v in changed.items())})" if changed else ""
        return f"{definition.name}{parameters}{'' if at is None else f'@{at}'}"

    @property
    def name(self) -> str:
        """The name of the family, without cut-off and parameters."""
        return self.definition.name

    @property
    def judged_only(self) -> bool:
        """True if unjudged documents are removed from the list before evaluation."""
        return bool(self.parameters.get("judged_only", False))

    def __getitem__(self, parameter: str) -> Setting:
        """Return the value of a parameter.

        Parameters
        ----------
        parameter : str
            The name, such as "rel".

        Returns
        -------
        int, float, str or bool

        Raises
        ------
        KeyError
            If the measure does not have the parameter.

        Examples
        --------
        >>> from tieaware import RBP
        >>> RBP["p"], RBP(p=0.5)["p"]
        (0.8, 0.5)
        """
        try:
            return self.parameters[parameter]
        except KeyError:
            if not is_integer(parameter):
                raise
        written = f"{self._text.partition('@')[0]}@{parameter}"
        raise KeyError(f"{parameter} is not a parameter of {self.name}; write {written} for a cut-off")

    # Without this, Python would iterate over a measure by calling __getitem__ with 0, 1, 2 …
    __iter__ = None

    def __call__(self, *, cutoff: int | None = None, **parameters: Setting) -> Measure:
        """Return the measure with other parameters.

        Parameters
        ----------
        cutoff : int, optional
            The number of ranks that count, at least 1. Default: the cut-off of this measure.
        **parameters : int, float, str or bool
            The parameters that change, such as ``rel``.

        Returns
        -------
        Measure

        Raises
        ------
        InputError
            If a parameter is unknown, or a value or the cut-off is out of range.

        Examples
        --------
        >>> from tieaware import AP
        >>> AP(rel=2, cutoff=10)
        AP(rel=2)@10
        """
        kept = self.cutoff if cutoff is None else cutoff
        return Measure(self.definition, kept, **{**self.parameters, **parameters})

    def __matmul__(self, cutoff: float) -> Measure:
        """Return the measure with another cut-off, or interpolated precision at another recall.

        Parameters
        ----------
        cutoff : int, or float
            The number of ranks that count, at least 1; or the recall, 0 … 1.

        Returns
        -------
        Measure

        Raises
        ------
        InputError
            If the cut-off is out of range, or the measure has none.

        Examples
        --------
        >>> from tieaware import AP, IPrec
        >>> AP @ 10, IPrec @ 0.5
        (AP@10, IPrec@0.5)
        """
        if self.definition.at_recall:
            return self(recall=cutoff)
        return Measure(self.definition, cast(int, cutoff), **self.parameters)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure is immutable; create another measure instead: {self.name}({name}=…)")

    def __repr__(self) -> str:
        return self._text


def _checked_cutoff(definition: Definition, cutoff: object) -> int:
    if not definition.has_cutoff:
        name = definition.name
        raise InputError(name, f"has no cut-off, so @{shown(cutoff)} has no meaning; write {name}")
    if not is_integer(cutoff) or not 1 <= cast(int, cutoff) <= _DEEPEST_CUTOFF:
        raise unexpected(f"cut-off of {definition.name}", "a whole number from 1 to 2^62 - 1", shown(cutoff))
    return int(cast(int, cutoff))


# All families of measures, by name.
DEFINITIONS: dict[str, Definition] = {}

# The measure of each family without a cut-off and with the default of every parameter, by the name of the family.
FAMILIES: dict[str, Measure] = {}


def register(definition: Definition) -> Measure:
    """Register a family, and return its measure without a cut-off and with the default of every parameter."""
    DEFINITIONS[definition.name] = definition
    FAMILIES[definition.name] = Measure(definition)
    return FAMILIES[definition.name]
