"""Evaluation as trec_eval does it, with its names of measures, its output and its order of tied documents.

==================  ============================================================================================
families.py         the names, in trec_eval's order, with their default parameters
lines.py            the lines that trec_eval prints, and the measures that each line shows
kernel_measures.py  definitions of measures that tieaware's notation lacks but its kernels can compute
own_measures.py     the measures that no kernel computes
evaluation.py       the values of the lines for a run
==================  ============================================================================================

The command ``tieaware trec_eval`` and `tieaware.integrations.pytrec_eval` are built on this package.
"""

from tieaware.trec_eval.evaluation import Evaluated, evaluate_lines, measured
from tieaware.trec_eval.families import MEASURES, NICKNAMES, OF_OTHER_INPUT, SMALLEST, Request, requests
from tieaware.trec_eval.lines import Line, lines

__all__ = [
    "MEASURES",
    "NICKNAMES",
    "OF_OTHER_INPUT",
    "SMALLEST",
    "Evaluated",
    "Line",
    "Request",
    "evaluate_lines",
    "lines",
    "measured",
    "requests",
]
