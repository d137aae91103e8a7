"""What can be measured, such as nDCG@10, AP(rel=2) or RBP(p=0.85).

definitions.py lists every family; a definition (definition.py) is put together from formulas.py, its parameters from
parameters.py, and notation.py reads and writes the result.
"""

from tieaware.measures.definition import Definition, Measure
from tieaware.measures.definitions import DEFINITIONS
from tieaware.measures.notation import asked_measures, listed_measures, parse_measure, parse_measures

__all__ = [
    "DEFINITIONS", "Definition", "Measure", "asked_measures", "listed_measures", "parse_measure", "parse_measures",
]  # fmt: skip
