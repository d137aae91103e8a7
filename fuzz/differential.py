"""Differential fuzzing: compare all engines and input formats with each other and with the reference.

    python fuzz/differential.py --seconds 60 [--seed 1] [--batch 7]

A batch consists of many lists, some measures, one tie rule, and scores with tiny differences. Labels are whole or real
numbers, or those of subtopics. Every list is evaluated
by every engine, with one thread and several, as a flat array and as a two-dimensional array, and in four input formats.
All values must be equal bit for bit. A few lists of each batch are compared with the reference. The seed and the number
of a batch determine its content, so these two numbers reproduce a failure.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas
import polars
import pyarrow
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tieaware import Evaluator, InputError, Measure, Qrels, Run, evaluate, parse_measure, read_qrels, reference
from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice
from tieaware.engine.means import means
from tieaware.engine.views import View, passes
from tieaware.inputs import run_file, trec
from tieaware.ties import RULES

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from support.queries import MEASURES as MOST_MEASURES

MEASURES = (
    *MOST_MEASURES, "infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.4", "IAP11", "AUC@3", "NumRet(rel=2)",
    "nDCG(discount='log',base=2.0)@3", "nDCG(discount='1/rank')", "DCG(discount='log',base=10.0)@10",
    "nDCG(gains={0: 0, 0.1: 0.3, 0.25: 0.3, 0.7: 1.1, 1: 2, 1.5: 2.5, 3.3: 10, 4: 1e9})@3",
    "DCG(gains={0: 0, 0.1: 1e-9, 0.25: 0.2, 0.7: 0.7, 1: 1, 1.5: 1, 3.3: 4, 4: 4})",
    "nDCG(rel=0.5)@10", "AP(rel=0.7)", "ERR(max_rel=4.5)@4", "Q(rel=0.25)", "RBP(rel=1.5)",
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
# Force counting, locating, or mixtures of both; force sorting, except for lists that cannot be sorted; or let the cost
# model choose.
ENGINES = (
    EngineChoice(10**9, False), EngineChoice(0, False), EngineChoice(3, False), EngineChoice(16, False),
    EngineChoice(sorting=True), EngineChoice(0, sorting=True), EngineChoice(),
)  # fmt: skip
# The number of lists in a batch, and the length of the longest list. Batches of long lists take time, so they are rare.
KINDS = (*[(20_000, 12)] * 8, (2_000, 150), (60, 3_000))
# The same for lists with subtopics, whose extremes are searched, and how many subtopics there are.
KINDS_OF_SUBTOPICS = (*[(2_000, 8)] * 4, (300, 40))
MOST_SUBTOPICS = 4
NUMBERS = np.array(
    [
        -np.inf, -1.7976931348623157e308, -1e300, -3.5e38, -1.0, -2.2250738585072014e-308, -5e-324, -0.0, 0.0, 5e-324,
        1e-310, 2.2250738585072014e-308, 2.0**-149, 2.0**-126, 1e-45, 0.1, 0.1 + 2.0**-40, 1.0, 2.5, 65504.0, 65520.0,
        2.0**24, 2.0**53, 3.4028234663852886e38, 3.5e38, 1e300, 1.7976931348623157e308, np.inf,
    ]
)  # fmt: skip
LONGEST_OF_ALL_VALUES = 16
# The reference enumerates all orders of tied documents for the means of these measures, and for the variances of
# measures of diversity. That is done for lists of at most this many documents.
ENUMERATED = {"INST", "BPM", "O", "PPlus"}
LONGEST_OF_ALL_ORDERS = 6
# The reference adds numbers in another order than the kernels, so the results differ by rounding.
TOLERANCE = 1e-12


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


# ---- Generating batches --------------------------------------------------------------------------


def draw_batch(seed: int, number: int) -> Batch:
    """Draw a batch of lists, with measures, a tie rule, a precision and scores."""
    rng = np.random.default_rng([seed, number])
    has_subtopics = rng.random() < 0.2
    kinds = KINDS_OF_SUBTOPICS if has_subtopics else KINDS
    n, longest = kinds[rng.integers(len(kinds))]
    rectangular = rng.random() < 0.4
    lengths = np.full(n, rng.integers(1, longest)) if rectangular else rng.integers(0, longest, n, endpoint=True)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n_others = rng.integers(1, 4, n)
    other_offsets = np.concatenate([[0], np.cumsum(n_others)]).astype(np.int64)
    query = np.repeat(np.arange(n), lengths)
    labels, others = draw_labels(rng, query, n, other_offsets, has_subtopics)
    precision = str(rng.choice(PRECISIONS)) if rng.random() < 0.2 else None
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
    batch = Batch(lists, measures, ties, precision, spread, rectangular, missing=rng.random() < 0.3)
    return batch._replace(measures=usable(batch))


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


# ---- Evaluating a batch in all ways --------------------------------------------------------------


def by_engines(batch: Batch) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield (name, outputs) for every engine, for several threads, for rows, and for two-dimensional arrays."""
    lists = batch.lists
    n = len(lists.offsets) - 1
    evaluator = batch.evaluator()
    (wanted,) = passes([View(batch.ties, batch.precision, batch.spread)])
    for choice in ENGINES:
        with mock.patch.object(engine_choice, "CHOICE", choice):
            prepared = evaluator._prepare(wanted)
        values = np.full((4 if batch.spread else 1, n, len(batch.measures)), np.nan)
        failed = prepared.evaluate(lists.scores, values)
        assert failed == -1, f"query {failed} has a NaN"
        yield str(choice), values

    yield "an evaluator", batch.outputs(evaluator, lists.scores)
    yield "threads", batch.outputs(batch.evaluator(threads=3), lists.scores)
    middle = n // 3
    chunks = [
        batch.outputs(evaluator.rows(first, last), lists.scores[lists.offsets[first] : lists.offsets[last]])
        for first, last in ((0, middle), (middle, n))
    ]
    yield "rows", np.concatenate(chunks, axis=1)
    if batch.rectangular:
        in_rows = batch.evaluator(in_rows=True)
        yield "two dimensions", batch.outputs(in_rows, lists.scores.reshape(n, -1))
        yield "two dimensions, column-major", batch.outputs(in_rows, np.asfortranarray(lists.scores.reshape(n, -1)))
        yield "two dimensions, given flat", batch.outputs(in_rows, lists.scores)


