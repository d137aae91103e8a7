"""trec_eval's measures under its own names: those of tieaware, and the others that its families print.

families.py has the names, in trec_eval's order, with what it takes where a name comes without parameters; lines.py says
what each printed number is made of; rankings.py has the measures that tieaware's own notation lacks; evaluation.py
evaluates a run. The command ``tieaware trec_eval`` and `tieaware.integrations.pytrec_eval` are made of these.
"""

from tieaware.trec_eval.evaluation import SMALLEST, Evaluated, evaluate_lines, measured
from tieaware.trec_eval.families import MEASURES, NICKNAMES, OF_OTHER_INPUT, Request, requests
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
