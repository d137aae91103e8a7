"""Small queries with many ties, and their conversion to the arrays that the Evaluator takes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tieaware.evaluator import Evaluator
from tieaware.measures import DEFINITIONS, parse_measure

# float32 holds each of these numbers exactly, and all but the two zeros are distinct.
SCORES = (-np.inf, -2.5, -0.0, 0.0, 2.0**-149, 1.0, 1.0 + 2.0**-23, 3.0e38, np.inf)
SCORES = tuple(float(np.float32(score)) for score in SCORES)

# Every measure, with and without a cut-off, and with every parameter.
MEASURES: tuple[str, ...] = (
    "P", "P@1", "P@3", "P@10", "P(rel=2)@2", "P(rel=0)@4",
    "R", "R@1", "R@3", "R@10", "R(rel=3)@2", "R(rel=0)@4",
    "F1", "F1@1", "F1@3", "F1@10", "F1(rel=2)@2", "F1(rel=0)@4",
    "F(beta=2.0)", "F(beta=0.5)@1", "F(beta=2.0)@3", "F(beta=0.5,rel=2)@2", "F(rel=0)@4", "F(judged_only=True)@2",
    "Accuracy", "Accuracy@1", "Accuracy@3", "Accuracy@10", "Accuracy(docs=1000000,rel=2)@2",
    "Accuracy(judged_only=True)@2",
    "Specificity", "Specificity@1", "Specificity@3", "Specificity@10", "Specificity(docs=1000000,rel=2)@2",
    "Specificity(rel=0)@4", "Specificity(judged_only=True)@2",
    "FallOut", "FallOut@1", "FallOut@3", "FallOut@10", "FallOut(docs=1000000,rel=2)@2", "FallOut(rel=0)@4",
    "FallOut(judged_only=True)@2",
    "PAtRel", "PAtRel@3", "PAtRel(i=2)", "PAtRel(i=2)@3", "PAtRel(i=3,rel=2)@4", "PAtRel(i=2,judged_only=True)@2",
    "AP", "AP@1", "AP@3", "AP@10", "AP(rel=2)", "AP(rel=2)@4", "AP(rel=0)@5",
    "AP_cap", "AP_cap@1", "AP_cap@3", "AP_cap@10", "AP_cap(rel=2)@2", "AP_cap(judged_only=True)@2",
    "RR", "RR@1", "RR@3", "RR@10", "RR(rel=2)", "RR(rel=3)@4", "RR(rel=0)",
    "nDCG", "nDCG@1", "nDCG@3", "nDCG@10", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@4",
    "DCG", "DCG@1", "DCG@3", "DCG@10", "DCG(dcg='exp-log2')", "DCG(dcg='exp-log2')@4",
    "nDCG(gains={0: 0, 1: 1, 2: 3.5, 3: 3.5, 4: 10})@3", "DCG(gains={0: 0.25, 1: 0.3, 2: 0.7, 3: 0.7, 4: 1})",
    "nDCG(discount='log')", "nDCG(discount='log',base=3.0)@4", "DCG(discount='1/rank',dcg='exp-log2')",
    "RBP(gains='label')", "RBP(p=0.5,gains={0: 0, 1: 0.1, 2: 0.2, 3: 0.7, 4: 0.9})@3",
    "Q(gains={0: 0, 1: 0.1, 2: 0.2, 3: 0.7, 4: 0.9})",
    "RBP", "RBP@1", "RBP@3", "RBP(p=0.5)@10", "RBP(p=0.95,rel=2)", "RBP(p=0.05,rel=0)@4",
    "Success", "Success@1", "Success@3", "Success@10", "Success(rel=2)@2", "Success(rel=0)@2", "Hits@3",
    "Rprec", "Rprec(rel=2)", "Rprec(rel=0)",
    "AUC", "AUC(rel=2)", "AUC(judged_only=True)",
    "ESL", "ESL(i=2)", "ESL(i=3,rel=2)", "ESL(judged_only=True)",
    "Bpref", "Bpref(rel=2)", "Bpref(rel=0)", "Bpref(judged_only=True)",
    "Q", "Q@1", "Q@3", "Q@10", "Q(beta=0.3,rel=2)@4", "Q(beta=100.0,rel=0)", "Q(judged_only=True)@2",
    "ERR", "ERR@1", "ERR@3", "ERR@10", "ERR(max_rel=5)@4", "ERR(judged_only=True)@2",
    "SDCG", "SDCG@1", "SDCG@3", "SDCG@10", "SDCG(max_rel=7)@4", "SDCG(min_rel=1)@3",
    "SDCG(dcg='exp-log2',min_rel=2,max_rel=5)@3", "SDCG(gains={0: 0, 1: 0.1, 2: 0.2, 3: 0.7, 4: 0.9})@3",
    "SDCG(judged_only=True)@2",
    "INSQ", "INSQ@1", "INSQ@3", "INSQ@10", "INSQ(T=2.5,min_rel=2)", "INSQ(T=0.1,max_rel=9)@4", "INSQ(judged_only=True)",
    "MSnDCG", "MSnDCG@3", "MSnDCG(dcg='exp-log2')@2", "MSnDCG(judged_only=True)@2",
    "nERR", "nERR@1", "nERR@3", "nERR@10", "nERR(max_rel=5)@4", "nERR(judged_only=True)@2",
    "iRBU", "iRBU@1", "iRBU@3", "iRBU@10", "iRBU(p=0.5,max_rel=6)@4", "iRBU(p=0.001)", "iRBU(judged_only=True)@2",
    "MeanRank", "MeanRank(i=2)", "MeanRank(i=3,rel=2)", "MeanRank(judged_only=True)",
    "Hole", "Hole@1", "Hole@3", "Hole@10",
    "Compat", "Compat(p=0.5)", "Compat(p=0.8,normalize=False)",
    "O", "O@1", "O@3", "O@10", "O(beta=0.3,rel=2)@4", "O(rel=0)",
    "O(gains={0: 0, 1: 0.1, 2: 0.2, 3: 0.7, 4: 0.9})", "O(judged_only=True)@2",
    "Judged", "Judged@1", "Judged@3", "Judged@10", "Judged(pool=True)", "Judged(pool=True)@3",
    "RBPResidual", "RBPResidual(p=0.5)",
    "SetP", "SetP(relative=True)", "SetP(rel=2)", "SetP(judged_only=True)", "SetR", "SetF", "SetF(rel=2)",
    "SetAP", "GMAP", "GMAP(rel=2)",
    "P(judged_only=True)", "P(judged_only=True)@3", "R(judged_only=True)@2", "F1(judged_only=True)@2",
    "AP(judged_only=True)", "AP(rel=2,judged_only=True)@3", "RR(judged_only=True)", "RR(rel=2,judged_only=True)@2",
    "nDCG(judged_only=True)@3", "DCG(judged_only=True)", "RBP(judged_only=True)", "Success(judged_only=True)@2",
    "Rprec(judged_only=True)",
    "NumQ", "NumRet", "NumRel", "NumRel(rel=2)", "NumRel(rel=0)", "NumRelRet", "NumRelRet(rel=2)", "NumRelRet(rel=0)",
)  # fmt: skip
# Measures that are not listed above are added, so that none is forgotten. Excepted are those that
# test_inferred.py, test_nth_relevant.py and test_families.py in tests/engine/ test.
_ELSEWHERE = {
    "infAP", "IPrec", "IAP11", "MaxF", "PRR", "INST", "BPM", "PPlus", "NERR8", "NERR9", "NERR10", "NERR11",
}  # fmt: skip
MEASURES += tuple(
    notation
    for name, definition in DEFINITIONS.items()
    if not definition.needs_subtopics and name not in _ELSEWHERE | {parse_measure(each).name for each in MEASURES}
    for notation in (name, f"{name}@1", f"{name}@3")[: 3 if definition.has_cutoff else 1]
)


class Query(NamedTuple):
    """The scores and labels of one list, and the labels of all judged documents of its query."""

    scores: tuple[float, ...]
    labels: tuple[int, ...]
    judged: tuple[int, ...]


def random_query(rng: random.Random, longest: int) -> Query:
    """Draw a list of up to `longest` documents with few distinct scores."""
    n = rng.randint(0, longest)
    pool = rng.sample(SCORES, rng.randint(1, 4))
    top = rng.choice((0, 1, 1, 2, 4))
    labels = tuple(rng.randint(-1 - (rng.random() < 0.1), top) for _ in range(n))
    unretrieved = tuple(rng.randint(-1, top) for _ in range(rng.choice((0, 0, 1, 4))))
    return Query(tuple(rng.choice(pool) for _ in range(n)), labels, (*labels, *unretrieved))


@st.composite
def queries(draw: st.DrawFn, longest: int = 6) -> Query:
    """Draw a query with hypothesis."""
    documents = draw(st.lists(st.tuples(st.sampled_from(SCORES), st.integers(-2, 4)), max_size=longest))
    unretrieved = draw(st.lists(st.integers(-2, 4), max_size=4))
    labels = tuple(label for _, label in documents)
    return Query(tuple(score for score, _ in documents), labels, (*labels, *unretrieved))


def offsets_of(lists: Sequence[Sequence[Any]]) -> npt.NDArray[np.int64]:
    """Return the offsets of the lists in their concatenation: where each list starts, and where the last list ends."""
    return np.cumsum([0, *map(len, lists)])


def flat(lists: Sequence[Sequence[float]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Concatenate lists."""
    return np.array([x for values in lists for x in values], dtype=dtype)


def evaluator(some: Sequence[Query], measures: Sequence[str] = MEASURES, **options: Any) -> Evaluator:
    """Prepare an Evaluator of the queries."""
    return Evaluator(
        flat([q.labels for q in some], np.int64),
        measures,
        offsets=offsets_of([q.labels for q in some]),
        judgments=(flat([q.judged for q in some], np.int64), offsets_of([q.judged for q in some])),
        **options,
    )


def scores_of(some: Sequence[Query], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Concatenate the scores of the queries."""
    return flat([q.scores for q in some], dtype)
