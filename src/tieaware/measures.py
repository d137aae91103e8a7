"""What can be measured, and its notation: ``nDCG@10``, ``AP(rel=2)``, ``RBP(p=0.85)``.

A measure is a :class:`Definition` with values for its parameters. A definition says, in four answers, all that the
rest of the library knows about it:

* ``weight``: what one document is worth, from its label (its relevance, or its gain); a kernel may look at several
  such numbers, the rows of ``weight``;
* ``kernel``: which function of ``ext/_expected.pyx`` (and of ``_spread.pyx``, for the variance) sums what the groups
  contribute, and over which table of slot weights (``slots``), if any;
* ``total``: what all judged documents of a query are worth together; 0 means that the measure says nothing about it;
* ``norm``: what the sum is divided by.

A few kernels need more: another number of the query (``second``), the best order of its judged documents (``ideal``),
or a number of the measure (``number``).

To add a measure, add its definition here, its kernel there (if it is not one of those), and its functions to
``reference/``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, cast
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from tieaware import _slots
from tieaware.errors import InputError

Values = npt.NDArray[np.float64]
Labels = npt.NDArray[np.integer[Any]]
Parameter = int | float | str

# The label of a document that was pooled and not judged, as lower ones are. That of one outside the pool is -1.
POOLED = -2


class JudgedDocuments(Protocol):
    """What a definition may ask about the judged documents of each query."""

    def count(self, least: int) -> Values:
        """How many have at least this label, by query."""

    def ideal(self, measure: Measure) -> Values:
        """The value of the best possible ranking before it is normalised, by query."""

    def cumulated(self, worth: Callable[[Labels], Values]) -> tuple[Values, Values]:
        """The sums of what each query's documents are worth, the best first; and where each query's sums begin."""


@dataclass(frozen=True)
class Definition:
    """A family of measures. See the module's first lines for what its fields answer."""

    name: str
    title: str
    kernel: str
    weight: Callable[[Measure, Labels], Values]
    total: Callable[[Measure, JudgedDocuments], Values]
    norm: Callable[[Measure, Values, Values], Values]
    slots: Callable[[Measure, int], Values] | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    second: Callable[[Measure, JudgedDocuments], Values] | None = None
    ideal: Callable[[Measure, JudgedDocuments], tuple[Values, Values]] | None = None
    number: str | None = None
    has_cutoff: bool = True
    # Whether @ is followed by a recall, the parameter of that name, and not by a cut-off.
    at_recall: bool = False
    # How the values of the queries are summed up: "mean", "sum" or "geometric".
    summary: str = "mean"
    # Whether the summary is what it is about, so that trec_eval prints no value of a query.
    of_all: bool = False
    less_is_better: bool = False
    # Whether it is known how far the order of tied documents moves it: standard deviation, minimum and maximum.
    has_spread: bool = True
    # Whether it looks at documents that are pooled and not judged.
    of_pool: bool = False
    aliases: tuple[str, ...] = ()
    trec_name: str | None = None
    trec_name_with_cutoff: str | None = None

    @property
    def is_count(self) -> bool:
        """Whether its values are whole numbers, which are added up over the queries."""
        return self.summary == "sum"