def check_catalogue(batch: Batch, rng: random.Random) -> None:
    """Compare an evaluator from sparse matrices with a dense one, with and without excluded items."""
    lists = batch.lists
    n = len(lists.offsets) - 1
    labels, scores = lists.labels.reshape(n, -1), lists.scores.reshape(n, -1)
    width = labels.shape[1]
    by_document = RULES[batch.ties].by_document
    options: dict[str, Any] = {"ties": batch.ties, "precision": batch.precision}
    items = lists.documents[:width] if by_document else None
    relevance = csr_array(np.where(labels == -1, 0, 1))
    relevance.data = labels[labels != -1]
    hidden = (labels == -1) & (np.random.default_rng(rng.randrange(2**32)).random((n, width)) < rng.random())
    if (batch.precision or "").startswith("levels"):
        # Levels refuse a list whose scores are all infinite, also if the finite ones are excluded.
        hidden &= np.isinf(scores)
    for excluded in (np.zeros_like(hidden), hidden):
        left = ~excluded
        flat = Evaluator(
            labels[left], batch.measures, group=left.sum(axis=1), **options,
            docids=np.broadcast_to(items, (n, width))[left].tolist() if by_document else None,
        )  # fmt: skip
        exclude = csr_array(excluded.astype(np.int8)) if excluded.any() else None
        dense = Evaluator.from_sparse(relevance, batch.measures, exclude=exclude, docids=items, threads=2, **options)
        expected, found = batch.outputs(flat, scores[left]), batch.outputs(dense, scores)
        if expected.tobytes() != found.tobytes():
            output, query, measure = np.argwhere(found.view(np.int64) != expected.view(np.int64))[0].tolist()
            raise AssertionError(
                f"a catalogue gives {found[output, query, measure]!r} instead of {expected[output, query, measure]!r}, "
                f"excluded {np.flatnonzero(excluded[query]).tolist()}, {description(batch, query, measure)}"
            )


def check_means(batch: Batch) -> None:
    """Compare the results of `mean`, `many` and `columns` with the means of the values."""
    scores = batch.lists.scores
    evaluator = batch.evaluator(threads=2)
    candidates = np.stack([scores, -scores, np.zeros_like(scores)])
    expected = np.stack([means(evaluator(candidate), evaluator.measures) for candidate in candidates])
    found = {
        "many": evaluator.many(candidates),
        "columns": evaluator.columns(candidates.T),
        "mean": np.stack([evaluator.mean(candidate) for candidate in candidates]),
    }
    for name, values in found.items():
        assert values.tobytes() == expected.tobytes(), f"evaluator.{name} does not return the means of the values"


