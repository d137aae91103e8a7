"""tieaware evaluates rankings with tied scores exactly, and faster than evaluators that ignore ties."""

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from tieaware._version import __version__ as __version__

# Type checkers read these imports; at run time, `__getattr__` imports each name on first use.
if TYPE_CHECKING:
    from tieaware import conformance as conformance
    from tieaware import experiments as experiments
    from tieaware import fairness as fairness
    from tieaware import integrations as integrations
    from tieaware import precision as precision
    from tieaware import reference as reference
    from tieaware import retrieval as retrieval
    from tieaware import samples as samples
    from tieaware import statistics as statistics
    from tieaware._evaluate import evaluate
    from tieaware.engine.spread import Bounds, Chance, Spread
    from tieaware.errors import InputError
    from tieaware.evaluator import Evaluator
    from tieaware.fairness.exposures import exposure
    from tieaware.inputs import Qrels, Run, read_qrels, read_run
    from tieaware.kernels import get_include
    from tieaware.measures import Measure, parse_measure
    from tieaware.measures.documents_viewed import documents_viewed
    from tieaware.measures.worst_cases import WorstCase, worst_case
    from tieaware.optimise import WeightedFusion, fuse
    from tieaware.precision import bands
    from tieaware.results import Results

    # isort: split
    # measures
    from tieaware.measures.definitions import (
        AP,
        AUC,
        DCG,
        ERR,
        ESL,
        F1,
        GMAP,
        IAP11,
        PRR,
        RBP,
        RR,
        Accuracy,
        AP_cap,
        Bpref,
        Compat,
        F,
        FallOut,
        Hits,
        Hole,
        IPrec,
        Judged,
        MaxF,
        MeanRank,
        NumQ,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        PAtRel,
        Q,
        R,
        RBPResidual,
        Recall_cap,
        Rprec,
        SetAP,
        SetF,
        SetP,
        SetR,
        Specificity,
        Success,
        infAP,
        nDCG,
    )
    from tieaware.measures.diversity import (
        AP_IA,
        ERR_IA,
        NRBP,
        P_IA,
        StRecall,
        alpha_DCG,
        alpha_nDCG,
        nERR_IA,
        nNRBP,
    )
    from tieaware.measures.ntcir import (
        MSnDCG,
        O,
        PPlus,
        iRBU,
        nERR,
    )
    from tieaware.measures.user_models import (
        BPM,
        INSQ,
        INST,
        NERR8,
        NERR9,
        NERR10,
        NERR11,
        SDCG,
    )
    # end of measures

# The modules of all public names except packages and measures.
_MODULES = {
    "Bounds": "engine.spread",
    "Chance": "engine.spread",
    "Evaluator": "evaluator",
    "InputError": "errors",
    "Measure": "measures",
    "Qrels": "inputs",
    "Results": "results",
    "Run": "inputs",
    "Spread": "engine.spread",
    "WeightedFusion": "optimise",
    "WorstCase": "measures.worst_cases",
    "bands": "precision",
    "documents_viewed": "measures.documents_viewed",
    "evaluate": "_evaluate",
    "exposure": "fairness.exposures",
    "fuse": "optimise",
    "get_include": "kernels",
    "parse_measure": "measures",
    "read_qrels": "inputs",
    "read_run": "inputs",
    "worst_case": "measures.worst_cases",
}

# All packages and modules that are attributes of this one.
_ROOMS = (
    "checks", "cli", "commands", "conformance", "defaults", "engine", "errors", "evaluator", "experiments", "fairness",
    "inputs", "integrations", "kernels", "lines", "lists", "measures", "optimise", "output", "precision", "reference",
    "results", "retrieval", "runtime", "samples", "statistics", "testing", "ties", "trec_eval",
)  # fmt: skip

__all__ = [
    "AP",
    "AP_IA",
    "AUC",
    "BPM",
    "DCG",
    "ERR",
    "ERR_IA",
    "ESL",
    "F1",
    "GMAP",
    "IAP11",
    "INSQ",
    "INST",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "PRR",
    "P_IA",
    "RBP",
    "RR",
    "SDCG",
    "AP_cap",
    "Accuracy",
    "Bounds",
    "Bpref",
    "Chance",
    "Compat",
    "Evaluator",
    "F",
    "FallOut",
    "Hits",
    "Hole",
    "IPrec",
    "InputError",
    "Judged",
    "MSnDCG",
    "MaxF",
    "MeanRank",
    "Measure",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "O",
    "P",
    "PAtRel",
    "PPlus",
    "Q",
    "Qrels",
    "R",
    "RBPResidual",
    "Recall_cap",
    "Results",
    "Rprec",
    "Run",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "Specificity",
    "Spread",
    "StRecall",
    "Success",
    "WeightedFusion",
    "WorstCase",
    "alpha_DCG",
    "alpha_nDCG",
    "bands",
    "conformance",
    "documents_viewed",
    "evaluate",
    "experiments",
    "exposure",
    "fairness",
    "fuse",
    "get_include",
    "iRBU",
    "infAP",
    "integrations",
    "nDCG",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "precision",
    "read_qrels",
    "read_run",
    "reference",
    "retrieval",
    "samples",
    "statistics",
    "worst_case",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


# Type checkers do not read this function, so that they find misspelled names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a public name on first use: a script pays only for what it uses."""
        import importlib

        if name in _MODULES:
            found = getattr(importlib.import_module(f"tieaware.{_MODULES[name]}"), name)
        elif name in _ROOMS:
            return importlib.import_module(f"tieaware.{name}")
        elif name in __all__:
            from tieaware.measures.definition import FAMILIES

            importlib.import_module("tieaware.measures")
            found = FAMILIES[name]
        else:
            raise _missing(name)
        globals()[name] = found
        return found

    def _missing(name: str) -> AttributeError:
        from tieaware.errors import InputError, hints, missing

        instead = ""
        if not name.startswith("_") and name not in hints("tieaware"):
            from tieaware.measures import parse_measure

            measure = name.replace("_at_k", "@10")
            with contextlib.suppress(InputError):
                instead = f"evaluate(qrels, run, {str(parse_measure(measure))!r})"
        return missing("tieaware", name, sys.modules[__name__], instead)