class Measure:
    """One measure: a definition, a cut-off and the values of the parameters. Immutable and hashable.

    Made from a name (``tieaware.AP``), by calling it with parameters (``AP(rel=2)``), and with ``@`` for the cut-off
    (``AP(rel=2) @ 100``). ``str()`` gives the notation that :func:`parse_measure` reads.

    Parameters
    ----------
    definition : Definition
        The family, one of ``tieaware.measures.DEFINITIONS``.
    cutoff : int or None
        How many ranks count, from 1; None for all.
    **parameters : int, float or str
        Those of the family whose values are not the default, such as ``rel``.

    Attributes
    ----------
    parameters : mapping of str to int, float or str
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

    __slots__ = ("cutoff", "definition", "parameters")

    definition: Definition
    cutoff: int | None
    parameters: Mapping[str, Parameter]

    def __init__(self, definition: Definition, cutoff: int | None = None, **parameters: Parameter) -> None:
        for key, value in parameters.items():
            _check_parameter(definition, key, value)
        # As plain Python has them, not as np.int64 or 2 for 2.0: equal measures are written alike.
        plain = {key: type(definition.parameters[key])(value) for key, value in parameters.items()}
        if cutoff is not None:
            _check_cutoff(definition, cutoff)
        set_once = object.__setattr__
        set_once(self, "definition", definition)
        set_once(self, "cutoff", None if cutoff is None else int(cutoff))
        set_once(self, "parameters", MappingProxyType({**definition.parameters, **plain}))

    @property
    def name(self) -> str:
        """The name without cut-off and parameters."""
        return self.definition.name

    def __getitem__(self, parameter: str) -> Parameter:
        """Return the value of a parameter.

        Parameters
        ----------
        parameter : str
            Its name, such as "rel".

        Returns
        -------
        int, float or str

        Examples
        --------
        >>> from tieaware import RBP
        >>> RBP["p"], RBP(p=0.5)["p"]
        (0.8, 0.5)
        """
        return self.parameters[parameter]

    def __call__(self, *, cutoff: int | None = None, **parameters: Parameter) -> Measure:
        """Return the measure with other parameters.

        Parameters
        ----------
        cutoff : int, optional
            How many ranks count, from 1; by default as many as in this measure.
        **parameters : int, float or str
            The parameters that change, such as ``rel``.

        Returns
        -------
        Measure

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

        Examples
        --------
        >>> from tieaware import AP, IPrec
        >>> AP @ 10, IPrec @ 0.5
        (AP@10, IPrec@0.5)
        """
        if self.definition.at_recall:
            return self(recall=float(cutoff))
        return Measure(self.definition, cast(int, cutoff), **self.parameters)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure is immutable; {self}(…) makes another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Callable[[str], Measure], tuple[str]]:
        return parse_measure, (str(self),)

    def __repr__(self) -> str:
        changed = {k: v for k, v in self.parameters.items() if v != self.definition.parameters[k]}
        at = changed.pop("recall", 0.0) if self.definition.at_recall else self.cutoff
        parameters = f"({','.join(f'{k}={v!r}' for k, v in changed.items())})" if changed else ""
        cutoff = "" if at is None else f"@{at}"
        return f"{self.name}{parameters}{cutoff}"


def _check_parameter(definition: Definition, key: str, value: object) -> None:
    if key not in definition.parameters:
        known = ", ".join(definition.parameters) or "none"
        raise InputError(f"{definition.name}: unknown parameter {key!r}; its parameters are: {known}")
    if key == "rel" and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0):
        raise InputError(f"{definition.name}: rel={value!r}, expected a whole number of at least 0")
    if key == "p" and not (isinstance(value, int | float | np.floating) and 0.0 < value < 1.0):
        raise InputError(f"{definition.name}: p={value!r}, expected a number between 0 and 1, exclusive")
    if key == "dcg" and value not in ("log2", "exp-log2"):
        raise InputError(f"{definition.name}: dcg={value!r}, expected 'log2' or 'exp-log2'")
    if key in ("judged_only", "relative") and not isinstance(value, bool | np.bool_):
        raise InputError(f"{definition.name}: {key}={value!r}, expected True or False")
    if key == "beta" and not (isinstance(value, int | float | np.floating) and 0.0 < value < 1e9):
        raise InputError(f"{definition.name}: beta={value!r}, expected a number above 0")
    if key == "recall" and not (isinstance(value, int | float | np.floating) and 0.0 <= value <= 1.0):
        raise InputError(f"{definition.name}: recall {value!r}, expected a number from 0 to 1")
    most = {"i": 2**31, "max_rel": 50}.get(key, 0)
    if most and (isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most):
        raise InputError(f"{definition.name}: {key}={value!r}, expected a whole number from 1 to {most}")


def _check_cutoff(definition: Definition, cutoff: object) -> None:
    if not definition.has_cutoff:
        raise InputError(f"{definition.name} has no cut-off, found @{cutoff}")
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or not 1 <= cutoff < 2**62:
        raise InputError(f"{definition.name}@{cutoff}: expected a cut-off of at least 1")


# What a document is worth.


def relevance(measure: Measure, labels: Labels) -> Values:
    """1 for a label of at least ``rel``, else 0."""
    return (labels >= int(measure["rel"])).astype(np.float64)


def gain(measure: Measure, labels: Labels) -> Values:
    """The label, or 2^label - 1; 0 for labels below 1."""
    positive = np.maximum(labels, 0)
    if measure["dcg"] == "log2":
        return positive.astype(np.float64)
    if positive.size and positive.max() > 52:
        raise InputError(f"{measure}: label {positive.max()}, expected at most 52 for the gain 2^label - 1")
    return np.ldexp(1.0, positive.astype(np.int32)) - 1.0


def judged(measure: Measure, labels: Labels) -> Values:
    """1: every judged document counts."""
    return (labels >= 0).astype(np.float64)


def preferred(measure: Measure, labels: Labels) -> Values:
    """Whether it is relevant, and whether it is judged nonrelevant: two rows."""
    relevant = relevance(measure, labels)
    return np.stack([relevant, judged(measure, labels) - relevant])


def pooled(measure: Measure, labels: Labels) -> Values:
    """Whether it is relevant, judged nonrelevant, or in the pool and not judged: three rows."""
    only_pooled = (labels <= POOLED) & (not measure["judged_only"])
    return np.stack([*preferred(measure, labels), only_pooled])


def relevance_and_gain(measure: Measure, labels: Labels) -> Values:
    """Whether it is relevant, the label if it is, and the label's square: three rows."""
    relevant = relevance(measure, labels)
    gains = relevant * labels
    return np.stack([relevant, gains, gains * gains])


