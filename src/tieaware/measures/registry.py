"""The registry of all families of measures, and the parameters that many families share."""

from __future__ import annotations

from tieaware.measures.definition import Definition, Measure
from tieaware.measures.parameters import Flag, Parameter, WholeNumber, Word

# All families of measures, by name.
DEFINITIONS: dict[str, Definition] = {}

Parameters = dict[str, Parameter]

REL: Parameters = {"rel": WholeNumber(1, 0, 2**31, "the smallest relevant label")}
JUDGED_ONLY: Parameters = {"judged_only": Flag(False, "remove unjudged documents from the list first")}
GAIN_KIND: Parameters = {"dcg": Word("log2", ("log2", "exp-log2"), "the gain: the label, or 2^label - 1")}
BINARY: Parameters = {**REL, **JUDGED_ONLY}


def register(definition: Definition) -> Measure:
    """Register a family, and return its measure without a cut-off and with the default of every parameter."""
    DEFINITIONS[definition.name] = definition
    return Measure(definition)
