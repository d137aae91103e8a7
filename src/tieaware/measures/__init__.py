"""Measures, such as nDCG@10, AP(rel=2) or RBP(p=0.85).

``definitions.py`` lists all families of measures. A `Definition` (``definition.py``) is composed of functions from
``formulas.py`` and ``banding_loss.py`` and of parameters from ``parameters.py``. ``notation.py`` parses measures.
"""

from tieaware.measures.definition import Definition, Measure
from tieaware.measures.definitions import DEFINITIONS
from tieaware.measures.notation import listed_measures, named_measures, parse_measure, parse_measures

__all__ = [
    "DEFINITIONS", "Definition", "Measure", "listed_measures", "named_measures", "parse_measure", "parse_measures",
]  # fmt: skip
