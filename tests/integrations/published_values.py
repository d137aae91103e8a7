"""The values that ir_measures publishes in its tests and its README, with at least four digits.

Each entry has judgments, a run without ties, and the values of the queries in the order of the judgments. The tests are
those of the providers pytrec_eval, gdeval, cwl_eval, ranx, Judged and Accuracy.
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Judgments, a run, and the values of each measure.

    Parameters
    ----------
    source : str
        The test or text that has the values.
    labels, scores : dict of str to str
        For each query the documents, each followed by its label or score.
    values : dict of str to tuple of float
        The values of the queries, by measure in the notation of ir_measures.
    """

    source: str
    labels: dict[str, str]
    scores: dict[str, str]
    values: dict[str, tuple[float, ...]]

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the judgments as ir_measures takes them."""
        return {query: {document: int(label) for document, label in _pairs(row)} for query, row in self.labels.items()}

    def run(self) -> dict[str, dict[str, float]]:
        """Return the run as ir_measures takes it."""
        return {query: {document: float(each) for document, each in _pairs(row)} for query, row in self.scores.items()}


def _pairs(row: str) -> list[tuple[str, str]]:
    words = row.split()
    return list(zip(words[::2], words[1::2], strict=True))


_FIRST = "D0 .8  D2 .7  D1 .3  D3 .4  D4 .1"
_RUN = {"0": _FIRST, "1": "D1 .8  D3 .7  D4 .3  D2 .4"}
_OTHER_RUN = {"0": _FIRST, "1": "D1 .8  D4 .7  D3 .3  D2 .4"}
_GRADED = {"0": "D0 0  D1 1  D2 1  D3 2  D4 0", "1": "D0 1  D3 2  D5 2"}
_MORE_GRADED = {"0": "D0 0  D1 1  D2 2  D3 2  D4 0", "1": "D0 1  D3 2  D5 0"}
_NEGATIVE = {"0": "D0 1  D1 -1  D2 0  D3 2  D4 0", "1": "D0 1  D3 2  D4 -1  D5 0"}

_TEN = "D1 4.3  D2 4.2  D3 4.1  D4 3.9  D5 3.8  D6 3.7  D7 3.6  D8 3.5  D9 3.4  D10 3.3"

TABLES = [
    Published("README", {"Q0": "D0 0  D1 1", "Q1": "D0 0  D3 2"}, {"Q0": "D0 1.2  D1 1.0", "Q1": "D0 2.4  D3 3.6"}, {
        "AP": (0.5, 1), "RR": (0.5, 1), "nDCG": (0.6309297535714575, 1), "nDCG@10": (0.6309297535714575, 1),
        "P(rel=2)@10": (0, 0.1),
    }),
    Published("pytrec_eval: counts", _GRADED, _RUN, {
        "NumRet": (5, 4), "NumRet(rel=1)": (3, 1), "NumRet(rel=2)": (1, 1), "NumRet(rel=3)": (0, 0), "NumQ": (1, 1),
    }),
    Published("pytrec_eval: relevant documents", {**_GRADED, "1": "D0 1  D3 2  D5 0"}, _RUN, {"NumRel": (3, 2)}),
    Published("pytrec_eval: sets", _MORE_GRADED, _OTHER_RUN, {
        "Success@2": (1, 0), "Success(rel=2)@2": (1, 0), "Success(rel=3)@2": (0, 0),
        "SetP(rel=1)": (0.6, 0.25), "SetP(rel=2)": (0.4, 0.25), "SetP(rel=3)": (0, 0),
        "SetRelP(rel=1)": (1, 0.5), "SetRelP(rel=2)": (1, 1),
        "SetR(rel=1)": (1, 0.5), "SetR(rel=2)": (1, 1), "SetR(rel=3)": (0, 0),
        "SetAP(rel=1)": (0.6, 0.125), "SetAP(rel=2)": (0.4, 0.25), "SetAP(rel=3)": (0, 0),
        "SetF(rel=1)": (0.75, 0.33333), "SetF(rel=1,beta=0.5)": (0.6923, 0.3),
        "SetF(rel=1,beta=2.0)": (0.81818, 0.375), "SetF(rel=3)": (0, 0),
    }),
    Published("pytrec_eval: IPrec", {**_MORE_GRADED, "0": "D0 1  D1 1  D2 2  D3 2  D4 0"}, _OTHER_RUN, {
        "IPrec@0.25": (1, 0.25), "IPrec@0.5": (1, 0.25), "IPrec@0.75": (1, 0),
        "IPrec(rel=2)@0.1": (0.66667, 0.25), "IPrec(rel=2)@0.25": (0.66667, 0.25),
        "IPrec(rel=2)@0.5": (0.66667, 0.25), "IPrec(rel=2)@0.75": (0.66667, 0.25),
    }),
    Published("pytrec_eval: pools", _NEGATIVE, _OTHER_RUN, {
        "AP": (0.83333, 0.125), "AP(rel=2)": (0.33333, 0.25),
        "infAP": (0.83333, 0.1875), "infAP(rel=2)": (0.33333, 0.375),
        "nDCG": (0.76018, 0.32739), "nDCG@3": (0.76018, 0), "nDCG(gains={0:1,1:4})": (0.97177, 0.14949),
    }),
    Published(
        "pytrec_eval: judged_only",
        {"0": "D0 -1  D1 1  D3 2  D4 1", "1": "D0 1  D3 0  D4 -1"},
        {"0": _FIRST, "1": "D1 .8  D0 .7  D3 .3  D2 .4"},
        {"P@4": (0.5, 0.25), "P(judged_only=True)@4": (0.75, 0.25)},
    ),
    Published("aggregation", _GRADED, {**_RUN, "1": _RUN["1"] + "  D0 .1"}, {"P@5": (0.6, 0.4)}),
    Published("gdeval", _GRADED, _RUN, {
        "nDCG(dcg='exp-log2')@20": (0.6201, 0.35099), "nDCG(dcg='exp-log2')@2": (0.17377, 0.38685),
        "ERR@20": (0.10175, 0.09375), "ERR@2": (0.03125, 0.09375),
    }),
    Published("judged", _GRADED, _RUN, {
        "Judged": (1, 0.25), "Judged@1000": (1, 0.25), "Judged@10": (1, 0.25), "Judged@3": (1, 0.33333),
        "Judged@1": (1, 0),
    }),
    Published("a part of the run", _GRADED, {"0": _FIRST}, {
        "P@5": (0.6, 0), "ERR@5": (0.10175, 0), "Judged@5": (1, 0), "RR@5": (0.5, 0),
    }),
    Published("a part of the judgments", {"0": _GRADED["0"]}, _RUN, {
        "P@5": (0.6,), "ERR@5": (0.10175,), "Judged@5": (1,), "RR@5": (0.5,), "Accuracy": (0.5,),
        "Compat(p=0.8)": (0.47444,),
    }),
    Published(
        "accuracy",
        {"0": "C1 0  B1 1  A1 2", "1": "A1 2  A2 2  B1 1  C2 0", "2": "B1 1"},
        {
            "0": "C1 .4  A1 .3  C2 .2  C3 .1", "1": "C1 .8  A1 .7  C2 .6  B1 .5  C3 .4", "2": "B1 .2  C1 .1",
        },
        {"Accuracy": (2 / 3, 0.5, 1)},
    ),
    Published("judged: nothing retrieved", {"0": "D0 1", "1": "D0 1"}, {"0": "D0 .8", "1": ""}, {
        "Judged": (1, 0), "Judged@5": (1, 0),
    }),
    Published(
        "accuracy: nothing but relevant documents",
        {"0": "A1 1  C1 0", "1": "A1 1  A2 2"},
        {"0": "A1 .4  C1 .3", "1": "A1 .8  A2 .7"},
        {"Accuracy": (1, 1), "Accuracy@1": (1, 1)},
    ),
    Published("ranx", {"0": _GRADED["0"]}, {"0": _FIRST}, {
        "P@5": (0.6,), "P(rel=2)@5": (0.2,), "SetP": (0.6,), "SetP(rel=2)": (0.2,), "R@5": (1,), "R(rel=2)@5": (1,),
        "R@2": (1 / 3,), "R(rel=2)@2": (0,), "SetR": (1,), "SetR(rel=2)": (1,), "RR": (0.5,), "RR(rel=2)": (1 / 3,),
        "RR@10": (0.5,), "RR(rel=2)@10": (1 / 3,), "RR@2": (0.5,), "RR(rel=2)@2": (0,), "AP": (0.63889,),
        "AP(rel=2)": (1 / 3,), "AP@10": (0.63889,), "AP(rel=2)@10": (1 / 3,), "AP@2": (1 / 6,), "AP(rel=2)@2": (0,),
        "Success@10": (1,), "Success(rel=2)@10": (1,), "Success@2": (1,), "Success(rel=2)@2": (0,),
        "NumRet(rel=1)": (3,), "nDCG": (0.65846,), "nDCG@5": (0.65846,), "nDCG@2": (0.23981,),
        "nDCG(dcg='exp-log2')": (0.62010,), "nDCG(dcg='exp-log2')@5": (0.62010,), "nDCG(dcg='exp-log2')@2": (0.17377,),
        "Rprec": (2 / 3,), "Rprec(rel=2)": (0,),
    }),
    Published(
        "cwl_eval",
        {
            "T1": "D1 1  D2 0  D3 1  D4 1  D7 1  D8 0  D9 1  D10 0",
            "T2": "D1 1  D2 1  D5 1  D6 0  D7 1  D8 1  D9 1  D10 0",
            "T3": "D4 0  D5 0  D6 1  D7 1  D8 1  D9 0  D10 1",
        },
        {"T1": _TEN, "T2": _TEN, "T3": _TEN},
        {
            "AP": (0.7087, 0.7438, 0.3068), "RR": (1, 1, 0.1667), "RBP(p=0.9,rel=1)": (0.3501, 0.3996, 0.1988),
            "P@1": (1, 1, 0), "P@5": (0.6, 0.6, 0), "P@10": (0.5, 0.6, 0.4), "P@20": (0.25, 0.3, 0.2),
            "BPM(T=1.0,max_rel=1)@20": (1, 1, 0.1667), "BPM(T=2.0,max_rel=1)@10": (0.6667, 1, 0.2857),
            "INSQ(T=1.0,max_rel=1)": (0.5872, 0.6629, 0.0880), "INSQ(T=2.0,max_rel=1)": (0.4513, 0.5068, 0.1292),
            "INST(T=1.0,max_rel=1)": (0.7934, 0.9226, 0.0888), "INST(T=2.0,max_rel=1)": (0.5994, 0.6924, 0.1397),
            "SDCG(max_rel=1)@10": (0.5645, 0.6531, 0.2848),
            "NERR8(max_rel=1)@10": (1, 1, 0.1667), "NERR9(max_rel=1)@10": (1, 1, 0.0680),
            "NERR10(p=0.8,max_rel=1)": (1, 1, 0.0888), "NERR11(T=2.0,max_rel=1)": (1, 1, 0.0691),
        },
    ),
]  # fmt: skip