def grades(measure: Measure, labels: Labels) -> Values:
    """Whether it has grade 1, grade 2 … grade max_rel: as many rows."""
    highest = int(measure["max_rel"])
    if labels.size and labels.max() > highest:
        raise InputError(f"{measure}: label {labels.max()}, expected at most max_rel={highest}")
    rows: Values = (labels == np.arange(1, highest + 1)[:, None]).astype(np.float64)
    return rows


def nothing(measure: Measure, labels: Labels) -> Values:
    """0: the measure does not look at the documents."""
    return np.zeros(labels.shape)


# What all judged documents of a query are worth.


def relevant_documents(measure: Measure, judged: JudgedDocuments) -> Values:
    """N, the number of relevant documents, retrieved or not."""
    return judged.count(int(measure["rel"]))


def positive_documents(measure: Measure, judged: JudgedDocuments) -> Values:
    """The number of documents with a gain."""
    return judged.count(1)


def nonrelevant_of_relevant(measure: Measure, judged: JudgedDocuments) -> Values:
    """M: the judged nonrelevant documents, but no more than there are relevant ones."""
    relevant = relevant_documents(measure, judged)
    return np.minimum(judged.count(0) - relevant, relevant)


def ideal_gain(measure: Measure, judged: JudgedDocuments) -> Values:
    """The discounted gain of the judged documents in the best order, within the cut-off."""
    return judged.ideal(measure)


def ideal_labels(measure: Measure, judged: JudgedDocuments) -> tuple[Values, Values]:
    """The cumulated labels of the relevant documents in the best order, and where each query's begin."""
    return judged.cumulated(lambda labels: np.where(relevance(measure, labels) > 0.0, labels, -np.inf))


def every_query(measure: Measure, judged: JudgedDocuments) -> Values:
    """1: the measure is defined for every query."""
    return np.ones_like(judged.count(0))


# What the sum over the groups is divided by, from the total and the number of retrieved documents.


