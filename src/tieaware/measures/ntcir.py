"""The definitions of measures of NTCIR's evaluations (NTCIREVAL)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values
from tieaware.kernels import _labels, _slots
from tieaware.lists.judgments import Judgments
from tieaware.measures.definition import Measure
from tieaware.measures.definitions import ERR, nDCG
from tieaware.measures.formulas import by_total, slot_weights, stops
from tieaware.measures.parameters import Number
from tieaware.measures.registry import register


def _ideal_cascade(measure: Measure, judgments: Judgments) -> Values:
    """Return the largest possible ERR of each query: that of its judged documents in the best order."""
    depth, highest = judgments.deepest(measure.cutoff), _labels.highest(judgments.labels)
    if highest > int(measure["max_rel"]):
        raise unexpected(f"{measure}: labels", f"at most max_rel={measure['max_rel']}", f"{highest}")
    return _slots.ideal_cascade(judgments.labels, stops(measure, depth), judgments.offsets, depth)


def _stops_and_utilities(measure: Measure, depth: int) -> Values:
    """Return the probability that a user stops for each grade, and then the utility p^rank of each rank."""
    powers = slot_weights(_slots.geometric, depth, float(measure["p"]))
    return np.concatenate([stops(measure, depth), -powers[1:, 0]])


# fmt: off
MSnDCG: Measure = register(replace(
    nDCG.definition, name="MSnDCG", title="nDCG, under its name in NTCIREVAL", aliases=(), trec_name=None,
    trec_name_with_cutoff=None,
))
nERR: Measure = register(replace(  # noqa: N816 - the field's name
    ERR.definition, name="nERR", title="ERR, divided by that of the best order",
    kernel="cascade_to_ideal", total=_ideal_cascade, norm=by_total, worst_case=None,
))
iRBU: Measure = register(replace(  # noqa: N816 - the field's name
    ERR.definition, name="iRBU", title="expected utility at which a user stops, if it falls geometrically",
    slots=_stops_and_utilities, measure_number="p", worst_case=None,
    parameters={
        "p": Number(0.99, 0.0, 1.0, "the share of the utility that is left at the next rank", ends=False),
        **ERR.definition.parameters,
    },
))
# fmt: on
