"""A measure: a definition, which all measures of a family share, with a cut-off and settings of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from tieaware.checks.arguments import is_integer, shown, unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.lists.judgments import Judgments
from tieaware.measures.parameters import Parameter, Setting

# Sums of whole weights below this are exact in float64, so that they do not depend on the order of adding.
LEAST_INEXACT = 2.0**53

_DEEPEST_CUTOFF = 2**62 - 1


@dataclass(frozen=True, eq=False)
class Weighting:
    """What one document is worth, by its label: one number, or a few that a kernel looks at together.

    Parameters
    ----------
    rows : callable
        Takes int32[n] labels, and the settings of `parameters` by name; returns float64[n] or float64[n_rows, n].
    parameters : tuple of str
        All that the rows depend on besides the labels: they are given nothing else, so that measures for which the rows
        and these settings are the same can share them.
    """

    rows: Callable[..., Values]
    parameters: tuple[str, ...] = ()

    def key(self, measure: Measure) -> tuple[Any, ...]:
        """Return what is equal for two measures of the same weights."""
        return self.rows, *(measure[name] for name in self.parameters)

    def weigh(self, measure: Measure, labels: Labels) -> Values:
        """Return the weights of documents with these labels: float64[n_rows, n]."""
        try:
            weights = self.rows(labels, **{name: measure[name] for name in self.parameters})
        except InputError as error:
            raise error.at(f"{measure}: {error.where}") from None
        return weights[None] if weights.ndim == 1 else weights


def check_exact(measure: Measure, weights: Values) -> None:
    """Raise InputError unless sums of the weights of documents, float64[n_rows, n], are exact."""
    # Mostly the greatest of them says that they are.
    if weights.max(initial=0.0) * weights.shape[1] >= LEAST_INEXACT and (weights.sum(axis=1) >= LEAST_INEXACT).any():
        raise unexpected(f"{measure}: labels", "gains that add up to less than 2^53, for exact sums", "more")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Definition:
    """A family of measures: all that the rest of the library knows about it.

    Parameters
    ----------
    name, title : str
        In the notation, and in words.
    kernel : str
        Which row of ext/engine/_kernels.pyx sums up what the groups of a query contribute.
    weighting : Weighting
        What one document is worth.
    total : callable
        Takes the measure and the judgments; returns float64[n_queries], what all judged documents of a query are worth
        together: 0 means that the measure says nothing about the query.
    norm : callable
        Takes the measure, the totals and the numbers of retrieved documents; returns what the sums are divided by:
        one number, or float64[n_queries].
    slots : callable, optional
        Takes the measure and a depth; returns the kernel's table of slot weights down to there.
    query_number : callable, optional
        Takes the measure and the judgments; returns another number that the kernel takes of each query.
    query_table : callable, optional
        The same, for the table that the kernel takes of all queries, and where in it each query's part starts.
    measure_number : str, optional
        Which parameter the kernel takes as the number of the measure.
    parameters : mapping of str to Parameter
    has_cutoff : bool
        Whether ``@`` is followed by a cut-off.
    at_recall : bool
        Whether ``@`` is followed by a recall, the parameter of that name.
    summary : str
        How the values of the queries are summed up: "mean", "sum" or "geometric" (mean).
    summary_only : bool
        Whether the summary is what it is about, so that trec_eval prints no value of a query.
    less_is_better : bool
    has_spread : bool
        Whether it is known how far the order of tied documents moves it: standard deviation, minimum and maximum.
    own_extremes : callable
        Takes the measure; whether other orders of tied documents than those by label are the best and the worst.
    needs_pool : callable
        Takes the measure; whether it looks at documents that are pooled and not judged.
    limit : str, optional
        What an error says where its kernel refuses, by an infinite value, what would take too long or too much memory.
    aliases : tuple of str
        Other names that it is known by.
    trec_name, trec_name_with_cutoff : str, optional
        What trec_eval calls it, without and with a cut-off.
    """

    name: str
    title: str
    kernel: str
    weighting: Weighting
    total: Callable[[Measure, Judgments], Values]
    norm: Callable[[Measure, Values, Integers], Values | Integers | float]
    slots: Callable[[Measure, int], Values] | None = None
    query_number: Callable[[Measure, Judgments], Values] | None = None
    query_table: Callable[[Measure, Judgments], tuple[Values, Integers]] | None = None
    measure_number: str | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    has_cutoff: bool = True
    at_recall: bool = False
    summary: str = "mean"
    summary_only: bool = False
    less_is_better: bool = False
    has_spread: bool = True
    own_extremes: Callable[[Measure], bool] = lambda measure: False
    needs_pool: Callable[[Measure], bool] = lambda measure: False
    limit: str | None = None
    aliases: tuple[str, ...] = ()
    trec_name: str | None = None
    trec_name_with_cutoff: str | None = None

    @property
    def is_count(self) -> bool:
        """Whether its values are whole numbers, which every query has, and which are added up over the queries."""
        return self.summary == "sum"

    @property
    def is_geometric(self) -> bool:
        """Whether the values of the queries are summed up as their geometric mean."""
        return self.summary == "geometric"


class Measure:
    """One measure: a definition, a cut-off and the values of the parameters. Immutable and hashable.

    Made from a name (``tieaware.AP``), by calling it with parameters (``AP(rel=2)``), and with ``@`` for the cut-off
    (``AP(rel=2) @ 100``). ``str()`` gives the notation that `tieaware.parse_measure` reads.

    Parameters
    ----------
    definition : Definition
        The family, one of ``tieaware.measures.DEFINITIONS``.
    cutoff : int or None
        How many ranks count, from 1; None for all.
    **parameters : int, float, str or bool
        Those of the family whose values are not the default, such as ``rel``.

    Attributes
    ----------
    parameters : mapping of str to int, float, str or bool
        All parameters of the family with their values.

    Raises
    ------
    InputError
        If the family has no such parameter or no cut-off, or a value is out of range.

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

    __slots__ = ("_text", "cutoff", "definition", "parameters")

    definition: Definition
    cutoff: int | None
    parameters: Mapping[str, Setting]
    _text: str

    def __init__(self, definition: Definition, cutoff: int | None = None, **parameters: Setting) -> None:
        if not isinstance(definition, Definition):
            raise unexpected("definition", "one of tieaware.measures.DEFINITIONS", shown(definition))
        set_once = object.__setattr__
        set_once(self, "definition", definition)
        set_once(self, "cutoff", None if cutoff is None else _checked_cutoff(definition, cutoff))
        settings = {name: parameter.default for name, parameter in definition.parameters.items()}
        for name, value in parameters.items():
            if name not in settings:
                known = ", ".join(settings) or "none, for it has none"
                raise unexpected(f"parameter of {definition.name}", f"one of {known}", repr(name))
            try:
                settings[name] = definition.parameters[name].checked(name, value)
            except InputError as error:
                raise error.at(f"{name} of {definition.name}") from None
        set_once(self, "parameters", MappingProxyType(settings))
        set_once(self, "_text", self._written())

    def _written(self) -> str:
        """Write the measure in the notation that is read back."""
        definition = self.definition
        changed = {k: v for k, v in self.parameters.items() if v != definition.parameters[k].default}
        at = changed.pop("recall", 0.0) if definition.at_recall else self.cutoff
        parameters = f"({','.join(f'{k}={v!r}' for k, v in changed.items())})" if changed else ""
        return f"{definition.name}{parameters}{'' if at is None else f'@{at}'}"

    @property
    def name(self) -> str:
        """The name without cut-off and parameters."""
        return self.definition.name

    @property
    def judged_only(self) -> bool:
        """Whether unjudged documents are taken out of the list first."""
        return bool(self.parameters.get("judged_only", False))

    def __getitem__(self, parameter: str) -> Setting:
        """Return the value of a parameter.

        Parameters
        ----------
        parameter : str
            Its name, such as "rel".

        Returns
        -------
        int, float, str or bool

        Examples
        --------
        >>> from tieaware import RBP
        >>> RBP["p"], RBP(p=0.5)["p"]
        (0.8, 0.5)
        """
        return self.parameters[parameter]

    # A measure has parameters, but is no sequence of them.
    __iter__ = None

    def __call__(self, *, cutoff: int | None = None, **parameters: Setting) -> Measure:
        """Return the measure with other parameters.

        Parameters
        ----------
        cutoff : int, optional
            How many ranks count, from 1; by default as many as in this measure.
        **parameters : int, float, str or bool
            The parameters that change, such as ``rel``.

        Returns
        -------
        Measure

        Raises
        ------
        InputError
            If a parameter is unknown, or it or the cut-off is out of range.

        Examples
        --------
        >>> from tieaware import AP
        >>> AP(rel=2, cutoff=10)
        AP(rel=2)@10
        """
        kept = self.cutoff if cutoff is None else cutoff
        return Measure(self.definition, kept, **{**self.parameters, **parameters})

    def __matmul__(self, cutoff: float) -> Measure:
        """Return the measure with another cut-off; of interpolated precision, at another recall.

        Parameters
        ----------
        cutoff : int, or float
            How many ranks count, from 1; or the recall, 0 … 1.

        Returns
        -------
        Measure

        Raises
        ------
        InputError
            If it is out of range, or the measure has no cut-off.

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
        raise AttributeError(f"a measure is immutable; {self}(…) makes another")

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Measure) and self._text == other._text and self.definition is other.definition
        )

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text


def _checked_cutoff(definition: Definition, cutoff: object) -> int:
    if not definition.has_cutoff:
        raise unexpected(definition.name, "no cut-off, which it does not have", f"@{shown(cutoff)}")
    if not is_integer(cutoff) or not 1 <= cast(int, cutoff) <= _DEEPEST_CUTOFF:
        raise unexpected(f"cut-off of {definition.name}", "a whole number from 1 to 2^62 - 1", shown(cutoff))
    return int(cast(int, cutoff))
