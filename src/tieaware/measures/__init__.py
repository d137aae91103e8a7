"""Measures, such as nDCG@10, AP(rel=2) or RBP(p=0.85).

``definitions.py`` defines all families of measures. A family, such as AP, is a measure with any cut-off and any
parameters. Each `Definition` (``definition.py``) combines functions from ``formulas.py`` and ``banding_loss.py`` with
parameters from ``parameters.py``. ``notation.py`` parses text such as "AP(rel=2)@10" into a `Measure`;
``spellings.py`` knows the names of other tools, and ``misspellings.py`` says what to write instead of unknown names.
"""

from tieaware.measures.definition import Definition, Measure
from tieaware.measures.definitions import DEFINITIONS
from tieaware.measures.notation import listed_measures, named_measures, parse_measure, parse_measures

__all__ = [
    "DEFINITIONS", "Definition", "Measure", "listed_measures", "named_measures", "parse_measure", "parse_measures",
]  # fmt: skip
