"""Measures, such as nDCG@10, AP(rel=2) or RBP(p=0.85).

A family, such as AP, is a measure with any cut-off and any parameters. Each `Definition` (``definition.py``) combines
functions from ``formulas.py`` and ``banding_loss.py`` with parameters from ``parameters.py``. The families are in
``definitions.py``, ``diversity.py``, ``ntcir.py`` and ``user_models.py``. ``notation.py`` parses text such as
"AP(rel=2)@10" into a `Measure`; ``spellings.py`` knows the names of other tools.
"""

# A module of definitions registers its families when it is imported.
from tieaware.measures import definitions as definitions
from tieaware.measures import diversity as diversity
from tieaware.measures import ntcir as ntcir
from tieaware.measures import user_models as user_models
from tieaware.measures.definition import DEFINITIONS, Definition, Measure
from tieaware.measures.notation import (
    cached_by_measures,
    listed_measures,
    named_measures,
    parse_measure,
    parse_measures,
)

__all__ = [
    "DEFINITIONS", "Definition", "Measure", "cached_by_measures", "listed_measures", "named_measures", "parse_measure",
    "parse_measures",
]  # fmt: skip
