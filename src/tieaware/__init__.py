"""tieaware evaluates rankings whose scores tie: exactly, and faster than evaluators that ignore ties."""

from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import (
    AP,
    DCG,
    F1,
    RBP,
    RR,
    Measure,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    R,
    Rprec,
    Success,
    nDCG,
    parse_measure,
)

__version__ = "0.1.0"

__all__ = [
    "AP",
    "DCG",
    "F1",
    "RBP",
    "RR",
    "Evaluator",
    "InputError",
    "Measure",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "Rprec",
    "Success",
    "nDCG",
    "parse_measure",
]