def one(measure: Measure, total: Values, retrieved: Values) -> Values:
    """Nothing: the sum is the value."""
    return np.ones_like(total)


def by_total(measure: Measure, total: Values, retrieved: Values) -> Values:
    """The total."""
    return total


def by_depth(measure: Measure, total: Values, retrieved: Values) -> Values:
    """k, even where the list is shorter; without a cut-off, the number of retrieved documents."""
    return np.maximum(retrieved, 1.0) if measure.cutoff is None else np.full_like(total, measure.cutoff)


def by_mean_of_depth_and_total(measure: Measure, total: Values, retrieved: Values) -> Values:
    """(k + N) / 2, so that hits divided by it are the harmonic mean of precision and recall."""
    depth = retrieved if measure.cutoff is None else np.full_like(total, measure.cutoff)
    return (depth + total) / 2.0


def by_depth_reached(measure: Measure, total: Values, retrieved: Values) -> Values:
    """k, or the length of a shorter list."""
    return np.clip(retrieved, 1.0, measure.cutoff)


def by_retrieved_or_total(measure: Measure, total: Values, retrieved: Values) -> Values:
    """The number of retrieved documents; with ``relative``, no more than there are relevant ones."""
    return np.maximum(np.minimum(retrieved, total) if measure["relative"] else retrieved, 1.0)


def by_weighted_mean(measure: Measure, total: Values, retrieved: Values) -> Values:
    """(retrieved + beta N) / (1 + beta), so that hits divided by it are the weighted harmonic mean."""
    beta = float(measure["beta"])
    return (retrieved + beta * total) / (1.0 + beta)


def by_retrieved_times_total(measure: Measure, total: Values, retrieved: Values) -> Values:
    """The product of both, so that squared hits divided by it are precision times recall."""
    return np.maximum(retrieved, 1.0) * total


def by_retrieved(measure: Measure, total: Values, retrieved: Values) -> Values:
    """The number of retrieved documents."""
    return retrieved


# The slot weights. A table serves all that look no deeper, as long as somebody holds it.

_tables: WeakValueDictionary[tuple[Any, ...], Values] = WeakValueDictionary()


def _table(kind: Callable[..., Values], depth: int, *arguments: float) -> Values:
    table = _tables.get((kind, *arguments))
    if table is None or len(table) <= depth:
        table = kind(*arguments, depth)
        table.setflags(write=False)
        _tables[kind, *arguments] = table
    return table


def reciprocal_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of 1 / rank."""
    return _table(_slots.harmonic, depth)


def discounted_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of 1 / log2(1 + rank)."""
    return _table(_slots.logarithmic, depth)


