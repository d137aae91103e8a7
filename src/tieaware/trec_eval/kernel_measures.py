"""Definitions for measures of trec_eval that tieaware's notation lacks but its kernels can compute.

A definition here serves a line of trec_eval only: `tieaware.parse_measure` does not know its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Labels, Values
from tieaware.kernels import _slots
from tieaware.lists.judgments import Judgments
from tieaware.measures import Definition, Measure
from tieaware.measures.definition import KernelInputs, Weighting
from tieaware.measures.definitions import Bpref, NumRelRet, RBPResidual
from tieaware.measures.formulas import (
    JUDGED,
    RELEVANCE,
    by_total,
    every_query,
    one,
    patient_slots,
    relevant_documents,
    slot_weights,
)
from tieaware.measures.parameters import Number, Threshold
from tieaware.trec_eval.families import PATIENCE


@dataclass(frozen=True, eq=False)
class _Gains:
    """The type of the parameter `gains`: text such as ``1=3.0,2=9.0``, which says that label 1 has gain 3."""

    default: str = ""
    description: str = "the gains of labels whose gain is not the label itself"
    range: str = "label=gain, separated by commas"

    def checked(self, where: str, value: str) -> str:
        """Return the text unchanged: it is valid, because `gains_text` wrote it."""
        return value


_REL = {"rel": Threshold(1, 0, 2**31, "the smallest relevant label")}
_GAINS = {"gains": _Gains()}
# A name with more digits than this cannot be a label.
_LONGEST_LABEL = 20
# Like trec_eval, accept any number for p, although RBP is meant for 0 < p < 1.
_ANY_PATIENCE = {"p": Number(PATIENCE, -1e15, 1e15, "how likely the user goes on to the next document")}


def gains_text(pairs: dict[str, float]) -> str:
    """Return gains by label, such as {"1": 3.0}, as the text "1=3.0"; leave out names that are not labels."""
    names = [name for name in pairs if name.isascii() and name.isdecimal() and len(name) <= _LONGEST_LABEL]
    labels = {name: pairs[name] for name in names}
    return ",".join(f"{int(label)}={gain!r}" for label, gain in labels.items())


def gains_of(labels: NDArray[Any], gains: str) -> Values:
    """Return the gain of each label, float64[n]: the one in `gains`, or else the label; 0 if unjudged."""
    worth: Values = np.maximum(labels, 0).astype(np.float64)
    for pair in filter(None, gains.split(",")):
        label, gain = pair.split("=")
        worth[labels == int(label)] = float(gain)
    return worth


def documents_at(share: float, relevant: Values | int) -> Values:
    """Return share · relevant + 0.9, truncated: the number of documents that trec_eval 9 computes from a share."""
    documents: Values = np.trunc(share * relevant + 0.9)
    return documents


def _nonrelevant(labels: Labels | Values, rel: float) -> Values:
    """Return 1 for a document judged nonrelevant, else 0."""
    return ((labels >= 0) & (labels < rel)).astype(np.float64)


def _documents_at_multiple(measure: Measure, judgments: Judgments) -> Values:
    """Return the rank of each query down to which Rprec_mult counts hits."""
    return np.maximum(documents_at(float(measure["multiple"]), relevant_documents(measure, judgments)), 0.0)


def _largest_gain(measure: Measure, judgments: Judgments) -> Values:
    """Return the largest gain of a judged document of each query, but at least 1: rbp divides gains by this number."""
    largest = np.ones(judgments.n_queries)
    np.maximum.at(largest, judgments.query, gains_of(judgments.values, str(measure["gains"])))
    return largest


def _discounts(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of 1 / log2(1 + rank); trec_eval's nDCG has no other discount."""
    return slot_weights(_slots.logarithmic, depth)


def _ideal(measure: Measure, judgments: Judgments) -> Values:
    """Return the ideal DCG of each query: the discounted sum of its positive gains, the largest gain first."""
    gains = np.maximum(gains_of(judgments.values, str(measure["gains"])), 0.0)
    slots = _discounts(measure, judgments.deepest(None))
    documents = np.arange(len(gains), dtype=np.int32)
    return _slots.ideal(documents, gains, judgments.offsets, slots, len(slots) - 1)


GAINED = Weighting(gains_of, ("gains",))
NONRELEVANT = Weighting(_nonrelevant, ("rel",))

# fmt: off
RPREC_MULT = Measure(Definition(
    name="Rprec_mult", title="precision at a multiple of N, the number of relevant documents",
    kernel="hits_at_r", weighting=RELEVANCE, total=_documents_at_multiple, norm=by_total,
    parameters={"multiple": Number(1.0, -1e15, 1e15, "the rank, as a multiple of N"), **_REL}, has_cutoff=False,
))
JUDGED_RETRIEVED = Measure(Definition(
    name="num_judged_ret", title="judged documents retrieved",
    kernel="hits", weighting=JUDGED, total=every_query, norm=one,
))
NONRELEVANT_RETRIEVED = Measure(replace(
    NumRelRet.definition, name="num_nonrel_judged_ret", title="documents retrieved that are judged nonrelevant",
    weighting=NONRELEVANT, trec_name=None,
))
NDCG = Measure(Definition(
    name="ndcg", title="normalised discounted cumulative gain with other gains than the labels",
    kernel="discounted_to_ideal", weighting=GAINED, total=_ideal, norm=by_total, inputs=KernelInputs(slots=_discounts),
    parameters=_GAINS, has_cutoff=False,
))
RBP = Measure(Definition(
    name="rbp", title="rank-biased precision of gains, scaled to at most 1",
    kernel="patience", weighting=GAINED, total=_largest_gain, norm=by_total, inputs=KernelInputs(slots=patient_slots),
    parameters={**_ANY_PATIENCE, **_GAINS}, has_cutoff=False,
))
RBP_RESIDUAL = Measure(replace(RBPResidual.definition, name="rbp_resid", parameters=_ANY_PATIENCE))
GM_BPREF = Measure(replace(
    Bpref.definition, name="gm_bpref", title="Bpref, summarised by the geometric mean", summary="geometric",
    summary_only=True, aliases=(), trec_name=None,
))
# fmt: on
