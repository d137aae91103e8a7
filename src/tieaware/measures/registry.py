"""The registry of all families of measures, and the parameters that many families share."""

from __future__ import annotations

from tieaware.measures.definition import Definition, Measure
from tieaware.measures.parameters import Flag, Gains, Number, Parameter, Threshold, Word

# All families of measures, by name.
DEFINITIONS: dict[str, Definition] = {}

# The measure of each family without a cut-off and with the default of every parameter, by the name of the family.
FAMILIES: dict[str, Measure] = {}

Parameters = dict[str, Parameter]

REL: Parameters = {"rel": Threshold(1, 0, 2**31, "the smallest relevant label")}
JUDGED_ONLY: Parameters = {"judged_only": Flag(False, "remove unjudged documents from the list first")}
GAIN_KIND: Parameters = {"dcg": Word("log2", ("log2", "exp-log2"), "the gain: the label, or 2^label - 1")}
TABLE: Parameters = {"gains": Gains((), "the gain of each label, instead of the label itself")}
DISCOUNT: Parameters = {
    "discount": Word(
        "log2", ("log2", "log", "1/rank"),
        "the discount: 1 / log2(1 + rank); 1 before rank `base`, then 1 / log_base(rank); or 1 / rank",
    ),
    "base": Number(
        2.0, 1.0, 1e9, "the base of the logarithm, and the first rank that is discounted, of discount='log'", ends=False
    ),
}  # fmt: skip
GRADED: Parameters = {**GAIN_KIND, **TABLE, **DISCOUNT, **JUDGED_ONLY}
BINARY: Parameters = {**REL, **JUDGED_ONLY}


def register(definition: Definition) -> Measure:
    """Register a family, and return its measure without a cut-off and with the default of every parameter."""
    DEFINITIONS[definition.name] = definition
    FAMILIES[definition.name] = Measure(definition)
    return FAMILIES[definition.name]