def by_inputs(batch: Batch, rng: random.Random, folder: Path) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield (name, outputs) for four forms of the same lists, such as files, dicts, frames and columns."""
    lists = batch.lists
    queries = [f"q{q}" for q in range(len(lists.offsets) - 1)]
    of_row = [queries[q] for q in lists.query.tolist()]
    scores = lists.scores.astype(np.float64)
    judged = judgments_of(batch, queries, of_row)
    columns = {"query_id": of_row, "doc_id": lists.documents, "score": scores}
    text = "".join(
        f"{query} Q0 {document} 1 {score!r} t\n"
        for query, document, score in zip(of_row, lists.documents, scores.tolist(), strict=True)
    ).encode()

    def in_dict() -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for query, document, score in zip(of_row, lists.documents, scores.tolist(), strict=True):
            found.setdefault(query, {})[document] = score
        return found

    def written(content: bytes) -> Path:
        path = folder / "a.run"
        path.write_bytes(content)
        return path

    def scattered() -> Path:
        # Write the even lines first, so that the rows of a query are neither contiguous nor in the order of the list.
        lines = text.splitlines(keepends=True)
        return written(b"".join(lines[::2] + lines[1::2]))

    forms: dict[str, Callable[[], Any]] = {
        "a dict": in_dict,
        "columns": lambda: Run.from_columns(of_row, lists.documents, lists.scores),
        "pandas": lambda: pandas.DataFrame(columns),
        "polars": lambda: polars.DataFrame(columns),
        "arrow": lambda: pyarrow.table(columns),
        "a file": lambda: written(text),
        "a compressed file": lambda: written(gzip.compress(text, 1, mtime=0)),
        "a file object": lambda: io.BytesIO(text),
    }
    if batch.ties != "run_order" and not (batch.precision or "").startswith("bands"):
        forms["a scattered file"] = scattered
    for name in rng.sample(list(forms), 4):
        form = forms[name]()
        for threads in (1, 3) if isinstance(form, Path) else (2,):
            results = evaluate(
                judged, form, batch.measures, ties=batch.ties, precision=batch.precision, spread=batch.spread,
                threads=threads,
            )  # fmt: skip
            outputs = (results.values, results.std, results.min, results.max) if batch.spread else (results.values,)
            yield f"{name}, threads={threads}", np.stack([output[0] for output in outputs])


def judgments_of(batch: Batch, queries: list[str], of_row: list[str]) -> Qrels:
    """Return the judgments from a file, or from a frame in which NaN means that a document of the pool is not judged.

    Documents of label -1 are outside the pool, so they are left out. Every query has a judged document outside its
    list. These rows come first, so they fix the order of the queries and of the subtopics.
    """
    lists = batch.lists
    names = [queries[q] for q in lists.query_of_others.tolist()] + of_row
    documents = lists.other_documents + lists.documents
    labels = np.concatenate([lists.others, lists.labels])
    rows, subtopics = np.nonzero(labels.reshape(len(labels), -1) != -1)
    chosen = labels.reshape(len(labels), -1)[rows, subtopics]
    if batch.missing:
        columns = {
            "query_id": [names[row] for row in rows.tolist()], "doc_id": [documents[row] for row in rows.tolist()],
            "relevance": np.where(chosen < 0, np.nan, chosen),
        } | ({"subtopic": subtopics.astype(str)} if batch.subtopics else {})  # fmt: skip
        return Qrels.from_frame(pandas.DataFrame(columns), missing="unjudged")
    text = "".join(
        f"{names[row]} {subtopic} {documents[row]} {max(label, -1)!r}\n"
        for row, subtopic, label in zip(rows.tolist(), subtopics.tolist(), chosen.tolist(), strict=True)
    )
    return read_qrels(io.BytesIO(text.encode()), subtopics=batch.subtopics)


def check_reference(batch: Batch, values: NDArray[np.float64], rng: random.Random) -> int:
    """Compare a few lists with the reference; return the number of compared lists."""
    lists = batch.lists
    judged, judged_offsets = lists.judgments
    lengths = np.diff(lists.offsets)
    short = np.flatnonzero(lengths <= 200).tolist()
    chosen = rng.sample(short, min(4, len(short))) if batch.precision is None else []
    for q in chosen:
        rows = slice(lists.offsets[q], lists.offsets[q + 1])
        scores, documents = lists.scores[rows].tolist(), lists.documents[rows]
        both = lists.labels[rows], judged[judged_offsets[q] : judged_offsets[q + 1]]
        for i, measure in enumerate(batch.measures):
            parsed = parse_measure(measure)
            labels, all_labels = (of_reference(each, parsed) for each in both)
            if RULES[batch.ties].extreme and parsed.definition.own_extremes(parsed):
                # The reference orders tied documents by label, which is not the best or worst order for these measures.
                continue
            is_short = len(scores) <= LONGEST_OF_ALL_ORDERS
            if parsed.name in ENUMERATED and batch.ties == "average" and not is_short:
                continue
            expected = reference.evaluate(measure, scores, labels, all_labels, batch.ties, documents)
            found = values[0, q, i]
            assert abs(found - expected) <= TOLERANCE * max(1, abs(expected)), (
                f"{measure}: {found!r}, and {expected!r} in the reference; {scores} {labels} {all_labels} {documents}"
            )
            # The reference has no variance of infAP. For IAP11 it enumerates all possible values, which takes long.
            known = parsed.name != "infAP" and (parsed.name != "IAP11" or len(labels) <= LONGEST_OF_ALL_VALUES)
            if batch.spread and known and (is_short or not parsed.definition.needs_subtopics):
                variance = reference.variance(measure, scores, labels, all_labels)
                assert abs(values[1, q, i] ** 2 - variance) <= 1e-13 + 1e-8 * variance, (
                    f"{measure}: std {values[1, q, i]!r}, and {variance**0.5!r}; {scores} {labels} {all_labels}"
                )
    return len(chosen)


def of_reference(labels: NDArray[Any], measure: Measure) -> list[Any]:
    """Return labels as the reference takes them: tuples for subtopics, and the highest ones for other measures."""
    if measure.definition.needs_subtopics:
        return [tuple(each) for each in np.maximum(labels, -1).tolist()]
    return (labels.max(axis=1) if labels.ndim == 2 else labels).tolist()


def check(batch: Batch, rng: random.Random, folder: Path) -> Counter[str]:
    """Evaluate a batch in every way. If values differ, raise AssertionError that describes the first such list."""
    counts = Counter(batches=1, lists=len(batch.lists.offsets) - 1, documents=len(batch.lists.scores))
    first_name, first = None, np.empty(0)
    # Draw the limits at random. With low limits, several threads read even small files, in small chunks.
    run_file.SMALLEST = rng.choice((1 << 10, 1 << 16, 1 << 20))
    run_file.CHUNK = rng.choice((1 << 10, 1 << 16, 1 << 22))
    trec.CHUNK_ROWS = rng.choice((100, 1 << 16))
    ways = [*by_engines(batch), *by_inputs(batch, rng, folder)]
    for name, values in ways:
        if first_name is None:
            first_name, first = name, values
            assert not np.isnan(values).any(), "a value is NaN"
        if values.tobytes() != first.tobytes():
            output, query, measure = np.argwhere(values.view(np.int64) != first.view(np.int64))[0].tolist()
            raise AssertionError(
                f"{first_name} and {name} differ: {first[output, query, measure]!r} and "
                f"{values[output, query, measure]!r}, output {output}, {description(batch, query, measure)}"
            )
        counts["evaluations"] += len(values[0])
    if not batch.spread:
        check_means(batch)
    if batch.rectangular and not batch.subtopics:
        check_catalogue(batch, rng)
    counts["in the reference"] = check_reference(batch, first, rng)
    return counts


def description(batch: Batch, query: int, measure: int) -> str:
    """Describe one list and its options, for a message."""
    lists = batch.lists
    rows = slice(lists.offsets[query], lists.offsets[query + 1])
    others = lists.others[lists.other_offsets[query] : lists.other_offsets[query + 1]]
    return (
        f"{batch.measures[measure]}, ties={batch.ties}, precision={batch.precision}, {lists.scores.dtype}, "
        f"query {query}: scores {lists.scores[rows].tolist()}, labels {lists.labels[rows].tolist()}, "
        f"others {others.tolist()}, missing={batch.missing}, documents {lists.documents[rows]}"
    )


def main() -> int:
    """Evaluate batches until the time is over; return 1 if two ways give different values."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, help="evaluate only the batch with this number")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    numbers = iter([options.batch]) if options.batch is not None else iter(range(10**9))
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            batch = draw_batch(options.seed, number)
            try:
                counts += check(batch, random.Random(number), Path(folder))
            except Exception as error:
                # docs/measures.md says which measures refuse large tie groups.
                if isinstance(error, InputError) and "takes too" in str(error):
                    counts["refused"] += 1
                    continue
                print(f"--seed {options.seed} --batch {number}: {error}", file=sys.stderr)
                if not isinstance(error, AssertionError):
                    raise
                return 1
            if time.monotonic() - start > options.seconds:
                break
    print(json.dumps({"target": "differential", "seed": options.seed, **counts}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