def patient_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of (1 - p) p^(rank - 1)."""
    return _table(_slots.geometric, depth, float(measure["p"]))


def stops(measure: Measure, depth: int) -> Values:
    """For each grade, the probability that it makes the user stop: (2^grade - 1) / 2^max_rel. No prefix sums."""
    highest = int(measure["max_rel"])
    probabilities: Values = (np.ldexp(1.0, np.arange(1, highest + 1)) - 1.0) / 2.0**highest
    return probabilities


_binary: dict[str, Parameter] = {"rel": 1, "judged_only": False}
_graded: dict[str, Parameter] = {"dcg": "log2", "judged_only": False}

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition
    for definition in (
        Definition(
            "P", "precision", "hits", relevance, relevant_documents, by_depth,
            parameters=_binary, aliases=("Precision",), trec_name_with_cutoff="P",
        ),
        Definition(
            "R", "recall", "hits", relevance, relevant_documents, by_total,
            parameters=_binary, aliases=("Recall",), trec_name_with_cutoff="recall",
        ),
        Definition(
            "F1", "harmonic mean of precision and recall", "hits", relevance, relevant_documents,
            by_mean_of_depth_and_total, parameters=_binary,
        ),
        Definition(
            "AP", "average precision", "average_precision", relevance, relevant_documents, by_total, reciprocal_slots,
            parameters=_binary, aliases=("MAP",), trec_name="map", trec_name_with_cutoff="map_cut",
        ),
        Definition(
            "RR", "reciprocal rank", "reciprocal_rank", relevance, relevant_documents, one, reciprocal_slots,
            parameters=_binary, aliases=("MRR",), trec_name="recip_rank",
        ),
        Definition(
            "nDCG", "normalised discounted cumulative gain", "slots_of_ideal", gain, ideal_gain, by_total,
            discounted_slots, parameters=_graded, aliases=("NDCG",), trec_name="ndcg", trec_name_with_cutoff="ndcg_cut",
        ),
        Definition(
            "DCG", "discounted cumulative gain", "slots", gain, positive_documents, one, discounted_slots,
            parameters=_graded,
        ),
        Definition(
            "RBP", "rank-biased precision", "slots", relevance, relevant_documents, one, patient_slots,
            parameters={"p": 0.8, **_binary},
        ),
        Definition(
            "Success", "whether a relevant document is found", "success", relevance, relevant_documents, one,
            parameters=_binary, trec_name_with_cutoff="success",
        ),
        Definition(
            "Rprec", "precision at N, the number of relevant documents", "hits_at_r", relevance, relevant_documents,
            by_total, parameters=_binary, has_cutoff=False, aliases=("RPrec",), trec_name="Rprec",
        ),
        Definition(
            "Bpref", "how often relevant documents precede judged nonrelevant ones", "preference", preferred,
            relevant_documents, by_total, parameters=_binary, second=nonrelevant_of_relevant, has_cutoff=False,
            aliases=("BPref",), trec_name="bpref",
        ),
        Definition(
            "infAP", "average precision inferred where a part of the pool is judged", "inferred_precision", pooled,
            relevant_documents, by_total, parameters=_binary, has_cutoff=False, has_spread=False, of_pool=True,
            aliases=("InfAP",), trec_name="infAP",
        ),
        Definition(
            "Q", "Q-measure: average precision with cumulated gains", "q_measure", relevance_and_gain,
            relevant_documents, by_total, parameters={"beta": 1.0, **_binary}, ideal=ideal_labels, number="beta",
        ),
        Definition(
            "ERR", "expected reciprocal rank of where a user stops", "cascade", grades, positive_documents, one, stops,
            parameters={"max_rel": 4, "judged_only": False},
        ),
        Definition(
            "AUC", "probability that a relevant document precedes a nonrelevant one", "area_under_curve", relevance,
            relevant_documents, one, parameters=_binary, aliases=("Accuracy",),
        ),
        Definition(
            "ESL", "expected search length to the i-th relevant document", "search_length", relevance,
            relevant_documents, one, parameters={"i": 1, **_binary}, number="i", has_cutoff=False, less_is_better=True,
        ),
        Definition(
            "Judged", "share of judged documents", "hits", judged, every_query, by_depth_reached,
        ),
        Definition(
            "RBPResidual", "what unjudged documents might add to RBP", "residual", judged, every_query, one,
            patient_slots, parameters={"p": 0.8}, has_cutoff=False, less_is_better=True,
        ),
        Definition(
            "SetP", "precision of all that is retrieved", "hits", relevance, relevant_documents, by_retrieved_or_total,
            parameters={"relative": False, **_binary}, has_cutoff=False, trec_name="set_P",
        ),
        Definition(
            "SetR", "recall of all that is retrieved", "hits", relevance, relevant_documents, by_total,
            parameters=_binary, has_cutoff=False, trec_name="set_recall",
        ),
        Definition(
            "SetF", "weighted harmonic mean of SetP and SetR", "hits", relevance, relevant_documents, by_weighted_mean,
            parameters={"beta": 1.0, **_binary}, has_cutoff=False, trec_name="set_F",
        ),
        Definition(
            "SetAP", "SetP times SetR", "squared_hits", relevance, relevant_documents, by_retrieved_times_total,
            parameters=_binary, has_cutoff=False, trec_name="set_map",
        ),
        Definition(
            "GMAP", "average precision, summed up by the geometric mean", "average_precision", relevance,
            relevant_documents, by_total, reciprocal_slots, parameters=_binary, has_cutoff=False, summary="geometric",
            of_all=True, trec_name="gm_map",
        ),
        Definition(
            "IPrec", "interpolated precision at a recall", "interpolated", relevance, relevant_documents, by_total,
            parameters={"recall": 0.0, **_binary}, number="recall", has_cutoff=False, at_recall=True,
        ),
        Definition(
            "IAP11", "mean of the interpolated precisions at the recalls 0, 0.1 … 1", "interpolated_11", relevance,
            relevant_documents, by_total, parameters=_binary, has_cutoff=False, aliases=("IAP",),
            trec_name="11pt_avg",
        ),
        Definition(
            "NumQ", "queries", "constant", nothing, every_query, one, has_cutoff=False, summary="sum", of_all=True,
            trec_name="num_q",
        ),
        Definition(
            "NumRet", "retrieved documents", "constant", nothing, every_query, by_retrieved,
            has_cutoff=False, summary="sum", trec_name="num_ret",
        ),
        Definition(
            "NumRel", "relevant documents", "constant", nothing, relevant_documents, by_total,
            parameters={"rel": 1}, has_cutoff=False, summary="sum", trec_name="num_rel",
        ),
        Definition(
            "NumRelRet", "relevant documents retrieved", "hits", relevance, every_query, one,
            parameters={"rel": 1}, has_cutoff=False, summary="sum", trec_name="num_rel_ret",
        ),
    )
}  # fmt: skip

P = Measure(DEFINITIONS["P"])
R = Measure(DEFINITIONS["R"])
F1 = Measure(DEFINITIONS["F1"])
AP = Measure(DEFINITIONS["AP"])
RR = Measure(DEFINITIONS["RR"])
nDCG = Measure(DEFINITIONS["nDCG"])  # noqa: N816 - the field's name
DCG = Measure(DEFINITIONS["DCG"])
RBP = Measure(DEFINITIONS["RBP"])
Success = Measure(DEFINITIONS["Success"])
Rprec = Measure(DEFINITIONS["Rprec"])
Bpref = Measure(DEFINITIONS["Bpref"])
infAP = Measure(DEFINITIONS["infAP"])  # noqa: N816 - the field's name
Q = Measure(DEFINITIONS["Q"])
ERR = Measure(DEFINITIONS["ERR"])
AUC = Measure(DEFINITIONS["AUC"])
ESL = Measure(DEFINITIONS["ESL"])
Judged = Measure(DEFINITIONS["Judged"])
RBPResidual = Measure(DEFINITIONS["RBPResidual"])
SetP = Measure(DEFINITIONS["SetP"])
SetR = Measure(DEFINITIONS["SetR"])
SetF = Measure(DEFINITIONS["SetF"])
SetAP = Measure(DEFINITIONS["SetAP"])
GMAP = Measure(DEFINITIONS["GMAP"])
IPrec = Measure(DEFINITIONS["IPrec"])
IAP11 = Measure(DEFINITIONS["IAP11"])
NumQ = Measure(DEFINITIONS["NumQ"])
NumRet = Measure(DEFINITIONS["NumRet"])
NumRel = Measure(DEFINITIONS["NumRel"])
NumRelRet = Measure(DEFINITIONS["NumRelRet"])

_BY_NAME = {name: d for d in DEFINITIONS.values() for name in (d.name, *d.aliases)}
_BY_TREC_NAME = {d.trec_name: d for d in DEFINITIONS.values() if d.trec_name}
_BY_TREC_NAME_WITH_CUTOFF = {d.trec_name_with_cutoff: d for d in DEFINITIONS.values() if d.trec_name_with_cutoff}

# trec_eval's names of measures with parameters.
_BY_OTHER_TREC_NAME = {"set_relative_P": SetP(relative=True)}

_NOTATION = re.compile(r"(?P<name>\w+)\s*(?:\((?P<parameters>.*)\))?\s*(?:@\s*(?P<cutoff>\S+))?", re.ASCII)


def parse_measure(text: str | Measure) -> Measure:
    """Read a measure in the notation of ir_measures, or by its name in trec_eval.

    Parameters
    ----------
    text : str or Measure
        For example ``"nDCG@10"``, ``"AP(rel=2)@100"``, ``"RBP(p=0.85)"``, ``"ndcg_cut_10"``, ``"map"``. A measure is
        returned as it is.

    Returns
    -------
    Measure
        ``parse_measure(str(measure)) == measure``.

    Raises
    ------
    InputError
        If the text names no measure (the nearest names are given), or a parameter or cut-off has no meaning.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10"), parse_measure("MRR@10"), parse_measure("AP(rel=2)@100")
    (nDCG@10, RR@10, AP(rel=2)@100)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise InputError(f"measure {text!r}: expected a name such as 'nDCG@10', or a tieaware.Measure")
    if len(text) > 200:
        raise InputError(f"measure {text[:20]!r}…: {len(text)} characters, expected a name such as 'nDCG@10'")
    stripped = text.strip()
    by_trec_name = _parse_trec_name(stripped)
    if by_trec_name is not None:
        return by_trec_name
    found = _NOTATION.fullmatch(stripped)
    if found is None:
        raise InputError(f"measure {text!r}: expected the form name(parameter=value)@cutoff, as in 'AP(rel=2)@100'")
    name, parameters, cutoff = found["name"], found["parameters"], found["cutoff"]
    if name not in _BY_NAME:
        raise InputError(f"measure {text!r} is unknown{_nearest(name)}")
    measure = Measure(_BY_NAME[name], **_parse_parameters(text, parameters or ""))
    if cutoff is None:
        return measure
    if measure.definition.at_recall and re.fullmatch(r"\d+(\.\d{1,30})?(e-\d{1,3})?", cutoff, re.ASCII):
        return measure @ float(cutoff)
    if not re.fullmatch(r"-?\d{1,18}", cutoff, re.ASCII):
        raise InputError(f"measure {text!r}: cut-off {cutoff!r}, expected a whole number of at least 1")
    return measure @ int(cutoff)


