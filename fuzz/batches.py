"""Batches for differential fuzzing: many lists, some measures, a tie rule, a precision, and scores that nearly tie."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator, InputError, parse_measure
from tieaware.ties import RULES

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from support.queries import MEASURES as MOST_MEASURES

MEASURES = (
    *MOST_MEASURES, "infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.4", "IAP11", "AUC@3",
    "nDCG(discount='log',base=2.0)@3", "nDCG(discount='1/rank')", "DCG(discount='log',base=10.0)@10",
    "nDCG(gains={0: 0, 0.1: 0.3, 0.25: 0.3, 0.7: 1.1, 1: 2, 1.5: 2.5, 3.3: 10, 4: 1e9})@3",
    "DCG(gains={0: 0, 0.1: 1e-9, 0.25: 0.2, 0.7: 0.7, 1: 1, 1.5: 1, 3.3: 4, 4: 4})",
    "AP(rel=0.7)", "Q(rel=0.25)", "RBP(rel=1.5)",
)  # fmt: skip
OF_SUBTOPICS = (
    "alpha_DCG@3", "alpha_DCG(alpha=0.3,rel=0)", "alpha_nDCG@5", "alpha_nDCG", "alpha_nDCG(judged_only=True)@2",
    "ERR_IA@4", "nERR_IA(rel=2)", "NRBP", "nNRBP(alpha=0.2,beta=0.8)", "P_IA@3", "P_IA(judged_only=True)@2", "AP_IA",
    "AP_IA(rel=2)", "StRecall@2", "StRecall", "nDCG@3", "Bpref", "Judged@2", "infAP", "Q",
)  # fmt: skip
REAL_LABELS = (0.1, 0.25, 0.7, 1.0, 1.5, 3.3, 4.0)
PRECISIONS = (
    "bands:1.5", "bands:2", "bands:1.1", "decimals:2", "significant:3", "float32", "float16", "bfloat16", "levels:7",
    "levels:2", "gap:0.1", "gap:1e-300",
)  # fmt: skip
# The largest number of subtopics.
MOST_SUBTOPICS = 4
NUMBERS = np.array(
    [
        -np.inf, -1.7976931348623157e308, -1e300, -3.5e38, -1.0, -2.2250738585072014e-308, -5e-324, -0.0, 0.0, 5e-324,
        1e-310, 2.2250738585072014e-308, 2.0**-149, 2.0**-126, 1e-45, 0.1, 0.1 + 2.0**-40, 1.0, 2.5, 65504.0, 65520.0,
        2.0**24, 2.0**53, 3.4028234663852886e38, 3.5e38, 1e300, 1.7976931348623157e308, np.inf,
    ]
)  # fmt: skip


class Lists(NamedTuple):
    """Lists of documents, one after another, and the labels of judged documents that are in no list.

    With subtopics, labels and others have a second dimension.
    """

    offsets: NDArray[np.int64]
    scores: NDArray[np.floating[Any]]
    labels: NDArray[Any]
    others: NDArray[Any]
    other_offsets: NDArray[np.int64]
    documents: list[str]
    other_documents: list[str]

    @property
    def query(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def query_of_others(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.other_offsets))

    @property
    def judgments(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The labels of all judged documents, and their offsets."""
        query = np.concatenate([self.query, self.query_of_others])
        order = np.argsort(query, kind="stable")
        return np.concatenate([self.labels, self.others])[order], self.offsets + self.other_offsets


class Batch(NamedTuple):
    """Lists, and the options with which to evaluate them."""

    lists: Lists
    measures: list[str]
    ties: str
    precision: str | None
    spread: bool
    rectangular: bool
    missing: bool = False

    @property
    def subtopics(self) -> bool:
        return self.lists.labels.ndim == 2

    def outputs(self, evaluator: Evaluator, scores: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate scores. Return one array of values, or the four arrays of a spread if the batch asks for it."""
        return np.stack(evaluator.spread(scores)) if self.spread else evaluator(scores)[None]

    def evaluator(self, threads: int = 1, in_rows: bool = False) -> Evaluator:
        lists = self.lists
        by_document = RULES[self.ties].by_document
        n = len(lists.offsets) - 1
        labels, (judged, judged_offsets) = lists.labels, lists.judgments
        if self.missing:
            labels, judged = (np.where(each == -1, np.nan, each) for each in (labels, judged))
        return Evaluator(
            labels.reshape(n, -1, *labels.shape[1:]) if in_rows else labels, self.measures,
            offsets=None if in_rows else lists.offsets, judgments=(judged, judged_offsets), ties=self.ties,
            docids=lists.documents if by_document else None, precision=self.precision, threads=threads,
            missing="unjudged" if self.missing else None, subtopics=self.subtopics,
        )  # fmt: skip

    def description(self, query: int, measure: int) -> str:
        """Describe one list and its options, for a message."""
        lists = self.lists
        rows = slice(lists.offsets[query], lists.offsets[query + 1])
        others = lists.others[lists.other_offsets[query] : lists.other_offsets[query + 1]]
        return (
            f"{self.measures[measure]}, ties={self.ties}, precision={self.precision}, {lists.scores.dtype}, "
            f"query {query}: scores {lists.scores[rows].tolist()}, labels {lists.labels[rows].tolist()}, "
            f"others {others.tolist()}, missing={self.missing}, documents {lists.documents[rows]}"
        )


class Kind(NamedTuple):
    """A kind of batches: the numbers of lists with their greatest lengths, and options that are drawn unless given.

    `least` is the smallest length of the lists of a rectangular batch.
    """

    number: int
    sizes: tuple[tuple[int, int], ...]
    subtopics: bool | None = None
    rectangular: bool | None = None
    missing: bool | None = None
    precise: bool | None = None
    least: int = 1


# Batches of long lists take time, so they are rare.
ANY = Kind(0, (*[(5_000, 12)] * 8, (2_000, 150), (60, 3_000)))
# Lists with subtopics, whose extremes are searched.
OF_SUBTOPICS_ONLY = Kind(0, (*[(2_000, 8)] * 4, (300, 40)), subtopics=True)
# Small batches, one of which is drawn for each batch: for catalogues, coarse scores, and other tools' interfaces.
CATALOGUE = Kind(1, ((300, 12), (60, 150)), subtopics=False, rectangular=True)
# So long that the kernels skip what is below every cut-off.
LONG_CATALOGUE = Kind(4, ((6, 3_000),), subtopics=False, rectangular=True, least=2_049)
COARSE = Kind(2, ((300, 12), (300, 12), (60, 150), (6, 3_000)), subtopics=False, precise=False)
FACES = Kind(3, ((100, 12), (20, 60)), subtopics=False, missing=False, precise=True)


def draw_batch(seed: int, number: int, kind: Kind | None = None) -> Batch:
    """Draw a batch of lists, with measures, a tie rule, a precision and scores."""
    rng = np.random.default_rng([seed, number, *([kind.number] if kind else [])])
    if kind is None:
        kind = OF_SUBTOPICS_ONLY if rng.random() < 0.2 else ANY
    has_subtopics = bool(kind.subtopics)
    n, longest = kind.sizes[rng.integers(len(kind.sizes))]
    rectangular = drawn(kind.rectangular, rng, 0.4)
    lengths = (
        np.full(n, rng.integers(kind.least, longest)) if rectangular else rng.integers(0, longest, n, endpoint=True)
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_others = rng.integers(1, 4, n)
    other_offsets = np.concatenate([[0], np.cumsum(n_others)]).astype(np.int64)
    query = np.repeat(np.arange(n), lengths)
    labels, others = draw_labels(rng, query, n, other_offsets, has_subtopics)
    precision = None if drawn(kind.precise, rng, 0.8) else str(rng.choice(PRECISIONS))
    scores = hard_to_tell_apart(rng, query, n)
    if precision is not None and precision.startswith("levels"):
        # Levels refuse a list whose scores are all infinite.
        finite = np.bincount(query[np.isfinite(scores)], minlength=n)
        scores[offsets[:-1][(finite == 0) & (lengths > 0)]] = 0.0
    if precision is None and rng.random() < 0.5:
        with np.errstate(over="ignore", under="ignore"):
            scores = scores.astype(np.float32)
    ties = str(rng.choice(list(RULES)))
    names = descending(offsets, other_offsets) if has_subtopics else (
        identifiers(rng, offsets), [f"other-{i}" for i in range(len(others))]
    )  # fmt: skip
    lists = Lists(offsets, scores, labels, others, other_offsets, *names)
    measures = rng.choice(OF_SUBTOPICS if has_subtopics else MEASURES, 12, replace=False).tolist()
    # The variance of ERR takes time quadratic in the size of a tie group, so it is computed for short lists only. The
    # search for the extremes of measures of diversity takes longer.
    short = longest < (20 if has_subtopics else 1000)
    if has_subtopics and not short and RULES[ties].extreme:
        ties = "average"
    spread = ties == "average" and short and rng.random() < 0.5
    batch = Batch(lists, measures, ties, precision, spread, rectangular, missing=drawn(kind.missing, rng, 0.3))
    return batch._replace(measures=usable(batch))


def drawn(option: bool | None, rng: np.random.Generator, probability: float) -> bool:
    """Return an option, or draw it if it is not given."""
    return bool(rng.random() < probability) if option is None else option


def draw_labels(
    rng: np.random.Generator, query: NDArray[np.int64], n: int, other_offsets: NDArray[np.int64], has_subtopics: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw the labels of the documents in the lists, and of those in no list: whole or real, or of subtopics."""
    shape = (rng.integers(1, MOST_SUBTOPICS + 1),) if has_subtopics else ()
    others = rng.integers(-1, 5, (other_offsets[-1], *shape))
    share = rng.choice([0.0, 0.02, 0.1, 0.5, 1.0], n)[query].reshape(-1, *(1 for _ in shape))
    relevant = rng.random((len(query), *shape)) < share
    labels = np.where(relevant, rng.integers(1, 5, relevant.shape), rng.integers(-2, 1, relevant.shape))
    # Give every query a judged document outside its list: a query without judgments would not be in the judgments file.
    # It is judged for all subtopics.
    others[other_offsets[:-1]] = 0
    if has_subtopics or rng.random() < 0.5:
        return labels, others
    real_labels, real_others = (
        np.where(each > 0, rng.choice(REAL_LABELS, each.shape), each.astype(float)) for each in (labels, others)
    )
    # Thresholds such as rel=2 must not be above all labels.
    real_others[-1] = 4.0
    return real_labels, real_others


def descending(offsets: NDArray[np.int64], other_offsets: NDArray[np.int64]) -> tuple[list[str], list[str]]:
    """Name the documents so that the names of a query descend, first those of the list, then those of others.

    Of equal gains, the ideal ranking takes the document with the highest name, and for arrays the first one.
    """
    listed = [f"d{offsets[-1] - i:08}" for i in range(offsets[-1])]
    return listed, [f"a{other_offsets[-1] - i:08}" for i in range(other_offsets[-1])]


def hard_to_tell_apart(rng: np.random.Generator, query: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Draw up to eight different scores for each list: adjacent floats, zeros, infinities, and random bits."""
    width = 8
    bases = rng.choice(NUMBERS, (n, 1)).view(np.int64)
    several = rng.choice(NUMBERS, (n, width)).view(np.int64)
    any_bits = rng.integers(-(2**63), 2**63 - 1, (n, width))
    # The scores differ by a few units in the last place of float64, in the last place of float32, or in a higher bit.
    steps = rng.integers(-4, 5, (n, width)) << rng.choice([0, 0, 29, 45, 52], (n, 1))
    kind = rng.integers(0, 5, (n, 1))
    pool = np.select([kind <= 1, kind == 2, kind == 3], [bases + steps, several, any_bits], several + steps)
    values = pool.view(np.float64)
    values[np.isnan(values)] = 1.0
    chosen = rng.integers(0, 2**31, len(query)) % rng.integers(1, width + 1, n)[query]
    scores = values[query, chosen]
    # In a fifth of the lists, all scores may differ: they are successive floats from 1 upwards, in random order.
    ladder = (rng.random(n) < 0.2)[query]
    rungs = rng.permutation(np.flatnonzero(ladder) % 997)
    scores[ladder] = (np.ones(1).view(np.int64) + rungs).view(np.float64)
    return scores


def identifiers(rng: np.random.Generator, offsets: NDArray[np.int64]) -> list[str]:
    """Name the documents so that the order of the names differs from the order of the list."""
    numbers = rng.permutation(offsets[-1]).tolist()
    styles = ("{}", "d{:06}", "a-prefix-of-more-than-sixteen-bytes-{}", "é{}")
    style = styles[rng.integers(len(styles))]
    return [style.format(number) for number in numbers]


def usable(batch: Batch) -> list[str]:
    """Return the measures that accept the labels and options, and have a spread if one is wanted; AP if none does."""
    found = []
    for measure in batch.measures:
        parse_measure(measure)
    labels = np.unique(np.concatenate([batch.lists.labels, batch.lists.others]), axis=0)[-8:]
    n = len(labels)
    for measure in batch.measures:
        try:
            one = Evaluator(
                labels, [measure], ties=batch.ties, precision=batch.precision, subtopics=batch.subtopics,
                docids=[str(i) for i in range(n)],
            )  # fmt: skip
            if not (batch.spread and np.isnan(one.spread(np.ones(n)).std).any()):
                found.append(measure)
        except InputError:
            continue
    return found or ["AP"]