def _parse_trec_name(text: str) -> Measure | None:
    if text in _BY_TREC_NAME:
        return Measure(_BY_TREC_NAME[text])
    if text in _BY_OTHER_TREC_NAME:
        return _BY_OTHER_TREC_NAME[text]
    stem, _, cutoff = text.rpartition("_")
    if stem == "iprec_at_recall" and re.fullmatch(r"[01](\.\d{1,17})?", cutoff, re.ASCII):
        return IPrec @ float(cutoff)
    if stem in _BY_TREC_NAME_WITH_CUTOFF and re.fullmatch(r"\d{1,18}", cutoff, re.ASCII):
        return Measure(_BY_TREC_NAME_WITH_CUTOFF[stem], int(cutoff))
    return None


def _parse_parameters(text: str, parameters: str) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in parameters.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key.isidentifier() or not value:
            raise InputError(f"measure {text!r}: found {part!r}, expected parameter=value")
        if key in parsed:
            raise InputError(f"measure {text!r}: parameter {key!r} is given twice")
        try:
            parsed[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parsed[key] = value  # a bare word, as in dcg=exp-log2
    return parsed


def _nearest(name: str) -> str:
    import difflib

    known = [*_BY_NAME, *_BY_TREC_NAME, *(f"{n}_10" for n in _BY_TREC_NAME_WITH_CUTOFF)]
    by_lower_case = {k.lower(): k for k in reversed(known)}
    near = [by_lower_case[k] for k in difflib.get_close_matches(name.lower(), by_lower_case, 3, 0.5)]
    return f"; did you mean {' or '.join(near)}?" if near else f"; the measures are {', '.join(DEFINITIONS)}"
